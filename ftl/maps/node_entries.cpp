#include "ftl/maps/node_entries.h"

#include <algorithm>
#include <utility>

namespace flashlab {

namespace {

constexpr int turns_at = 3; ///< the paper's threshold of nodes that came or left

} // namespace

NodeEntries::NodeEntries(const CachedEntries& cached, std::uint32_t entries_per_page, std::uint32_t translation_pages, Prefetch prefetch)
    : EntrySlots{cached.count, entries_per_page, translation_pages}, capacity_{cached.count}, bytes_each_{cached.bytes_each},
      bytes_a_page_{cached.bytes_a_page}, prefetch_{prefetch}, nodes_(translation_pages) {}

std::optional<std::uint32_t> NodeEntries::use(Lpn lpn) {
    const std::uint32_t s = slot_of(lpn);
    if (s == none) return std::nullopt;
    if (slots_[s].is_deferred) {
        undefer(s);
        join(s, ++clock_);
    } else {
        Order& order = order_of(s);
        if (order.hot != s) {
            unlink(s, order);
            link_hot(s, order);
        }
        set_time(s, ++clock_);
        move_down(nodes_[page_of(s)].place); // it is warmer now
    }
    return slots_[s].entry;
}

void NodeEntries::insert(Lpn lpn, std::uint32_t entry, bool is_dirty) {
    const std::uint32_t s = take_slot(lpn, entry);
    if (is_dirty) mark_dirty(s);
    join(s, ++clock_);
}

void NodeEntries::insert_cold(Lpn lpn, std::uint32_t entry) {
    const std::uint32_t s = take_slot(lpn, entry);
    mark_dirty(s);
    join(s, 0);
}

void NodeEntries::update(Lpn lpn, std::uint32_t entry) {
    const std::uint32_t s = slot_of(lpn);
    ensure(s != none, "only a cached entry is updated");
    slots_[s].entry = entry;
    if (slots_[s].is_dirty()) return;
    unlink(s, order_of(s)); // its node neither leaves nor comes: the trend that prefetching follows is of nodes
    mark_dirty(s);
    link_by_time(s, used_at_[s]);
}

void NodeEntries::remove(Lpn lpn) {
    const std::uint32_t s = forget_key(lpn);
    if (slots_[s].is_deferred)
        undefer(s);
    else
        leave(s);
    mark_clean(s);
    free_slot(s);
}

std::optional<NodeEntries::Victim> NodeEntries::victim() const {
    if (heap_.empty()) return std::nullopt;
    const Node& node = nodes_[heap_.front()];
    const bool is_dirty = node.clean.cold == none;
    return Victim{Lpn{slots_[is_dirty ? node.dirty.cold : node.clean.cold].lpn}, is_dirty};
}

/// Deferred entries were never asked for and leave.
void NodeEntries::clean(std::uint32_t page) {
    Node& node = nodes_[page];
    // Two orders become one, from the hot end: what is dirty was mostly used since the last time.
    for (std::uint32_t colder = node.clean.hot; node.dirty.hot != none;) {
        const std::uint32_t s = node.dirty.hot;
        unlink(s, node.dirty);
        while (colder != none && used_at_[colder] >= used_at_[s]) colder = slots_[colder].colder;
        link_above(s, colder, node.clean);
    }
    while (dirty_head(page) != none) {
        const std::uint32_t s = dirty_head(page);
        mark_clean(s);
        if (!slots_[s].is_deferred) continue;
        undefer(s);
        drop_slot(s);
    }
}

void NodeEntries::clean(Lpn lpn) {
    const std::uint32_t s = slot_of(lpn);
    const bool is_deferred = slots_[s].is_deferred;
    if (!is_deferred) unlink(s, nodes_[page_of(s)].dirty);
    mark_clean(s);
    if (!is_deferred) return link_by_time(s, used_at_[s]);
    undefer(s);
    drop_slot(s);
}

std::uint32_t NodeEntries::neighbours_of(Lpn missed, std::uint32_t end, std::uint32_t page_end) const {
    std::uint32_t wanted = prefetch_.of_request ? end - missed.value() - 1 : 0;
    if (!is_selective_) return wanted;
    const std::uint32_t begin = missed.value() - missed.value() % entries_per_page();
    std::uint32_t before = 0;
    while (missed.value() - before > begin && slot_of(Lpn{missed.value() - before - 1}) != none) ++before;
    return std::max(wanted, std::min(before, page_end - missed.value() - 1));
}

std::optional<Lpn> NodeEntries::victim_for_neighbour(Lpn missed) const {
    if (heap_.empty() || nodes_[heap_.front()].clean.cold == none) return std::nullopt;
    const Node& node = nodes_[heap_.front()];
    const Lpn victim{slots_[node.clean.cold].lpn};
    const bool is_own = heap_.front() == missed.value() / entries_per_page();
    if (is_own ? victim >= missed : node.count < 2) return std::nullopt;
    return victim;
}

/// Into the order of its node that it belongs to: at the hot end, or by its time.
void NodeEntries::link_by_time(std::uint32_t s, std::uint64_t time) {
    Order& order = order_of(s);
    std::uint32_t colder = time == 0 ? none : order.hot;
    while (colder != none && used_at_[colder] > time) colder = slots_[colder].colder;
    link_above(s, colder, order);
}

void NodeEntries::join(std::uint32_t s, std::uint64_t time) {
    if (used_at_.size() <= s) used_at_.resize(s + 1);
    const std::uint32_t page = page_of(s);
    Node& node = nodes_[page];
    link_by_time(s, time);
    used_at_[s] = time;
    node.used += time;
    if (++node.count == 1)
        node_came(page);
    else
        time == 0 ? move_up(node.place) : move_down(node.place);
}

void NodeEntries::leave(std::uint32_t s) {
    const std::uint32_t page = page_of(s);
    Node& node = nodes_[page];
    unlink(s, order_of(s));
    node.used -= used_at_[s];
    if (--node.count == 0)
        node_left(page);
    else
        reorder(page);
}

void NodeEntries::set_time(std::uint32_t s, std::uint64_t time) {
    nodes_[page_of(s)].used += time - used_at_[s];
    used_at_[s] = time;
}

void NodeEntries::node_came(std::uint32_t page) {
    nodes_[page].place = static_cast<std::uint32_t>(heap_.size());
    heap_.push_back(page);
    move_up(nodes_[page].place);
    if (++trend_ < turns_at) return;
    is_selective_ = false;
    trend_ = 0;
}

void NodeEntries::node_left(std::uint32_t page) {
    const std::uint32_t place = std::exchange(nodes_[page].place, none);
    const std::uint32_t last = heap_.back();
    heap_.pop_back();
    if (last != page) {
        heap_[place] = last;
        nodes_[last].place = place;
        reorder(last);
    }
    if (--trend_ > -turns_at) return;
    is_selective_ = prefetch_.selective;
    trend_ = 0;
}

bool NodeEntries::is_colder(std::uint32_t a, std::uint32_t b) const {
    const Node& x = nodes_[a];
    const Node& y = nodes_[b];
    const auto left = static_cast<unsigned __int128>(x.used) * y.count;
    const auto right = static_cast<unsigned __int128>(y.used) * x.count;
    return left != right ? left < right : a < b;
}

void NodeEntries::reorder(std::uint32_t page) {
    move_up(nodes_[page].place);
    move_down(nodes_[page].place);
}

void NodeEntries::move_up(std::uint32_t place) {
    for (; place != 0 && is_colder(heap_[place], heap_[(place - 1) / 2]); place = (place - 1) / 2) {
        std::swap(heap_[place], heap_[(place - 1) / 2]);
        nodes_[heap_[place]].place = place;
    }
    nodes_[heap_[place]].place = place;
}

void NodeEntries::move_down(std::uint32_t place) {
    for (const auto size = static_cast<std::uint32_t>(heap_.size());;) {
        std::uint32_t coldest = place;
        for (std::uint32_t child = 2 * place + 1; child <= 2 * place + 2 && child < size; ++child)
            if (is_colder(heap_[child], heap_[coldest])) coldest = child;
        if (coldest == place) break;
        std::swap(heap_[place], heap_[coldest]);
        nodes_[heap_[place]].place = place;
        place = coldest;
    }
    nodes_[heap_[place]].place = place;
}

int NodeEntries::broken_invariant() const {
    std::uint64_t entries = 0;
    for (std::uint32_t page = 0; page < nodes_.size(); ++page) {
        const Node& node = nodes_[page];
        std::uint64_t used = 0;
        std::uint32_t count = 0;
        for (const Order* order : {&node.clean, &node.dirty}) {
            std::uint64_t before = 0;
            for (std::uint32_t s = order->cold; s != none; s = slots_[s].hotter, ++count) {
                if (page_of(s) != page || slots_[s].is_deferred || slots_[s].is_dirty() != (order == &node.dirty) || used_at_[s] < before) return 1;
                used += before = used_at_[s];
            }
        }
        if (used != node.used || count != node.count) return 1;
        if ((node.place != none) != (count != 0) || (count != 0 && heap_[node.place] != page)) return 2;
        if (count != 0 && node.place != 0 && is_colder(page, heap_[(node.place - 1) / 2])) return 2;
        entries += count;
    }
    return entries == in_order() ? 0 : 1;
}

} // namespace flashlab
