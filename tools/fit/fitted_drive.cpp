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
