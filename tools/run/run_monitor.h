/// What is watched during a run: samples for its log, the steady state, and which part of the run is measured.
///
/// Idea       One object that replay and bench hand to the request loop. The report is the difference to `before()`.
/// Invariant  The warm-up, in requests or until the steady state, is in no figure of the report and in no row of the log. Nothing here changes what
///            the device does.
/// Cost       A few comparisons every 64 requests, and one snapshot.
#pragma once

#include <optional>

#include "tools/run/run_device.h"
#include "tools/run/steady_state.h"

namespace flashlab {

struct RunMeasure {
    std::uint64_t warm_up_requests = 0;
    bool warm_up_until_steady = false;
    bool stop_when_steady = false;
    double overwritten = 0; ///< by preconditioning, times what it filled
};
/// "10000" or "steady".
[[nodiscard]] std::expected<RunMeasure, std::string> parse_measure(const std::string& warm_up, bool until_steady);

class RunMonitor {
public:
    /// Begins the log, unless there is a warm-up: then it begins with the first request behind that.
    RunMonitor(RunDevice& on, const RunMeasure& measure, const ReplaySpeed& speed, SimTime begin);
    [[nodiscard]] RunWatch watch();
    [[nodiscard]] const RunSnapshot& before() const { return before_; }
    /// Adds `steady_state` to the report, and `partial` if a signal ended the run. It is an error if the warm-up never ended.
    [[nodiscard]] std::expected<void, std::string> finish(Json& report);

private:
    [[nodiscard]] RunStep look(const RunTally& tally);
    /// Requests between two looks. A warm-up of a number of requests needs a look at each one, so that it ends exactly.
    [[nodiscard]] std::uint64_t every() const { return measure_.warm_up_requests != 0 ? 1 : 64; }

    RunDevice& on_;
    RunMeasure measure_;
    SteadyState steady_;
    RunSnapshot before_;
    std::uint64_t looks_ = 0, looks_when_warm_ = ~std::uint64_t{0};
    bool warm_ = false;
    std::optional<SimTime> log_waits_; ///< warm since then, but no request came behind
};

} // namespace flashlab
