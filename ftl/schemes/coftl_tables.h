/// The virtual page tables that are in RAM: where each virtual page of a virtual block lies, and which cache slot holds it.
///
/// Idea       A pool of equal tables in least-recently-used order, and one more, outside that order, for the cleaner.
/// Invariant  L1 a table belongs to one virtual block, or is free. L2 slots(t) is the number of entries of t that name a slot.
/// Cost       8 bytes an entry; O(1) a reference.
/// Power cut  Gone: rebuilt from summary pages and OOBs.
/// Source     Chang et al., III B 1 (CO3).
#pragma once

#include <optional>
#include <vector>

#include "base/contract.h"
#include "ftl/schemes/coftl_format.h"

namespace flashlab {

class CoftlTables {
public:
    CoftlTables(std::uint32_t tables, std::uint32_t entries)
        : entries_per_table_{entries}, limit_{tables}, heads_(tables + 1), entries_(std::size_t{tables + 1} * entries) {
        for (std::uint32_t t = tables; t > 0; --t) free_.push_back(TableId{t - 1});
    }
    /// The cleaner's own.
    [[nodiscard]] TableId scratch() const { return TableId{most()}; }
    [[nodiscard]] bool has_free() const { return used() < limit_; }
    [[nodiscard]] std::uint32_t most() const { return static_cast<std::uint32_t>(heads_.size() - 1); }
    [[nodiscard]] std::uint32_t used() const { return most() - static_cast<std::uint32_t>(free_.size()); }
    [[nodiscard]] std::uint32_t limit() const { return limit_; }
    /// How many may be in use, at most most(); tables beyond it leave by release().
    void set_limit(std::uint32_t tables) { limit_ = tables; }
    [[nodiscard]] TableId least_recently_used() const { return tail_; }

    /// Empty entries, most recently used.
    TableId take(VirtualBlockId vb) {
        const TableId t = free_.back();
        free_.pop_back();
        assign(t, vb);
        link(t);
        return t;
    }
    void assign(TableId t, VirtualBlockId vb) {
        head(t) = Head{.vb = vb};
        for (Entry& e : entries(t)) e = Entry{};
    }
    void release(TableId t) {
        ensure(head(t).slots == 0, "a table leaves RAM when no slot needs it");
        unlink(t);
        head(t) = Head{};
        free_.push_back(t);
    }
    void touch(TableId t) {
        if (head_ == t) return;
        unlink(t);
        link(t);
    }
    [[nodiscard]] VirtualBlockId vb(TableId t) const { return head(t).vb; }
    [[nodiscard]] std::uint32_t slots(TableId t) const { return head(t).slots; }
    [[nodiscard]] bool is_dirty(TableId t) const { return head(t).dirty; }
    void set_dirty(TableId t, bool dirty) { head(t).dirty = dirty; }
    [[nodiscard]] CoftlPlace place(TableId t, VirtualPage page) const { return entry(t, page).place; }
    [[nodiscard]] std::optional<SlotId> slot(TableId t, VirtualPage page) const {
        const SlotId slot = entry(t, page).slot;
        return slot == no_slot ? std::nullopt : std::optional{slot};
    }
    void set_place(TableId t, VirtualPage page, CoftlPlace place) { entry(t, page).place = place; }
    /// nullopt: no slot holds the page any more.
    void set_slot(TableId t, VirtualPage page, std::optional<SlotId> slot) {
        SlotId& now = entry(t, page).slot;
        head(t).slots += (slot ? 1u : 0u) - (now != no_slot ? 1u : 0u);
        now = slot.value_or(no_slot);
    }

private:
    static constexpr SlotId no_slot{no_id}; ///< in an entry, where an optional would take 4 bytes more a page
    struct Entry {
        CoftlPlace place;
        SlotId slot = no_slot;
    };
    static_assert(sizeof(Entry) == 8, "the bytes an entry that Cost tells of");
    struct Head {
        VirtualBlockId vb = no_virtual_block;
        TableId previous = no_table;
        TableId next = no_table;
        std::uint32_t slots = 0;
        bool dirty = false; ///< places changed since the table was last read from or written to flash
    };
    [[nodiscard]] Head& head(TableId t) { return heads_[t.value()]; }
    [[nodiscard]] const Head& head(TableId t) const { return heads_[t.value()]; }
    [[nodiscard]] std::span<Entry> entries(TableId t) {
        return std::span{entries_}.subspan(std::size_t{t.value()} * entries_per_table_, entries_per_table_);
    }
    [[nodiscard]] Entry& entry(TableId t, VirtualPage page) { return entries_[std::size_t{t.value()} * entries_per_table_ + page.value()]; }
    [[nodiscard]] const Entry& entry(TableId t, VirtualPage page) const {
        return entries_[std::size_t{t.value()} * entries_per_table_ + page.value()];
    }
    void link(TableId t) {
        head(t).previous = no_table;
        head(t).next = head_;
        if (head_ != no_table) head(head_).previous = t;
        head_ = t;
        if (tail_ == no_table) tail_ = t;
    }
    void unlink(TableId t) {
        const Head& h = head(t);
        (h.previous == no_table ? head_ : head(h.previous).next) = h.next;
        (h.next == no_table ? tail_ : head(h.next).previous) = h.previous;
    }

    std::uint32_t entries_per_table_;
    std::uint32_t limit_;
    std::vector<Head> heads_;
    std::vector<Entry> entries_;
    std::vector<TableId> free_;
    TableId head_ = no_table; ///< most recently used
    TableId tail_ = no_table;
};

} // namespace flashlab
