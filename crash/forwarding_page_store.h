/// A page store that passes every call on. A seeded bug derives from it and overrides one function.
///
/// Idea       Forwarding, nothing else.
/// Invariant  Without an override it behaves as the store that it wraps.
/// Cost       A second virtual call a page.
/// Power cut  The store's.
#pragma once

#include "nand/page_store.h"

namespace flashlab {

class ForwardingPageStore : public PageStore {
public:
    explicit ForwardingPageStore(PageStore& real) : real_{real} {}

    bool keeps_payload() const override { return real_.keeps_payload(); }
    std::expected<void, HostIoError> read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) override {
        return real_.read_data(page, offset, to);
    }
    std::expected<void, HostIoError> write_data(Ppn page, std::span<const std::byte> data) override { return real_.write_data(page, data); }
    void discard_data(Ppn first, std::uint32_t pages) override { real_.discard_data(first, pages); }
    std::expected<PageRecord, HostIoError> read_record(Ppn page) override { return real_.read_record(page); }
    std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override { return real_.write_record(page, record); }
    std::expected<void, HostIoError> read_block_records(BlockId block, std::span<PageRecord> to) override {
        return real_.read_block_records(block, to);
    }
    std::expected<void, HostIoError> erase_records(BlockId block) override { return real_.erase_records(block); }
    std::expected<void, HostIoError> read_blocks(BlockId first, std::span<BlockRecord> to) override { return real_.read_blocks(first, to); }
    std::expected<void, HostIoError> write_block(BlockId block, const BlockRecord& record) override { return real_.write_block(block, record); }

protected:
    PageStore& real_;
};

} // namespace flashlab
