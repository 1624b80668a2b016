#include "ftl/cache/mapping_cache.h"

namespace flashlab {

MappingCache::MappingCache(std::uint32_t capacity, std::uint32_t entries_per_page, std::uint32_t translation_pages)
    : capacity_{capacity}, entries_per_page_{entries_per_page}, dirty_head_(translation_pages, none), dirty_count_(translation_pages, 0) {
    ensure(capacity >= 1 && entries_per_page >= 1, "a mapping cache holds an entry");
    slots_.reserve(capacity);
    index_.reserve(capacity);
}

std::uint32_t MappingCache::take_slot(Lpn lpn, std::uint32_t entry) {
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
    return s;
}

void MappingCache::link_hot(std::uint32_t s) {
    slots_[s].hotter = none;
    slots_[s].colder = hot_;
    (hot_ == none ? cold_ : slots_[hot_].hotter) = s;
    hot_ = s;
}

void MappingCache::link_cold(std::uint32_t s) {
    slots_[s].colder = none;
    slots_[s].hotter = cold_;
    (cold_ == none ? hot_ : slots_[cold_].colder) = s;
    cold_ = s;
}

void MappingCache::unlink(std::uint32_t s) {
    const Slot& slot = slots_[s];
    (slot.hotter == none ? hot_ : slots_[slot.hotter].colder) = slot.colder;
    (slot.colder == none ? cold_ : slots_[slot.colder].hotter) = slot.hotter;
}

void MappingCache::mark_dirty(std::uint32_t s) {
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

void MappingCache::mark_clean(std::uint32_t s) {
    Slot& slot = slots_[s];
    if (!slot.is_dirty()) return;
    const std::uint32_t page = page_of(slot);
    (slot.dirty_previous == none ? dirty_head_[page] : slots_[slot.dirty_previous].dirty_next) = slot.dirty_next;
    if (slot.dirty_next != none) slots_[slot.dirty_next].dirty_previous = slot.dirty_previous;
    slot.dirty_previous = clean_entry;
    --dirty_count_[page];
    --dirty_;
}

std::optional<std::uint32_t> MappingCache::peek(Lpn lpn) const {
    const std::uint32_t s = slot_of(lpn);
    return s == none ? std::nullopt : std::optional{slots_[s].entry};
}

std::optional<std::uint32_t> MappingCache::use(Lpn lpn) {
    const std::uint32_t s = slot_of(lpn);
    if (s == none) return std::nullopt;
    if (s != hot_) {
        unlink(s);
        link_hot(s);
    }
    return slots_[s].entry;
}

void MappingCache::insert(Lpn lpn, std::uint32_t entry, bool is_dirty) {
    const std::uint32_t s = take_slot(lpn, entry);
    link_hot(s);
    if (is_dirty) mark_dirty(s);
}

void MappingCache::insert_cold(Lpn lpn, std::uint32_t entry) {
    const std::uint32_t s = take_slot(lpn, entry);
    link_cold(s);
    mark_dirty(s);
}

void MappingCache::update(Lpn lpn, std::uint32_t entry) {
    const std::uint32_t s = slot_of(lpn);
    ensure(s != none, "only a cached entry is updated");
    slots_[s].entry = entry;
    mark_dirty(s);
}

void MappingCache::remove(Lpn lpn) {
    const std::uint32_t s = slot_of(lpn);
    ensure(s != none, "only a cached entry is removed");
    mark_clean(s);
    unlink(s);
    index_.erase(lpn.value());
    unused_.push_back(s);
}

std::optional<MappingCache::Coldest> MappingCache::coldest() const {
    if (cold_ == none) return std::nullopt;
    return Coldest{Lpn{slots_[cold_].lpn}, slots_[cold_].is_dirty()};
}

void MappingCache::clean(std::uint32_t page) {
    while (dirty_head_[page] != none) mark_clean(dirty_head_[page]);
}

} // namespace flashlab
