/// A resource that serves one operation at a time, as a calendar of reservations.
///
/// Idea       An operation takes the earliest gap that fits; a late arrival may use an earlier gap.
/// Invariant  Reservations never overlap; touching ones are merged.
/// Cost       O(1) amortised: reservations before settle()'s time are dropped, gaps shorter than the shortest phase are forgotten, and settle() forgets
///            the oldest gaps beyond so many reservations, so that an open-loop backlog costs no more than a quiet device.
/// Power cut  A calendar is the simulator's, not the device's: nothing of it survives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/sim_time.h"

namespace flashlab {

struct Slot {
    SimTime start;
    SimTime end;
};

class Calendar {
public:
    static constexpr std::size_t usual_live = 64;

    /// `shortest`: gaps below it are useless to every caller and are merged away. No phase of positive length may be shorter.
    /// `max_live`: a gap that lies more than this many reservations back is forgotten by settle(): a later operation will not go back to it. As many as
    /// may be under way at once, each with a reservation to come, lose nothing.
    explicit Calendar(Duration shortest = Duration{1}, std::size_t max_live = usual_live);
    /// Earliest start >= from at which `length` fits; reserves nothing. A phase of no length fits anywhere.
    [[nodiscard]] SimTime earliest(SimTime from, Duration length) const {
        if (from >= last_end_ || length == Duration{0}) return from;
        return earliest_gap(from, length);
    }
    /// Earliest gap, taken.
    Slot reserve(SimTime from, Duration length);
    /// Takes exactly [start, start + length); ContractViolation when it is not free.
    void take(SimTime start, Duration length);
    /// One of the phases that repeat with every step of a run.
    struct Phase {
        Duration offset; ///< into the step
        Duration length;
        bool settles = true; ///< it begins an operation: settle() comes before it
    };
    /// take() of these phases, `count` times, a step apart, behind everything reserved; with the settle() of each operation in between, at the time of the
    /// last one. Costs no more than max_live of them.
    void take_run(SimTime start, Duration step, std::uint32_t count, std::span<const Phase> phases);
    /// How many whole steps of such a run, `count` at most, are free from `start` on; 0 also where settle() between them might forget gaps they need.
    [[nodiscard]] std::uint32_t steps_free(SimTime start, Duration step, std::uint32_t count, std::span<const Phase> phases) const;
    /// take_run() among what is reserved, of steps that are free. `scratch` is for its use.
    void weave_run(SimTime start, Duration step, std::uint32_t count, std::span<const Phase> phases, std::vector<Slot>& scratch);
    [[nodiscard]] SimTime free_at() const { return last_end_; } ///< end of the last reservation, sim_start when none
    [[nodiscard]] Duration busy() const { return busy_; }       ///< total reserved, ever
    void settle(SimTime now) {
        if (head_ == slots_.size()) return;
        if (slots_[head_].end > now && slots_.size() - head_ <= max_live_) return;
        drop_past(now);
    }

private:
    [[nodiscard]] SimTime earliest_gap(SimTime from, Duration length) const;
    void drop_past(SimTime now);
    void append(Slot slot);
    void forget_oldest(std::size_t behind = 0);
    void drop_dead();
    [[nodiscard]] std::size_t first_ending_after(SimTime time) const;
    void insert(std::size_t at, Slot slot);

    std::vector<Slot> slots_; ///< sorted, disjoint; slots_[head_..] are live
    std::size_t head_ = 0;
    Duration shortest_;
    std::size_t max_live_;
    Duration busy_{0};
    SimTime last_end_ = sim_start;
};

} // namespace flashlab
