/// A private view of another page store: changes stay in this process.
///
/// Idea       Changes go into maps and are read from there. All else is read from the store below.
///            So recovery can run on a device that must not change.
/// Invariant  The store below is never written to.
/// Cost       One hash look-up a page and a block; memory for what is changed, payload included.
/// Power cut  Nothing of it survives.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "nand/geometry.h"
#include "nand/page_store.h"

namespace flashlab {

class PrivatePageStore final : public PageStore {
public:
    PrivatePageStore(std::unique_ptr<PageStore> below, const Geometry& geometry) : below_{std::move(below)}, geometry_{geometry} {}

    [[nodiscard]] bool keeps_payload() const override { return below_->keeps_payload(); }
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
    /// The records of a block, copied here at its first change.
    [[nodiscard]] std::expected<std::vector<PageRecord>*, HostIoError> own_records(BlockId block);

    std::unique_ptr<PageStore> below_;
    Geometry geometry_;
    std::unordered_map<std::uint32_t, std::vector<std::byte>> data_;     ///< by page
    std::unordered_map<std::uint32_t, std::vector<PageRecord>> records_; ///< by block
    std::unordered_map<std::uint32_t, BlockRecord> blocks_;
};

} // namespace flashlab
