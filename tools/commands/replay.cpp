#include "tools/replay.h"

#include <chrono>

#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/run_device.h"
#include "tools/table.h"
#include "tools/trace_input.h"

namespace flashlab {
namespace {

struct Run {
    RunSnapshot before;
    RunTally tally;
};

std::expected<Run, std::string> run(const ReplayOptions& o, const ReplaySpeed& speed, TraceStream& stream, RunDevice& on) {
    auto space = on.sectors();
    if (!space)
        return std::unexpected(space.error());
    if (!o.precondition.empty()) {
        const auto what = parse_precondition(o.precondition);
        if (!what)
            return std::unexpected(what.error());
        const auto filled = precondition(*space, *what, o.seed, space->begin);
        if (!filled)
            return std::unexpected(filled.error());
        space->begin = *filled;
    }
    AddressFit fit{o.wrap ? FitPolicy::wrap : o.compact ? FitPolicy::compact : FitPolicy::as_is, space->bytes()};
    Run result{RunSnapshot::of(on.device(), space->begin), {}};
    on.begin_log(space->begin);
    const RunWatch watch{.every = on.has_log() ? RunDevice::sample_every : 0, .look = [&](const RunTally& tally) {
                             on.sample(tally.end);
                             return true;
                         }};
    auto tally = replay(*space, [&](TraceRequest& request) { return stream.next(request); }, fit, speed, space->begin, watch);
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
    auto stream = TraceStream::open(o.input);
    if (!stream)
        return complain("replay: " + stream.error());
    if (stream->reader().reason() != "named" && !o.json)
        fmt::print(stderr, "{}: format {}: {}\n", o.input.path, stream->reader().format(), stream->reader().reason());
    auto on = RunDevice::open(o.device, {.kind = "replay", .default_bytes = default_device_bytes});
    if (!on)
        return complain("replay: " + on.error().text, on.error().code);
    const auto wall_begin = std::chrono::steady_clock::now();
    const auto result = run(o, *speed, *stream, **on);
    if (!result)
        return complain("replay: " + result.error());
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_begin).count();
    Json report = report_run({o.input.path, o.seed, wall}, (*on)->device(), result->before, result->tally);
    if (o.device.directory)
        report.add("sectors_verified", (*on)->sectors_verified());
    const auto problems = (*on)->device().ssd().check();
    const auto closed = (*on)->close(result->tally.end);
    fmt::print("{}", o.json ? report.dump() + "\n" : to_key_value_text(report));
    for (const auto& problem : problems)
        complain(fmt::format("replay: {}: {}: {}", problem.invariant, problem.where, problem.detail));
    if (!closed)
        return complain("replay: " + closed.error());
    return problems.empty() ? exit_done : exit_failed;
}

} // namespace flashlab
