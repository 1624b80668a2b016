/// The entry cache of `dftl` (CMT): the mapping entries that a device keeps in DRAM, of a map that lies on flash (demand_table.h).
///
/// Idea       Entries in the order of their last use; a miss brings nothing else with it. The dirty ones of each translation page are linked, too, so
///            that one batch update finds them all.
/// Invariant  K1 an entry is cached at most once. K2 the dirty entries are exactly those linked to their translation page.
///            K3 deferred entries are dirty; they have no place in the order.
/// Cost       O(1) a call; 28 bytes and a hash slot for each entry in the simulator, 8 bytes in the device it models. A bit for each logical page, so
///            that one that is not cached costs no look-up. Capacity is the owner's to keep: entries that a collection or a recovery brings may
///            exceed it until they are flushed.
/// Power cut  Lost; the owner's recovery finds what was dirty.
/// Source     Gupta, Kim and Urgaonkar, "DFTL", ASPLOS 2009 (CMT, batch update); Shim et al. (AP4): LRU order.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/contract.h"
#include "base/id.h"

namespace flashlab {

class LruEntries {
public:
    static constexpr std::uint32_t device_bytes_per_entry = 8; ///< default: logical and physical page number, without links (ftl.mapping_entry_bytes)

    LruEntries(std::uint32_t capacity, std::uint32_t entries_per_page, std::uint32_t translation_pages);

    [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
    void set_capacity(std::uint32_t capacity) { capacity_ = capacity; }
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(index_.size()); }
    [[nodiscard]] std::uint32_t deferred() const { return deferred_; }
    /// Those that are not deferred.
    [[nodiscard]] std::uint32_t in_order() const { return size() - deferred_; }
    [[nodiscard]] bool has_room(std::uint32_t more) const { return in_order() + more <= capacity_; }
    [[nodiscard]] std::uint32_t dirty() const { return dirty_; }
    [[nodiscard]] std::uint32_t dirty_of(std::uint32_t page) const { return dirty_count_[page]; }

    /// The entry as it is; its place in the order does not change.
    [[nodiscard]] std::optional<std::uint32_t> peek(Lpn lpn) const;
    /// The same, and it was used last now.
    [[nodiscard]] std::optional<std::uint32_t> use(Lpn lpn);
    /// A new entry, used last. Make room first where the capacity is to be kept.
    void insert(Lpn lpn, std::uint32_t entry, bool is_dirty);
    /// A new dirty entry that goes first when room is needed.
    void insert_cold(Lpn lpn, std::uint32_t entry);
    /// A new dirty entry that nobody asked for and that waits to be written with others: it is never the coldest. Used, it is an entry like any
    /// other; cleaned, it goes first when room is needed.
    void defer(Lpn lpn, std::uint32_t entry);
    /// A cached entry changes and is dirty; its place in the order does not change.
    void update(Lpn lpn, std::uint32_t entry);
    void remove(Lpn lpn);
    struct Victim {
        Lpn lpn;
        bool is_dirty;
    };
    /// Of those that are not deferred, the least recently used.
    [[nodiscard]] std::optional<Victim> victim() const;
    /// How many entries behind a missed one come with it, of a request that ends at `end` and a translation page that ends at `page_end`.
    [[nodiscard]] static std::uint32_t neighbours_of(Lpn, std::uint32_t, std::uint32_t) { return 0; }
    /// What may leave for such an entry.
    [[nodiscard]] static std::optional<Lpn> victim_for_neighbour(Lpn) { return std::nullopt; }
    /// Of the deferred entries, the one that has waited longest.
    [[nodiscard]] std::optional<Lpn> oldest_deferred() const {
        return waiting_.cold == none ? std::nullopt : std::optional{Lpn{slots_[waiting_.cold].lpn}};
    }
    /// All dirty entries of a translation page have been written: they are clean.
    void clean(std::uint32_t page);

    template <class F>
    void for_each_dirty_of(std::uint32_t page, F&& visit) const {
        for (std::uint32_t s = dirty_head_[page]; s != none; s = slots_[s].dirty_next) visit(Lpn{slots_[s].lpn}, slots_[s].entry);
    }
    /// The deferred ones, then the least recently used first.
    template <class F>
    void for_each_dirty(F&& visit) const {
        for (const Order* order : {&waiting_, &used_})
            for (std::uint32_t s = order->cold; s != none; s = slots_[s].hotter)
                if (slots_[s].is_dirty()) visit(Lpn{slots_[s].lpn}, slots_[s].entry);
    }

private:
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
    [[nodiscard]] std::uint32_t take_slot(Lpn lpn, std::uint32_t entry);
    [[nodiscard]] std::uint32_t page_of(const Slot& slot) const { return slot.lpn / entries_per_page_; }
    void link_hot(std::uint32_t s, Order& order);
    void link_cold(std::uint32_t s, Order& order);
    void unlink(std::uint32_t s);
    void mark_dirty(std::uint32_t s);
    void mark_clean(std::uint32_t s);

    std::uint32_t capacity_;
    std::uint32_t entries_per_page_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> unused_;
    std::vector<std::uint32_t> dirty_head_; ///< by translation page
    std::vector<std::uint32_t> dirty_count_;
    std::vector<bool> is_cached_;                                   ///< by logical page: has an entry in index_
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> index_; ///< never iterated
    Order used_;
    Order waiting_; ///< deferred
    std::uint32_t deferred_ = 0;
    std::uint32_t dirty_ = 0;
};

} // namespace flashlab
