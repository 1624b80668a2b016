/// A page store in one sparse image file.
///
/// Idea       Records lie in dense areas, so that a scan is a sequential read; the payload lies behind them. Payload and block records go by pread
///            and pwrite. Page records go through a mapping, but only where the host has allocated their room before: a full host disk is an error.
/// Invariant  A page's record is written after its data. An erase clears the records and leaves the payload. So the data that a record promises are
///            there. One process at a time holds the image (open file description lock).
/// Cost       One write a program, or a plane of it, two an erase. One pread for a page, or for neighbouring pages, whose block's records are cached.
///            Making an image of any size writes 4 KiB. Holes are punched in batches. A page of zeros where the file has a hole stays a hole.
/// Power cut  kill -9 leaves a prefix of the calls. With HostSync::ordered the same holds for a power loss of the host; each call then costs a sync.
/// Source     nand/FORMAT.md.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include <sys/uio.h>

#include "base/image_generation.h"
#include "nand/image_layout.h"
#include "nand/nand_evidence.h"
#include "nand/page_store.h"
#include "nand/record_cache.h"
#include "nand/record_map.h"

namespace flashlab {

enum class HostSync : std::uint8_t { none, ordered };
/// read_write: for one process alone. read_only: shared with other readers only.
/// Nothing may be written then (PrivatePageStore keeps changes to itself).
enum class ImageAccess : std::uint8_t { read_write, read_only };

class ImagePageStore final : public PageStore {
public:
    /// Makes a new image and opens it. Fails, and changes nothing, when the file exists.
    [[nodiscard]] static std::expected<std::unique_ptr<ImagePageStore>, ImageError>
    create(const std::filesystem::path& path, const Geometry& geometry, const Uuid& uuid, HostSync sync = HostSync::none);
    /// Opens and locks an image. On failure the file stays as it was.
    [[nodiscard]] static std::expected<std::unique_ptr<ImagePageStore>, ImageError>
    open(const std::filesystem::path& path, const Geometry& geometry, HostSync sync = HostSync::none, ImageAccess access = ImageAccess::read_write);
    /// Reads the header alone, without the lock, for tools that ask what an image is.
    [[nodiscard]] static std::expected<ImageHeader, ImageError> read_header(const std::filesystem::path& path);

    ~ImagePageStore() override;
    ImagePageStore(const ImagePageStore&) = delete;
    ImagePageStore& operator=(const ImagePageStore&) = delete;

    [[nodiscard]] const Uuid& uuid() const { return uuid_; }
    [[nodiscard]] std::expected<ImageGeneration, ImageError> generation() const;
    [[nodiscard]] std::expected<void, HostIoError> set_generation(const ImageGeneration& generation);
    /// False: an image of an older version, which has no room for evidence before upgrade().
    [[nodiscard]] bool keeps_evidence() const { return version_ > ImageHeader::first_version; }
    [[nodiscard]] std::expected<void, HostIoError> upgrade();
    [[nodiscard]] NandEvidence evidence() const { return {fd_, geometry_}; }
    /// From now on `cell`, mapped from the other image, holds the tally of this one (base/image_evidence.h), never more than is written. `blocks`:
    /// what they are now. What is taken back, as by a power cut, ends it: zero.
    void tally_into(std::uint64_t& cell, std::span<const ImageEvidence> blocks);
    /// Brings the evidence of those blocks up to date whose records were written to since the image was opened.
    [[nodiscard]] std::expected<void, HostIoError> survey_changed(std::span<ImageEvidence> evidence) const;
    /// When it returns, all writes so far survive a power loss of the host.
    [[nodiscard]] std::expected<void, HostIoError> sync();

    /// errno of the first write that the host refused; 0: none. A translation layer takes no more writes after one.
    [[nodiscard]] int host_errno() const { return host_errno_; }
    /// Asked before each write of data and each erase: the errno with which the host refuses it, 0: it does not. Empty: only the host refuses.
    void set_write_faults(std::function<int()> faults) { write_faults_ = std::move(faults); }

    [[nodiscard]] bool keeps_payload() const override { return true; }
    [[nodiscard]] std::expected<void, HostIoError> read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) override;
    /// Reads neighbouring pages in one system call.
    [[nodiscard]] std::expected<void, HostIoError> read_pages(std::span<PageFetch> pages) override;
    [[nodiscard]] std::expected<void, HostIoError> write_data(Ppn page, std::span<const std::byte> data) override;
    /// Writes pages that follow each other in one system call.
    [[nodiscard]] std::expected<void, HostIoError> write_run(Ppn first, std::span<const std::span<const std::byte>> pages) override;
    void discard_data(Ppn first, std::uint32_t pages) override;
    [[nodiscard]] std::expected<PageRecord, HostIoError> read_record(Ppn page) override;
    [[nodiscard]] std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override;
    [[nodiscard]] std::expected<void, HostIoError> read_block_records(BlockId block, std::span<PageRecord> to) override;
    [[nodiscard]] std::expected<void, HostIoError> erase_records(BlockId block) override;
    [[nodiscard]] std::expected<void, HostIoError> read_blocks(BlockId first, std::span<BlockRecord> to) override;
    [[nodiscard]] std::expected<void, HostIoError> write_block(BlockId block, const BlockRecord& record) override;

private:
    /// The payload of one block, waiting to be given back to the host.
    struct Discard {
        BlockId block;
        std::uint32_t first;
        std::uint32_t end;
    };
    struct Tallied {
        std::uint32_t count;
        std::uint32_t extent;
        std::uint32_t written;
    };
    void tally(std::uint64_t grows_by);
    void end_tally();
    static constexpr std::size_t most_discards = 128;
    static constexpr std::size_t records_kept = 4u << 20; ///< 512 blocks of 256 pages
    static constexpr std::uint32_t not_asked = ~0u;
    static constexpr std::uint32_t no_hole = ~0u - 1;

    ImagePageStore(int fd, const Geometry& geometry, const ImageHeader& header, HostSync sync, ImageAccess access);
    [[nodiscard]] std::expected<void, HostIoError> sync_if_ordered();
    [[nodiscard]] int injected_error() { return write_faults_ ? write_faults_() : 0; }
    std::expected<void, HostIoError> noted(std::expected<void, HostIoError> written);
    [[nodiscard]] std::expected<void, HostIoError> write_parts(Ppn first, std::span<iovec> parts);
    /// False: the page stays a hole.
    [[nodiscard]] bool takes_room(Ppn page, std::span<const std::byte> data);
    void keep_from_discard(Ppn page);
    [[nodiscard]] bool is_hole(Ppn page);
    [[nodiscard]] std::expected<std::span<const std::byte>, HostIoError> records_of(BlockId block);
    [[nodiscard]] std::expected<void, HostIoError> read_run(std::span<PageFetch> run);
    void punch(std::size_t oldest);

    int fd_;
    Geometry geometry_;
    ImageLayout layout_;
    Uuid uuid_;
    std::uint32_t version_;
    HostSync sync_;
    std::vector<bool> changed_;    ///< by block: its records were written to
    std::vector<Tallied> tallied_; ///< by block; empty: there is no tally
    std::uint64_t* tally_cell_ = nullptr;
    std::uint64_t tally_ = 0;
    int host_errno_ = 0;
    std::function<int()> write_faults_;
    bool can_punch_ = true;
    std::vector<Discard> discards_;        ///< oldest first, at most one a block
    std::vector<bool> waits_for_discard_;  ///< by block
    std::vector<std::uint32_t> hole_from_; ///< by block: the page from which the file has nothing to its end, or one of the constants above
    std::vector<std::byte> scratch_;       ///< the records of one block
    RecordCache records_;
    RecordMap map_; ///< for writing only
};

} // namespace flashlab
