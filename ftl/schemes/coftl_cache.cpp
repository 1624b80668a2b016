#include "ftl/schemes/coftl_cache.h"

#include <algorithm>
#include <bit>

#include "base/contract.h"

namespace flashlab {

CoftlCache::CoftlCache(std::uint32_t slots, std::size_t payload_bytes, Duration alpha_write, Duration alpha_read)
    : payload_bytes_{payload_bytes}, alpha_write_{static_cast<std::uint64_t>(std::max<std::int64_t>(alpha_write.count(), 1))},
      alpha_read_{static_cast<std::uint64_t>(std::max<std::int64_t>(alpha_read.count(), 1))}, slots_(slots), written_by_(slots),
      payload_{std::make_unique_for_overwrite<std::byte[]>(slots * payload_bytes)} {
    for (std::uint32_t s = slots; s > 0; --s) unused_.push_back(SlotId{s - 1});
    for (Heap& heap : heaps_) heap.reserve(slots);
}

/// value = count / (now - last), the divisor at least one tick of a nanosecond; cross-multiplied, so that nothing is rounded.
bool CoftlCache::less(SlotId a, std::uint64_t factor_a, SlotId b, std::uint64_t factor_b, SimTime now) const {
    const auto age = [now](const Slot& s) { return static_cast<unsigned __int128>(std::max<std::int64_t>((now - s.last).count(), 1)); };
    const auto weight = [](const Slot& s, std::uint64_t factor) { return std::min<std::uint64_t>(s.count, 0xffff'ffff) * factor; };
    return weight(slot_of(a), factor_a) * age(slot_of(b)) < weight(slot_of(b), factor_b) * age(slot_of(a));
}

void CoftlCache::place(Heap& heap, std::uint32_t position, SlotId slot) {
    heap[position] = slot;
    slot_of(slot).position = position;
}

void CoftlCache::sift_up(Heap& heap, std::uint32_t position, SimTime now) {
    const SlotId slot = heap[position];
    while (position > 0) {
        const std::uint32_t parent = (position - 1) / 2;
        if (!less(slot, heap[parent], now)) break;
        place(heap, position, heap[parent]);
        position = parent;
    }
    place(heap, position, slot);
}

bool CoftlCache::sift_down(Heap& heap, std::uint32_t position, SimTime now) {
    const SlotId slot = heap[position];
    const std::uint32_t from = position;
    const auto size = static_cast<std::uint32_t>(heap.size());
    for (;;) {
        std::uint32_t child = 2 * position + 1;
        if (child >= size) break;
        if (child + 1 < size && less(heap[child + 1], heap[child], now)) ++child;
        if (!less(heap[child], slot, now)) break;
        place(heap, position, heap[child]);
        position = child;
    }
    place(heap, position, slot);
    return position != from;
}

void CoftlCache::put(SlotId slot, SimTime now) {
    Heap& heap = heap_of(slot);
    heap.push_back(slot);
    sift_up(heap, static_cast<std::uint32_t>(heap.size() - 1), now);
}

void CoftlCache::take(SlotId slot, SimTime now) {
    Heap& heap = heap_of(slot);
    const std::uint32_t position = slot_of(slot).position;
    const SlotId last = heap.back();
    heap.pop_back();
    slot_of(slot).position = unused_position;
    if (last == slot) return;
    place(heap, position, last);
    if (!sift_down(heap, position, now)) sift_up(heap, position, now);
}

SlotId CoftlCache::insert(Lpn lpn, bool is_dirty, SimTime now) {
    ensure(!unused_.empty(), "a slot is free");
    const SlotId slot = unused_.back();
    unused_.pop_back();
    slot_of(slot) = {lpn, unused_position, 1, now, now, is_dirty};
    put(slot, now);
    return slot;
}

void CoftlCache::touch(SlotId slot, SimTime now) {
    Slot& s = slot_of(slot);
    ++s.count;
    s.last = std::max(s.last, now);
    Heap& heap = heap_of(slot);
    if (!sift_down(heap, s.position, now)) sift_up(heap, s.position, now);
}

void CoftlCache::move(SlotId slot, bool to_dirty, SimTime now) {
    if (slot_of(slot).dirty == to_dirty) return;
    take(slot, now);
    slot_of(slot).dirty = to_dirty;
    put(slot, now);
}

void CoftlCache::remove(SlotId slot, SimTime now) {
    take(slot, now);
    unused_.push_back(slot);
}

/// "Pop and re-insert while a root is not minimal, at most log n times."
void CoftlCache::settle_root(Heap& heap, SimTime now) {
    for (auto tries = std::bit_width(heap.size()); tries > 0 && sift_down(heap, 0, now); --tries) {}
}

SlotId CoftlCache::victim(SimTime now) {
    ensure(used() != 0, "an eviction finds something");
    Heap& clean = heaps_[0];
    Heap& dirty = heaps_[1];
    settle_root(clean, now);
    settle_root(dirty, now);
    if (dirty.empty()) return clean.front();
    if (clean.empty()) return dirty.front();
    return less(clean.front(), alpha_read_, dirty.front(), alpha_write_, now) ? clean.front() : dirty.front();
}

std::span<const SlotId> CoftlCache::list_dirty() {
    by_page_ = heaps_[1];
    std::ranges::sort(by_page_, {}, [this](SlotId slot) { return slot_of(slot).lpn; });
    return by_page_;
}

std::uint32_t CoftlCache::rank_of_root(bool dirty_heap, SimTime now) const {
    const Heap& heap = heaps_[dirty_heap ? 1 : 0];
    return static_cast<std::uint32_t>(std::ranges::count_if(heap, [&](SlotId slot) { return less(slot, heap.front(), now); }));
}

bool CoftlCache::is_sound() const {
    for (std::uint32_t h = 0; h < 2; ++h)
        for (std::uint32_t i = 0; i < heaps_[h].size(); ++i)
            if (slot_of(heaps_[h][i]).position != i || slot_of(heaps_[h][i]).dirty != (h == 1)) return false;
    return used() + unused_.size() == capacity();
}

} // namespace flashlab
