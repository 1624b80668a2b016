/// Page records of the image that are written where they lie: through a mapping, without a call of the host.
///
/// Idea       A program writes 32 bytes of record. As a pwrite these cost the host a third of what the page of data does; as a store, next to nothing.
/// Invariant  Only a block whose range the host has allocated since the image was opened is written through the mapping, and only on a file system that writes in
///            place (tmpfs, ext4): a full host disk is an error here and never a SIGBUS. Nothing is read through it, so that a host that cannot read says so. A record's first eight bytes, its state among them, are
///            stored last and in one piece: it counts when all of it is there. One that replaces another is garbage in between.
/// Cost       One fallocate a block and session; address space for the records of the whole image.
/// Power cut  As pwrite: what a killed process has stored is in the host's page cache, in program order.
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

    /// `is_writable` false, or a host that copies on write or cannot map the file: no block is ever here.
    RecordMap(int fd, const Geometry& geometry, const ImageLayout& layout, bool is_writable);
    ~RecordMap();
    RecordMap(const RecordMap&) = delete;
    RecordMap& operator=(const RecordMap&) = delete;

    /// The block's records, which the host has room for; empty when it cannot give this promise for any file.
    [[nodiscard]] std::expected<std::span<std::byte>, HostIoError> admit(BlockId block);
    static void store(Record to, std::span<const std::byte, ImageLayout::page_record_bytes> record);

private:
    [[nodiscard]] std::span<std::byte> records_of(BlockId block) const { return {mapping_ + records_at_ + block.value() * block_bytes_, block_bytes_}; }

    int fd_;
    std::size_t records_at_;
    std::size_t block_bytes_;
    std::size_t mapped_bytes_;
    std::byte* mapping_ = nullptr;
    std::vector<bool> admitted_; ///< by block; empty: nothing is mapped
    bool may_admit_ = false;
};

} // namespace flashlab
