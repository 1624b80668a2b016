#include "nand/memory_page_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/contract.h"
#include "base/crc32c.h"
#include "nand/copy_fields.h"

namespace flashlab {

MemoryPageStore::MemoryPageStore(const Geometry& geometry, Payload payload)
    : geometry_{geometry}, payload_{payload}, cells_(payload == Payload::keep ? geometry.blocks() : 0), blocks_(geometry.blocks()) {
    if (payload == Payload::keep) {
        crc_of_zeros_ = crc32c(std::vector<std::byte>(geometry.page_bytes()));
        return;
    }
    compact_.reserve(geometry.blocks());
    for (std::uint32_t b = 0; b < geometry.blocks(); ++b) compact_.emplace_back(geometry.pages_per_block());
}

MemoryPageStore::~MemoryPageStore() = default;

MemoryPageStore::Cells& MemoryPageStore::to_change(BlockId block) {
    Cells& cells = cells_[block.value()];
    cells.changed = ++changes_;
    cells.fingerprint.reset();
    return cells;
}

void MemoryPageStore::copy_from(const MemoryPageStore& other) {
    ensure(other.geometry_.config() == geometry_.config() && payload_ == Payload::keep && other.payload_ == payload_,
           "copy_from: alike, with payload");
    const bool again = copied_from_ == &other;
    for (std::size_t b = 0; b < cells_.size(); ++b) {
        const bool equal = again && other.cells_[b].changed <= copied_changes_ && cells_[b].changed <= own_changes_;
        if (equal) continue;
        cells_[b].changed = ++changes_;
        copy_cells(cells_[b], other.cells_[b], again);
    }
    blocks_ = other.blocks_;
    copied_from_ = &other;
    copied_changes_ = other.changes_;
    own_changes_ = changes_;
}

std::uint64_t MemoryPageStore::fingerprint() const {
    ensure(payload_ == Payload::keep, "fingerprint: with payload");
    std::uint32_t records = 0;
    std::uint32_t data = 0;
    for (std::size_t b = 0; b < cells_.size(); ++b) {
        const Cells& cells = cells_[b];
        if (!cells.fingerprint) cells.fingerprint = fingerprint_of(cells);
        const std::uint32_t of_records[] = {blocks_[b].erase_count, blocks_[b].grown_bad ? 1u : 0u,
                                            static_cast<std::uint32_t>(*cells.fingerprint >> 32)};
        const auto of_data = static_cast<std::uint32_t>(*cells.fingerprint);
        records = crc32c(std::as_bytes(std::span{of_records}), records);
        data = crc32c(std::as_bytes(std::span{&of_data, 1}), data);
    }
    return (std::uint64_t{records} << 32) | data;
}

std::uint64_t MemoryPageStore::fingerprint_of(const Cells& cells) const {
    std::uint32_t records = 0;
    std::uint32_t data = 0;
    for (std::uint32_t page = 0; page < geometry_.pages_per_block(); ++page) {
        const PageRecord record = cells.records.empty() ? PageRecord{} : cells.records[page];
        const std::uint32_t state[] = {static_cast<std::uint32_t>(std::to_underlying(record.state)), record.data_crc};
        records = crc32c(std::as_bytes(std::span{state}), records);
        if (record.state == CellState::erased) continue;
        records = crc32c(record.oob, records);
        const std::uint32_t of_data = data_crc_of(cells, page);
        data = crc32c(std::as_bytes(std::span{&of_data, 1}), data);
    }
    return (std::uint64_t{records} << 32) | data;
}

std::uint32_t MemoryPageStore::data_crc_of(const Cells& cells, std::uint32_t page) const {
    if (cells.data == nullptr || cells.notes[page].is_zero) return crc_of_zeros_;
    const PageNote& note = cells.notes[page];
    if (!note.has_crc) {
        note.crc = crc32c({cells.data.get() + std::size_t{page} * geometry_.page_bytes(), geometry_.page_bytes()});
        note.has_crc = true;
    }
    return note.crc;
}

void MemoryPageStore::make_data(Cells& cells) const {
    if (cells.data != nullptr) return;
    cells.data = std::make_unique<std::byte[]>(std::size_t{geometry_.pages_per_block()} * geometry_.page_bytes());
    cells.notes.assign(geometry_.pages_per_block(), PageNote{.changed = cells.changed});
}

void MemoryPageStore::copy_cells(Cells& to, const Cells& from, bool again) {
    copy_data(to, from, again);
    to.records = from.records;
    to.parsed = from.parsed;
    to.fingerprint = from.fingerprint;
}

/// Memory once taken is kept: it will be needed again.
void MemoryPageStore::copy_data(Cells& to, const Cells& from, bool again) {
    if (from.data == nullptr && to.data == nullptr) return;
    make_data(to);
    const std::size_t bytes = geometry_.page_bytes();
    for (std::uint32_t page = 0; page < geometry_.pages_per_block(); ++page) {
        const PageNote wanted = from.data == nullptr ? PageNote{} : from.notes[page];
        PageNote& note = to.notes[page];
        if (again && from.data != nullptr && wanted.changed <= copied_changes_ && note.changed <= own_changes_) continue;
        if (!wanted.is_zero)
            std::memcpy(to.data.get() + page * bytes, from.data.get() + page * bytes, bytes);
        else if (!note.is_zero)
            std::memset(to.data.get() + page * bytes, 0, bytes);
        note = wanted;
        note.changed = changes_;
    }
}

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
    Cells& cells = to_change(geometry_.block_of(page));
    make_data(cells);
    cells.notes[geometry_.page_in_block(page)] = {.changed = cells.changed, .is_zero = false};
    std::memcpy(cells.data.get() + std::size_t{geometry_.page_in_block(page)} * geometry_.page_bytes(), data.data(), data.size());
    return {};
}

void MemoryPageStore::discard_data(Ppn first, std::uint32_t pages) {
    if (payload_ == Payload::keep && pages == geometry_.pages_per_block()) to_change(geometry_.block_of(first)).data.reset();
}

PageRecord MemoryPageStore::record_at(BlockId block, std::uint32_t page) const {
    if (payload_ == Payload::keep) {
        const Cells& cells = cells_[block.value()];
        return cells.records.empty() ? PageRecord{} : cells.records[page];
    }
    const StoredOob known = compact_[block.value()].get(page);
    PageRecord record{.state = known.state};
    if (known.oob) {
        known.oob->encode(record.oob);
    } else if (known.state != CellState::erased) {
        record.oob.fill(std::byte{0xff}); // some bytes that do not parse; which ones is not remembered
    }
    return record;
}

std::expected<PageRecord, HostIoError> MemoryPageStore::read_record(Ppn page) {
    return record_at(geometry_.block_of(page), geometry_.page_in_block(page));
}

std::expected<void, HostIoError> MemoryPageStore::write_record(Ppn page, const PageRecord& record) {
    const auto oob = PageOob::decode(record.oob);
    if (payload_ == Payload::keep)
        keep(page, record, {record.state, oob});
    else
        compact_[geometry_.block_of(page).value()].set(geometry_.page_in_block(page), record.state, oob ? &*oob : nullptr);
    return {};
}

void MemoryPageStore::keep(Ppn page, const PageRecord& record, const StoredOob& parsed) {
    Cells& cells = to_change(geometry_.block_of(page));
    if (cells.records.empty()) {
        cells.records.resize(geometry_.pages_per_block());
        cells.parsed.resize(geometry_.pages_per_block());
    }
    cells.records[geometry_.page_in_block(page)] = record;
    cells.parsed[geometry_.page_in_block(page)] = parsed;
}

std::expected<StoredOob, HostIoError> MemoryPageStore::read_oob(Ppn page) {
    const std::uint32_t block = geometry_.block_of(page).value(), at = geometry_.page_in_block(page);
    std::expected<StoredOob, HostIoError> known;
    if (payload_ == Payload::none)
        copy_fields(compact_[block].get(at), *known);
    else if (!cells_[block].parsed.empty())
        *known = cells_[block].parsed[at];
    return known;
}

std::expected<void, HostIoError> MemoryPageStore::write_programmed(Ppn page, const PageOob& oob, std::uint32_t data_crc) {
    if (payload_ == Payload::keep) {
        PageRecord record{.state = CellState::programmed, .data_crc = data_crc};
        oob.encode(record.oob);
        keep(page, record, {CellState::programmed, oob});
        return {};
    }
    compact_[geometry_.block_of(page).value()].set(geometry_.page_in_block(page), CellState::programmed, &oob);
    return {};
}

std::expected<void, HostIoError> MemoryPageStore::write_programmed_run(Ppn first, const PageOob& oob, std::uint32_t pages) {
    if (payload_ == Payload::keep) return PageStore::write_programmed_run(first, oob, pages);
    compact_[geometry_.block_of(first).value()].set_run(geometry_.page_in_block(first), oob, pages);
    return {};
}

std::uint32_t MemoryPageStore::programmed_run(Ppn from, std::uint32_t pages) {
    if (payload_ == Payload::keep) return PageStore::programmed_run(from, pages);
    const CompactRecords& records = compact_[geometry_.block_of(from).value()];
    const std::uint32_t first = geometry_.page_in_block(from);
    std::uint32_t count = 0;
    while (count < pages && records.is_programmed(first + count)) ++count;
    return count;
}

std::expected<void, HostIoError> MemoryPageStore::copy_programmed(Ppn from, Ppn to, std::uint32_t pages) {
    const BlockId source = geometry_.block_of(from), target = geometry_.block_of(to);
    if (payload_ == Payload::keep || source == target) return PageStore::copy_programmed(from, to, pages);
    compact_[target.value()].copy(compact_[source.value()], geometry_.page_in_block(from), geometry_.page_in_block(to), pages);
    return {};
}

std::expected<void, HostIoError> MemoryPageStore::read_block_records(BlockId block, std::span<PageRecord> to) {
    for (std::uint32_t page = 0; page < to.size(); ++page) to[page] = record_at(block, page);
    return {};
}

std::expected<void, HostIoError> MemoryPageStore::erase_records(BlockId block) {
    if (payload_ == Payload::none) {
        compact_[block.value()].erase();
    } else {
        Cells& cells = to_change(block);
        std::ranges::fill(cells.records, PageRecord{});
        std::ranges::fill(cells.parsed, StoredOob{});
    }
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
