/// What came of one run of a sweep.
///
/// Idea       A report is divided: what follows from the run's identity, and what depends on the host (`wall_…`, `peak_rss_bytes`). The first part
///            must be the same wherever the run is made.
/// Invariant  same_result() of two records with one id is true, or something is wrong with one of the machines.
/// Cost       A few kilobytes.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "tools/sweep/sweep_run.h"

namespace flashlab {

struct SweepRecord {
    SweepRun run;
    bool is_done = false; ///< false: it failed
    std::string error;
    Json report; ///< without what depends on the host
    Json host;   ///< wall_seconds, wall_requests_per_second, peak_rss_bytes, wall_run_seconds: null where the command does not tell

    /// Divides what the command printed. A text that is no report of this run makes a record that failed.
    [[nodiscard]] static SweepRecord of_report(const SweepRun& run, std::string_view text, bool reports_config);
    [[nodiscard]] static SweepRecord of_failure(const SweepRun& run, std::string_view why);
    [[nodiscard]] Json to_json() const;
    [[nodiscard]] static std::expected<SweepRecord, std::string> from_json(const Json& json);
};

/// What the two tell differently, as "waf: 2.1 and 2.2"; empty: they agree.
[[nodiscard]] std::string difference_of(const SweepRecord& a, const SweepRecord& b);

} // namespace flashlab
