/// Cells in memory, for replay, bench, explore and tests.
///
/// Idea       A block's arrays appear at its first program. Without payload the record of a page is kept unpacked and compact.
/// Invariant  What was written is read back, but without payload only an OOB that parses: others read as unreadable bytes.
/// Cost       Without payload 10 bytes a page (14 in blocks whose pages carry a scheme word); with payload the page and 32 bytes.
/// Power cut  Lives and dies with the process; cut() of the array works on it as on an image.
#pragma once

#include <memory>
#include <vector>

#include "nand/geometry.h"
#include "nand/page_store.h"

namespace flashlab {

enum class Payload : std::uint8_t { keep, none };

class MemoryPageStore final : public PageStore {
public:
    MemoryPageStore(const Geometry& geometry, Payload payload);
    ~MemoryPageStore() override;

    [[nodiscard]] bool keeps_payload() const override { return payload_ == Payload::keep; }
    [[nodiscard]] std::expected<void, HostIoError> read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) override;
    [[nodiscard]] std::expected<void, HostIoError> write_data(Ppn page, std::span<const std::byte> data) override;
    void discard_data(Ppn first, std::uint32_t pages) override;
    [[nodiscard]] std::expected<PageRecord, HostIoError> read_record(Ppn page) override;
    [[nodiscard]] std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override;
    [[nodiscard]] std::expected<void, HostIoError> read_block_records(BlockId block, std::span<PageRecord> to) override;
    [[nodiscard]] std::expected<void, HostIoError> erase_records(BlockId block) override;
    [[nodiscard]] std::expected<void, HostIoError> read_blocks(BlockId first, std::span<BlockRecord> to) override;
    [[nodiscard]] std::expected<void, HostIoError> write_block(BlockId block, const BlockRecord& record) override;

private:
    struct CompactRecords;
    struct Cells {
        std::unique_ptr<std::byte[]> data;          ///< payload kept
        std::vector<PageRecord> records;            ///< payload kept
        std::unique_ptr<CompactRecords> compact;    ///< no payload
    };

    [[nodiscard]] PageRecord record_at(const Cells& cells, std::uint32_t page) const;

    Geometry geometry_;
    Payload payload_;
    std::vector<Cells> cells_;
    std::vector<BlockRecord> blocks_;
};

} // namespace flashlab
