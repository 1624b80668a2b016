/// Writes the page records of the image through a mapping, without a system call.
///
/// Idea       A program writes a record of 32 bytes. Written by pwrite, a record costs the host a third of the time of the page's data. Written as a
///            store to memory, it costs next to nothing.
/// Invariant  A block is written through the mapping only after the host has allocated its range since the image was opened, and only on a file
///            system that writes in place (tmpfs, ext4). So a full host disk is an error here and never a SIGBUS. Nothing is read through the
///            mapping, so that a read error of the host is an error, too. A record's first eight bytes, which hold its state, are stored last and in
///            one piece: a record counts only when all of it is there. A record that replaces another is garbage in between.
/// Cost       One fallocate for each block and session; address space for the records of the whole image.
/// Power cut  As pwrite: the stores of a killed process are in the host's page cache, in program order.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <vector>

#include "base/host_io_error.h"
#include "nand/image_layout.h"

namespace flashlab {

class RecordMap {
public:
    using Record = std::span<std::byte, ImageLayout::page_record_bytes>;

    /// No block is ever admitted when `is_writable` is false, or when the host copies on write or cannot map the file.
    RecordMap(int fd, const Geometry& geometry, const ImageLayout& layout, bool is_writable);
    ~RecordMap();
    RecordMap(const RecordMap&) = delete;
    RecordMap& operator=(const RecordMap&) = delete;

    /// The block's records, for which the host now has room. Empty when the host cannot promise room for any file.
    [[nodiscard]] std::expected<std::span<std::byte>, HostIoError> admit(BlockId block);
    static void store(Record to, std::span<const std::byte, ImageLayout::page_record_bytes> record);

private:
    [[nodiscard]] std::span<std::byte> records_of(BlockId block) const {
        return {mapping_ + records_at_ + block.value() * block_bytes_, block_bytes_};
    }

    int fd_;
    std::size_t records_at_;
    std::size_t block_bytes_;
    std::size_t mapped_bytes_;
    std::byte* mapping_ = nullptr;
    std::vector<bool> admitted_; ///< by block; empty: nothing is mapped
    bool may_admit_ = false;
};

} // namespace flashlab
