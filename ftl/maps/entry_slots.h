/// What entry caches share (demand_table.h): slots for entries, found by logical page; the dirty ones of each translation page; the deferred ones.
///
/// Idea       A cache adds the order in which entries that are not deferred leave. Orders are lists through the slots.
/// Invariant  K1 an entry is cached at most once. K2 the dirty entries are exactly those linked to their translation page.
///            K3 deferred entries are dirty, and stand in the order in which they were deferred.
/// Cost       O(1) a call; 28 bytes and a hash slot for each entry in the simulator. A bit for each logical page, so that one that is not cached
///            costs no look-up. Capacity is the owner's to keep: entries that a collection or a recovery brings may exceed it until they are flushed.
/// Power cut  Lost; the owner's recovery finds what was dirty.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/contract.h"
#include "base/id.h"

namespace flashlab {

/// How much DRAM entries may take.
struct CachedEntries {
    std::uint32_t count = 0; ///< of bytes_each
    std::uint32_t bytes_each = 8;
    std::uint32_t bytes_a_page = 0;  ///< for each translation page of which something is cached, where the cache keeps a record of it
    bool written_alone = false;      ///< when it leaves for a host's page: the other dirty entries of its translation page stay dirty
    bool fetched_for_writes = false; ///< a write miss reads the translation page (Gupta et al.); else it makes a dirty entry without (Shim et al.)
};

class EntrySlots {
public:
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(index_.size()); }
    [[nodiscard]] std::uint32_t deferred() const { return deferred_; }
    /// Those that are not deferred.
    [[nodiscard]] std::uint32_t in_order() const { return size() - deferred_; }
    [[nodiscard]] std::uint32_t dirty() const { return dirty_; }
    [[nodiscard]] std::uint32_t dirty_of(std::uint32_t page) const { return dirty_count_[page]; }
    /// The entry as it is; its place in the order does not change.
    [[nodiscard]] std::optional<std::uint32_t> peek(Lpn lpn) const {
        const std::uint32_t s = slot_of(lpn);
        return s == none ? std::nullopt : std::optional{slots_[s].entry};
    }
    /// Of the deferred entries, the one that has waited longest.
    [[nodiscard]] std::optional<Lpn> oldest_deferred() const {
        return waiting_.cold == none ? std::nullopt : std::optional{Lpn{slots_[waiting_.cold].lpn}};
    }
    template <class F>
    void for_each_dirty_of(std::uint32_t page, F&& visit) const {
        for (std::uint32_t s = dirty_head_[page]; s != none; s = slots_[s].dirty_next) visit(Lpn{slots_[s].lpn}, slots_[s].entry);
    }
    struct Victim {
        Lpn lpn;
        bool is_dirty;
    };

protected:
    EntrySlots(std::uint32_t capacity, std::uint32_t entries_per_page, std::uint32_t translation_pages);
    ~EntrySlots() = default;

    static constexpr std::uint32_t none = 0xffff'ffff;
    static constexpr std::uint32_t clean_entry = none - 1; ///< instead of the dirty entry before it
    struct Slot {
        std::uint32_t lpn = 0;
        std::uint32_t entry = 0;
        std::uint32_t hotter = none;
        std::uint32_t colder = none;
        std::uint32_t dirty_next = none;
        std::uint32_t dirty_previous = clean_entry;
        bool is_deferred = false;
        [[nodiscard]] bool is_dirty() const { return dirty_previous != clean_entry; }
    };
    struct Order {
        std::uint32_t hot = none;
        std::uint32_t cold = none;
    };
    [[nodiscard]] std::uint32_t slot_of(Lpn lpn) const {
        if (!is_cached_[lpn.value()]) return none;
        const auto it = index_.find(lpn.value());
        return it == index_.end() ? none : it->second;
    }
    [[nodiscard]] std::uint32_t page_of(std::uint32_t s) const { return slots_[s].lpn / entries_per_page_; }
    [[nodiscard]] std::uint32_t entries_per_page() const { return entries_per_page_; }
    /// A clean one in no order.
    [[nodiscard]] std::uint32_t take_slot(Lpn lpn, std::uint32_t entry);
    /// Of an entry that is clean and in no order.
    void drop_slot(std::uint32_t s);
    /// The slot of an entry that is found no longer; what is left of it is its caller's to take out and to free.
    [[nodiscard]] std::uint32_t forget_key(Lpn lpn);
    void free_slot(std::uint32_t s) { unused_.push_back(s); }
    void link_hot(std::uint32_t s, Order& order) {
        slots_[s].hotter = none;
        slots_[s].colder = order.hot;
        (order.hot == none ? order.cold : slots_[order.hot].hotter) = s;
        order.hot = s;
    }
    /// `colder` none: at the cold end.
    void link_above(std::uint32_t s, std::uint32_t colder, Order& order) {
        const std::uint32_t hotter = colder == none ? order.cold : slots_[colder].hotter;
        slots_[s].colder = colder;
        slots_[s].hotter = hotter;
        (colder == none ? order.cold : slots_[colder].hotter) = s;
        (hotter == none ? order.hot : slots_[hotter].colder) = s;
    }
    void link_cold(std::uint32_t s, Order& order) { link_above(s, none, order); }
    void unlink(std::uint32_t s, Order& order) {
        const Slot& slot = slots_[s];
        (slot.hotter == none ? order.hot : slots_[slot.hotter].colder) = slot.colder;
        (slot.colder == none ? order.cold : slots_[slot.colder].hotter) = slot.hotter;
    }
    /// A deferred entry is neither deferred nor in an order afterwards.
    void undefer(std::uint32_t s);
    void mark_dirty(std::uint32_t s);
    void mark_clean(std::uint32_t s);
    [[nodiscard]] std::uint32_t dirty_head(std::uint32_t page) const { return dirty_head_[page]; }
    /// A new dirty entry that nobody asked for and that waits to be written with others.
    void defer_slot(Lpn lpn, std::uint32_t entry);
    template <class F>
    void for_each_in(const Order& order, F&& visit) const {
        for (std::uint32_t s = order.cold; s != none; s = slots_[s].hotter) visit(slots_[s]);
    }

    std::vector<Slot> slots_;
    Order waiting_; ///< deferred

private:
    std::uint32_t entries_per_page_;
    std::vector<std::uint32_t> unused_;
    std::vector<std::uint32_t> dirty_head_; ///< by translation page
    std::vector<std::uint32_t> dirty_count_;
    std::vector<bool> is_cached_;                                   ///< by logical page: has an entry in index_
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> index_; ///< never iterated
    std::uint32_t deferred_ = 0;
    std::uint32_t dirty_ = 0;
};

} // namespace flashlab
