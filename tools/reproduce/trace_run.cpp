#include "tools/reproduce/trace_run.h"

#include "tools/run_report.h"
#include "tools/virtual_device.h"

namespace flashlab {

std::expected<TraceOutcome, std::string> run_trace_on(const TraceRun& run, const Load& load) {
    const auto plan = plan_device(run.config, std::nullopt);
    if (!plan)
        return std::unexpected(plan.error());
    NullEventSink events;
    auto device = make_virtual_device(*plan, Payload::none, events);
    if (!device)
        return std::unexpected(device.error());
    if (auto started = (*device)->start(sim_start); !started)
        return std::unexpected(started.error());
    const auto filled = precondition(**device, run.before, run.seed, (*device)->ready_at());
    if (!filled)
        return std::unexpected(filled.error());
    auto trace = load.open();
    if (!trace)
        return std::unexpected(trace.error());
    AddressFit fit{FitPolicy::wrap, (*device)->ssd().identify().sectors * sector_bytes};
    const RunSnapshot before = RunSnapshot::of(**device, *filled);
    std::uint64_t left = run.requests;
    const auto next = [&](TraceRequest& request) -> std::expected<bool, std::string> {
        if (left == 0)
            return false;
        --left;
        return (*trace)->next(request);
    };
    const auto tally = replay(**device, next, fit, run.speed, *filled);
    if (!tally)
        return std::unexpected(tally.error());
    TraceOutcome outcome;
    outcome.seconds = static_cast<double>((tally->end - tally->begin).count()) / 1e9;
    outcome.requests = tally->requests();
    outcome.report = report_run({"", run.seed, 0}, **device, before, *tally);
    return outcome;
}

} // namespace flashlab
