#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "base/random.h"
#include "fs/retry.h"
#include "tools/commands/commands.h"
#include "tools/run_monitor.h"
#include "tools/sizes.h"
#include "tools/table.h"
#include "tools/workloads/random_distribution.h"

namespace flashlab {
namespace {

constexpr std::uint64_t default_bench_bytes = std::uint64_t{1} << 30;

/// --rw over a space, until --io-size is reached.
NextRequest load_of(const BenchOptions& o, const DistributionSpec& distribution, std::uint64_t span_bytes) {
    const std::uint32_t read_percent = o.rw == "read" || o.rw == "randread" ? 100 : o.rw == "write" || o.rw == "randwrite" ? 0 : o.rwmixread;
    const std::uint64_t slots = span_bytes / o.block_bytes;
    const bool in_order = !o.rw.starts_with("rand") || distribution.kind == DistributionKind::sequential;
    const bool is_uniform = distribution.kind == DistributionKind::uniform;
    Random choice{o.seed};
    Random place = choice.fork();
    return [=, ranks = RandomDistribution{distribution, slots}, order = ScatteredOrder{slots}, left = o.io_bytes / o.block_bytes, n = std::uint64_t{0},
            bytes = o.block_bytes](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (left-- == 0)
            return false;
        request.op = choice.below(100) >= read_percent ? TraceOp::write : TraceOp::read;
        request.offset = (in_order ? n++ % slots : is_uniform ? place.below(slots) : order.at(ranks.rank(place))) * bytes;
        request.bytes = bytes;
        return true;
    };
}

struct Plan {
    DistributionSpec distribution;
    Precondition precondition;
    RunMeasure measure;
};

struct Run {
    RunSnapshot before;
    RunTally tally;
    Json steady;     ///< an object with steady_state
    double wall = 0; ///< seconds that the load took, preconditioning left out
};

using WallClock = std::chrono::steady_clock;
double seconds_since(WallClock::time_point begin) { return std::chrono::duration<double>(WallClock::now() - begin).count(); }

std::expected<Run, std::string> finished(const RunMonitor& monitor, RunTally tally, WallClock::time_point begin) {
    Run run{monitor.before(), std::move(tally), {}, seconds_since(begin)};
    if (auto done = monitor.finish(run.steady); !done)
        return std::unexpected(done.error());
    return run;
}

/// --bs on sectors; at level fs any number of bytes goes.
std::expected<void, std::string> check_block(const BenchOptions& o, Device& device) {
    const std::uint64_t most = RunSpace{device}.bytes();
    if (o.block_bytes % sector_bytes != 0 || o.block_bytes > most)
        return std::unexpected(fmt::format("--bs {}: a multiple of 512 up to the device's {} is wanted", o.block_bytes, human_size(most)));
    const std::uint32_t unit = device.ftl().logical_page_bytes();
    if (o.level == "ftl" && o.block_bytes % unit != 0)
        return std::unexpected(fmt::format("--bs {}: at level ftl whole logical pages are wanted, of {} bytes", o.block_bytes, unit));
    return {};
}

std::expected<Run, std::string> run_device(const BenchOptions& o, const Plan& plan, RunDevice& on) {
    const auto space = on.sectors();
    if (!space)
        return std::unexpected(space.error());
    if (o.block_bytes > space->bytes()) // of a drive on disk the file's part
        return std::unexpected(fmt::format("--bs {}: up to {} is wanted: the space that the run has", o.block_bytes, human_size(space->bytes())));
    const auto ready = precondition(*space, plan.precondition, o.seed, space->begin);
    if (!ready)
        return std::unexpected(ready.error());
    AddressFit fit{FitPolicy::as_is, space->bytes()};
    const ReplaySpeed speed{.depth = o.iodepth};
    on.begin_log(*ready);
    RunMonitor monitor{on, plan.measure, speed, *ready};
    const auto wall_begin = WallClock::now();
    auto tally = replay(*space, load_of(o, plan.distribution, space->bytes()), fit, speed, *ready, monitor.watch());
    if (!tally)
        return std::unexpected(tally.error());
    return finished(monitor, std::move(*tally), wall_begin);
}

FsCall call_at(SimTime now) { return FsCall{.now = now, .wall = FileTime{ns_since_start(now) / 1'000'000'000, static_cast<std::uint32_t>(ns_since_start(now) % 1'000'000'000)}}; }

/// Reads and writes of one file, through the file system's cache.
RunTarget file_target(Device& device, Ino ino, std::uint64_t block_bytes) {
    struct State {
        std::vector<std::byte> buffer;
        SimTime wake = sim_start;
    };
    const auto state = std::make_shared<State>(std::vector<std::byte>(block_bytes, std::byte{0x5a}));
    FileSystem& fs = device.fs();
    return {.issue = [state, &fs, ino](const TraceRequest& request, SimTime now) -> std::expected<SimTime, std::string> {
                const auto told = [](const FsError& error) { return std::unexpected(std::string{std::strerror(error.error_number)}); };
                FsCall call = call_at(now);
                if (request.op == TraceOp::read) {
                    const auto done = fs.read(call, ino, request.offset, state->buffer);
                    return done ? std::expected<SimTime, std::string>{done->done} : told(done.error());
                }
                const auto done = until_done(call, [&](const FsCall& c) { return fs.write(c, ino, request.offset, state->buffer); });
                return done ? std::expected<SimTime, std::string>{*done} : told(done.error());
            },
            .pass = [state, &fs, &device](SimTime now) {
                if (now >= state->wake)
                    state->wake = fs.tick(now);
                device.settle(now);
            }};
}

std::expected<Run, std::string> run_file_system(const BenchOptions& o, const Plan& plan, RunDevice& on) {
    Device& device = on.device();
    FileSystem& fs = device.fs();
    const auto usage = fs.usage();
    const std::uint64_t file_bytes = std::min(o.io_bytes, usage.data_pages_free * usage.block_bytes * 8 / 10);
    if (o.block_bytes == 0 || o.block_bytes > file_bytes)
        return std::unexpected(fmt::format("--bs {}: 1 up to the file's {} is wanted", o.block_bytes, human_size(file_bytes)));
    const SimTime begin = device.ready_at();
    const ReplaySpeed speed{.depth = o.iodepth};
    on.begin_log(begin);
    RunMonitor monitor{on, plan.measure, speed, begin};
    const auto wall_begin = WallClock::now();
    const auto node = fs.make_node(call_at(begin), root_ino, "bench", 0100644, 0);
    if (!node)
        return std::unexpected(fmt::format("the file bench cannot be made: {}", std::strerror(node.error().error_number)));
    auto tally = run_requests(file_target(device, node->value.ino, o.block_bytes), load_of(o, plan.distribution, file_bytes), speed, node->done, monitor.watch());
    if (!tally)
        return std::unexpected(tally.error());
    if (o.warm_up.empty())
        tally->begin = begin;
    auto sync = fs.begin_sync_all(call_at(tally->end));
    while (sync) {
        const auto step = (*sync)->step(tally->end);
        if (!step)
            return std::unexpected(fmt::format("sync: {}", std::strerror(step.error().error_number)));
        if (const auto* done = std::get_if<Done>(&*step)) {
            tally->end = std::max(tally->end, done->at);
            return finished(monitor, std::move(*tally), wall_begin);
        }
        tally->end = std::max(tally->end, std::get<ResumeAt>(*step).at);
    }
    return std::unexpected(fmt::format("sync: {}", std::strerror(sync.error().error_number)));
}

} // namespace

int run_bench(const BenchOptions& o) {
    const bool with_fs = o.level == "fs";
    if (o.block_bytes == 0 || o.io_bytes < o.block_bytes)
        return complain(fmt::format("bench: --io-size {} holds no request of --bs {}", o.io_bytes, o.block_bytes), exit_usage);
    const auto before = parse_precondition(o.precondition);
    const auto measure = parse_measure(o.warm_up, o.until_steady);
    const auto distribution = parse_distribution(o.random_distribution);
    if (!before || !measure || !distribution)
        return complain("bench: " + (!before ? before.error() : !measure ? measure.error() : "--random-distribution " + distribution.error()), exit_usage);
    if (!o.rw.starts_with("rand") && o.random_distribution != "uniform")
        return complain(fmt::format("bench: --random-distribution {}: --rw {} goes in order; it is of randread, randwrite and randrw", o.random_distribution, o.rw), exit_usage);
    DeviceChoice choice = o.device;
    if (o.level == "ftl") {
        if (choice.directory)
            return complain("bench: --level ftl leaves out host link and write buffer: it wants a device in memory, not --device", exit_usage);
        for (const char* setting : {"host_link.ps_per_byte=0", "host_link.request_overhead_ns=1", "host_link.controller_request_ns=0", "dram.write_buffer_bytes=0"})
            choice.settings.emplace_back(setting);
        if (!choice.size_bytes && !choice.preset && !choice.config_file && o.device.settings.empty())
            choice.size_bytes = default_bench_bytes;
    }
    if (with_fs && !o.precondition.empty())
        return complain("bench: --precondition fills the device below the file system: not with --level fs", exit_usage);
    auto on = RunDevice::open(choice, {.kind = "bench", .default_bytes = default_bench_bytes, .with_file_system = with_fs});
    if (!on)
        return complain("bench: " + on.error().text, on.error().code);
    if (!with_fs)
        if (const auto good = check_block(o, (*on)->device()); !good)
            return complain("bench: " + good.error(), exit_usage);
    const Plan plan{*distribution, *before, *measure};
    const auto run = with_fs ? run_file_system(o, plan, **on) : run_device(o, plan, **on);
    if (!run)
        return complain(fmt::format("bench: {}", run.error()));
    Json result = report_run({fmt::format("bench:{}:{}:{}:{}", o.level, o.rw, o.block_bytes, o.iodepth), o.seed, run->wall}, (*on)->device(), run->before, run->tally);
    result.add("steady_state", run->steady["steady_state"]);
    const auto closed = (*on)->close(run->tally.end);
    fmt::print("{}", o.json ? result.dump() + "\n" : to_key_value_text(result));
    return closed ? exit_done : complain("bench: " + closed.error());
}

} // namespace flashlab
