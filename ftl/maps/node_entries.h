/// The entry cache of `tpftl`: entries in nodes, one for each translation page of which something is cached.
///
/// Idea       Two orders. Nodes by their page's hotness, the mean of when their entries were used last; entries inside a node by their last use. The
///            victim comes from the coldest node, its clean entries first. A miss brings with it the further entries of its request (request-level
///            prefetch), and while nodes become fewer, as many as there are cached ones in front of it (selective prefetch), of its translation page.
/// Invariant  K1 to K3 of entry_slots.h. N1 a node's entries are in one of its two orders, clean or dirty, by last use. N2 the heap holds the nodes
///            with entries, the coldest on top.
/// Cost       O(log nodes) a call: a node moves in a heap. Of the device: bytes_each an entry (offset in the page, and physical page number), and
///            bytes_a_page a node.
/// Power cut  Lost; the owner's recovery finds what was dirty.
/// Source     Zhou, Wu, Huang, He, Xie and Wang, "An efficient page-level FTL to optimize address translation in flash memory", EuroSys 2015.
///            What we read into it: ftl/DESIGN-dftl.md, "tpftl".
#pragma once

#include "ftl/maps/entry_slots.h"

namespace flashlab {

struct Prefetch {
    bool of_request = true;
    bool selective = true;
};

class NodeEntries : public EntrySlots {
public:
    NodeEntries(const CachedEntries& cached, std::uint32_t entries_per_page, std::uint32_t translation_pages, Prefetch prefetch = {});

    // As LruEntries'.
    [[nodiscard]] std::uint32_t capacity() const { return capacity_; } ///< entries, if there were no nodes
    void set_capacity(std::uint32_t capacity) { capacity_ = capacity; }
    /// The first of more entries may need a node.
    [[nodiscard]] bool has_room(std::uint32_t more) const {
        const std::uint64_t nodes = heap_.size() + (more == 0 ? 0 : 1);
        return (std::uint64_t{in_order()} + more) * bytes_each_ + nodes * bytes_a_page_ <= std::uint64_t{capacity_} * bytes_each_;
    }
    [[nodiscard]] std::uint64_t bytes_used() const { return std::uint64_t{size()} * bytes_each_ + heap_.size() * std::uint64_t{bytes_a_page_}; }
    [[nodiscard]] std::optional<std::uint32_t> use(Lpn lpn);
    void insert(Lpn lpn, std::uint32_t entry, bool is_dirty);
    void insert_cold(Lpn lpn, std::uint32_t entry);
    void defer(Lpn lpn, std::uint32_t entry) { defer_slot(lpn, entry); }
    void update(Lpn lpn, std::uint32_t entry);
    void remove(Lpn lpn);
    [[nodiscard]] std::optional<Victim> victim() const;
    void clean(std::uint32_t page);
    void clean(Lpn lpn);
    [[nodiscard]] std::uint32_t neighbours_of(Lpn missed, std::uint32_t end, std::uint32_t page_end) const;
    /// A clean entry of the coldest node: of another one that keeps an entry, or in front of the missed one.
    [[nodiscard]] std::optional<Lpn> victim_for_neighbour(Lpn missed) const;
    /// The deferred ones, then node by node.
    template <class F>
    void for_each_dirty(F&& visit) const {
        const auto tell = [&](const Slot& slot) { visit(Lpn{slot.lpn}, slot.entry); };
        for_each_in(waiting_, tell);
        for (const Node& node : nodes_) for_each_in(node.dirty, tell);
    }
    [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(heap_.size()); }
    [[nodiscard]] bool prefetches_selectively() const { return is_selective_; }
    /// The number of the first broken invariant of N1, N2; 0 when both hold. O(entries).
    [[nodiscard]] int broken_invariant() const;

private:
    struct Node {
        Order clean, dirty;
        std::uint64_t used = 0; ///< sum of its entries' times
        std::uint32_t count = 0;
        std::uint32_t place = none; ///< in the heap
    };
    [[nodiscard]] Order& order_of(std::uint32_t s) { return slots_[s].is_dirty() ? nodes_[page_of(s)].dirty : nodes_[page_of(s)].clean; }
    void link_by_time(std::uint32_t s, std::uint64_t time);
    void join(std::uint32_t s, std::uint64_t time);
    void leave(std::uint32_t s);
    void set_time(std::uint32_t s, std::uint64_t time);
    [[nodiscard]] bool is_colder(std::uint32_t a, std::uint32_t b) const;
    void node_came(std::uint32_t page);
    void node_left(std::uint32_t page);
    void move_up(std::uint32_t place);
    void move_down(std::uint32_t place);
    void reorder(std::uint32_t page);

    std::uint32_t capacity_, bytes_each_, bytes_a_page_;
    Prefetch prefetch_;
    std::vector<Node> nodes_;            ///< by translation page
    std::vector<std::uint32_t> heap_;    ///< pages
    std::vector<std::uint64_t> used_at_; ///< by slot
    std::uint64_t clock_ = 0;
    int trend_ = 0; ///< nodes that came less those that left, since prefetching was last switched
    bool is_selective_ = false;
};

} // namespace flashlab
