#include "ftl/maps/lru_entries.h"

namespace flashlab {

LruEntries::LruEntries(std::uint32_t capacity, std::uint32_t entries_per_page, std::uint32_t translation_pages)
    : capacity_{capacity}, entries_per_page_{entries_per_page}, dirty_head_(translation_pages, none), dirty_count_(translation_pages, 0),
      is_cached_(std::size_t{entries_per_page} * translation_pages) {
    ensure(capacity >= 1 && entries_per_page >= 1, "a mapping cache holds an entry");
    slots_.reserve(capacity);
    index_.reserve(capacity);
}

std::uint32_t LruEntries::take_slot(Lpn lpn, std::uint32_t entry) {
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

void LruEntries::link_hot(std::uint32_t s, Order& order) {
    slots_[s].hotter = none;
    slots_[s].colder = order.hot;
    (order.hot == none ? order.cold : slots_[order.hot].hotter) = s;
    order.hot = s;
}

void LruEntries::link_cold(std::uint32_t s, Order& order) {
    slots_[s].colder = none;
    slots_[s].hotter = order.cold;
    (order.cold == none ? order.hot : slots_[order.cold].colder) = s;
    order.cold = s;
}

/// Deferred or not, it is neither afterwards.
void LruEntries::unlink(std::uint32_t s) {
    Slot& slot = slots_[s];
    Order& order = slot.is_deferred ? waiting_ : used_;
    (slot.hotter == none ? order.hot : slots_[slot.hotter].colder) = slot.colder;
    (slot.colder == none ? order.cold : slots_[slot.colder].hotter) = slot.hotter;
    deferred_ -= slot.is_deferred ? 1 : 0;
    slot.is_deferred = false;
}

void LruEntries::mark_dirty(std::uint32_t s) {
    Slot& slot = slots_[s];
    if (slot.is_dirty()) return;
    const std::uint32_t page = page_of(slot);
    slot.dirty_previous = none;
    slot.dirty_next = dirty_head_[page];
    if (slot.dirty_next != none) slots_[slot.dirty_next].dirty_previous = s;
    dirty_head_[page] = s;
    ++dirty_count_[page];
    ++dirty_;
}

void LruEntries::mark_clean(std::uint32_t s) {
    Slot& slot = slots_[s];
    if (!slot.is_dirty()) return;
    const std::uint32_t page = page_of(slot);
    (slot.dirty_previous == none ? dirty_head_[page] : slots_[slot.dirty_previous].dirty_next) = slot.dirty_next;
    if (slot.dirty_next != none) slots_[slot.dirty_next].dirty_previous = slot.dirty_previous;
    slot.dirty_previous = clean_entry;
    --dirty_count_[page];
    --dirty_;
}

std::optional<std::uint32_t> LruEntries::peek(Lpn lpn) const {
    const std::uint32_t s = slot_of(lpn);
    return s == none ? std::nullopt : std::optional{slots_[s].entry};
}

std::optional<std::uint32_t> LruEntries::use(Lpn lpn) {
    const std::uint32_t s = slot_of(lpn);
    if (s == none) return std::nullopt;
    if (s != used_.hot) {
        unlink(s);
        link_hot(s, used_);
    }
    return slots_[s].entry;
}

void LruEntries::insert(Lpn lpn, std::uint32_t entry, bool is_dirty) {
    const std::uint32_t s = take_slot(lpn, entry);
    link_hot(s, used_);
    if (is_dirty) mark_dirty(s);
}

void LruEntries::insert_cold(Lpn lpn, std::uint32_t entry) {
    const std::uint32_t s = take_slot(lpn, entry);
    link_cold(s, used_);
    mark_dirty(s);
}

void LruEntries::defer(Lpn lpn, std::uint32_t entry) {
    const std::uint32_t s = take_slot(lpn, entry);
    link_hot(s, waiting_);
    slots_[s].is_deferred = true;
    ++deferred_;
    mark_dirty(s);
}

void LruEntries::update(Lpn lpn, std::uint32_t entry) {
    const std::uint32_t s = slot_of(lpn);
    ensure(s != none, "only a cached entry is updated");
    slots_[s].entry = entry;
    mark_dirty(s);
}

void LruEntries::remove(Lpn lpn) {
    const std::uint32_t s = slot_of(lpn);
    ensure(s != none, "only a cached entry is removed");
    mark_clean(s);
    unlink(s);
    index_.erase(lpn.value());
    is_cached_[lpn.value()] = false;
    unused_.push_back(s);
}

std::optional<LruEntries::Victim> LruEntries::victim() const {
    if (used_.cold == none) return std::nullopt;
    return Victim{Lpn{slots_[used_.cold].lpn}, slots_[used_.cold].is_dirty()};
}

void LruEntries::clean(std::uint32_t page) {
    while (dirty_head_[page] != none) {
        const std::uint32_t s = dirty_head_[page];
        mark_clean(s);
        if (!slots_[s].is_deferred) continue;
        unlink(s);
        link_cold(s, used_);
    }
}

} // namespace flashlab
