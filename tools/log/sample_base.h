/// The counters of the device at the beginning of a run.
///
/// Idea       The device counts since power-on. A run of the log counts since its own beginning. So each sample is written as the difference.
/// Invariant  Only counters that grow are subtracted. Free blocks stay as they are.
/// Cost       Some thirty subtractions a sample.
#pragma once

#include <cstdint>
#include <vector>

#include "base/events.h"

namespace flashlab {

class SampleBase {
public:
    SampleBase() = default; ///< the run begins with the device's power-on
    SampleBase(const SampleEvent& at, std::vector<std::uint64_t> channel_busy_ns) : at_{at}, channel_busy_ns_{std::move(channel_busy_ns)} {}
    [[nodiscard]] SimTime at() const { return at_.at; }
    [[nodiscard]] SampleEvent since(SampleEvent now) const;
    [[nodiscard]] std::vector<std::uint64_t> since(std::vector<std::uint64_t> channel_busy_ns) const;

private:
    SampleEvent at_;
    std::vector<std::uint64_t> channel_busy_ns_;
};

} // namespace flashlab
