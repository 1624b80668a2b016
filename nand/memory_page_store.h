/// A page store in memory, for replay, bench, explore and tests.
///
/// Idea       A block's arrays are allocated at its first program. Without payload page records are kept unpacked and compact.
/// Invariant  Whatever was written is read back. One exception:
///            without payload an OOB that does not parse is read back as other bytes that do not parse.
/// Cost       Without payload 8 bytes a page (compact_records.h) and an erase in O(1). With payload the page and 96 bytes.
/// Power cut  The store ends with the process. cut() of the array works on it as on an image.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nand/compact_records.h"
#include "nand/geometry.h"
#include "nand/page_store.h"

namespace flashlab {

enum class Payload : std::uint8_t { keep, none };

class MemoryPageStore final : public PageStore {
public:
    MemoryPageStore(const Geometry& geometry, Payload payload);
    ~MemoryPageStore() override;

    /// Makes this store equal to `other`: a snapshot for a caller that tries many cuts. Both must have the same geometry and keep payload. Cost: the
    /// pages in which the two may differ. When the last copy came from the same store, these are the pages changed since then.
    void copy_from(const MemoryPageStore& other);

    /// A hash of the contents: equal for equal contents, and almost surely different for different ones. The payload of erased pages does not count.
    /// Cost: the records of the blocks changed since the last call, and the data of the pages.
    [[nodiscard]] std::uint64_t fingerprint() const;

    [[nodiscard]] bool keeps_payload() const override { return payload_ == Payload::keep; }
    [[nodiscard]] std::expected<void, HostIoError> read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) override;
    [[nodiscard]] std::expected<void, HostIoError> write_data(Ppn page, std::span<const std::byte> data) override;
    void discard_data(Ppn first, std::uint32_t pages) override;
    [[nodiscard]] std::expected<PageRecord, HostIoError> read_record(Ppn page) override;
    [[nodiscard]] std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override;
    [[nodiscard]] std::expected<StoredOob, HostIoError> read_oob(Ppn page) override;
    [[nodiscard]] std::expected<void, HostIoError> write_programmed(Ppn page, const PageOob& oob, std::uint32_t data_crc) override;
    [[nodiscard]] std::uint32_t programmed_run(Ppn from, std::uint32_t pages) override;
    [[nodiscard]] std::expected<void, HostIoError> write_programmed_run(Ppn first, const PageOob& oob, std::uint32_t pages) override;
    [[nodiscard]] std::expected<void, HostIoError> copy_programmed(Ppn from, Ppn to, std::uint32_t pages) override;
    [[nodiscard]] std::expected<void, HostIoError> read_block_records(BlockId block, std::span<PageRecord> to) override;
    [[nodiscard]] bool is_blank(BlockId block) const override {
        return payload_ == Payload::none ? compact_[block.value()].is_blank() : cells_[block.value()].records.empty();
    }
    [[nodiscard]] std::expected<void, HostIoError> erase_records(BlockId block) override;
    [[nodiscard]] std::expected<void, HostIoError> read_blocks(BlockId first, std::span<BlockRecord> to) override;
    [[nodiscard]] std::expected<void, HostIoError> write_block(BlockId block, const BlockRecord& record) override;

private:
    /// What is known of a page's data.
    struct PageNote {
        std::uint64_t changed = 0; ///< value of changes_ at the last change
        mutable std::uint32_t crc = 0;
        mutable bool has_crc = false;
        bool is_zero = true; ///< never written since the block has memory
    };
    /// One block of a store with payload.
    struct Cells {
        std::unique_ptr<std::byte[]> data;
        std::vector<PageNote> notes; ///< of each page, once there are data
        std::vector<PageRecord> records;
        std::vector<StoredOob> parsed;                    ///< the same records, so that a recovery that reads them a thousand times decodes none
        std::uint64_t changed = 0;                        ///< value of changes_ at the last change
        mutable std::optional<std::uint64_t> fingerprint; ///< until the next change
    };
    [[nodiscard]] PageRecord record_at(BlockId block, std::uint32_t page) const;
    [[nodiscard]] std::uint64_t fingerprint_of(const Cells& cells) const;
    [[nodiscard]] std::uint32_t data_crc_of(const Cells& cells, std::uint32_t page) const;
    [[nodiscard]] Cells& to_change(BlockId block);
    void make_data(Cells& cells) const;
    void keep(Ppn page, const PageRecord& record, const StoredOob& parsed);
    void copy_cells(Cells& to, const Cells& from, bool again);
    void copy_data(Cells& to, const Cells& from, bool again);

    Geometry geometry_;
    Payload payload_;
    std::vector<Cells> cells_;            ///< by block; empty without payload
    std::vector<CompactRecords> compact_; ///< by block; empty with payload
    std::vector<BlockRecord> blocks_;
    std::uint64_t changes_ = 1;
    const MemoryPageStore* copied_from_ = nullptr;
    std::uint64_t copied_changes_ = 0; ///< of the original, when it was copied
    std::uint64_t own_changes_ = 0;    ///< of this store, then
    std::uint32_t crc_of_zeros_ = 0;   ///< of a page's data
};

} // namespace flashlab
