/// Stores that outlive the device which uses them: what is in the cells when the power fails.
///
/// Idea       A device owns its stores. These hand every call on to a store that somebody else owns.
/// Invariant  The store behind outlives this one.
/// Cost       One more virtual call.
/// Power cut  The next device is made of the same cells.
#pragma once

#include "nand/page_store.h"
#include "pram/pram.h"

namespace flashlab {

class KeptPageStore final : public PageStore {
public:
    explicit KeptPageStore(PageStore& kept) : kept_{kept} {}
    [[nodiscard]] bool keeps_payload() const override { return kept_.keeps_payload(); }
    [[nodiscard]] std::expected<void, HostIoError> read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) override {
        return kept_.read_data(page, offset, to);
    }
    [[nodiscard]] std::expected<void, HostIoError> read_pages(std::span<PageFetch> pages) override { return kept_.read_pages(pages); }
    [[nodiscard]] std::expected<void, HostIoError> write_data(Ppn page, std::span<const std::byte> data) override {
        return kept_.write_data(page, data);
    }
    void discard_data(Ppn first, std::uint32_t pages) override { kept_.discard_data(first, pages); }
    [[nodiscard]] std::expected<PageRecord, HostIoError> read_record(Ppn page) override { return kept_.read_record(page); }
    [[nodiscard]] std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override {
        return kept_.write_record(page, record);
    }
    [[nodiscard]] std::expected<StoredOob, HostIoError> read_oob(Ppn page) override { return kept_.read_oob(page); }
    [[nodiscard]] std::expected<void, HostIoError> write_programmed(Ppn page, const PageOob& oob, std::uint32_t data_crc) override {
        return kept_.write_programmed(page, oob, data_crc);
    }
    [[nodiscard]] std::uint32_t programmed_run(Ppn from, std::uint32_t pages) override { return kept_.programmed_run(from, pages); }
    [[nodiscard]] std::expected<void, HostIoError> copy_programmed(Ppn from, Ppn to, std::uint32_t pages) override {
        return kept_.copy_programmed(from, to, pages);
    }
    [[nodiscard]] std::expected<void, HostIoError> read_block_records(BlockId block, std::span<PageRecord> to) override {
        return kept_.read_block_records(block, to);
    }
    [[nodiscard]] std::expected<void, HostIoError> erase_records(BlockId block) override { return kept_.erase_records(block); }
    [[nodiscard]] std::expected<void, HostIoError> read_blocks(BlockId first, std::span<BlockRecord> to) override {
        return kept_.read_blocks(first, to);
    }
    [[nodiscard]] std::expected<void, HostIoError> write_block(BlockId block, const BlockRecord& record) override {
        return kept_.write_block(block, record);
    }

private:
    PageStore& kept_;
};

class KeptPramStore final : public PramStore {
public:
    explicit KeptPramStore(PramStore& kept) : kept_{kept} {}
    [[nodiscard]] std::span<std::byte> cells() override { return kept_.cells(); }
    [[nodiscard]] std::span<std::uint64_t> wear() override { return kept_.wear(); }
    [[nodiscard]] PramLineChecks* checks() override { return kept_.checks(); }

private:
    PramStore& kept_;
};

} // namespace flashlab
