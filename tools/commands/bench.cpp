#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <queue>

#include <fmt/format.h>

#include "fs/retry.h"
#include "tools/commands/commands.h"
#include "tools/run_report.h"
#include "tools/sizes.h"
#include "tools/table.h"
#include "tools/virtual_device.h"

namespace flashlab {
namespace {

constexpr std::uint64_t default_bench_bytes = std::uint64_t{1} << 30;

/// Done at, or a sentence.
using Outcome = std::expected<SimTime, std::string>;
using Request = std::function<Outcome(bool is_write, std::uint64_t offset, SimTime now)>;

/// Keeps `iodepth` requests in flight: the next one is issued when the earliest is answered.
std::expected<void, std::string> drive(const BenchOptions& o, std::uint64_t span_bytes, SimTime start, const Request& request, const std::function<void(SimTime)>& pass,
                                       RunTally& tally) {
    const std::uint64_t slots = span_bytes / o.block_bytes;
    const bool random = o.rw.starts_with("rand");
    const std::uint32_t read_percent = o.rw == "read" || o.rw == "randread" ? 100 : o.rw == "write" || o.rw == "randwrite" ? 0 : o.rwmixread;
    Random choice{o.seed};
    Random place = choice.fork();
    std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>> in_flight;
    SimTime now = start;
    for (std::uint64_t n = 0; n < o.io_bytes / o.block_bytes; ++n) {
        if (in_flight.size() == o.iodepth) {
            now = std::max(now, in_flight.top());
            in_flight.pop();
            pass(now);
        }
        const bool is_write = choice.below(100) >= read_percent;
        const auto done = request(is_write, (random ? place.below(slots) : n % slots) * o.block_bytes, now);
        if (!done)
            return std::unexpected(fmt::format("request {}: {}", n, done.error()));
        in_flight.push(*done);
        tally.end = std::max(tally.end, *done);
        ++(is_write ? tally.writes : tally.reads);
        (is_write ? tally.write : tally.read).add(*done - now);
        tally.all.add(*done - now);
    }
    return {};
}

std::expected<void, std::string> drive_device(const BenchOptions& o, Device& device, RunTally& tally) {
    const std::uint64_t bytes = device.ssd().identify().sectors * sector_bytes;
    if (o.block_bytes % sector_bytes != 0 || o.block_bytes == 0 || o.block_bytes > bytes)
        return std::unexpected(fmt::format("--bs {}: a multiple of 512 up to the device's {} is wanted", o.block_bytes, human_size(bytes)));
    const auto sectors = static_cast<std::uint32_t>(o.block_bytes / sector_bytes);
    Ssd& ssd = device.ssd();
    SimTime wake = sim_start;
    return drive(
        o, bytes, device.ready_at(),
        [&](bool is_write, std::uint64_t offset, SimTime now) -> Outcome {
            const Sector first{offset / sector_bytes};
            const auto done = is_write ? ssd.write(first, sectors, {}, WriteDurability::volatile_ok, now) : ssd.read(first, sectors, {}, now);
            if (!done)
                return std::unexpected(to_text(done.error()));
            return *done;
        },
        [&](SimTime now) {
            if (now >= wake)
                wake = ssd.tick(now);
            ssd.settle(now);
        },
        tally);
}

std::expected<void, std::string> drive_file_system(const BenchOptions& o, Device& device, RunTally& tally) {
    FileSystem& fs = device.fs();
    const auto usage = fs.usage();
    const std::uint64_t file_bytes = std::min(o.io_bytes, usage.data_pages_free * usage.block_bytes * 8 / 10);
    if (o.block_bytes == 0 || o.block_bytes > file_bytes)
        return std::unexpected(fmt::format("--bs {}: 1 up to the file's {} is wanted", o.block_bytes, human_size(file_bytes)));
    const auto call = [](SimTime now) {
        return FsCall{.now = now, .wall = FileTime{ns_since_start(now) / 1'000'000'000, static_cast<std::uint32_t>(ns_since_start(now) % 1'000'000'000)}};
    };
    const auto node = fs.make_node(call(device.ready_at()), root_ino, "bench", 0100644, 0);
    if (!node)
        return std::unexpected(fmt::format("the file cannot be made: {}", std::strerror(node.error().error_number)));
    const Ino ino = node->value.ino;
    std::vector<std::byte> buffer(o.block_bytes, std::byte{0x5a});
    SimTime wake = sim_start;
    const auto driven = drive(
        o, file_bytes, node->done,
        [&](bool is_write, std::uint64_t offset, SimTime now) -> Outcome {
            if (is_write) {
                FsCall write = call(now);
                const auto done = until_done(write, [&](const FsCall& c) { return fs.write(c, ino, offset, buffer); });
                return done ? Outcome{*done} : std::unexpected(std::string{std::strerror(done.error().error_number)});
            }
            const auto done = fs.read(call(now), ino, offset, buffer);
            return done ? Outcome{done->done} : std::unexpected(std::string{std::strerror(done.error().error_number)});
        },
        [&](SimTime now) {
            if (now >= wake)
                wake = fs.tick(now);
            device.settle(now);
        },
        tally);
    if (!driven)
        return driven;
    auto sync = fs.begin_sync_all(call(tally.end));
    while (sync) {
        const auto step = (*sync)->step(tally.end);
        if (!step)
            return std::unexpected(fmt::format("sync: {}", std::strerror(step.error().error_number)));
        if (const auto* done = std::get_if<Done>(&*step)) {
            tally.end = std::max(tally.end, done->at);
            break;
        }
        tally.end = std::max(tally.end, std::get<ResumeAt>(*step).at);
    }
    return {};
}

} // namespace

int run_bench(const BenchOptions& o) {
    const auto plan = plan_virtual_device(o.device, default_bench_bytes);
    if (!plan)
        return complain(fmt::format("bench: {}", plan.error()), exit_usage);
    NullEventSink events;
    const bool with_fs = o.level == "fs";
    const bool in_journal = with_fs && plan->config.in_journal();
    const Payload payload = in_journal ? Payload::keep : Payload::none; // metadata on the flash are to be read again
    auto device = make_virtual_device(*plan, payload, events);
    if (!device)
        return complain(fmt::format("bench: {}", device.error()));
    std::expected<void, std::string> done;
    if (with_fs && !in_journal)
        done = (*device)->format("bench", FileTime{});
    if (done)
        done = (*device)->start(sim_start);
    if (done && in_journal)
        done = (*device)->format("bench", FileTime{});
    if (done && with_fs)
        done = (*device)->open_file_system(FsOptions{});
    if (!done)
        return complain(fmt::format("bench: {}", done.error()));
    RunTally tally;
    tally.begin = tally.end = (*device)->ready_at();
    const RunSnapshot before = RunSnapshot::of(**device, tally.begin);
    const auto begin = std::chrono::steady_clock::now();
    done = with_fs ? drive_file_system(o, **device, tally) : drive_device(o, **device, tally);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!done)
        return complain(fmt::format("bench: {}", done.error()));
    const Json result = report_run({fmt::format("bench:{}:{}:{}:{}", o.level, o.rw, o.block_bytes, o.iodepth), o.seed, wall}, **device, before, tally);
    fmt::print("{}", o.json ? result.dump() + "\n" : to_key_value_text(result));
    return exit_done;
}

} // namespace flashlab
