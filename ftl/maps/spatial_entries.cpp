#include "ftl/maps/spatial_entries.h"

#include <algorithm>

#include "ftl/maps/page_table.h"

namespace flashlab {

namespace {

constexpr std::uint32_t record_bytes = 16; // of a cached page: its number, two links, runs and their shape

/// It does not follow from the one before it. Unmapped entries are runs of their own. No branches: of a page that was read all entries are compared.
constexpr auto does_not_follow = [](std::uint32_t before, std::uint32_t entry, std::uint32_t step) {
    const bool are_mapped = (before != map_entry::unmapped) & (entry != map_entry::unmapped);
    return ((before | entry) != map_entry::unmapped) & !(are_mapped & (entry == before + step));
};

/// For how many entries the condition holds of the one before it, itself and the step.
template <class Condition>
std::uint32_t count_pairs(std::span<const std::uint32_t> entries, RunShape shape, const Condition& holds) {
    std::uint32_t count = 0;
    for (std::size_t at = shape.apart; at < entries.size(); ++at) count += holds(entries[at - shape.apart], entries[at], shape.step);
    return count;
}

} // namespace

SpatialEntries::SpatialEntries(const CachedEntries& cached, std::uint32_t entries_per_page, std::uint32_t translation_pages,
                               const SpatialShape& shape)
    : EntrySlots{cached.count, entries_per_page, translation_pages}, capacity_{cached.count}, bytes_each_{cached.bytes_each},
      dirty_at_most_{cached.count}, shape_{shape}, frames_(translation_pages), most_(entries_per_page + 1, none) {}

// Runs

bool SpatialEntries::begins_run(Lpn lpn, const RunShape& shape) const {
    return lpn.value() % entries_per_page() < shape.apart || does_not_follow(*peek(Lpn{lpn.value() - shape.apart}), *peek(lpn), shape.step);
}

std::uint32_t SpatialEntries::bytes_of(std::uint32_t page, std::uint32_t runs) const {
    return record_bytes + std::min(4 * runs + bits(), 4 * entries_per_page()) + (dirty_of(page) == 0 ? 0 : bits());
}

std::uint32_t SpatialEntries::bytes_of(std::uint32_t page) const { return bytes_of(page, std::ranges::min(frames_[page].runs)); }

std::uint32_t SpatialEntries::page_bytes(std::uint32_t page) {
    return bytes_of(page, std::ranges::min(holds(page) ? frames_[page].runs : runs_of(page)));
}

std::uint32_t SpatialEntries::least_page_bytes() const { return record_bytes + std::min(bits(), 4 * entries_per_page()); }

std::uint32_t SpatialEntries::most_page_bytes() const { return record_bytes + 4 * entries_per_page() + bits(); }

/// What depends on the entry is counted anew.
template <class Change>
void SpatialEntries::change_runs(Lpn lpn, const Change& change) {
    const std::uint32_t page = page_of(lpn), end = (page + 1) * entries_per_page();
    Frame& frame = frames_[page];
    page_bytes_ -= bytes_of(page);
    const auto count = [&](std::size_t i) {
        const RunShape& shape = shape_.runs[i];
        const bool has_next = lpn.value() + shape.apart < end;
        return (begins_run(lpn, shape) ? 1u : 0u) + (has_next && begins_run(Lpn{lpn.value() + shape.apart}, shape) ? 1u : 0u);
    };
    for (std::size_t i = 0; i < shape_.runs.size(); ++i) frame.runs[i] -= count(i);
    change();
    for (std::size_t i = 0; i < shape_.runs.size(); ++i) frame.runs[i] += count(i);
    page_bytes_ += bytes_of(page);
}

SpatialEntries::Runs SpatialEntries::runs_of(std::uint32_t page) {
    const auto stored = stored_.subspan(std::size_t{page} * entries_per_page(), entries_per_page());
    entries_.assign(stored.begin(), stored.end());
    for_each_dirty_of(page, [&](Lpn lpn, std::uint32_t entry) { entries_[lpn.value() % entries_per_page()] = entry; });
    std::uint32_t holes = 0;
    for (const std::uint32_t entry : entries_) holes += entry == map_entry::unmapped;
    Runs runs;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const RunShape shape = shape_.runs[i];
        runs[i] = std::min(shape.apart, entries_per_page());
        if (holes == 0) // as most pages: half of the time
            runs[i] += count_pairs(entries_, shape, [](auto before, auto entry, auto step) { return entry != before + step; });
        else
            runs[i] += count_pairs(entries_, shape, does_not_follow);
    }
    return runs;
}

// Pages

void SpatialEntries::link_page(std::uint32_t page) {
    frames_[page].hotter = none;
    frames_[page].colder = pages_.hot;
    (pages_.hot == none ? pages_.cold : frames_[pages_.hot].hotter) = page;
    pages_.hot = page;
}

void SpatialEntries::unlink_page(std::uint32_t page) {
    const Frame& frame = frames_[page];
    (frame.hotter == none ? pages_.hot : frames_[frame.hotter].colder) = frame.colder;
    (frame.colder == none ? pages_.cold : frames_[frame.colder].hotter) = frame.hotter;
}

/// Pages with as many entries stand in a list; the one that came last is written first.
void SpatialEntries::set_buffered(std::uint32_t page, std::uint32_t count) {
    Frame& frame = frames_[page];
    if (frame.buffered != 0) {
        (frame.more == none ? most_[frame.buffered] : frames_[frame.more].fewer) = frame.fewer;
        if (frame.fewer != none) frames_[frame.fewer].more = frame.more;
    }
    buffered_ += count - frame.buffered;
    frame.buffered = count;
    if (count != 0) {
        frame.more = none;
        frame.fewer = most_[count];
        if (frame.fewer != none) frames_[frame.fewer].more = page;
        most_[count] = page;
        most_buffered_ = std::max(most_buffered_, count);
    }
    while (most_buffered_ != 0 && most_[most_buffered_] == none) --most_buffered_;
}

void SpatialEntries::insert_page(std::uint32_t page) {
    ensure(!holds(page), "a page is cached once");
    set_buffered(page, 0);
    for (std::uint32_t s = dirty_head(page); s != none; s = slots_[s].dirty_next)
        if (slots_[s].is_deferred) undefer(s);
    frames_[page].is_cached = true;
    ++cached_pages_;
    link_page(page);
    frames_[page].runs = runs_of(page);
    page_bytes_ += bytes_of(page);
}

void SpatialEntries::evict_page(std::uint32_t page) {
    ensure(holds(page), "only a cached page is evicted");
    page_bytes_ -= bytes_of(page);
    unlink_page(page);
    frames_[page].is_cached = false;
    --cached_pages_;
    set_buffered(page, dirty_of(page));
}

// Entries

std::optional<std::uint32_t> SpatialEntries::use(Lpn lpn) {
    const std::uint32_t page = page_of(lpn), s = slot_of(lpn);
    if (holds(page)) {
        if (page != pages_.hot) {
            unlink_page(page);
            link_page(page);
        }
        return peek(lpn);
    }
    if (s == none) return std::nullopt;
    if (slots_[s].is_deferred) {
        undefer(s);
        set_buffered(page, frames_[page].buffered + 1);
    }
    return slots_[s].entry;
}

void SpatialEntries::insert(Lpn lpn, std::uint32_t entry, bool is_dirty) {
    const std::uint32_t page = page_of(lpn);
    ensure(is_dirty && !holds(page), "clean entries come as whole pages, and a cached page has all of its entries");
    mark_dirty(take_slot(lpn, entry));
    set_buffered(page, frames_[page].buffered + 1);
}

void SpatialEntries::update(Lpn lpn, std::uint32_t entry) {
    const auto change = [&] {
        const std::uint32_t s = slot_of(lpn);
        if (s != none)
            slots_[s].entry = entry;
        else
            mark_dirty(take_slot(lpn, entry));
    };
    if (holds(lpn)) return change_runs(lpn, change);
    ensure(slot_of(lpn) != none, "only a cached entry is updated");
    change();
}

void SpatialEntries::drop(std::uint32_t s) {
    if (slots_[s].is_deferred) undefer(s);
    mark_clean(s);
    drop_slot(s);
}

void SpatialEntries::remove(Lpn lpn) {
    const std::uint32_t page = page_of(lpn);
    if (holds(page)) evict_page(page);
    const std::uint32_t s = slot_of(lpn);
    if (s == none) return;
    if (!slots_[s].is_deferred) set_buffered(page, frames_[page].buffered - 1);
    drop(s);
}

std::optional<SpatialEntries::Victim> SpatialEntries::victim() const {
    const auto of_page = [this](std::uint32_t page, bool is_dirty) { return Victim{Lpn{page * entries_per_page()}, is_dirty}; };
    std::uint32_t coldest = pages_.cold;
    if (is_too_dirty())
        while (coldest != none && dirty_of(coldest) == 0) coldest = frames_[coldest].hotter;
    if (buffered_ != 0 && (coldest == none || has_buffer_more())) return of_page(most_[most_buffered_], true);
    if (coldest == none) return std::nullopt;
    return of_page(coldest, is_too_dirty() || dirty_of(coldest) > shape_.sparse_entries);
}

/// Stored and cached entries are the same now, so runs are as they were.
void SpatialEntries::clean(std::uint32_t page) {
    if (holds(page)) page_bytes_ -= bytes_of(page);
    while (dirty_head(page) != none) drop(dirty_head(page));
    if (holds(page))
        page_bytes_ += bytes_of(page);
    else
        set_buffered(page, 0);
}

void SpatialEntries::clean(Lpn lpn) {
    const std::uint32_t page = page_of(lpn), s = slot_of(lpn);
    if (holds(page)) page_bytes_ -= bytes_of(page);
    if (!holds(page) && !slots_[s].is_deferred) set_buffered(page, frames_[page].buffered - 1);
    drop(s);
    if (holds(page)) page_bytes_ += bytes_of(page);
}

int SpatialEntries::broken_invariant() {
    std::uint64_t bytes = 0, buffered = 0;
    std::uint32_t cached = 0;
    for (std::uint32_t page = 0; page < frames_.size(); ++page) {
        const Frame& frame = frames_[page];
        std::uint32_t waiting = 0;
        for (std::uint32_t s = dirty_head(page); s != none; s = slots_[s].dirty_next) waiting += slots_[s].is_deferred ? 1 : 0;
        if (!frame.is_cached) {
            if (frame.buffered != dirty_of(page) - waiting || frame.buffered > most_buffered_) return 3;
            buffered += frame.buffered;
            continue;
        }
        if (waiting != 0) return 1;
        if (runs_of(page) != frame.runs) return 2;
        bytes += bytes_of(page);
        ++cached;
    }
    if (bytes != page_bytes_ || cached != cached_pages_) return 2;
    return buffered == buffered_ && size() == dirty() ? 0 : 3;
}

} // namespace flashlab
