#include "tools/run/replay.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/run/queue_run.h"
#include "tools/traces/trace_fields.h"

namespace flashlab {

std::expected<RunTally, std::string> replay(const RunSpace& space, const NextRequest& next, AddressFit& fit, const ReplaySpeed& speed, SimTime begin,
                                            const RunWatch& watch, const std::vector<QueuePriority>& priorities) {
    const RunTarget target = sectors_target(space, fit);
    const SsdConfig& drive = space.device->config().ssd;
    if (drive.host_link.slots == 0) return run_requests(target, next, speed, begin, watch);
    const NextRequest timed = [&](TraceRequest& request) {
        auto more = next(request);
        request.time_ns = static_cast<std::uint64_t>(speed.since_begin(request).count());
        return more;
    };
    HostQueues queues = host_queues(drive, priorities);
    const QueueLoad load{timed, speed.depth, speed.depth == 0, speed.lasts};
    return run_queues(target, {&load, 1}, queues, begin, watch);
}

std::expected<std::vector<QueuePriority>, std::string> parse_priorities(std::string_view text) {
    std::vector<QueuePriority> out;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const auto* const named = std::ranges::find(queue_priority_names, word);
        if (named == std::end(queue_priority_names))
            return std::unexpected(fmt::format("'{}': allowed: {}", word, fmt::join(queue_priority_names, ", ")));
        out.push_back(static_cast<QueuePriority>(named - std::begin(queue_priority_names)));
    }
    if (out.size() > most_queues) return std::unexpected(fmt::format("at most {} queues", most_queues));
    return out;
}

std::expected<ReplaySpeed, std::string> parse_replay_speed(const std::string& text) {
    if (text == "open") return ReplaySpeed{};
    if (text.starts_with("closed:"))
        if (const auto depth = parse_unsigned(std::string_view{text}.substr(7)); depth && *depth >= 1 && *depth <= 65536)
            return ReplaySpeed{.depth = static_cast<std::uint32_t>(*depth)};
    if (text.ends_with('x'))
        if (const auto milli = parse_scaled(std::string_view{text}.substr(0, text.size() - 1), 1000); milli && *milli > 0)
            return ReplaySpeed{.factor = static_cast<double>(*milli) / 1000};
    return std::unexpected(fmt::format("--speed {}: 'open', 'closed:DEPTH' (1 to 65536) or a factor such as '10x' is wanted", text));
}

} // namespace flashlab
