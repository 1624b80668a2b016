#include "nand/private_page_store.h"

#include <algorithm>
#include <cerrno>

#include "base/contract.h"

namespace flashlab {

std::expected<void, HostIoError> PrivatePageStore::read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) {
    const auto own = data_.find(page.value());
    if (own == data_.end()) return below_->read_data(page, offset, to);
    ensure(offset + to.size() <= own->second.size(), "read_data: within the page");
    std::ranges::copy(std::span{own->second}.subspan(offset, to.size()), to.begin());
    return {};
}

std::expected<void, HostIoError> PrivatePageStore::write_data(Ppn page, std::span<const std::byte> data) {
    if (!keeps_payload()) return {};
    data_[page.value()].assign(data.begin(), data.end());
    return {};
}

void PrivatePageStore::discard_data(Ppn first, std::uint32_t pages) {
    for (std::uint32_t i = 0; i < pages; ++i) data_.erase(first.value() + i);
}

std::expected<std::vector<PageRecord>*, HostIoError> PrivatePageStore::own_records(BlockId block) {
    const auto [own, is_new] = records_.try_emplace(block.value());
    if (is_new) {
        own->second.resize(geometry_.pages_per_block());
        if (auto read = below_->read_block_records(block, own->second); !read) {
            records_.erase(own);
            return std::unexpected(read.error());
        }
    }
    return &own->second;
}

std::expected<PageRecord, HostIoError> PrivatePageStore::read_record(Ppn page) {
    const auto own = records_.find(geometry_.block_of(page).value());
    return own == records_.end() ? below_->read_record(page) : own->second[geometry_.page_in_block(page)];
}

std::expected<void, HostIoError> PrivatePageStore::write_record(Ppn page, const PageRecord& record) {
    const auto own = own_records(geometry_.block_of(page));
    if (!own) return std::unexpected(own.error());
    (**own)[geometry_.page_in_block(page)] = record;
    return {};
}

std::expected<void, HostIoError> PrivatePageStore::read_block_records(BlockId block, std::span<PageRecord> to) {
    ensure(to.size() == geometry_.pages_per_block(), "read_block_records: room for one block");
    const auto own = records_.find(block.value());
    if (own == records_.end()) return below_->read_block_records(block, to);
    std::ranges::copy(own->second, to.begin());
    return {};
}

std::expected<void, HostIoError> PrivatePageStore::erase_records(BlockId block) {
    records_[block.value()].assign(geometry_.pages_per_block(), PageRecord{});
    return {};
}

std::expected<void, HostIoError> PrivatePageStore::read_blocks(BlockId first, std::span<BlockRecord> to) {
    if (auto read = below_->read_blocks(first, to); !read) {
        if (read.error().error_number != EBADMSG) return read;
        for (std::uint32_t i = 0; i < to.size(); ++i) // damaged block records are skipped: they hold wear and bad marks, no data
            if (auto one = below_->read_blocks(BlockId{first.value() + i}, to.subspan(i, 1)); !one) to[i] = BlockRecord{};
    }
    for (const auto& [block, record] : blocks_)
        if (block >= first.value() && block - first.value() < to.size()) to[block - first.value()] = record;
    return {};
}

std::expected<void, HostIoError> PrivatePageStore::write_block(BlockId block, const BlockRecord& record) {
    blocks_[block.value()] = record;
    return {};
}

} // namespace flashlab
