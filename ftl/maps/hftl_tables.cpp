#include "ftl/maps/hftl_tables.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/little_endian.h"

namespace flashlab {

namespace {

// ftl/FORMAT.md, "Header".
constexpr std::uint64_t clean_at = 24;
constexpr std::uint64_t ceiling_at = 32;
// ftl/FORMAT.md, "Slots".
constexpr std::uint64_t slot_block_at = 0;
constexpr std::uint64_t slot_scan_at = 4;
constexpr std::uint64_t slot_dead_at = HftlLayout::slot_head_bytes;

/// What a record spends at most on a write of up to eight bytes.
constexpr std::size_t record_bytes_per_word = RedoLog::write_overhead + 8;

void sort_unique(std::vector<std::size_t>& v) {
    std::ranges::sort(v);
    const auto rest = std::ranges::unique(v);
    v.erase(rest.begin(), rest.end());
}

} // namespace

HftlTables::HftlTables(Pram& pram, const HftlLayout& layout, const UnitGeometry& units)
    : pram_{pram}, layout_{layout}, units_{units}, log_{pram, PramUser::ftl, layout.ring}, bits_{units},
      dead_(std::size_t{layout.slot_count} * units.words_per_row()), zeros_(std::size_t{pages_per_unmap} * 4), touched_{layout.logical_pages},
      cells_{pram.view(layout.map, std::uint64_t{layout.logical_pages} * 4)} {
    touched_.touch_all(); // until recover() knows better
    ensure(log_.max_record_bytes() > RedoLog::record_overhead, "a record holds at least one step");
    words_at_most_ = (log_.max_record_bytes() - RedoLog::record_overhead) / record_bytes_per_word;
}

SimTime HftlTables::recover(SimTime now) {
    const SimTime replayed = log_.recover(now).done;
    if (is_new())
        touched_.touch_none();
    else
        load_copies();
    const std::uint64_t bytes = std::uint64_t{units_.geometry().blocks()} * (layout_.row_bytes + HftlLayout::block_bytes) +
                                std::uint64_t{layout_.slot_count} * layout_.slot_bytes;
    return pram_.read(bytes, replayed);
}

void HftlTables::load_copies() {
    std::vector<std::uint64_t> row(units_.words_per_row());
    for (std::uint32_t b = 0; b < units_.geometry().blocks(); ++b) {
        const auto raw = pram_.view(PramAddress{layout_.bitmap.value() + std::uint64_t{b} * layout_.row_bytes}, layout_.row_bytes);
        std::memcpy(row.data(), raw.data(), raw.size());
        bits_.load_row(BlockId{b}, row);
    }
    for (std::uint32_t s = 0; s < layout_.slot_count; ++s) {
        const auto raw = pram_.view(slot_at(s, slot_dead_at), layout_.row_bytes);
        std::memcpy(dead_.data() + std::size_t{s} * units_.words_per_row(), raw.data(), raw.size());
    }
}

bool HftlTables::is_new() const { return load_le<std::uint32_t>(pram_.view(layout_.header, 4)) == 0; }

bool HftlTables::matches() const {
    LittleEndianReader in{pram_.view(layout_.header, HftlHeader::encoded_size)};
    const Geometry& g = units_.geometry();
    if (in.u32() != HftlHeader::magic || in.u16() != HftlHeader::version || in.u16() != units_.pages_per_unit() ||
        in.u32() != layout_.logical_pages || in.u32() != g.blocks() || in.u32() != g.pages_per_block())
        return false;
    for (std::uint32_t s = 0; s < layout_.slot_count; ++s) {
        const HftlSlot named = slot(s);
        if (named.scan_from > units_.units_per_block()) return false;
        if (named.block && (named.block->value() >= g.blocks() || g.plane_of(*named.block).value() != s / layout_.slots_a_plane)) return false;
    }
    return true;
}

bool HftlTables::was_clean() const { return load_le<std::uint32_t>(pram_.view(PramAddress{layout_.header.value() + clean_at}, 4)) == 1; }

std::uint64_t HftlTables::sequence_ceiling() const { return load_le<std::uint64_t>(pram_.view(PramAddress{layout_.header.value() + ceiling_at}, 8)); }

PramAddress HftlTables::block_at(BlockId block) const {
    return PramAddress{layout_.blocks.value() + std::uint64_t{block.value()} * HftlLayout::block_bytes};
}

PramAddress HftlTables::slot_at(std::uint32_t slot, std::uint64_t offset) const {
    return PramAddress{layout_.slots.value() + std::uint64_t{slot} * layout_.slot_bytes + offset};
}

HftlBlockState HftlTables::state(BlockId block) const { return static_cast<HftlBlockState>(pram_.view(block_at(block), 1)[0]); }

HftlSlot HftlTables::slot(std::uint32_t slot) const {
    LittleEndianReader in{pram_.view(slot_at(slot, 0), 8)};
    HftlSlot out;
    const std::uint32_t raw = in.u32();
    if (raw != 0) out.block = BlockId{raw - 1};
    out.scan_from = in.u32();
    return out;
}

bool HftlTables::is_dead(std::uint32_t slot, std::uint32_t unit) const {
    return ((dead_[std::size_t{slot} * units_.words_per_row() + unit / 64] >> (unit % 64)) & 1) != 0;
}

void HftlTables::begin(SimTime now, EventId parent) {
    ensure(transaction_.empty() && words_ == 0, "the transaction before was committed");
    now_ = now;
    end_ = now;
    parent_ = parent;
}

std::uint32_t HftlTables::next_entry(std::uint32_t from, std::uint32_t end) const {
    constexpr std::uint32_t at_once = TouchedParts::entries_a_part;
    static constexpr std::array<std::byte, at_once * entry_size> empty{};
    while ((from = touched_.next(from, end)) < end) {
        if (from % at_once == 0 && end - from >= at_once && std::memcmp(&cells_[std::size_t{from} * entry_size], empty.data(), empty.size()) == 0)
            from += at_once;
        else if (raw_entry(Lpn{from}) == 0)
            ++from;
        else
            break;
    }
    return from;
}

void HftlTables::step(std::size_t words) {
    ensure(words <= words_at_most_, "a step fits a record");
    if (words_ + words > words_at_most_) flush_transaction();
    words_ += words;
}

void HftlTables::set_header(bool clean, std::uint64_t sequence_ceiling) {
    step(5);
    std::array<std::byte, HftlHeader::encoded_size> raw{};
    LittleEndianWriter out{raw};
    out.u32(HftlHeader::magic);
    out.u16(HftlHeader::version);
    out.u16(static_cast<std::uint16_t>(units_.pages_per_unit()));
    out.u32(layout_.logical_pages);
    out.u32(units_.geometry().blocks());
    out.u32(units_.geometry().pages_per_block());
    out.u32(0);
    out.u32(clean ? 1 : 0);
    out.u32(0);
    out.u64(sequence_ceiling);
    ensure(out.full(), "header fields fill the header");
    transaction_.write(layout_.header, raw);
}

void HftlTables::map(Lpn lpn, UnitId to) {
    const auto old = committed(lpn);
    if (old == to) return;
    step(3);
    if (old) {
        bits_.clear(*old);
        touch_bit_word(*old);
    }
    bits_.set(to);
    touch_bit_word(to);
    touched_.touch(lpn.value());
    transaction_.write_u32(entry_at(lpn), to.value() + 1);
}

void HftlTables::set_state(BlockId block, HftlBlockState state) {
    step(1);
    const std::byte raw{static_cast<std::uint8_t>(state)};
    transaction_.write(block_at(block), {&raw, 1});
}

void HftlTables::open_slot(std::uint32_t slot, BlockId block, std::uint64_t sequence_ceiling) {
    const std::uint32_t words = units_.words_per_row();
    step(4 + words);
    std::ranges::fill_n(dead_.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot} * words), words, 0);
    for (std::uint32_t w = 0; w < words; ++w) touched_dead_.push_back(std::size_t{slot} * words + w);
    transaction_.write_u32(slot_at(slot, slot_block_at), block.value() + 1);
    transaction_.write_u32(slot_at(slot, slot_scan_at), 0);
    transaction_.write_u64(PramAddress{layout_.header.value() + ceiling_at}, sequence_ceiling);
    const std::byte raw{static_cast<std::uint8_t>(HftlBlockState::open)};
    transaction_.write(block_at(block), {&raw, 1});
}

void HftlTables::close_slot(std::uint32_t slot, BlockId block, HftlBlockState state) {
    step(3);
    transaction_.write_u32(slot_at(slot, slot_block_at), 0);
    const std::byte raw{static_cast<std::uint8_t>(state)};
    transaction_.write(block_at(block), {&raw, 1});
}

void HftlTables::set_scan_from(std::uint32_t slot, std::uint32_t unit) {
    step(1);
    transaction_.write_u32(slot_at(slot, slot_scan_at), unit);
}

void HftlTables::unmap(Lpn first, std::uint32_t pages, std::span<const DeadUnit> dead) {
    ensure(pages <= pages_per_unmap, "an unmap step is bounded");
    step(std::size_t{pages} / 2 + 2 + pages + std::min(dead.size(), dead_.size()));
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto old = committed(Lpn{first.value() + i});
        if (!old) continue;
        bits_.clear(*old);
        touch_bit_word(*old);
    }
    for (const DeadUnit& d : dead) {
        const std::size_t word = std::size_t{d.slot} * units_.words_per_row() + d.unit / 64;
        dead_[word] |= std::uint64_t{1} << (d.unit % 64);
        touched_dead_.push_back(word);
    }
    transaction_.write(entry_at(first), std::span{zeros_}.first(std::size_t{pages} * entry_size));
}

void HftlTables::flush_transaction() {
    sort_unique(touched_bits_);
    for (const std::size_t w : touched_bits_) transaction_.write_u64(PramAddress{layout_.bitmap.value() + w * 8}, bits_.word(w));
    sort_unique(touched_dead_);
    const std::uint32_t row = units_.words_per_row();
    for (const std::size_t w : touched_dead_)
        transaction_.write_u64(slot_at(static_cast<std::uint32_t>(w / row), slot_dead_at + w % row * 8), dead_[w]);
    if (!transaction_.empty()) {
        const auto done = log_.commit(transaction_, now_, parent_);
        ensure(done.has_value(), "a bounded transaction fits a record");
        end_ = std::max(end_, *done);
    }
    transaction_.clear();
    touched_bits_.clear();
    touched_dead_.clear();
    words_ = 0;
}

SimTime HftlTables::commit() {
    flush_transaction();
    return end_;
}

} // namespace flashlab
