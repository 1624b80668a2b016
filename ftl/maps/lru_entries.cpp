#include "ftl/maps/lru_entries.h"

namespace flashlab {

std::optional<std::uint32_t> LruEntries::use(Lpn lpn) {
    const std::uint32_t s = slot_of(lpn);
    if (s == none) return std::nullopt;
    if (s != used_.hot) {
        take_out(s);
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

void LruEntries::update(Lpn lpn, std::uint32_t entry) {
    const std::uint32_t s = slot_of(lpn);
    ensure(s != none, "only a cached entry is updated");
    slots_[s].entry = entry;
    mark_dirty(s);
}

void LruEntries::remove(Lpn lpn) {
    const std::uint32_t s = forget_key(lpn);
    mark_clean(s);
    take_out(s);
    free_slot(s);
}

std::optional<LruEntries::Victim> LruEntries::victim() const {
    if (used_.cold == none) return std::nullopt;
    return Victim{Lpn{slots_[used_.cold].lpn}, slots_[used_.cold].is_dirty()};
}

void LruEntries::clean(std::uint32_t page) {
    while (dirty_head(page) != none) clean_slot(dirty_head(page));
}

void LruEntries::clean_slot(std::uint32_t s) {
    mark_clean(s);
    if (!slots_[s].is_deferred) return;
    undefer(s);
    link_cold(s, used_);
}

} // namespace flashlab
