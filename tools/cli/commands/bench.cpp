/// flashlab bench: a load on a device, in virtual time.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/command_options.h"
#include "tools/cli/commands/bench_file.h"
#include "tools/cli/commands/bench_load.h"
#include "tools/cli/commands/bench_protocol.h"
#include "tools/cli/commands/run_view.h"
#include "tools/cli/progress.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/live/live_mount.h"
#include "tools/run/device_choice.h"
#include "tools/run/protocols.h"
#include "tools/run/queue_run.h"
#include "tools/run/replay.h"
#include "tools/run/run_monitor.h"
#include "tools/run/run_words.h"
#include "tools/text/sizes.h"
#include "tools/text/table.h"
#include "tools/workloads/random_distribution.h"

namespace flashlab {
namespace {

struct Plan {
    DistributionSpec distribution;
    std::vector<BenchOptions> queues;
    Precondition precondition;
    RunMeasure measure;
};

struct Run {
    RunSnapshot before;
    RunTally tally;
    Json steady;     ///< an object with steady_state, and partial
    double wall = 0; ///< seconds that the load took, preconditioning left out
};

using WallClock = std::chrono::steady_clock;
double seconds_since(WallClock::time_point begin) { return std::chrono::duration<double>(WallClock::now() - begin).count(); }

std::expected<Run, std::string> finished(RunMonitor& monitor, RunTally tally, WallClock::time_point begin) {
    Run run{monitor.before(), std::move(tally), {}, seconds_since(begin)};
    if (auto done = monitor.finish(run.steady); !done) return std::unexpected(done.error());
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

/// The load, counted while it runs.
NextRequest counted(RunView& view, NextRequest load) {
    return [&view, load = std::move(load), n = std::uint64_t{0}](TraceRequest& request) mutable {
        view.at(n++);
        return load(request);
    };
}

RunViewSubject subject_of(const BenchOptions& o, Device& device, SimTime begin) {
    const std::uint64_t known = o.runtime == Duration::max() ? bytes_of(o) : 0;
    return {.command = "bench", .device = device, .begin = begin, .depth = o.iodepth, .requests = known / std::max<std::uint64_t>(1, o.block_bytes)};
}

/// One queue after the other on the command line, all at once on the drive.
std::expected<RunTally, std::string> run_queued(const Plan& plan, const RunTarget& target, std::uint64_t span_bytes, const SsdConfig& drive,
                                                RunView& view, SimTime begin, const RunWatch& watch) {
    std::vector<QueueLoad> loads;
    std::vector<QueuePriority> priorities;
    for (const BenchOptions& queue : plan.queues) {
        loads.push_back(
            {counted(view, load_of(queue, plan.distribution, span_bytes)), queue.iodepth, queue.iops[0] + queue.iops[1] > 0, queue.runtime});
        priorities.push_back(queue.priority);
    }
    HostQueues queues = host_queues(drive, std::move(priorities));
    auto tally = run_queues(target, loads, queues, begin, watch);
    for (std::size_t q = 0; tally && q < plan.queues.size(); ++q) tally->queues[q].rw = plan.queues[q].rw;
    return tally;
}

std::expected<Run, std::string> run_device(const BenchOptions& o, const Plan& plan, RunDevice& on) {
    auto space = on.sectors();
    if (!space) return std::unexpected(space.error());
    if (o.block_bytes > space->bytes()) // of a drive on disk the file's part
        return std::unexpected(fmt::format("--bs {}: up to {} is wanted: the space that the run has", o.block_bytes, human_size(space->bytes())));
    const auto ready = precondition(*space, plan.precondition, precondition_seed(o.seed), space->begin,
                                    [filling = std::make_shared<Progress>("writes before the run")](std::uint64_t n) { filling->at(n); });
    if (!ready) return std::unexpected(ready.error());
    space->unreadable = Unreadable::is_counted;
    AddressFit fit{FitPolicy::as_is, space->bytes()};
    const ReplaySpeed speed{.depth = o.iodepth, .lasts = o.runtime};
    RunMonitor monitor{on, plan.measure, speed, *ready};
    const auto wall_begin = WallClock::now();
    RunView view{subject_of(o, on.device(), *ready), o.top};
    const RunWatch watch = view.over(monitor.watch());
    auto tally = plan.queues.empty() ? replay(*space, counted(view, load_of(o, plan.distribution, space->bytes())), fit, speed, *ready, watch)
                                     : run_queued(plan, sectors_target(*space, fit), space->bytes(), on.device().config().ssd, view, *ready, watch);
    if (!tally) return std::unexpected(tally.error());
    return finished(monitor, std::move(*tally), wall_begin);
}

std::expected<Run, std::string> run_file_system(const BenchOptions& o, const Plan& plan, RunDevice& on) {
    Device& device = on.device();
    const auto usage = device.fs().usage();
    const std::uint64_t file_bytes = std::min(o.io_bytes.value_or(default_io_bytes), usage.data_pages_free * usage.block_bytes * 8 / 10);
    if (o.block_bytes == 0 || o.block_bytes > file_bytes)
        return std::unexpected(fmt::format("--bs {}: 1 up to the file's {} is wanted", o.block_bytes, human_size(file_bytes)));
    BenchFile file{device};
    SimTime begin = device.ready_at();
    const bool is_read = read_percent(o) != 0;
    if (is_read) { // holes are read without the flash
        const auto made = file.make(begin);
        const auto filled = made ? file.fill(file_bytes, *made) : made;
        if (!filled) return std::unexpected(filled.error());
        begin = *filled;
    }
    const ReplaySpeed speed{.depth = o.iodepth, .lasts = o.runtime};
    RunMonitor monitor{on, plan.measure, speed, begin};
    const auto wall_begin = WallClock::now();
    const auto made = is_read ? std::expected<SimTime, std::string>{begin} : file.make(begin);
    if (!made) return std::unexpected(made.error());
    RunView view{subject_of(o, device, *made), o.top};
    const RunTarget target = file.target(o.block_bytes);
    const RunWatch watch = view.over(monitor.watch());
    auto tally = plan.queues.empty() ? run_requests(target, counted(view, load_of(o, plan.distribution, file_bytes)), speed, *made, watch)
                                     : run_queued(plan, target, file_bytes, SsdConfig{}, view, *made, watch);
    if (!tally) return std::unexpected(tally.error());
    if (o.warm_up.empty()) tally->begin = begin;
    const auto synced = file.sync(tally->end);
    if (!synced) return std::unexpected(synced.error());
    tally->end = *synced;
    return finished(monitor, std::move(*tally), wall_begin);
}

std::string name_of_load(const BenchOptions& o) {
    std::string load = o.queues.empty() ? fmt::format("{}:{}:{}", o.rw, o.block_bytes, o.iodepth) : fmt::format("{}", fmt::join(o.queues, ";"));
    if (o.numjobs > 1) load += fmt::format(":numjobs={}", o.numjobs);
    if (o.runtime != Duration::max()) load += fmt::format(":runtime={}ns", o.runtime.count());
    if (const std::string& rate = o.rate.empty() ? o.rate_iops : o.rate; !rate.empty())
        load += fmt::format(":rate{}={}:{}", o.rate.empty() ? "-iops" : "", rate, o.rate_process);
    return load;
}

/// What the name of the load leaves out.
Json further_of(const BenchOptions& o) {
    Json load = Json::object({{"precondition", o.precondition}, {"warm_up", o.warm_up}});
    if (o.queues.empty() && (o.rw == "randrw" || o.rw == "rw")) load.add("rwmixread", o.rwmixread);
    if (o.random_distribution != "uniform") load.add("random_distribution", o.random_distribution);
    return load;
}

int run_bench(const BenchOptions& o) {
    if (!o.protocol.empty()) return run_bench_protocol(o);
    const bool with_fs = o.level == "fs";
    if (o.block_bytes == 0 || bytes_of(o) < o.block_bytes)
        return complain(fmt::format("bench: --io-size {} holds no request of --bs {}", bytes_of(o), o.block_bytes), exit_usage);
    if (const std::string why = RunView::why_no_top(o.top); !why.empty()) return complain("bench: " + why, exit_usage);
    const auto before = parse_precondition(o.precondition);
    const auto measure = parse_measure(o.warm_up, o.until_steady);
    const auto distribution = parse_distribution(o.random_distribution);
    if (!before || !measure || !distribution)
        return complain("bench: " + (!before    ? before.error()
                                     : !measure ? measure.error()
                                                : "--random-distribution " + distribution.error()),
                        exit_usage);
    if (!o.rw.starts_with("rand") && o.random_distribution != "uniform")
        return complain(fmt::format("bench: --random-distribution {}: --rw {} goes in order; it is of randread, randwrite and randrw",
                                    o.random_distribution, o.rw),
                        exit_usage);
    const auto loads = loads_of_queues(o);
    if (!loads) return complain("bench: " + loads.error(), exit_usage);
    if (with_fs && (!o.queues.empty() || loads->size() > 1))
        return complain("bench: --queue, --numjobs: a file system has one queue to its drive: not with --level fs", exit_usage);
    DeviceChoice choice = o.device;
    if (o.level == "ftl") {
        if (choice.directory)
            return complain("bench: --level ftl leaves out host link and write buffer: it wants a device in memory, not --device", exit_usage);
        constexpr std::array ftl_alone{"host_link.ps_per_byte=0", "host_link.request_overhead_ns=1", "host_link.controller_request_ns=0",
                                       "host_link.firmware_latency_ns=0", "dram.write_buffer_bytes=0"};
        for (const char* setting : ftl_alone) {
            const std::string key = std::string{setting}.substr(0, std::string{setting}.find('='));
            if (std::ranges::any_of(choice.settings, [&](const std::string& given) { return given.starts_with(key + "=") && given != setting; }))
                return complain(fmt::format("bench: --level ftl leaves out host link and write buffer: --set {} contradicts it", key), exit_usage);
        }
        for (const char* setting : ftl_alone) choice.settings.emplace_back(setting);
        if (!choice.size_bytes && !choice.preset && !choice.config_file && o.device.settings.empty()) choice.size_bytes = default_bench_bytes;
    }
    if (with_fs && !o.precondition.empty())
        return complain("bench: --precondition fills the device below the file system: not with --level fs", exit_usage);
    const Interruption interruption;
    if (choice.directory)
        if (const auto free = wait_for_unmounted(*choice.directory, DeviceAccess::use); !free) return complain("bench: " + free.error());
    RunIdentity identity{fmt::format("bench:{}:{}", o.level, name_of_load(o)), o.seed, 0, further_of(o)};
    auto on = RunDevice::open(choice, {.kind = "bench",
                                       .default_bytes = default_bench_bytes,
                                       .with_file_system = with_fs,
                                       .tells_warnings = true,
                                       .load = {identity.trace, o.seed, identity.load.dump()}});
    if (!on) return complain("bench: " + on.error().text, on.error().code);
    if (o.level == "ftl" && (*on)->device().config().ssd.dram.is_partitioned())
        return complain("bench: --level ftl leaves out the write buffer, which dram.size shares with the maps: set the maps' own size instead "
                        "(ftl.mapping_cache_bytes, …)",
                        exit_usage);
    if (const auto good = check_precondition(*before, (*on)->device().config().ssd); !good) return complain("bench: " + good.error(), exit_usage);
    Plan plan{*distribution, *loads, *before, *measure};
    plan.measure.overwritten = before->random_fills;
    for (const BenchOptions& load : plan.queues.empty() ? std::vector{o} : plan.queues)
        if (const auto good = with_fs ? std::expected<void, std::string>{} : check_block(load, (*on)->device()); !good)
            return complain("bench: " + good.error(), exit_usage);
    const auto run = with_fs ? run_file_system(o, plan, **on) : run_device(o, plan, **on);
    if (!run) return complain(fmt::format("bench: {}", run.error()));
    identity.wall_seconds = run->wall;
    Json result = report_run(identity, (*on)->device(), run->before, run->tally);
    for (const auto& [key, value] : run->steady.members()) result.add(key, value);
    if (choice.directory && !with_fs) result.add("sectors_verified", (*on)->sectors_verified());
    if (const auto warning = warning_on_reads((*on)->device(), run->before, run->tally)) complain("bench: warning: " + *warning);
    if (const auto warning = warning_on_work_before((*on)->device(), run->before, run->tally)) complain("bench: warning: " + *warning);
    const auto closed = (*on)->close(run->tally.end);
    fmt::print("{}", shown_run(o.format, result));
    if (!closed) return complain("bench: " + closed.error());
    const auto failure = failure_of(result);
    return failure ? complain("bench: " + *failure) : exit_done;
}

} // namespace

void add_bench(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_bench, "bench",
                              "Run a made-up load (as fio would) on a simulated drive, in virtual time: seconds of the drive take moments",
                              "flashlab bench --rw randwrite --bs 4k --io-size 256M --iodepth 8 --json");
    c.add_option("--level", o.level,
                 "Where the load enters. device: the drive's sectors; ftl: below host link and write buffer; fs: a file on the drive")
        ->check(CLI::IsMember({"device", "ftl", "fs"}))
        ->capture_default_str();
    c.add_option("--rw", o.rw, "Reads or writes, in order or at random; rw and randrw mix them")
        ->check(CLI::IsMember(bench_patterns))
        ->capture_default_str();
    add_size(c, "--bs", o.block_bytes, "Bytes of a request; 4k");
    add_size(c, "--io-size", o.io_bytes, "Bytes to transfer: 64M, or with --runtime as many as its time allows");
    c.add_option_function<std::string>(
         "--runtime",
         [&o = o](const std::string& text) {
             if (const auto set = set_of_queue(o, "runtime", text); !set) throw CLI::ValidationError("--runtime", set.error());
         },
         "The load ends after so many seconds of the drive (10, 0.5, 20ms, 2m), or with --io-size if that comes first; what is in flight is answered")
        ->type_name("SECONDS");
    c.add_option("--iodepth", o.iodepth, "Requests in flight")->check(CLI::Range(1, 65536))->capture_default_str();
    c.add_option("--rwmixread", o.rwmixread, "Percent of reads of randrw and rw")->check(CLI::Range(0, 100))->capture_default_str();
    c.add_option(
         "--random-distribution", o.random_distribution,
         "Of randread, randwrite, randrw: uniform, zipf:THETA, pareto:H, hotspot:SHARE,PROBABILITY; fio-zipf:THETA, fio-pareto:H as fio draws them")
        ->capture_default_str();
    c.add_option(
         "--queue", o.queues,
         "A submission queue with a load of its own, as rw=randread,bs=4k,iodepth=1,io-size=16M,runtime=10,rwmixread=70,priority=urgent,numjobs=2,"
         "rate-iops=900:100,rate-process=poisson; once for each queue. host_link.slots and host_link.arbiter say who is fetched")
        ->allow_extra_args(false);
    c.add_option("--numjobs", o.numjobs, "So many such loads beside each other, each in a queue of its own with a seed of its own")
        ->check(CLI::Range(std::int64_t{1}, most_queues))
        ->capture_default_str();
    auto* iops =
        c.add_option("--rate-iops", o.rate_iops,
                     "Requests are planned at this rate, whatever the drive does: N a second, reads and writes each, or READS,WRITES. One that "
                     "is due while --iodepth are in flight waits. Latencies count from the planned time (no coordinated omission)");
    c.add_option("--rate", o.rate, "The same in bytes a second, as 20M or 15M,5M")->excludes(iops);
    c.add_option("--rate-process", o.rate_process, "Of a rate: linear (equal gaps) or poisson (exponential gaps, drawn from --seed)")
        ->check(CLI::IsMember(bench_rate_processes))
        ->capture_default_str();
    auto* protocol =
        c.add_option("--protocol", o.protocol,
                     "A test as reviewers run it, round after round until the drive is steady; --runtime is of each of its loads (0.1 s)")
            ->check(CLI::IsMember(std::vector<std::string>(protocol_names().begin(), protocol_names().end())));
    c.add_option("--html", o.html, "of --protocol: also one self-contained page with its verdict, plots and tables")->needs(protocol);
    add_measure(c, o);
    for (const char* of_one_load : {"--rw", "--bs", "--io-size", "--iodepth", "--rwmixread", "--random-distribution", "--numjobs", "--rate-iops",
                                    "--rate", "--rate-process", "--warm-up", "--until-steady"})
        protocol->excludes(c.get_option(of_one_load));
    c.add_option("--seed", o.seed, "Seed of the addresses")->capture_default_str();
    add_device_choice(c, o.device, "1G");
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab
