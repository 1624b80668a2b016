#include "tools/replay.h"

#include <chrono>

#include <fmt/format.h>

#include "nand/memory_page_store.h"
#include "pram/memory_pram_store.h"
#include "tools/commands/commands.h"
#include "tools/config_file.h"
#include "tools/config_schema.h"
#include "tools/device_plan.h"
#include "tools/device_presets.h"
#include "tools/table.h"
#include "tools/trace_input.h"

namespace flashlab {
namespace {

std::expected<DevicePlan, std::string> plan_of(const ReplayOptions& o) {
    ConfigSources sources{.preset = o.preset, .file = o.config_file, .environment = flashlab_environment(), .settings = o.settings};
    if (o.ftl)
        sources.settings.push_back("ftl.scheme=" + *o.ftl);
    const auto config = gather_config(sources);
    if (!config)
        return std::unexpected(config.error());
    auto size = o.size_bytes;
    if (!size && config->ssd.preset == default_preset_name && !o.config_file && o.settings.empty())
        size = default_device_bytes;
    return plan_device(*config, size);
}

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
    const auto plan = plan_of(o);
    if (!plan)
        return complain("replay: " + plan.error(), exit_usage);
    auto stream = TraceStream::open(o.input);
    if (!stream)
        return complain("replay: " + stream.error());
    if (stream->reader().reason() != "named" && !o.json)
        fmt::print(stderr, "{}: format {}: {}\n", o.input.path, stream->reader().format(), stream->reader().reason());
    const auto geometry = Geometry::make(plan->config.ssd.nand.geometry);
    NullEventSink events;
    auto device = Device::assemble(plan->config, std::make_unique<MemoryPageStore>(*geometry, Payload::none), std::make_unique<MemoryPramStore>(plan->pram_bytes),
                                   events, DevicePast::final);
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
