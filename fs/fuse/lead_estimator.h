/// How much earlier than its time an answer must leave, so that its caller sees it in time.
///
/// Idea       The way through FUSE, there and back, is a part of the time that a caller sees. Nobody tells the daemon when a call began or when its
///            answer was seen. But a caller that makes one call after another sends the next request when it has seen the answer. A turnaround is the
///            time from an answer's leaving to the arrival of the same caller's next request of the same kind and size. It consists of the way back,
///            the caller's own work, and the way there. The lead is the median turnaround, but at most the shortest one plus the tolerance, less the
///            microsecond that a caller needs at least. A program that works for long between two calls must not make answers leave early, so the
///            round trips measured at the mount's start bound the lead from above.
/// Invariant  Lead <= the shortest turnaround in the window + tolerance - shortest_thought. Without enough turnarounds: the fastest round trip at the
///            start; for writes twice that.
/// Cost       A comparison a request, and at every 8th turnaround a search of the window of 32. Only at latency real or Nx.
/// Threading  lead() from any thread; the rest is guarded by the monitor.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/sim_time.h"
#include "fs/fuse/latency_clock.h"

namespace flashlab {

/// Requests whose way through FUSE takes equally long.
struct LeadClass {
    enum class Kind : std::uint8_t { plain, read, write };
    Kind kind = Kind::plain;
    std::uint8_t size = 0; ///< up to 4, 16, 64, 256 KiB, and more

    [[nodiscard]] static LeadClass of(Kind kind, std::uint64_t bytes);
    [[nodiscard]] std::uint64_t largest_bytes() const { return 4096ull << 2 * size; }
    friend bool operator==(LeadClass, LeadClass) = default;
};

/// Round trips measured while nothing else ran.
struct RoundTrips {
    WallClock::duration fastest{0};
    WallClock::duration usual{0};
    WallClock::duration copy_of_mib{0}; ///< what copying takes on this machine
};

class LeadEstimator {
public:
    static constexpr std::chrono::nanoseconds shortest_thought{1000}; ///< a caller's, between two calls
    static constexpr std::chrono::nanoseconds tolerance{1000};        ///< how much too early an answer may be seen

    LeadEstimator() { forget(); }
    /// Forgets all turnarounds and begins with these measurements.
    void begin(const RoundTrips& measured);
    [[nodiscard]] WallClock::duration lead(LeadClass of) const { return WallClock::duration{leads_[index_of(of)].load(std::memory_order_relaxed)}; }
    void arrived(std::uint64_t caller, LeadClass what, SimTime arrival, WallTime wall);
    /// Notes that the answer to the request of that arrival has left, at its simulated time.
    void left(SimTime arrival, WallTime wall);
    /// The lead of a step, behind which an answer waits: it begins earlier by what steps take to compute, too, so that the answer is ready.
    [[nodiscard]] WallClock::duration step_lead(LeadClass of) const;
    /// Notes what a step took to compute.
    void step_took(WallClock::duration took);

private:
    static constexpr std::size_t kinds = 3, sizes = 5, classes = kinds * sizes;
    static constexpr std::chrono::microseconds longest_step{50}; ///< what takes longer waited for something
    static constexpr std::size_t window = 32, enough = 16, samples_between_looks = 8;
    struct Turnarounds {
        std::array<WallClock::duration, window> last{};
        std::uint64_t seen = 0;
    };
    /// The newest request; its answer has left when `answered`.
    struct Newest {
        std::uint64_t caller = 0;
        LeadClass what;
        SimTime arrival = sim_start;
        WallTime left{};
        bool answered = false;
    };
    [[nodiscard]] static std::size_t index_of(LeadClass what) { return static_cast<std::size_t>(what.kind) * sizes + what.size; }
    [[nodiscard]] static LeadClass class_at(std::size_t index);
    void forget();
    void note_turnaround(LeadClass what, WallClock::duration took);
    [[nodiscard]] WallClock::duration estimate(LeadClass what) const;
    [[nodiscard]] WallClock::duration at_most(LeadClass what) const;
    [[nodiscard]] WallClock::duration at_first(LeadClass what) const;

    RoundTrips measured_;
    Newest newest_;
    std::array<Turnarounds, classes> turnarounds_{};
    std::array<std::atomic<WallClock::duration::rep>, classes> leads_{};
    std::atomic<WallClock::duration::rep> step_{0}; ///< the longest step of late: each shorter one takes a sixteenth off
};

} // namespace flashlab
