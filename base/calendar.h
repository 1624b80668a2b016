/// A resource that serves one operation at a time, as a calendar of reservations.
///
/// Idea       An operation takes the earliest gap that fits; a late arrival may use an earlier gap.
/// Invariant  Reservations never overlap. Reservations that touch are merged.
/// Cost       O(1) amortised. Gaps shorter than the shortest phase are not kept. settle() drops the reservations before its time. When more than
///            max_live reservations are left, it also forgets the oldest gaps, so that an open-loop backlog costs no more than a quiet device.
/// Power cut  A calendar belongs to the simulator, not to the device: nothing of it survives.
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

    /// `shortest`: no phase of positive length may be shorter. A shorter gap is useless to every caller and is merged away.
    /// `max_live`: settle() forgets a gap that lies more than this many reservations back, so that no later operation can use it.
    /// Nothing is lost while at most this many operations are under way, each with one reservation to come.
    explicit Calendar(Duration shortest = Duration{1}, std::size_t max_live = usual_live);
    /// Earliest start >= from at which `length` fits; reserves nothing. A phase of no length fits anywhere.
    /// `apart`: the resource is free for that long before the start, too.
    [[nodiscard]] SimTime earliest(SimTime from, Duration length, Duration apart = Duration{0}) const {
        if (from >= last_end_ + apart || length == Duration{0}) return from;
        if (head_ < slots_.size() && slots_.back().start <= from) return last_end_ + apart; // in the last reservation
        return earliest_gap(from, length, apart);
    }
    /// As earliest(), for a phase that may be done in pieces, each of `least` > 0 at least (or the whole phase): from the first one's start to the
    /// last one's end.
    [[nodiscard]] Slot earliest_in_pieces(SimTime from, Duration length, Duration least) const;
    /// Takes what earliest_in_pieces() found.
    Slot reserve_in_pieces(SimTime from, Duration length, Duration least);
    /// At most an eighth of this span is free.
    [[nodiscard]] bool is_booked_out(SimTime from, Duration span) const { return last_end_ >= from + span - span / 8 && is_full(from, span); }
    /// Takes the earliest gap.
    Slot reserve(SimTime from, Duration length);
    /// Takes exactly [start, start + length); ContractViolation when it is not free.
    void take(SimTime start, Duration length);
    /// One of the phases that repeat with every step of a run.
    struct Phase {
        Duration offset; ///< into the step
        Duration length;
        bool settles = true; ///< it begins an operation: settle() comes before it
        Duration apart{0};   ///< as in earliest(); what of the run lies before it is further away
    };
    /// Takes these phases `count` times, one step apart, behind everything reserved. The result is that of single calls of take() with a settle()
    /// before each operation, all at the time of the last settle(). It costs no more than max_live calls of take().
    void take_run(SimTime start, Duration step, std::uint32_t count, std::span<const Phase> phases);
    /// How many whole steps of such a run are free from `start` on, `count` at most.
    /// 0 also where a settle() between them might forget gaps that they need.
    [[nodiscard]] std::uint32_t steps_free(SimTime start, Duration step, std::uint32_t count, std::span<const Phase> phases) const;
    /// take_run() between existing reservations. All its steps must be free (steps_free()). `scratch` is working memory.
    void weave_run(SimTime start, Duration step, std::uint32_t count, std::span<const Phase> phases, std::vector<Slot>& scratch);
    [[nodiscard]] SimTime free_at() const { return last_end_; } ///< end of the last reservation, sim_start when none
    [[nodiscard]] Duration busy() const { return busy_; }       ///< total reserved, ever
    /// What of it lies before `at`. Where gaps were forgotten behind `at`, they count as if they were spread evenly.
    [[nodiscard]] Duration busy_before(SimTime at) const;
    void settle(SimTime now) {
        if (head_ == slots_.size()) return;
        if (slots_[head_].end > now && slots_.size() - head_ <= max_live_) return;
        drop_past(now);
    }

private:
    [[nodiscard]] SimTime earliest_gap(SimTime from, Duration length, Duration apart) const;
    [[nodiscard]] bool is_full(SimTime from, Duration span) const;
    /// The first piece that can be had from `from` on of what is left.
    [[nodiscard]] Slot next_piece(SimTime from, Duration left, Duration least) const;
    template <class Tell>
    Slot for_each_piece(SimTime from, Duration length, Duration least, const Tell& tell) const;
    void drop_past(SimTime now);
    void append(Slot slot);
    void forget_oldest(std::size_t behind = 0);
    void drop_dead();
    [[nodiscard]] std::size_t first_ending_after(SimTime time) const;
    [[nodiscard]] std::size_t search(SimTime time) const;
    std::size_t come_near(std::size_t at) const {
        near_ = static_cast<std::uint32_t>(at);
        return at;
    }
    void insert(std::size_t at, Slot slot);

    std::vector<Slot> slots_; ///< sorted, disjoint; slots_[head_..] are live
    std::uint32_t head_ = 0;
    mutable std::uint32_t near_ = 0; ///< where the last search ended: the next one is mostly for what lies there
    Duration shortest_;
    std::size_t max_live_;
    Duration busy_{0};
    Duration forgotten_{0}; ///< gaps within the oldest live slot
    SimTime last_end_ = sim_start;
};

} // namespace flashlab
