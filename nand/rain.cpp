#include "nand/rain.h"

#include <algorithm>
#include <utility>

#include "base/contract.h"
#include "base/crc32c.h"
#include "nand/join_results.h"
#include "nand/rain_rows.h"
#include "nand/row_sum.h"

namespace flashlab {

namespace {

Geometry seen_of(const Geometry& chips, std::uint32_t width) {
    const auto geometry = chips.with_parity(width);
    ensure(geometry.has_value(), "NandArray: dies that Geometry::with_parity() accepts");
    return *geometry;
}

} // namespace

std::vector<DieId> dies_of_rows(const Geometry& chips, std::uint32_t width) {
    const std::uint32_t channels = chips.channels(), each = chips.dies() / channels;
    const std::uint32_t over = std::min(width, channels), deep = width / over;
    std::vector<DieId> dies;
    dies.reserve(chips.dies());
    for (std::uint32_t first = 0; first < channels; first += over)
        for (std::uint32_t local = 0; local < each; local += deep)
            for (std::uint32_t m = 0; m < width; ++m) dies.emplace_back((first + m % over) * each + local + m / over);
    return dies;
}

std::uint32_t line_of_rows(const NandConfig& nand) {
    const std::uint32_t subpages = nand.options.subpages, line = subpages * (std::to_underlying(nand.geometry.cell) + 1u);
    return nand.geometry.pages_per_block % line == 0 ? line : subpages;
}

NandArray::Rain::Rain(Impl& chips)
    : chips_{chips}, width_{chips.config.rain}, data_{width_ - 1}, line_{line_of_rows(chips.config)}, geometry_{seen_of(chips.geometry, width_)},
      dies_{dies_of_rows(chips.geometry, width_)}, group_(dies_.size()), order_(geometry_.blocks()), was_dead_(dies_.size()) {
    ensure(chips.geometry.pages_per_block() % line_ == 0 && chips.media.is_single() && !chips.guard,
           "NandArray: a row has whole lines of blocks in one mode, and pairs are not guarded");
    for (std::uint32_t i = 0; i < dies_.size(); ++i) group_[dies_[i].value()] = i / width_;
    if (chips.store.keeps_payload()) scratch_.resize(geometry_.page_bytes());
}

// Which page lies where

DieId NandArray::Rain::die_of(BlockId block, std::uint32_t m) const {
    return dies_[std::size_t{geometry_.die_of(geometry_.plane_of(block)).value()} * width_ + m];
}

BlockId NandArray::Rain::member(BlockId block, std::uint32_t m) const {
    const PlaneId plane = geometry_.plane_of(block);
    const DieId die = geometry_.die_of(plane);
    const PlaneId own = chips_.geometry.plane_at(die_of(block, m), plane.value() - geometry_.plane_at(die, 0).value());
    return chips_.geometry.block_at(own, block.value() - geometry_.block_at(plane, 0).value());
}

BlockId NandArray::Rain::seen(BlockId of_chips) const {
    const Geometry& g = chips_.geometry;
    const PlaneId plane = g.plane_of(of_chips);
    const DieId die = g.die_of(plane);
    const PlaneId own = geometry_.plane_at(DieId{group_[die.value()]}, plane.value() - g.plane_at(die, 0).value());
    return geometry_.block_at(own, of_chips.value() - g.block_at(plane, 0).value());
}

std::uint32_t NandArray::Rain::without(BlockId block) const {
    if (!order_[block.value()].has_bad_member) [[likely]]
        return none;
    std::uint32_t lost = none;
    for (std::uint32_t m = 0; m < width_; ++m) {
        if (!chips_.blocks.is_grown_bad(member(block, m))) continue;
        if (lost != none) return none; // it is bad, and its pages lie where they lay
        lost = m;
    }
    return lost;
}

std::expected<bool, HostIoError> NandArray::Rain::read_cells(Ppn of_chips) {
    const auto record = chips_.store.read_record(of_chips);
    if (!record) return std::unexpected(record.error());
    if (auto read = chips_.store.read_data(of_chips, 0, scratch_); !read) return std::unexpected(read.error());
    return crc32c(scratch_) == record->data_crc;
}

std::uint32_t NandArray::Rain::parity_member(BlockId block, std::uint32_t row) const {
    const std::uint32_t lost = without(block);
    return lost == none ? row % width_ : lost;
}

NandArray::Rain::Place NandArray::Rain::place_of(Ppn page) const {
    const BlockId block = geometry_.block_of(page);
    const std::uint32_t at = geometry_.page_in_block(page), line = at / line_, row = line / data_, nth = line % data_;
    const std::uint32_t m = nth < parity_member(block, row) ? nth : nth + 1;
    return {row, m, in_row(block, row, m, at % line_)};
}

bool NandArray::Rain::is_programmed(Ppn of_chips) const {
    const auto known = chips_.store.read_oob(of_chips);
    return known && known->state == CellState::programmed && known->oob.has_value();
}

std::uint32_t NandArray::Rain::write_pointer(BlockId block) {
    const std::uint32_t lost = without(block);
    std::uint32_t most = 0;
    for (std::uint32_t m = 0; m < width_; ++m) {
        if (m == lost) continue;
        const std::uint32_t next = chips_.write_pointer(member(block, m));
        if (next == 0) continue;
        const std::uint32_t row = (next - 1) / line_, parity = parity_member(block, row);
        const std::uint32_t nth = m < parity ? m : m - 1;
        most = std::max(most, m == parity ? (row + 1) * row_pages() : row * row_pages() + nth * line_ + (next - row * line_));
    }
    return most;
}

// Programs and erases

NandArray::Rain::Done NandArray::Rain::program(std::span<const PageProgram> pages, const Io& io) {
    ensure(!pages.empty(), "a program has one page a plane");
    SimTime from = io.when;
    for (const PageProgram& page : pages) {
        const BlockId block = geometry_.block_of(page.page);
        if (geometry_.page_in_block(page.page) == 0 && chips_.faults != nullptr) {
            const Done dropped = drop_dead(block, from);
            if (!dropped) return dropped;
            from = *dropped;
        }
        from = std::max(from, order_[block.value()].erased);
    }
    Done all = from;
    for (std::size_t begin = 0, end = 0; begin < pages.size(); begin = end) {
        // One group of all, but where blocks have lost a die, or not yet.
        const std::uint32_t m = place_of(pages[begin].page).member;
        const bool is_stored = !goes_into_parity(geometry_.block_of(pages[begin].page), m);
        for (parts_.clear(); end < pages.size(); ++end) {
            const Place place = place_of(pages[end].page);
            if (place.member != m || is_stored == goes_into_parity(geometry_.block_of(pages[end].page), m)) break;
            parts_.push_back(pages[end]);
            parts_.back().page = place.page;
        }
        NandFaults* const faults = std::exchange(chips_.faults, is_stored ? chips_.faults : nullptr);
        Done one = chips_.program(parts_, io.at(from));
        chips_.faults = faults;
        const auto failed = one ? parts_.begin() : std::ranges::find(parts_, one.error().page, &PageProgram::page);
        join(all, one, pages[begin + static_cast<std::size_t>(failed - parts_.begin()) % parts_.size()].page);
        if (has_failed_image(all)) return all;
    }
    SimTime end = all ? *all : all.error().done;
    for (const PageProgram& page : pages) end = std::max(end, order_[geometry_.block_of(page.page).value()].end);
    for (const PageProgram& page : pages) order_[geometry_.block_of(page.page).value()].end = end;
    if (!all) {
        all.error().done = end;
        return all;
    }
    if ((geometry_.page_in_block(pages.back().page) + 1) % row_pages() == 0) {
        for (const PageProgram& page : pages)
            if (io.transfer != nullptr && page.by == nullptr) from = std::max(from, io.transfer->arrival_of(page.oob.lpn));
        const Done protected_by = program_parity(pages, io.as(Cause::parity).at(from).behind());
        if (has_failed_image(protected_by)) return protected_by;
    }
    return end;
}

/// The member's die is dead, and no other: what it should hold is kept by the parity alone. Here its cells stand for that.
bool NandArray::Rain::goes_into_parity(BlockId block, std::uint32_t m) const {
    if (!is_dead(die_of(block, m)) || without(block) != none) return false;
    for (std::uint32_t other = 0; other < width_; ++other)
        if (other != m && is_dead(die_of(block, other))) return false;
    return true;
}

/// Of the row that these pages have filled, on each of their blocks. A parity page that is not written, or fails, is no failure of theirs.
NandArray::Rain::Done NandArray::Rain::program_parity(std::span<const PageProgram> pages, const Io& io) {
    const std::uint32_t row = geometry_.page_in_block(pages.back().page) / row_pages();
    ended_.clear();
    for (const PageProgram& page : pages) {
        const BlockId block = geometry_.block_of(page.page);
        if (without(block) != none || is_dead(die_of(block, row % width_))) continue;
        if (ended_.empty() || ended_.back() != block) ended_.push_back(block);
    }
    if (chips_.store.keeps_payload()) parity_.resize(std::size_t{geometry_.page_bytes()} * line_ * ended_.size());
    parts_.clear();
    for (const BlockId block : ended_)
        if (auto added = add_parity(block, row); !added) return std::unexpected(chips_.host_error(added.error(), pages.back().page, io.when));
    // Lines of a block that no program takes together (nand.one_shot) go page by page of the chip, all blocks at once.
    const std::size_t at_once = chips_.pages_a_program;
    Done all = io.when;
    for (std::size_t first = 0; first < line_ && !parts_.empty() && !has_failed_image(all); first += at_once) {
        slice_.clear();
        for (std::size_t i = 0; i < parts_.size(); ++i)
            if (const std::size_t of_line = i % line_; of_line >= first && of_line < first + at_once) slice_.push_back(parts_[i]);
        join(all, chips_.program(slice_, io), pages.back().page);
    }
    return all;
}

/// Appends to parts_ what the row's parity is, if it has one (R1).
std::expected<void, HostIoError> NandArray::Rain::add_parity(BlockId block, std::uint32_t row) {
    const std::uint32_t parity = parity_member(block, row), first = row * row_pages();
    for (std::uint32_t i = 0; i < row_pages(); ++i)
        if (!is_programmed(place_of(geometry_.page_of(block, first + i)).page)) return {};
    const std::size_t page_bytes = chips_.store.keeps_payload() ? geometry_.page_bytes() : 0, before = parts_.size();
    for (std::uint32_t offset = 0; offset < line_; ++offset) {
        const auto sum = std::span{parity_}.subspan(parts_.size() * page_bytes, page_bytes);
        std::ranges::fill(sum, std::byte{0});
        PageOob oob = no_page;
        for (std::uint32_t m = 0; m < width_; ++m) {
            if (m == parity) continue;
            const Ppn page = in_row(block, row, m, offset);
            oob = exclusive_or(oob, *chips_.store.read_oob(page)->oob, PageKind::parity);
            if (page_bytes == 0) continue;
            const auto is_sound = read_cells(page);
            if (!is_sound) return std::unexpected(is_sound.error());
            if (!*is_sound) { // the image was damaged meanwhile: no sum shall hide it
                parts_.resize(before, PageProgram{page, {}, {}});
                return {};
            }
            exclusive_or(sum, scratch_);
        }
        parts_.push_back({in_row(block, row, parity, offset), sum, oob});
    }
    return {};
}

NandArray::Rain::Done NandArray::Rain::drop_dead(BlockId block, SimTime now) {
    if (without(block) != none) return now;
    for (std::uint32_t m = 0; m < width_; ++m) {
        if (!is_dead(die_of(block, m))) continue;
        order_[block.value()].has_bad_member = true;
        return chips_.mark_bad(member(block, m), now);
    }
    return now;
}

NandArray::Rain::Done NandArray::Rain::erase(BlockId block, CellType mode, const Io& io) {
    const std::uint32_t lost = without(block);
    std::uint32_t dead = none;
    Done all = io.when;
    for (std::uint32_t m = 0; m < width_; ++m) {
        if (m == lost) continue;
        const bool is_dropped = lost == none && dead == none && is_dead(die_of(block, m));
        if (is_dropped) dead = m;
        // What its cells stand for is gone, too: else a cut before the mark would leave a page of an earlier life to be believed.
        NandFaults* const faults = std::exchange(chips_.faults, is_dropped ? nullptr : chips_.faults);
        const Done one = chips_.erase(member(block, m), mode, io);
        chips_.faults = faults;
        join(all, one, geometry_.page_of(block, 0));
        if (has_failed_image(all)) return all;
    }
    if (all && dead != none) all = drop_dead(block, *all);
    if (has_failed_image(all)) return all;
    const SimTime end = all ? *all : all.error().done;
    order_[block.value()].erased = order_[block.value()].end = end;
    return all;
}

NandArray::Rain::Done NandArray::Rain::erase_two_plane(std::span<const BlockId, 2> blocks, const Io& io) {
    Done all = io.when;
    for (const BlockId block : blocks) {
        join(all, erase(block, chips_.media.own(), io), geometry_.page_of(block, 0));
        if (has_failed_image(all)) break;
    }
    return all;
}

/// All members' marks stand from one instant on.
NandArray::Rain::Done NandArray::Rain::mark_bad(BlockId block, SimTime now) {
    for (std::uint32_t m = 0; m < width_; ++m) now = chips_.busy_until(member(block, m), now);
    order_[block.value()].has_bad_member = true;
    for (std::uint32_t m = 0; m < width_; ++m) {
        if (auto marked = chips_.mark_bad(member(block, m), now); !marked) return marked;
    }
    return now;
}

std::expected<CopiedPage, NandError> NandArray::Rain::copy(Ppn from, Ppn to, const CopyMarks* marks, const Io& io) {
    const auto known = inspect_oob(from); // before the read, which may be the last that succeeds
    if (chips_.store.keeps_payload()) page_.resize(geometry_.page_bytes());
    const Done got = read(PageRead{from, 0, geometry_.page_bytes(), page_}, io);
    if (!got) return std::unexpected(got.error());
    if (!known) return std::unexpected(known.error());
    if (!known->oob) return std::unexpected(NandError{NandErrorKind::uncorrectable, from, *got});
    const PageOob oob = oob_of_copy(*known->oob, marks);
    const PageProgram again{to, page_, oob};
    const Done done = program({&again, 1}, io.at(*got));
    if (!done) return std::unexpected(done.error());
    return CopiedPage{*done, oob};
}

// What is known of blocks

void NandArray::Rain::opened() {
    for (const BlockId block : ids<BlockId>(chips_.geometry.blocks())) {
        Order& seen_block = order_[seen(block).value()];
        seen_block.is_factory_bad = seen_block.is_factory_bad || chips_.blocks.is_factory_bad(block);
        seen_block.has_bad_member = seen_block.has_bad_member || chips_.blocks.is_grown_bad(block);
    }
}

bool NandArray::Rain::is_bad(BlockId block) const {
    const Order& order = order_[block.value()];
    if (order.is_factory_bad) return true;
    std::uint32_t bad = 0;
    for (std::uint32_t m = 0; order.has_bad_member && m < width_; ++m) bad += chips_.blocks.is_grown_bad(member(block, m)) ? 1 : 0;
    return bad > 1;
}

std::uint32_t NandArray::Rain::erase_count(BlockId block) const {
    std::uint32_t most = 0;
    for (std::uint32_t m = 0; m < width_; ++m) most = std::max(most, chips_.blocks.erase_count(member(block, m)));
    return most;
}

SimTime NandArray::Rain::plane_free_at(PlaneId plane) const {
    const BlockId block = geometry_.block_at(plane, 0);
    SimTime first = sim_never;
    for (std::uint32_t m = 0; m < width_; ++m)
        if (!is_dead(die_of(block, m))) first = std::min(first, chips_.scheduler.plane_free_at(chips_.geometry.plane_of(member(block, m))));
    return first == sim_never ? sim_start : first;
}

std::size_t NandArray::Rain::dead_dies() const {
    return static_cast<std::size_t>(std::ranges::count_if(dies_, [&](DieId die) { return is_dead(die); }));
}

bool NandArray::Rain::has_lost_parity() const {
    if (dead_dies() != 0) return true;
    const auto goes_on_without = [&](BlockId block) { return without(block) != none && !is_bad(block); };
    return std::ranges::any_of(ids<BlockId>(geometry_.blocks()), goes_on_without);
}

std::optional<BlockId> NandArray::Rain::take_degraded() {
    if (chips_.faults == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < dies_.size(); ++i) {
        const bool dead = is_dead(dies_[i]);
        if (was_dead_[i] != dead) rebuild_next_ = 0;
        was_dead_[i] = dead;
    }
    while (rebuild_next_ < geometry_.blocks()) {
        const BlockId block{rebuild_next_++};
        const auto members = std::span{dies_}.subspan(std::size_t{geometry_.die_of(geometry_.plane_of(block)).value()} * width_, width_);
        const bool has_dead = std::ranges::any_of(members, [&](DieId die) { return is_dead(die); });
        if (has_dead && without(block) == none && !is_bad(block) && write_pointer(block) != 0) return block;
    }
    return std::nullopt;
}

} // namespace flashlab
