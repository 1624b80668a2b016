/// Whether a run has become steady: the run is divided into windows of equal work, and the last five windows are compared.
///
/// Idea       A window ends after a fixed number of bytes written. A run is steady if these conditions hold over five windows. Write amplification
///            (and, in a closed loop, throughput) differs by at most 20 % of its mean. A straight line through the values differs by at most 10 % of
///            the mean. Blocks are erased as fast as they are filled. The drive has settled: what it holds was overwritten twice, and the space
///            without live data, which collections work with, hardly shrinks any more. Random writes fill an empty drive without end (after n times
///            its bytes e^-n of it was never written), and are flat on the way: without the last condition the way is taken for the end.
/// Invariant  Once the steady state is reached it stays reached. The answer depends on the run alone, and on what its preconditioning overwrote.
/// Cost       A comparison at each look; counters are read once a window.
/// Source     SNIA, Solid State Storage Performance Test Specification 2.0, 2.1.24: window of five rounds, 20 % excursion, 10 % slope. The conditions
///            on erases, on what was overwritten and on the space are ours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/drive/device.h"
#include "tools/text/json.h"

namespace flashlab {

/// How much of a drive holds live data.
struct LiveData {
    std::uint64_t bytes = 0, drive_bytes = 0, flash_bytes = 0;
    [[nodiscard]] static LiveData of(Device& device);
};

/// Whether what is measured on a drive has still to do with how it was filled.
struct Settling {
    static constexpr double overwritten_at_least = 2, shrinks_at_most = 0.02;
    double overwritten = 0; ///< how many times what the drive holds was overwritten
    double shrinks = 0;     ///< the share of the space without live data that went, for each time that the drive's bytes were written
    double least = overwritten_at_least;
    /// The share that went between two times, so many bytes apart.
    [[nodiscard]] static double shrinks_between(const LiveData& before, const LiveData& after, std::uint64_t written_bytes);
    /// Empty: it has settled.
    [[nodiscard]] std::string why_not() const;
};

class SteadyState {
public:
    static constexpr std::size_t windows_compared = 5;
    static constexpr double excursion_at_most = 0.2, slope_at_most = 0.1;

    /// `judges_speed`: false in an open loop, where the trace sets the speed. `overwritten`: how many times what the drive holds was overwritten
    /// before.
    SteadyState(Device& device, std::uint64_t window_bytes, bool judges_speed, SimTime begin, double overwritten = 0);
    /// The usual length of a window in bytes: a 20th of the device's capacity.
    [[nodiscard]] static std::uint64_t usual_window(Device& device);
    /// True when a window has just ended.
    bool look(std::uint64_t requests, SimTime now);
    [[nodiscard]] bool reached() const { return reached_.has_value(); }
    /// reached, why_not, at_request, at_sim_seconds, window_bytes, windows, overwritten, and of the last five: waf{mean,excursion,slope},
    /// write_mb_s{…}.
    [[nodiscard]] Json to_json() const;

    /// The spread of a sequence of values: the largest difference, and the difference of the ends of a straight line through them. Both are divided
    /// by the mean.
    struct Spread {
        double mean = 0, excursion = 0, slope = 0;
        [[nodiscard]] bool is_steady() const { return excursion <= excursion_at_most && slope <= slope_at_most; }
        /// Empty, or that `value` still changes, and by how much.
        [[nodiscard]] std::string why_not(std::string_view value) const;
    };
    [[nodiscard]] static Spread spread_of(std::span<const double> values);

private:
    struct Counters {
        std::uint64_t written = 0, programs = 0, erases = 0;
        SimTime at = sim_start;
        LiveData live{};
    };
    struct Window {
        double waf = 0, megabytes_per_second = 0;
        std::uint64_t programs = 0, erases = 0, written = 0;
        LiveData live_before{};
    };
    struct Reached {
        std::uint64_t request = 0;
        SimTime at = sim_start;
    };
    [[nodiscard]] Counters now_at(SimTime now) const;
    [[nodiscard]] Spread spread(double Window::*value) const;
    [[nodiscard]] std::string why_not() const;
    [[nodiscard]] Settling settling() const;

    Device& device_;
    std::uint64_t window_bytes_;
    bool judges_speed_;
    SimTime begin_;
    double overwritten_before_;
    Counters first_, last_;
    std::array<Window, windows_compared> windows_{}; ///< a ring: the newest window is number count_ - 1, modulo its size
    std::uint64_t count_ = 0;
    std::optional<Reached> reached_;
};

} // namespace flashlab
