/// Whether a run has become steady: the run is divided into windows of equal work, and the last five windows are compared.
///
/// Idea       A window ends after a fixed number of bytes written. A run is steady if three conditions hold over five windows. Write amplification
///            (and, in a closed loop, throughput) differs by at most 20 % of its mean. A straight line through the values differs by at most 10 % of
///            the mean. Blocks are erased as fast as they are filled, so that no free space is used up.
/// Invariant  Once the steady state is reached it stays reached. The answer depends on the run alone.
/// Cost       A comparison at each look; counters are read once a window.
/// Source     SNIA, Solid State Storage Performance Test Specification 2.0, 2.1.24: window of five rounds, 20 % excursion, 10 % slope. The condition
///            on erases is ours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tools/drive/device.h"
#include "tools/text/json.h"

namespace flashlab {

class SteadyState {
public:
    static constexpr std::size_t windows_compared = 5;
    static constexpr double excursion_at_most = 0.2, slope_at_most = 0.1;

    /// `judges_speed`: false in an open loop, where the trace sets the speed.
    SteadyState(Device& device, std::uint64_t window_bytes, bool judges_speed, SimTime begin);
    /// The usual length of a window in bytes: a 20th of the device's capacity.
    [[nodiscard]] static std::uint64_t usual_window(Device& device);
    /// True when a window has just ended.
    bool look(std::uint64_t requests, SimTime now);
    [[nodiscard]] bool reached() const { return reached_.has_value(); }
    /// reached, at_request, at_sim_seconds, window_bytes, windows, and of the last five: waf{mean,excursion,slope}, write_mb_s{…}.
    [[nodiscard]] Json to_json() const;

    /// The spread of a sequence of values: the largest difference, and the difference of the ends of a straight line through them. Both are divided
    /// by the mean.
    struct Spread {
        double mean = 0, excursion = 0, slope = 0;
        [[nodiscard]] bool is_steady() const { return excursion <= excursion_at_most && slope <= slope_at_most; }
    };
    [[nodiscard]] static Spread spread_of(std::span<const double> values);

private:
    struct Counters {
        std::uint64_t written = 0, programs = 0, erases = 0;
        SimTime at = sim_start;
    };
    struct Window {
        double waf = 0, megabytes_per_second = 0;
        std::uint64_t programs = 0, erases = 0;
    };
    struct Reached {
        std::uint64_t request = 0;
        SimTime at = sim_start;
    };
    [[nodiscard]] Counters now_at(SimTime now) const;
    [[nodiscard]] Spread spread(double Window::*value) const;
    [[nodiscard]] bool is_steady() const;

    Device& device_;
    std::uint64_t window_bytes_;
    bool judges_speed_;
    SimTime begin_;
    Counters last_;
    std::array<Window, windows_compared> windows_{}; ///< a ring: the newest window is number count_ - 1, modulo its size
    std::uint64_t count_ = 0;
    std::optional<Reached> reached_;
};

} // namespace flashlab
