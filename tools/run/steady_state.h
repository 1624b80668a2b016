/// Whether a run has become steady: windows of equal work, and how much the last five differ.
///
/// Idea       A window ends with each so many bytes written. Steady: over five windows write amplification (and, in a closed loop, throughput) differs by at most
///            20 % of its mean, a straight line through it by at most 10 %, and blocks are erased as fast as they are filled, so that no free space is used up.
/// Invariant  Once reached it stays reached; the answer depends on the run alone.
/// Cost       A comparison a look; counters are read once a window.
/// Source     SNIA, Solid State Storage Performance Test Specification 2.0, 2.1.24: window of five rounds, 20 % excursion, 10 % slope. The erase rule is ours.
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

    /// `judges_speed`: false in an open loop, where the trace says how fast it is.
    SteadyState(Device& device, std::uint64_t window_bytes, bool judges_speed, SimTime begin);
    /// A 20th of what the device stores.
    [[nodiscard]] static std::uint64_t usual_window(Device& device);
    /// True when a window has just ended.
    bool look(std::uint64_t requests, SimTime now);
    [[nodiscard]] bool reached() const { return reached_.has_value(); }
    /// reached, at_request, at_sim_seconds, window_bytes, windows, and of the last five: waf{mean,excursion,slope}, write_mb_s{…}.
    [[nodiscard]] Json to_json() const;

    /// Of values in order: largest difference, and that of a straight line's ends, over the mean.
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
    [[nodiscard]] Spread spread(double Window::* value) const;
    [[nodiscard]] bool is_steady() const;

    Device& device_;
    std::uint64_t window_bytes_;
    bool judges_speed_;
    SimTime begin_;
    Counters last_;
    std::array<Window, windows_compared> windows_{}; ///< the newest at count_ - 1, modulo
    std::uint64_t count_ = 0;
    std::optional<Reached> reached_;
};

} // namespace flashlab
