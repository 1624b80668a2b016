/// What fio measured on a drive: its JSON output as loads with their rates and latencies.
///
/// Idea       The jobs of a file run beside each other, until one that says `stonewall` begins a new group: each group is a point, each of its jobs a
///            stream. A job of several processes is one stream, whether fio reports their sum or each of them.
/// Invariant  What a point does not say is not guessed: a latency that the file lacks is 0.
/// Source     fio's documentation, "JSON output".
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "tools/fit/fill_log.h"
#include "tools/run/timed_load.h"

namespace flashlab {

struct FitStream : TimedStream {
    std::string name{};               ///< of the job
    TimedDirection read{}, write{};   ///< the depth is of all its processes
    double waf = 0;                   ///< 0: not known
    std::optional<FillPhases> fill{}; ///< its bandwidth log: the job writes the whole drive once, in order
};

struct FitPoint {
    std::string file;
    std::vector<FitStream> streams;
};

/// The error names the file and what is wrong in it.
[[nodiscard]] std::expected<std::vector<FitPoint>, std::string> read_fio_results(const std::string& path);
/// The same of a text.
[[nodiscard]] std::expected<std::vector<FitPoint>, std::string> parse_fio_results(const std::string& text, const std::string& path);

} // namespace flashlab
