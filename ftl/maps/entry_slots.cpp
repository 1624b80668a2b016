#include "ftl/maps/entry_slots.h"

namespace flashlab {

EntrySlots::EntrySlots(std::uint32_t capacity, std::uint32_t entries_per_page, std::uint32_t translation_pages)
    : entries_per_page_{entries_per_page}, dirty_head_(translation_pages, none), dirty_count_(translation_pages, 0),
      is_cached_(std::size_t{entries_per_page} * translation_pages) {
    ensure(capacity >= 1 && entries_per_page >= 1, "a mapping cache holds an entry");
    slots_.reserve(capacity);
    index_.reserve(capacity);
}

std::uint32_t EntrySlots::take_slot(Lpn lpn, std::uint32_t entry) {
    std::uint32_t s = 0;
    if (unused_.empty()) {
        s = static_cast<std::uint32_t>(slots_.size());
        slots_.emplace_back();
    } else {
        s = unused_.back();
        unused_.pop_back();
    }
    slots_[s] = Slot{.lpn = lpn.value(), .entry = entry};
    ensure(index_.emplace(lpn.value(), s).second, "an entry is cached once"); // K1
    is_cached_[lpn.value()] = true;
    return s;
}

void EntrySlots::drop_slot(std::uint32_t s) { free_slot(forget_key(Lpn{slots_[s].lpn})); }

std::uint32_t EntrySlots::forget_key(Lpn lpn) {
    const auto at = index_.find(lpn.value());
    ensure(at != index_.end(), "only a cached entry is removed");
    const std::uint32_t s = at->second;
    index_.erase(at);
    is_cached_[lpn.value()] = false;
    return s;
}

void EntrySlots::undefer(std::uint32_t s) {
    unlink(s, waiting_);
    slots_[s].is_deferred = false;
    --deferred_;
}

void EntrySlots::defer_slot(Lpn lpn, std::uint32_t entry) {
    const std::uint32_t s = take_slot(lpn, entry);
    link_hot(s, waiting_);
    slots_[s].is_deferred = true;
    ++deferred_;
    mark_dirty(s);
}

void EntrySlots::mark_dirty(std::uint32_t s) {
    Slot& slot = slots_[s];
    if (slot.is_dirty()) return;
    const std::uint32_t page = page_of(s);
    slot.dirty_previous = none;
    slot.dirty_next = dirty_head_[page];
    if (slot.dirty_next != none) slots_[slot.dirty_next].dirty_previous = s;
    dirty_head_[page] = s;
    ++dirty_count_[page];
    ++dirty_;
}

void EntrySlots::mark_clean(std::uint32_t s) {
    Slot& slot = slots_[s];
    if (!slot.is_dirty()) return;
    const std::uint32_t page = page_of(s);
    (slot.dirty_previous == none ? dirty_head_[page] : slots_[slot.dirty_previous].dirty_next) = slot.dirty_next;
    if (slot.dirty_next != none) slots_[slot.dirty_next].dirty_previous = slot.dirty_previous;
    slot.dirty_previous = clean_entry;
    --dirty_count_[page];
    --dirty_;
}

} // namespace flashlab
