/// The virtual page tables that are in RAM: where each virtual page of a virtual block lies, and which cache slot holds it.
///
/// Idea       A pool of equal tables in least-recently-used order, and one more, outside that order, for the cleaner.
/// Invariant  L1 a table belongs to one virtual block, or is free. L2 slots(t) is the number of entries of t that name a slot.
/// Cost       8 bytes an entry; O(1) a reference.
/// Power cut  Gone: rebuilt from summary pages and OOBs.
/// Source     Chang et al., III B 1 (CO3).
#pragma once

#include <vector>

#include "base/contract.h"
#include "ftl/schemes/coftl_cache.h"
#include "ftl/schemes/coftl_format.h"

namespace flashlab {

class CoftlTables {
public:
    static constexpr std::uint32_t none = 0xffff'ffff;
    struct Entry {
        CoftlPlace place;
        std::uint32_t slot = CoftlCache::none;
    };

    CoftlTables(std::uint32_t tables, std::uint32_t entries)
        : entries_per_table_{entries}, limit_{tables}, heads_(tables + 1), entries_(std::size_t{tables + 1} * entries) {
        for (std::uint32_t t = tables; t > 0; --t) free_.push_back(t - 1);
    }
    /// The cleaner's own.
    [[nodiscard]] std::uint32_t scratch() const { return static_cast<std::uint32_t>(heads_.size() - 1); }
    [[nodiscard]] bool has_free() const { return used() < limit_; }
    [[nodiscard]] std::uint32_t most() const { return static_cast<std::uint32_t>(heads_.size() - 1); }
    [[nodiscard]] std::uint32_t used() const { return most() - static_cast<std::uint32_t>(free_.size()); }
    [[nodiscard]] std::uint32_t limit() const { return limit_; }
    /// How many may be in use, at most most(); tables beyond it leave by release().
    void set_limit(std::uint32_t tables) { limit_ = tables; }
    [[nodiscard]] std::uint32_t least_recently_used() const { return tail_; }

    /// Empty entries, most recently used.
    std::uint32_t take(std::uint32_t vb) {
        const std::uint32_t t = free_.back();
        free_.pop_back();
        assign(t, vb);
        link(t);
        return t;
    }
    void assign(std::uint32_t t, std::uint32_t vb) {
        heads_[t] = Head{.vb = vb};
        for (Entry& e : entries(t)) e = Entry{};
    }
    void release(std::uint32_t t) {
        ensure(heads_[t].slots == 0, "a table leaves RAM when no slot needs it");
        unlink(t);
        heads_[t] = Head{};
        free_.push_back(t);
    }
    void touch(std::uint32_t t) {
        if (head_ == t) return;
        unlink(t);
        link(t);
    }
    [[nodiscard]] std::uint32_t vb(std::uint32_t t) const { return heads_[t].vb; }
    [[nodiscard]] std::uint32_t slots(std::uint32_t t) const { return heads_[t].slots; }
    [[nodiscard]] bool is_dirty(std::uint32_t t) const { return heads_[t].dirty; }
    void set_dirty(std::uint32_t t, bool dirty) { heads_[t].dirty = dirty; }
    [[nodiscard]] std::span<Entry> entries(std::uint32_t t) {
        return std::span{entries_}.subspan(std::size_t{t} * entries_per_table_, entries_per_table_);
    }
    [[nodiscard]] std::span<const Entry> entries(std::uint32_t t) const {
        return std::span{entries_}.subspan(std::size_t{t} * entries_per_table_, entries_per_table_);
    }
    [[nodiscard]] CoftlPlace place(std::uint32_t t, std::uint32_t page) const { return entries(t)[page].place; }
    [[nodiscard]] std::uint32_t slot(std::uint32_t t, std::uint32_t page) const { return entries(t)[page].slot; }
    void set_place(std::uint32_t t, std::uint32_t page, CoftlPlace place) { entries(t)[page].place = place; }
    void set_slot(std::uint32_t t, std::uint32_t page, std::uint32_t slot) {
        std::uint32_t& now = entries(t)[page].slot;
        heads_[t].slots += (slot != CoftlCache::none ? 1u : 0u) - (now != CoftlCache::none ? 1u : 0u);
        now = slot;
    }

private:
    struct Head {
        std::uint32_t vb = none;
        std::uint32_t previous = none;
        std::uint32_t next = none;
        std::uint32_t slots = 0;
        bool dirty = false; ///< places changed since the table was last read from or written to flash
    };
    void link(std::uint32_t t) {
        heads_[t].previous = none;
        heads_[t].next = head_;
        if (head_ != none) heads_[head_].previous = t;
        head_ = t;
        if (tail_ == none) tail_ = t;
    }
    void unlink(std::uint32_t t) {
        const Head& h = heads_[t];
        (h.previous == none ? head_ : heads_[h.previous].next) = h.next;
        (h.next == none ? tail_ : heads_[h.next].previous) = h.previous;
    }

    std::uint32_t entries_per_table_;
    std::uint32_t limit_;
    std::vector<Head> heads_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> free_;
    std::uint32_t head_ = none; ///< most recently used
    std::uint32_t tail_ = none;
};

} // namespace flashlab
