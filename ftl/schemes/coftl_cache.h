/// COFTL's data cache: slots of one virtual page each, in two heaps, of the clean and of the dirty ones.
///
/// Idea       A heap's root is the least important slot, by references / time since the last one. An eviction takes the clean root if its value is
///            below alpha x the dirty root's, else the dirty one: a dirty page costs a write, a clean one a read if it is wanted again.
/// Invariant  K1 every used slot is in exactly one heap, at its own position. K2 a value is compared as of the moment of the comparison; nodes that
///            nobody touches change places only when a root is examined, so the order is the paper's as of the last touch.
/// Cost       O(log n) a reference. RAM: 64 bytes and the payload a slot.
/// Power cut  Gone: what was dirty was promised to nobody.
/// Source     Chang et al., III B and III C (CO4, CO5); the deviation of the root from the exact minimum is measured in ftl/DESIGN-coftl.md.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/io.h"
#include "ftl/schemes/coftl_ids.h"

namespace flashlab {

class CoftlCache {
public:
    /// `payload_bytes` of each slot; 0 where no payload is kept. Writing a virtual page takes `alpha_write`, reading one `alpha_read`.
    CoftlCache(std::uint32_t slots, std::size_t payload_bytes, Duration alpha_write, Duration alpha_read);

    [[nodiscard]] std::uint32_t capacity() const { return static_cast<std::uint32_t>(slots_.size()); }
    [[nodiscard]] std::uint32_t used() const { return static_cast<std::uint32_t>(heaps_[0].size() + heaps_[1].size()); }
    [[nodiscard]] std::uint32_t dirty() const { return static_cast<std::uint32_t>(heaps_[1].size()); }
    [[nodiscard]] bool full() const { return used() == capacity(); }

    /// A reference counts 1. Fails the contract when full.
    SlotId insert(Lpn lpn, bool is_dirty, SimTime now);
    void touch(SlotId slot, SimTime now);
    void make_dirty(SlotId slot, SimTime now) { move(slot, true, now); }
    void make_clean(SlotId slot, SimTime now) { move(slot, false, now); }
    void remove(SlotId slot, SimTime now);
    /// Which slot to give up; the cache is not empty.
    [[nodiscard]] SlotId victim(SimTime now);
    /// Every dirty slot, by logical page; until the next call. The list is the cache's own, so that a flush allocates nothing.
    [[nodiscard]] std::span<const SlotId> list_dirty();

    [[nodiscard]] Lpn lpn(SlotId slot) const { return slot_of(slot).lpn; }
    [[nodiscard]] bool is_dirty(SlotId slot) const { return slot_of(slot).dirty; }
    /// When the content is there: a page still on its way from flash.
    [[nodiscard]] SimTime ready(SlotId slot) const { return slot_of(slot).ready; }
    void set_ready(SlotId slot, SimTime at) { slot_of(slot).ready = at; }
    /// A request's page is in the slot: its stream and queue go with it.
    void set_written(SlotId slot, SimTime ready, const Origin& by) {
        set_ready(slot, ready);
        written_by_[slot.value()] = by;
    }
    /// How the slot's page is programmed for a request that makes it go.
    [[nodiscard]] Io write_back(SlotId slot, const Io& io) const {
        return io.at(std::max(io.when, ready(slot))).with_data_of(written_by_[slot.value()]);
    }
    [[nodiscard]] std::span<std::byte> payload(SlotId slot) { return {payload_.get() + std::size_t{slot.value()} * payload_bytes_, payload_bytes_}; }
    /// Rank of the least important of the clean (false) or dirty heap among its nodes: 0 = it is the exact minimum. O(n), for measurements.
    [[nodiscard]] std::uint32_t rank_of_root(bool dirty_heap, SimTime now) const;
    [[nodiscard]] bool is_sound() const;

private:
    static constexpr std::uint32_t unused_position = 0xffff'ffff;
    struct Slot {
        Lpn lpn{0};
        std::uint32_t position = unused_position; ///< in its heap
        std::uint64_t count = 0;
        SimTime last = sim_start;
        SimTime ready = sim_start;
        bool dirty = false;
    };
    static_assert(sizeof(Slot) == 40, "the 40 bytes and two ids a slot that Cost tells of");
    using Heap = std::vector<SlotId>;
    [[nodiscard]] Slot& slot_of(SlotId slot) { return slots_[slot.value()]; }
    [[nodiscard]] const Slot& slot_of(SlotId slot) const { return slots_[slot.value()]; }
    [[nodiscard]] Heap& heap_of(SlotId slot) { return heaps_[slot_of(slot).dirty ? 1 : 0]; }
    /// a's value x factor_a < b's value x factor_b, exactly.
    [[nodiscard]] bool less(SlotId a, std::uint64_t factor_a, SlotId b, std::uint64_t factor_b, SimTime now) const;
    [[nodiscard]] bool less(SlotId a, SlotId b, SimTime now) const { return less(a, 1, b, 1, now); }
    void place(Heap& heap, std::uint32_t position, SlotId slot);
    void sift_up(Heap& heap, std::uint32_t position, SimTime now);
    bool sift_down(Heap& heap, std::uint32_t position, SimTime now);
    void put(SlotId slot, SimTime now);
    void take(SlotId slot, SimTime now);
    void move(SlotId slot, bool to_dirty, SimTime now);
    void settle_root(Heap& heap, SimTime now);

    std::size_t payload_bytes_;
    std::uint64_t alpha_write_;
    std::uint64_t alpha_read_;
    std::vector<Slot> slots_;
    std::vector<Origin> written_by_; ///< by slot
    std::vector<SlotId> unused_;
    std::vector<SlotId> by_page_;          ///< what list_dirty() gave last
    Heap heaps_[2];                        ///< clean, dirty
    std::unique_ptr<std::byte[]> payload_; ///< not zeroed: who takes a slot fills it
};

} // namespace flashlab
