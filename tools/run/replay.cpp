#include "tools/run/replay.h"

#include <fmt/format.h>

#include "tools/traces/trace_fields.h"

namespace flashlab {

std::expected<RunTally, std::string> replay(const RunSpace& space, const NextRequest& next, AddressFit& fit, const ReplaySpeed& speed, SimTime begin,
                                            const RunWatch& watch) {
    return run_requests(sectors_target(*space.device, *space.disk, fit, space.payload), next, speed, begin, watch);
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
