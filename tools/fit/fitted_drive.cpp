#include "tools/fit/fitted_drive.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "tools/run/precondition.h"
#include "tools/run/run_device.h"

namespace flashlab {

namespace {

/// How long a point is run, in simulated time.
struct FitTimes {
    Duration warm, counted;
};

FitTimes times_of(const FitPoint& point) {
    constexpr double least = 0.4, most = 4, requests_for_p99 = 4000;
    double counted = least;
    for (const FitStream& stream : point.streams)
        if (stream.is_planned()) counted = std::max(counted, requests_for_p99 / (stream.planned_iops[0] + stream.planned_iops[1]));
    const auto ns = [](double seconds) { return Duration{static_cast<std::int64_t>(seconds * 1e9)}; };
    return {ns(std::ranges::any_of(point.streams, &FitStream::writes_at_random) ? 0.4 : 0.05), ns(std::min(counted, most))};
}

Precondition precondition_of(const FitPoint& point) {
    Precondition before;
    const bool is_old = std::ranges::any_of(point.streams, &FitStream::writes_at_random);
    const bool is_read = std::ranges::any_of(point.streams, [](const FitStream& s) { return s.read_percent != 0; });
    before.fill_percent = is_old || is_read ? 100 : 0;
    before.random_fills = is_old ? 2 : 0;
    return before;
}

/// The whole drive, once, in order.
std::expected<FillPhases, std::string> measure_fill(const RunSpace& space, const FitStream& load) {
    AddressFit fit{FitPolicy::as_is, space.bytes()};
    const RunTarget target = sectors_target(space, fit, Written::zeros);
    const std::uint64_t requests = space.bytes() / load.block_bytes, looks = std::min<std::uint64_t>(requests, 1000);
    std::uint64_t next = 0;
    std::vector<FillStep> steps;
    std::uint64_t seen = 0;
    SimTime before = space.begin;
    const RunWatch watch{.every = requests / looks, .look = [&](const RunTally& tally) {
                             const auto bytes = static_cast<double>((tally.writes - seen) * load.block_bytes);
                             steps.push_back({bytes, static_cast<double>((tally.end - before).count()) / 1e9});
                             seen = tally.writes;
                             before = tally.end;
                             return RunStep::go_on;
                         }};
    const auto done = run_requests(
        target,
        [&](TraceRequest& request) -> std::expected<bool, std::string> {
            request = {0, next++ * load.block_bytes, load.block_bytes, 0, TraceOp::write};
            return next <= requests;
        },
        {.depth = load.depth}, space.begin, watch);
    if (!done) return std::unexpected(done.error());
    return phases_of(steps);
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
    if (point.streams.size() == 1 && point.streams[0].fill) {
        const auto fill = measure_fill(*space, point.streams[0]);
        if (!fill) return std::unexpected(fill.error());
        FitPoint out{point.file, {point.streams[0]}};
        out.streams[0].fill = *fill;
        out.streams[0].write.iops = fill->mean / static_cast<double>(point.streams[0].block_bytes);
        return out;
    }
    const auto ready = precondition(*space, precondition_of(point), seed, space->begin);
    if (!ready) return std::unexpected(ready.error());
    for (const FitStream& stream : point.streams)
        if (stream.block_bytes > space->bytes()) return std::unexpected(fmt::format("job {}: bs is larger than the drive", stream.name));
    const FitTimes times = times_of(point);
    const auto measured = run_for(*space, {point.streams.begin(), point.streams.end()}, times.warm, times.counted, *ready, seed);
    if (!measured) return std::unexpected(measured.error());
    FitPoint out = point;
    for (std::size_t i = 0; i < out.streams.size(); ++i) {
        out.streams[i].read = measured->streams[i][0];
        out.streams[i].write = measured->streams[i][1];
        out.streams[i].waf = measured->waf;
    }
    return out;
}

} // namespace flashlab
