#include "nand/memory_page_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/contract.h"
#include "base/crc32c.h"

namespace flashlab {

/// What lies between the pages known so far and this one has not been programmed since the erase.
void MemoryPageStore::CompactRecords::reach(std::uint32_t page, std::uint32_t pages_per_block) {
    if (pages == nullptr) pages = std::make_unique_for_overwrite<std::byte[]>(std::size_t{pages_per_block} * bytes_a_page);
    for (; filled <= page; ++filled) pages[std::size_t{filled} * bytes_a_page + tag_at] = std::byte{0};
}

void MemoryPageStore::CompactRecords::copy(const CompactRecords& from, std::uint32_t first, std::uint32_t to, std::uint32_t count, std::uint32_t pages_per_block) {
    ensure(first + count <= from.filled && to + count <= pages_per_block, "pages that are programmed, to pages of the block");
    if (to >= filled) {
        if (to != 0) reach(to - 1, pages_per_block);
        else if (pages == nullptr) pages = std::make_unique_for_overwrite<std::byte[]>(std::size_t{pages_per_block} * bytes_a_page);
        filled = to + count;
    }
    reach(to + count - 1, pages_per_block);
    std::memcpy(pages.get() + to * bytes_a_page, from.pages.get() + first * bytes_a_page, count * bytes_a_page);
    if (from.scheme_words == nullptr) {
        if (from.common_word) set_words(to, count, *from.common_word, pages_per_block);
        return;
    }
    if (scheme_words == nullptr) tell_words_apart(pages_per_block);
    std::copy_n(from.scheme_words.get() + first, count, scheme_words.get() + to);
}

void MemoryPageStore::CompactRecords::set_words(std::uint32_t first, std::uint32_t count, std::uint32_t word, std::uint32_t pages_per_block) {
    if (scheme_words == nullptr) {
        if (!common_word) common_word = word;
        if (*common_word == word) return;
        tell_words_apart(pages_per_block);
    }
    std::fill_n(scheme_words.get() + first, count, word);
}

void MemoryPageStore::CompactRecords::tell_words_apart(std::uint32_t pages_per_block) {
    scheme_words = std::make_unique_for_overwrite<std::uint32_t[]>(pages_per_block);
    std::fill_n(scheme_words.get(), pages_per_block, common_word.value_or(0));
}

void MemoryPageStore::CompactRecords::set(std::uint32_t page, std::uint32_t pages_per_block, CellState state, const PageOob* oob) {
    reach(page, pages_per_block);
    std::byte* const at = pages.get() + std::size_t{page} * bytes_a_page;
    const auto kind = static_cast<std::uint8_t>(oob == nullptr ? 0 : std::to_underlying(oob->kind));
    at[tag_at] = static_cast<std::byte>(std::to_underlying(state) | (kind << state_bits));
    if (oob == nullptr) return;
    const std::uint64_t sequence = oob->sequence.value();
    ensure(sequence >> 40 == 0, "MemoryPageStore: write sequences stay below 2^40 in runs without payload");
    const std::uint32_t lpn = oob->lpn.value();
    std::memcpy(at, &lpn, sizeof lpn);
    std::memcpy(at + 4, &sequence, 5); // little-endian host (little_endian.h)
    set_words(page, 1, oob->scheme_word, pages_per_block);
}

/// With an OOB that parses.
bool MemoryPageStore::CompactRecords::is_programmed(std::uint32_t page) const {
    if (page >= filled) return false;
    const auto tag = std::to_integer<std::uint8_t>(pages[std::size_t{page} * bytes_a_page + tag_at]);
    return (tag & ((1 << state_bits) - 1)) == std::to_underlying(CellState::programmed) && tag >> state_bits != 0;
}

StoredOob MemoryPageStore::CompactRecords::get(std::uint32_t page) const {
    if (page >= filled) return {CellState::erased, std::unexpected(OobError::bad_checksum)};
    const std::byte* const at = pages.get() + std::size_t{page} * bytes_a_page;
    const auto tag = std::to_integer<std::uint8_t>(at[tag_at]);
    const auto state = static_cast<CellState>(tag & ((1 << state_bits) - 1));
    if (tag >> state_bits == 0) return {state, std::unexpected(OobError::bad_checksum)};
    std::uint32_t lpn = 0;
    std::uint64_t sequence = 0;
    std::memcpy(&lpn, at, sizeof lpn);
    std::memcpy(&sequence, at + 4, 5);
    return {state, PageOob{Lpn{lpn}, WriteSequence{sequence}, static_cast<PageKind>(tag >> state_bits), scheme_words == nullptr ? common_word.value_or(0) : scheme_words[page]}};
}

MemoryPageStore::MemoryPageStore(const Geometry& geometry, Payload payload)
    : geometry_{geometry},
      payload_{payload},
      cells_(payload == Payload::keep ? geometry.blocks() : 0),
      compact_(payload == Payload::none ? geometry.blocks() : 0),
      blocks_(geometry.blocks()) {}

MemoryPageStore::~MemoryPageStore() = default;

MemoryPageStore::Cells& MemoryPageStore::to_change(BlockId block) {
    Cells& cells = cells_[block.value()];
    cells.changed = ++changes_;
    cells.fingerprint.reset();
    return cells;
}

void MemoryPageStore::copy_from(const MemoryPageStore& other) {
    ensure(other.geometry_.config() == geometry_.config() && payload_ == Payload::keep && other.payload_ == payload_, "copy_from: alike, with payload");
    const bool again = copied_from_ == &other;
    for (std::size_t b = 0; b < cells_.size(); ++b) {
        const bool equal = again && other.cells_[b].changed <= copied_changes_ && cells_[b].changed <= own_changes_;
        if (!equal) copy_cells(cells_[b], other.cells_[b]);
        cells_[b].changed = equal ? cells_[b].changed : ++changes_;
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
        const std::uint32_t of_records[] = {blocks_[b].erase_count, blocks_[b].grown_bad ? 1u : 0u, static_cast<std::uint32_t>(*cells.fingerprint >> 32)};
        const auto of_data = static_cast<std::uint32_t>(*cells.fingerprint);
        records = crc32c(std::as_bytes(std::span{of_records}), records);
        data = crc32c(std::as_bytes(std::span{&of_data, 1}), data);
    }
    return (std::uint64_t{records} << 32) | data;
}

std::uint64_t MemoryPageStore::fingerprint_of(const Cells& cells) const {
    const std::size_t page_bytes = geometry_.page_bytes();
    std::uint32_t records = 0;
    std::uint32_t data = 0;
    for (std::uint32_t page = 0; page < geometry_.pages_per_block(); ++page) {
        const PageRecord record = cells.records.empty() ? PageRecord{} : cells.records[page];
        const std::uint32_t state[] = {static_cast<std::uint32_t>(std::to_underlying(record.state)), record.data_crc};
        records = crc32c(std::as_bytes(std::span{state}), records);
        if (record.state == CellState::erased) continue;
        records = crc32c(record.oob, records);
        if (cells.data != nullptr) data = crc32c({cells.data.get() + page * page_bytes, page_bytes}, data);
    }
    return (std::uint64_t{records} << 32) | data;
}

/// Memory once taken is kept: it will be needed again.
void MemoryPageStore::copy_cells(Cells& to, const Cells& from) const {
    const std::size_t bytes = std::size_t{geometry_.pages_per_block()} * geometry_.page_bytes();
    if (from.data != nullptr) {
        if (to.data == nullptr) to.data = std::make_unique_for_overwrite<std::byte[]>(bytes);
        std::memcpy(to.data.get(), from.data.get(), bytes);
    } else if (to.data != nullptr) {
        std::memset(to.data.get(), 0, bytes);
    }
    to.records = from.records;
    to.parsed = from.parsed;
    to.fingerprint = from.fingerprint;
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
    if (cells.data == nullptr) cells.data = std::make_unique<std::byte[]>(std::size_t{geometry_.pages_per_block()} * geometry_.page_bytes());
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
    if (payload_ == Payload::keep) keep(page, record, {record.state, oob});
    else compact_[geometry_.block_of(page).value()].set(geometry_.page_in_block(page), geometry_.pages_per_block(), record.state, oob ? &*oob : nullptr);
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
    if (payload_ == Payload::none) return compact_[block].get(at);
    return cells_[block].parsed.empty() ? StoredOob{} : cells_[block].parsed[at];
}

std::expected<void, HostIoError> MemoryPageStore::write_programmed(Ppn page, const PageOob& oob, std::uint32_t data_crc) {
    if (payload_ == Payload::keep) {
        PageRecord record{.state = CellState::programmed, .data_crc = data_crc};
        oob.encode(record.oob);
        keep(page, record, {CellState::programmed, oob});
        return {};
    }
    compact_[geometry_.block_of(page).value()].set(geometry_.page_in_block(page), geometry_.pages_per_block(), CellState::programmed, &oob);
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
    compact_[target.value()].copy(compact_[source.value()], geometry_.page_in_block(from), geometry_.page_in_block(to), pages, geometry_.pages_per_block());
    return {};
}

std::expected<void, HostIoError> MemoryPageStore::read_block_records(BlockId block, std::span<PageRecord> to) {
    for (std::uint32_t page = 0; page < to.size(); ++page) to[page] = record_at(block, page);
    return {};
}

std::expected<void, HostIoError> MemoryPageStore::erase_records(BlockId block) {
    if (payload_ == Payload::none) {
        compact_[block.value()].filled = 0;
        compact_[block.value()].common_word.reset();
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
