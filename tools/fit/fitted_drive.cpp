#include "tools/fit/fitted_drive.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/random.h"
#include "tools/run/precondition.h"
#include "tools/run/queue_run.h"
#include "tools/run/run_device.h"
#include "tools/workloads/arrivals.h"

namespace flashlab {

namespace {

/// How long a point is run, in simulated time.
struct FitTimes {
    Duration warm, counted;
};

bool writes_at_random(const FitStream& stream) { return !stream.in_order && stream.read_percent != 100; }

FitTimes times_of(const FitPoint& point) {
    constexpr double least = 0.4, most = 4, requests_for_p99 = 4000;
    double counted = least;
    for (const FitStream& stream : point.streams)
        if (stream.is_planned()) counted = std::max(counted, requests_for_p99 / (stream.planned_iops[0] + stream.planned_iops[1]));
    const auto ns = [](double seconds) { return Duration{static_cast<std::int64_t>(seconds * 1e9)}; };
    return {ns(std::ranges::any_of(point.streams, writes_at_random) ? 0.4 : 0.05), ns(std::min(counted, most))};
}

/// Without an end; the run's watch ends it.
QueueLoad load_of_stream(const FitStream& stream, std::uint64_t span_bytes, std::uint16_t queue, std::uint64_t seed) {
    const std::uint64_t slots = span_bytes / stream.block_bytes;
    NextRequest next = [=, bytes = stream.block_bytes, in_order = stream.in_order, reads = stream.read_percent, is_planned = stream.is_planned(),
                        arrivals = Arrivals{stream.planned_iops, stream.is_poisson, seed}, choice = Random{seed}, place = Random{seed + 1},
                        n = std::uint64_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (is_planned)
            arrivals.take(request);
        else
            request.op = choice.below(100) >= reads ? TraceOp::write : TraceOp::read;
        request.queue = queue;
        request.offset = (in_order ? n++ % slots : place.below(slots)) * bytes;
        request.bytes = bytes;
        return true;
    };
    return {std::move(next), stream.depth, stream.is_planned()};
}

Precondition precondition_of(const FitPoint& point) {
    Precondition before;
    const bool is_old = std::ranges::any_of(point.streams, writes_at_random);
    const bool is_read = std::ranges::any_of(point.streams, [](const FitStream& s) { return s.read_percent != 0; });
    before.fill_percent = is_old || is_read ? 100 : 0;
    before.random_fills = is_old ? 2 : 0;
    return before;
}

FitMeasured measured(const LatencyRecorder& of, double seconds) {
    if (of.count() == 0) return {};
    return {static_cast<double>(of.count()) / seconds, static_cast<double>(of.permille_ns(500)) / 1e3,
            static_cast<double>(of.permille_ns(990)) / 1e3};
}

} // namespace

std::vector<std::string> FitSettings::as_list() const {
    std::vector<std::string> out;
    for (const auto& [key, value] : keys) out.push_back(fmt::format("{}={}", key, value));
    return out;
}

std::expected<FitPoint, std::string> measure_point(const FitSettings& drive, const FitPoint& point, std::uint64_t seed) {
    DeviceChoice choice;
    choice.preset = drive.preset;
    choice.settings = drive.as_list();
    auto on = RunDevice::open(choice, {.kind = "fit"});
    if (!on) return std::unexpected(on.error().text);
    const auto space = (*on)->sectors();
    if (!space) return std::unexpected(space.error());
    const auto ready = precondition(*space, precondition_of(point), seed, space->begin);
    if (!ready) return std::unexpected(ready.error());
    std::vector<QueueLoad> loads;
    for (const FitStream& stream : point.streams) {
        if (stream.block_bytes > space->bytes()) return std::unexpected(fmt::format("job {}: bs is larger than the drive", stream.name));
        loads.push_back(load_of_stream(stream, space->bytes(), static_cast<std::uint16_t>(loads.size()), seed + 10 * loads.size()));
    }
    Device& device = (*on)->device();
    HostQueues queues = host_queues(device.config().ssd, std::vector<QueuePriority>(loads.size(), QueuePriority::medium));
    AddressFit fit{FitPolicy::as_is, space->bytes()};
    const FitTimes times = times_of(point);
    SimTime counted_from = sim_never;
    RunSnapshot before = RunSnapshot::of(device, *ready);
    RunWatch watch{.every = 64};
    watch.look = [&](const RunTally& tally) {
        if (counted_from == sim_never) return tally.end - *ready < times.warm ? RunStep::go_on : RunStep::count_from_here;
        return tally.end - counted_from < times.counted ? RunStep::go_on : RunStep::stop;
    };
    watch.counts_from = [&](SimTime now) {
        counted_from = now;
        before = RunSnapshot::of(device, now);
    };
    const auto tally = run_queues(sectors_target(*space->device, *space->disk, fit, space->payload), loads, queues, *ready, watch);
    if (!tally) return std::unexpected(tally.error());
    const double seconds = static_cast<double>((tally->end - tally->begin).count()) / 1e9;
    const RunSnapshot after = RunSnapshot::of(device, tally->end);
    FitPoint out = point;
    double host_bytes = 0, programmed = 0;
    for (std::size_t i = 0; i < out.streams.size(); ++i) {
        FitStream& stream = out.streams[i];
        stream.read = measured(tally->queues[i].read, seconds);
        stream.write = measured(tally->queues[i].others, seconds);
        host_bytes += stream.write.iops * seconds * static_cast<double>(stream.block_bytes);
    }
    for (std::size_t cause = 0; cause < cause_count; ++cause)
        programmed += static_cast<double>(after.sample.nand_programs[cause] - before.sample.nand_programs[cause]);
    for (FitStream& stream : out.streams) stream.waf = host_bytes > 0 ? programmed * device.config().ssd.nand.geometry.page_bytes / host_bytes : 0;
    return out;
}

} // namespace flashlab
