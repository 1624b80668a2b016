/// flashlab replay: a trace on a device, in virtual time.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/cli/commands/run_view.h"
#include "tools/cli/progress.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"
#include "tools/live/live_mount.h"
#include "tools/run/device_choice.h"
#include "tools/run/replay.h"
#include "tools/run/run_monitor.h"
#include "tools/run/run_words.h"
#include "tools/run/trace_input.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

struct ReplayOptions {
    TraceInput input;
    DeviceChoice device;
    std::string speed = "open", precondition, warm_up, priorities;
    bool until_steady = false;
    bool wrap = false, compact = false;
    bool top = false; ///< the live view while it runs
    OutputFormat format = OutputFormat::table;
    std::uint64_t seed = 1;
};

struct Plan {
    ReplaySpeed speed;
    Precondition precondition;
    RunMeasure measure;
    std::vector<QueuePriority> priorities;
};

std::expected<Plan, std::string> plan_of(const ReplayOptions& o) {
    const auto speed = parse_replay_speed(o.speed);
    if (!speed) return std::unexpected(speed.error());
    const auto before = parse_precondition(o.precondition);
    if (!before) return std::unexpected(before.error());
    auto measure = parse_measure(o.warm_up, o.until_steady);
    if (!measure) return std::unexpected(measure.error());
    measure->overwritten = before->random_fills;
    const auto priorities = parse_priorities(o.priorities);
    if (!priorities) return std::unexpected("--priorities " + priorities.error());
    return Plan{*speed, *before, *measure, *priorities};
}

/// Whatever the reader gave was answered, or waited when the run ended early, and there was something to give.
std::expected<void, std::string> all_served(const TraceStream& stream, const RunTally& tally) {
    const std::uint64_t read = stream.reader().counts().requests;
    if (read != stream.skipped() + stream.given() || tally.answered() + tally.left != stream.given())
        return std::unexpected(fmt::format("{} requests were read, {} of them left out by --skip, and {} answered: a defect of this program", read,
                                           stream.skipped(), tally.answered()));
    if (Interruption::came() && tally.answered() == 0) return std::unexpected("interrupted before the first request: nothing was measured");
    return stream.check_given();
}

Json reading_of(const TraceStream& stream, const RunTally& tally) {
    const TraceCounts& counts = stream.reader().counts();
    return Json::object({{"format", stream.reader().format()},
                         {"lines", counts.lines},
                         {"other_lines", counts.others},
                         {"bad_lines", counts.bad},
                         {"backward_steps", counts.backward_steps},
                         {"requests", counts.requests},
                         {"skipped", stream.skipped()},
                         {"warm_up", tally.before},
                         {"served", tally.answered()}});
}

/// How the trace is replayed.
Json further_of(const ReplayOptions& o) {
    Json load = Json::object({{"speed", o.speed}, {"precondition", o.precondition}, {"warm_up", o.warm_up}, {"skip", o.input.skip}});
    load.add("addresses", o.wrap ? "wrap" : o.compact ? "compact" : "as they are");
    if (o.input.run) load.add("run", *o.input.run);
    if (!o.priorities.empty()) load.add("priorities", o.priorities);
    return load;
}

/// Runs and reports.
std::expected<Json, std::string> run(const ReplayOptions& o, const Plan& plan, TraceStream& stream, RunDevice& on) {
    auto space = on.sectors();
    if (!space) return std::unexpected(space.error());
    const auto ready = precondition(*space, plan.precondition, o.seed, space->begin,
                                    [filling = std::make_shared<Progress>("writes before the run")](std::uint64_t n) { filling->at(n); });
    if (!ready) return std::unexpected(ready.error());
    space->unreadable = Unreadable::is_counted;
    AddressFit fit{o.wrap ? FitPolicy::wrap : o.compact ? FitPolicy::compact : FitPolicy::as_is, space->bytes()};
    RunMonitor monitor{on, plan.measure, plan.speed, *ready};
    RunView view{{.command = "replay", .device = on.device(), .begin = *ready, .depth = plan.speed.depth, .requests = o.input.limit.value_or(0)},
                 o.top};
    AddressFit::Split before_run; // of the warm-up
    RunWatch watch = view.over(monitor.watch());
    watch.counts_from = [&, begins = watch.counts_from](SimTime now) {
        before_run = fit.split();
        if (begins) begins(now);
    };
    const auto wall_begin = std::chrono::steady_clock::now();
    const auto tally = replay(
        *space,
        [&](TraceRequest& request) {
            view.at(stream.given());
            return stream.next(request);
        },
        fit, plan.speed, *ready, watch, plan.priorities);
    view.close();
    if (!tally) return std::unexpected(tally.error());
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_begin).count();
    if (auto all = all_served(stream, *tally); !all) return std::unexpected(all.error());
    Json report = report_run({o.input.path, o.seed, wall, further_of(o)}, on.device(), monitor.before(), *tally);
    if (auto finished = monitor.finish(report); !finished) return std::unexpected(finished.error());
    report.add("trace_read", reading_of(stream, *tally));
    // Each is one request, served when the last of its pieces is; the drive and the log's host_request count the pieces.
    report.add("trace_split",
               Json::object({{"requests", fit.split().requests - before_run.requests}, {"pieces", fit.split().pieces - before_run.pieces}}));
    if (o.device.directory) report.add("sectors_verified", on.sectors_verified());
    if (const auto warning = warning_on_reads(on.device(), monitor.before(), *tally)) complain("replay: warning: " + *warning);
    if (const auto warning = warning_on_work_before(on.device(), monitor.before(), *tally)) complain("replay: warning: " + *warning);
    const auto problems = on.device().ssd().check();
    for (const auto& problem : problems) complain(fmt::format("replay: {}: {}: {}", problem.invariant, problem.where, problem.detail));
    const auto closed = on.close(tally->end);
    if (!closed) return std::unexpected(closed.error());
    if (!problems.empty()) return std::unexpected("the drive failed its own check: a defect of its translation layer");
    return report;
}

int run_replay(const ReplayOptions& o) {
    const auto plan = plan_of(o);
    if (!plan) return complain("replay: " + plan.error(), exit_usage);
    if (const std::string why = RunView::why_no_top(o.top); !why.empty()) return complain("replay: " + why, exit_usage);
    if (auto good = check_usage(o.input); !good) return complain("replay: " + good.error(), exit_usage);
    const Interruption interruption;
    auto stream = TraceStream::open(o.input);
    if (!stream) return complain("replay: " + stream.error());
    if (stream->reader().reason() != "named" && o.format == OutputFormat::table)
        tell(fmt::format("{}: format {}: {}\n", o.input.path, stream->reader().format(), stream->reader().reason()));
    if (o.device.directory)
        if (const auto free = wait_for_unmounted(*o.device.directory, DeviceAccess::use); !free) return complain("replay: " + free.error());
    auto on = RunDevice::open(
        o.device,
        {.kind = "replay", .default_bytes = default_device_bytes, .tells_warnings = true, .load = {o.input.path, o.seed, further_of(o).dump()}});
    if (!on) return complain("replay: " + on.error().text, on.error().code);
    if (!plan->priorities.empty() && (*on)->device().config().ssd.host_link.slots == 0)
        return complain("replay: --priorities: no command waits where host_link.slots is 0: --set host_link.slots=8, say", exit_usage);
    if (const auto good = check_precondition(plan->precondition, (*on)->device().config().ssd); !good)
        return complain("replay: " + good.error(), exit_usage);
    const auto report = run(o, *plan, *stream, **on);
    if (!report) return complain("replay: " + report.error());
    fmt::print("{}", shown_run(o.format, *report));
    const auto failure = failure_of(*report);
    return failure ? complain("replay: " + *failure) : exit_done;
}

} // namespace

void add_replay(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_replay, "replay", "Run a trace, requests that were recorded, on a simulated drive, in virtual time",
                              "flashlab replay financial1.spc.gz --ftl hftl --size 1G --compact --json");
    add_trace_input(c, o.input);
    c.add_option("--speed", o.speed, "open (as the trace says), closed:DEPTH, or a factor such as 10x")->capture_default_str();
    c.add_option("--priorities", o.priorities,
                 "Of the trace's submission queues, where host_link.slots is set: urgent,high,... of queue 0, of queue 1 and so on; else medium");
    auto* wrap = c.add_flag("--wrap", o.wrap, "A trace of a larger drive: addresses that lie beyond this one go round, modulo its size");
    c.add_flag("--compact", o.compact,
               "A trace of a larger drive: pages are placed in the order of their first touch, so that only what it touches must fit")
        ->excludes(wrap);
    add_measure(c, o);
    add_device_choice(c, o.device, "4G");
    c.add_option("--seed", o.seed, "Seed of what is random about the run")->capture_default_str();
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab
