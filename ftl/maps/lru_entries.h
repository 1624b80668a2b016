/// The entry cache of `dftl` (CMT): the mapping entries that a device keeps in DRAM, of a map that lies on flash (demand_table.h).
///
/// Idea       Entries in the order of their last use; a miss brings nothing else with it.
/// Invariant  K1 to K3 of entry_slots.h.
/// Cost       O(1) a call; 8 bytes an entry in the device.
/// Power cut  Lost; the owner's recovery finds what was dirty.
/// Source     Gupta, Kim and Urgaonkar, "DFTL", ASPLOS 2009 (CMT, batch update); Shim et al. (AP4): LRU order.
#pragma once

#include "ftl/maps/entry_slots.h"

namespace flashlab {

class LruEntries : public EntrySlots {
public:
    LruEntries(const CachedEntries& cached, std::uint32_t entries_per_page, std::uint32_t translation_pages)
        : EntrySlots{cached.count, entries_per_page, translation_pages}, capacity_{cached.count}, bytes_each_{cached.bytes_each} {}

    [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
    void set_capacity(std::uint32_t capacity) { capacity_ = capacity; }
    [[nodiscard]] bool has_room(std::uint32_t more) const { return in_order() + more <= capacity_; }
    [[nodiscard]] std::uint64_t bytes_used() const { return std::uint64_t{size()} * bytes_each_; }

    /// The entry, and it was used last now.
    [[nodiscard]] std::optional<std::uint32_t> use(Lpn lpn);
    /// A new entry, used last. Make room first where the capacity is to be kept.
    void insert(Lpn lpn, std::uint32_t entry, bool is_dirty);
    /// A new dirty entry that goes first when room is needed.
    void insert_cold(Lpn lpn, std::uint32_t entry);
    /// A new dirty entry that nobody asked for and that waits to be written with others: it is never the coldest. Used, it is an entry like any
    /// other; cleaned, it goes first when room is needed.
    void defer(Lpn lpn, std::uint32_t entry) { defer_slot(lpn, entry); }
    /// A cached entry changes and is dirty; its place in the order does not change.
    void update(Lpn lpn, std::uint32_t entry);
    void remove(Lpn lpn);
    /// Of those that are not deferred, the least recently used.
    [[nodiscard]] std::optional<Victim> victim() const;
    /// All dirty entries of a translation page have been written: they are clean.
    void clean(std::uint32_t page);
    /// This entry has been written.
    void clean(Lpn lpn) { clean_slot(slot_of(lpn)); }
    /// How many entries behind a missed one come with it, of a request that ends at `end` and a translation page that ends at `page_end`.
    [[nodiscard]] static std::uint32_t neighbours_of(Lpn, std::uint32_t, std::uint32_t) { return 0; }
    /// What may leave for such an entry.
    [[nodiscard]] static std::optional<Lpn> victim_for_neighbour(Lpn) { return std::nullopt; }

    /// The deferred ones, then the least recently used first.
    template <class F>
    void for_each_dirty(F&& visit) const {
        for (const Order* order : {&waiting_, &used_})
            for_each_in(*order, [&](const Slot& slot) {
                if (slot.is_dirty()) visit(Lpn{slot.lpn}, slot.entry);
            });
    }

private:
    void clean_slot(std::uint32_t s);
    /// Deferred or not, it is neither afterwards.
    void take_out(std::uint32_t s) { slots_[s].is_deferred ? undefer(s) : unlink(s, used_); }

    std::uint32_t capacity_;
    std::uint32_t bytes_each_;
    Order used_;
};

} // namespace flashlab
