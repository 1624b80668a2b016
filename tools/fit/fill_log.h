/// One fill of a drive in order, as fio's bandwidth log tells it: how much is fast, and how fast it is before and after.
///
/// Idea       A log's lines are put on a scale of bytes: the mean speed of each part of the drive. The parts are cut where two speeds explain them
///            best, and the first cut is the size of the cache in front of the slower cells.
/// Invariant  A drive whose speed nowhere changes by a third has one phase, and no cache.
/// Cost       A pass over the log; the model's fill writes the whole drive once.
/// Source     fio's documentation, "Log file formats": time in ms, KiB/s, direction, ...
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace flashlab {

/// Bytes and the seconds that they took, one behind the other.
struct FillStep {
    double bytes = 0, seconds = 0;
};

struct FillPhases {
    double cache_share = 1;     ///< of the fill, before the speed falls for the first time
    double first = 0, then = 0; ///< bytes a second before and behind that; `then` is 0 where it never falls
    double mean = 0;
};

[[nodiscard]] FillPhases phases_of(const std::vector<FillStep>& steps);

/// Of processes that wrote beside each other: a text each. The error names file, line and column.
struct LogText {
    std::string path, text;
};
[[nodiscard]] std::expected<std::vector<FillStep>, std::string> parse_bandwidth_logs(const std::vector<LogText>& logs);
[[nodiscard]] std::expected<std::vector<FillStep>, std::string> read_bandwidth_logs(const std::vector<std::string>& paths);

} // namespace flashlab
