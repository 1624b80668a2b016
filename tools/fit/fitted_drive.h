/// A drive of a preset with some keys changed, under one point's load: what it would have measured.
///
/// Idea       The drive is that of `bench --preset P --set ...`, the load a queue for each stream, as `bench --queue`. It runs until it is warm, then
///            so long that a percentile of 99 has something to stand on. A drive that only reads or writes in order is filled or empty; one that is
///            written at random has been overwritten twice.
/// Invariant  The same settings, point and seed give the same numbers on every host.
/// Cost       Some 10^5 requests: tenths of a second.
#pragma once

#include <map>

#include "tools/fit/fio_results.h"

namespace flashlab {

struct FitSettings {
    std::string preset;
    std::map<std::string, std::string> keys{}; ///< with their values
    [[nodiscard]] std::vector<std::string> as_list() const;
};

/// The point as this drive measures it: its streams with the drive's rates, latencies and write amplification.
[[nodiscard]] std::expected<FitPoint, std::string> measure_point(const FitSettings& drive, const FitPoint& point, std::uint64_t seed);

} // namespace flashlab
