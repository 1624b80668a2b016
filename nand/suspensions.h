/// Where reads of the host get in although a plane is reserved: they suspend erases and programs, and pass reads of collections.
///
/// Idea       A plane is reserved long ahead, and an end that was reported never moves. So a read that gets in takes the time of what it makes wait,
///            and the plane pays that time behind it: what is reserved between the two really comes that much later, and its window moves along. A
///            read of a collection is not suspended: the host's comes right behind it, before what the plane would do next.
/// Invariant  N3 for the host's reads: no two at one instant on one lane. What has begun when a read is asked for lets in as many as it may, each for
///            the time of a suspension; what has not begun waits.
/// Cost       A look at 20 windows for a read that finds its plane reserved; no allocation.
/// Power cut  RAM only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/calendar.h"
#include "nand/nand_config.h"

namespace flashlab {

class Suspensions {
public:
    /// Something that lets reads in; by its real times, which may be later than the reported ones.
    struct Window {
        SimTime begin = sim_start; ///< of its cells' work
        SimTime end = sim_start;
        SimTime busy_until = sim_start; ///< resumed from the last suspension
        std::uint32_t left = 0;         ///< reads that it still lets in
        bool is_read = false;           ///< of a collection
    };
    /// `shortest`: no read of the host holds a plane for less.
    Suspensions(std::size_t lanes, const NandTiming& timing, const NandOptions& options, Duration shortest);

    [[nodiscard]] bool are_possible() const { return !windows_.empty(); }
    void settle(std::size_t lane, SimTime now) {
        if (are_possible()) host_reads_[lane].settle(now);
    }
    /// The cells are reserved for something that lets so many reads in.
    void open(std::size_t lane, SimTime begin, SimTime end, std::uint32_t reads, bool is_read = false);
    /// Earliest start >= `sense` of a host's read that gets in nowhere.
    [[nodiscard]] SimTime plainly(std::size_t lane, const Calendar& cells, SimTime sense, Duration held) const;
    struct Place {
        SimTime at;
        Window* window = nullptr; ///< where it gets in; null: the plane is free
    };
    /// The earliest place of a host's read that is asked for at `from`, and whose command is there at `sense`.
    [[nodiscard]] Place place_of_read(std::size_t lane, const Calendar& cells, SimTime from, SimTime sense, Duration held);
    /// It gets in there. Returns when its time is paid.
    SimTime get_in(Window& window, std::size_t lane, Calendar& cells, SimTime sense, SimTime cells_free);
    /// A host's read has its time, in a window or not.
    void note_read(std::size_t lane, SimTime sense, SimTime cells_free) {
        if (are_possible()) host_reads_[lane].take(sense, cells_free - sense);
    }
    /// How many reads have got in.
    [[nodiscard]] std::uint64_t count() const { return count_; }

private:
    static constexpr std::size_t suspendable_a_lane = 4, reads_a_lane = 16; ///< the last ones reserved
    static constexpr std::size_t windows_a_lane = suspendable_a_lane + reads_a_lane;
    [[nodiscard]] std::span<Window> windows_of(std::size_t lane) { return std::span{windows_}.subspan(lane * windows_a_lane, windows_a_lane); }
    [[nodiscard]] std::span<const Window> windows_of(std::size_t lane) const {
        return std::span{windows_}.subspan(lane * windows_a_lane, windows_a_lane);
    }
    [[nodiscard]] Place first_window(std::size_t lane, SimTime from, SimTime sense, Duration held);
    [[nodiscard]] SimTime end_of_what_has_begun(std::size_t lane, SimTime before) const;

    Duration suspend_, resume_;
    std::vector<Window> windows_;          ///< windows_a_lane for each lane; empty without suspensions
    std::vector<std::size_t> next_window_; ///< by lane, for what is suspended and for reads
    std::vector<Calendar> host_reads_;     ///< by lane: when they really sense
    std::uint64_t count_ = 0;
};

} // namespace flashlab
