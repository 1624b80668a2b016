#include "tools/run/run_monitor.h"

#include <fmt/format.h>

#include "tools/host/interruption.h"
#include "tools/traces/trace_fields.h"

namespace flashlab {

std::expected<RunMeasure, std::string> parse_measure(const std::string& warm_up, bool until_steady) {
    RunMeasure out;
    out.stop_when_steady = until_steady;
    if (warm_up == "steady") {
        out.warm_up_until_steady = true;
    } else if (!warm_up.empty()) {
        const auto requests = parse_unsigned(warm_up);
        if (!requests) return std::unexpected(fmt::format("--warm-up {}: a number of requests, or 'steady'", warm_up));
        out.warm_up_requests = *requests;
    }
    if (out.warm_up_until_steady && until_steady) return std::unexpected("--warm-up steady measures from where --until-steady ends: choose one");
    return out;
}

RunMonitor::RunMonitor(RunDevice& on, const RunMeasure& measure, const ReplaySpeed& speed, SimTime begin)
    : on_{on}, measure_{measure}, steady_{on.device(), SteadyState::usual_window(on.device()), speed.depth != 0, begin, measure.overwritten},
      before_{RunSnapshot::of(on.device(), begin)}, warm_{measure.warm_up_requests == 0 && !measure.warm_up_until_steady} {
    if (warm_) on_.begin_log(begin);
}

RunWatch RunMonitor::watch() {
    return {.every = every(),
            .look = [this](const RunTally& tally) { return look(tally); },
            .counts_from =
                [this](SimTime now) {
                    log_waits_.reset();
                    on_.begin_log(now);
                }};
}

RunStep RunMonitor::look(const RunTally& tally) {
    ++looks_;
    const std::uint64_t requests = looks_ * every();
    if (warm_ && requests % RunDevice::sample_every == 0) on_.sample(tally.end);
    (void)steady_.look(requests, tally.end);
    if (!warm_ && (measure_.warm_up_until_steady ? steady_.reached() : requests >= measure_.warm_up_requests)) {
        warm_ = true;
        looks_when_warm_ = looks_;
        log_waits_ = tally.end;
        before_ = RunSnapshot::of(on_.device(), tally.end);
        return RunStep::count_from_here;
    }
    return measure_.stop_when_steady && steady_.reached() ? RunStep::stop : RunStep::go_on;
}

std::expected<void, std::string> RunMonitor::finish(Json& report) {
    if (!warm_ && Interruption::came()) return std::unexpected("interrupted within --warm-up: nothing was measured");
    if (!warm_)
        return std::unexpected(measure_.warm_up_until_steady
                                   ? fmt::format("the run ended before it was steady: nothing was measured ({}); give it more requests, or "
                                                 "--precondition fill:100,random:2x",
                                                 steady_.to_json()["why_not"].text())
                                   : std::string{"the run ended within --warm-up: nothing was measured"});
    if (measure_.warm_up_requests != 0 && looks_ == looks_when_warm_ && !Interruption::came()) // each request was looked at
        return std::unexpected("--warm-up takes the whole run: nothing was measured; give it fewer requests, or the run more");
    if (log_waits_) on_.begin_log(*log_waits_);
    Json steady = steady_.to_json();
    steady.add("ends_run", measure_.stop_when_steady && steady_.reached());
    report.add("steady_state", std::move(steady));
    if (Interruption::came()) report.add("partial", true);
    return {};
}

} // namespace flashlab
