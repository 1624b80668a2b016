#include "tools/replay.h"

#include <chrono>

#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/table.h"
#include "tools/trace_input.h"
#include "tools/virtual_device.h"

namespace flashlab {
namespace {

struct Run {
    RunSnapshot before;
    RunTally tally;
};

std::expected<Run, std::string> run(const ReplayOptions& o, const ReplaySpeed& speed, TraceStream& stream, Device& device) {
    SimTime begin = device.ready_at();
    if (!o.precondition.empty()) {
        const auto what = parse_precondition(o.precondition);
        if (!what)
            return std::unexpected(what.error());
        const auto filled = precondition(device, *what, o.seed, begin);
        if (!filled)
            return std::unexpected(filled.error());
        begin = *filled;
    }
    AddressFit fit{o.wrap ? FitPolicy::wrap : o.compact ? FitPolicy::compact : FitPolicy::as_is, device.ssd().identify().sectors * sector_bytes};
    Run result{RunSnapshot::of(device, begin), {}};
    auto tally = replay(device, [&](TraceRequest& request) { return stream.next(request); }, fit, speed, begin);
    if (!tally)
        return std::unexpected(tally.error());
    result.tally = std::move(*tally);
    return result;
}

} // namespace

int run_replay(const ReplayOptions& o) {
    const auto speed = parse_replay_speed(o.speed);
    if (!speed)
        return complain("replay: " + speed.error(), exit_usage);
    if (const auto what = parse_precondition(o.precondition.empty() ? "fill:0" : o.precondition); !what)
        return complain("replay: " + what.error(), exit_usage);
    const auto plan = plan_virtual_device(o.device, default_device_bytes);
    if (!plan)
        return complain("replay: " + plan.error(), exit_usage);
    auto stream = TraceStream::open(o.input);
    if (!stream)
        return complain("replay: " + stream.error());
    if (stream->reader().reason() != "named" && !o.json)
        fmt::print(stderr, "{}: format {}: {}\n", o.input.path, stream->reader().format(), stream->reader().reason());
    NullEventSink events;
    auto device = make_virtual_device(*plan, Payload::none, events);
    if (!device)
        return complain("replay: " + device.error());
    if (auto started = (*device)->start(sim_start); !started)
        return complain("replay: " + started.error());
    const auto wall_begin = std::chrono::steady_clock::now();
    const auto result = run(o, *speed, *stream, **device);
    if (!result)
        return complain("replay: " + result.error());
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_begin).count();
    const Json report = report_run({o.input.path, o.seed, wall}, **device, result->before, result->tally);
    fmt::print("{}", o.json ? report.dump() + "\n" : to_key_value_text(report));
    const auto problems = (*device)->ssd().check();
    for (const auto& problem : problems)
        complain(fmt::format("replay: {}: {}: {}", problem.invariant, problem.where, problem.detail));
    return problems.empty() ? exit_done : exit_failed;
}

} // namespace flashlab
