#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "base/random.h"
#include "fs/retry.h"
#include "tools/commands/commands.h"
#include "tools/run_device.h"
#include "tools/sizes.h"
#include "tools/table.h"

namespace flashlab {
namespace {

constexpr std::uint64_t default_bench_bytes = std::uint64_t{1} << 30;

/// --rw over a space, until --io-size is reached.
NextRequest load_of(const BenchOptions& o, std::uint64_t span_bytes) {
    const bool random = o.rw.starts_with("rand");
    const std::uint32_t read_percent = o.rw == "read" || o.rw == "randread" ? 100 : o.rw == "write" || o.rw == "randwrite" ? 0 : o.rwmixread;
    Random choice{o.seed};
    Random place = choice.fork();
    return [=, slots = span_bytes / o.block_bytes, left = o.io_bytes / o.block_bytes, n = std::uint64_t{0},
            bytes = o.block_bytes](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (left-- == 0)
            return false;
        request.op = choice.below(100) >= read_percent ? TraceOp::write : TraceOp::read;
        request.offset = (random ? place.below(slots) : n++ % slots) * bytes;
        request.bytes = bytes;
        return true;
    };
}

RunWatch watch_of(RunDevice& on) {
    return {.every = on.has_log() ? RunDevice::sample_every : 0, .look = [&on](const RunTally& tally) {
                on.sample(tally.end);
                return true;
            }};
}

struct Run {
    RunSnapshot before;
    RunTally tally;
};

std::expected<Run, std::string> run_device(const BenchOptions& o, RunDevice& on) {
    const auto space = on.sectors();
    if (!space)
        return std::unexpected(space.error());
    if (o.block_bytes % sector_bytes != 0 || o.block_bytes == 0 || o.block_bytes > space->bytes())
        return std::unexpected(fmt::format("--bs {}: a multiple of 512 up to the device's {} is wanted", o.block_bytes, human_size(space->bytes())));
    AddressFit fit{FitPolicy::as_is, space->bytes()};
    Run run{RunSnapshot::of(on.device(), space->begin), {}};
    on.begin_log(space->begin);
    auto tally = replay(*space, load_of(o, space->bytes()), fit, {.depth = o.iodepth}, space->begin, watch_of(on));
    if (!tally)
        return std::unexpected(tally.error());
    run.tally = std::move(*tally);
    return run;
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

std::expected<Run, std::string> run_file_system(const BenchOptions& o, RunDevice& on) {
    Device& device = on.device();
    FileSystem& fs = device.fs();
    const auto usage = fs.usage();
    const std::uint64_t file_bytes = std::min(o.io_bytes, usage.data_pages_free * usage.block_bytes * 8 / 10);
    if (o.block_bytes == 0 || o.block_bytes > file_bytes)
        return std::unexpected(fmt::format("--bs {}: 1 up to the file's {} is wanted", o.block_bytes, human_size(file_bytes)));
    SimTime begin = device.ready_at();
    Run run{RunSnapshot::of(device, begin), {}};
    on.begin_log(begin);
    const auto node = fs.make_node(call_at(begin), root_ino, "bench", 0100644, 0);
    if (!node)
        return std::unexpected(fmt::format("the file bench cannot be made: {}", std::strerror(node.error().error_number)));
    auto tally = run_requests(file_target(device, node->value.ino, o.block_bytes), load_of(o, file_bytes), {.depth = o.iodepth}, node->done, watch_of(on));
    if (!tally)
        return std::unexpected(tally.error());
    run.tally = std::move(*tally);
    run.tally.begin = begin;
    auto sync = fs.begin_sync_all(call_at(run.tally.end));
    while (sync) {
        const auto step = (*sync)->step(run.tally.end);
        if (!step)
            return std::unexpected(fmt::format("sync: {}", std::strerror(step.error().error_number)));
        if (const auto* done = std::get_if<Done>(&*step)) {
            run.tally.end = std::max(run.tally.end, done->at);
            return run;
        }
        run.tally.end = std::max(run.tally.end, std::get<ResumeAt>(*step).at);
    }
    return std::unexpected(fmt::format("sync: {}", std::strerror(sync.error().error_number)));
}

} // namespace

int run_bench(const BenchOptions& o) {
    const bool with_fs = o.level == "fs";
    auto on = RunDevice::open(o.device, {.kind = "bench", .default_bytes = default_bench_bytes, .with_file_system = with_fs});
    if (!on)
        return complain("bench: " + on.error().text, on.error().code);
    const auto wall_begin = std::chrono::steady_clock::now();
    const auto run = with_fs ? run_file_system(o, **on) : run_device(o, **on);
    if (!run)
        return complain(fmt::format("bench: {}", run.error()));
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_begin).count();
    const Json result = report_run({fmt::format("bench:{}:{}:{}:{}", o.level, o.rw, o.block_bytes, o.iodepth), o.seed, wall}, (*on)->device(), run->before, run->tally);
    const auto closed = (*on)->close(run->tally.end);
    fmt::print("{}", o.json ? result.dump() + "\n" : to_key_value_text(result));
    return closed ? exit_done : complain("bench: " + closed.error());
}

} // namespace flashlab
