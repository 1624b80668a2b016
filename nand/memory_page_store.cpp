#include "nand/memory_page_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/contract.h"

namespace flashlab {

/// One block's records without payload: arrays of fields, 10 bytes a page. `tag` holds the cell state and the kind (0: the OOB does not parse).
struct MemoryPageStore::CompactRecords {
    explicit CompactRecords(std::uint32_t pages) : lpn(pages), sequence_low(pages), sequence_high(pages), tag(pages) {}

    void set(std::uint32_t page, const PageRecord& record) {
        const auto oob = PageOob::decode(record.oob);
        const std::uint8_t kind = oob ? static_cast<std::uint8_t>(std::to_underlying(oob->kind)) : std::uint8_t{0};
        tag[page] = static_cast<std::uint8_t>(std::to_underlying(record.state) | (kind << 2));
        const PageOob known = oob.value_or(PageOob{});
        ensure(known.sequence.value() >> 40 == 0, "MemoryPageStore: write sequences stay below 2^40 in runs without payload");
        lpn[page] = known.lpn.value();
        sequence_low[page] = static_cast<std::uint32_t>(known.sequence.value());
        sequence_high[page] = static_cast<std::uint8_t>(known.sequence.value() >> 32);
        if (known.scheme_word != 0 && scheme_word.empty()) scheme_word.resize(lpn.size());
        if (!scheme_word.empty()) scheme_word[page] = known.scheme_word;
    }

    [[nodiscard]] PageRecord get(std::uint32_t page) const {
        PageRecord record;
        record.state = static_cast<CellState>(tag[page] & 3);
        const std::uint16_t kind = tag[page] >> 2;
        if (kind != 0) {
            const std::uint64_t sequence = (std::uint64_t{sequence_high[page]} << 32) | sequence_low[page];
            PageOob{Lpn{lpn[page]}, WriteSequence{sequence}, static_cast<PageKind>(kind), scheme_word.empty() ? 0 : scheme_word[page]}.encode(record.oob);
        } else if (record.state != CellState::erased) {
            record.oob.fill(std::byte{0xff}); // some bytes that do not parse; which ones is not remembered
        }
        return record;
    }

    std::vector<std::uint32_t> lpn;
    std::vector<std::uint32_t> sequence_low;
    std::vector<std::uint8_t> sequence_high;
    std::vector<std::uint8_t> tag;
    std::vector<std::uint32_t> scheme_word;
};

MemoryPageStore::MemoryPageStore(const Geometry& geometry, Payload payload)
    : geometry_{geometry}, payload_{payload}, cells_(geometry.blocks()), blocks_(geometry.blocks()) {}

MemoryPageStore::~MemoryPageStore() = default;

std::expected<void, HostIoError> MemoryPageStore::read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) {
    if (payload_ == Payload::none || to.empty()) return {};
    const Cells& cells = cells_[geometry_.block_of(page).value()];
    if (cells.data == nullptr) {
        std::memset(to.data(), 0, to.size());
    } else {
        std::memcpy(to.data(), cells.data.get() + std::size_t{geometry_.page_in_block(page)} * geometry_.page_bytes() + offset, to.size());
    }
    return {};
}

std::expected<void, HostIoError> MemoryPageStore::write_data(Ppn page, std::span<const std::byte> data) {
    if (payload_ == Payload::none || data.empty()) return {};
    Cells& cells = cells_[geometry_.block_of(page).value()];
    if (cells.data == nullptr) cells.data = std::make_unique<std::byte[]>(std::size_t{geometry_.pages_per_block()} * geometry_.page_bytes());
    std::memcpy(cells.data.get() + std::size_t{geometry_.page_in_block(page)} * geometry_.page_bytes(), data.data(), data.size());
    return {};
}

void MemoryPageStore::discard_data(Ppn first, std::uint32_t pages) {
    if (pages == geometry_.pages_per_block()) cells_[geometry_.block_of(first).value()].data.reset();
}

PageRecord MemoryPageStore::record_at(const Cells& cells, std::uint32_t page) const {
    if (payload_ == Payload::none) return cells.compact == nullptr ? PageRecord{} : cells.compact->get(page);
    return cells.records.empty() ? PageRecord{} : cells.records[page];
}

std::expected<PageRecord, HostIoError> MemoryPageStore::read_record(Ppn page) {
    return record_at(cells_[geometry_.block_of(page).value()], geometry_.page_in_block(page));
}

std::expected<void, HostIoError> MemoryPageStore::write_record(Ppn page, const PageRecord& record) {
    Cells& cells = cells_[geometry_.block_of(page).value()];
    const std::uint32_t at = geometry_.page_in_block(page);
    if (payload_ == Payload::none) {
        if (cells.compact == nullptr) cells.compact = std::make_unique<CompactRecords>(geometry_.pages_per_block());
        cells.compact->set(at, record);
    } else {
        if (cells.records.empty()) cells.records.resize(geometry_.pages_per_block());
        cells.records[at] = record;
    }
    return {};
}

std::expected<void, HostIoError> MemoryPageStore::read_block_records(BlockId block, std::span<PageRecord> to) {
    const Cells& cells = cells_[block.value()];
    for (std::uint32_t page = 0; page < to.size(); ++page) to[page] = record_at(cells, page);
    return {};
}

std::expected<void, HostIoError> MemoryPageStore::erase_records(BlockId block) {
    Cells& cells = cells_[block.value()];
    if (cells.compact != nullptr) std::ranges::fill(cells.compact->tag, std::uint8_t{0});
    std::ranges::fill(cells.records, PageRecord{});
    return {};
}

std::expected<void, HostIoError> MemoryPageStore::read_blocks(BlockId first, std::span<BlockRecord> to) {
    std::copy_n(blocks_.begin() + first.value(), to.size(), to.begin());
    return {};
}

std::expected<void, HostIoError> MemoryPageStore::write_block(BlockId block, const BlockRecord& record) {
    blocks_[block.value()] = record;
    return {};
}

} // namespace flashlab
