#include "tools/replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/random.h"
#include "tools/traces/trace_fields.h"

namespace flashlab {

std::expected<RunTally, std::string> replay(const RunSpace& space, const NextRequest& next, AddressFit& fit, const ReplaySpeed& speed, SimTime begin, const RunWatch& watch) {
    return run_requests(sectors_target(*space.device, *space.disk, fit, space.payload), next, speed, begin, watch);
}

std::expected<SimTime, std::string> precondition(const RunSpace& space, const Precondition& what, std::uint64_t seed, SimTime now) {
    const auto identity = space.disk->identify();
    const std::uint64_t unit = identity.atomic_unit_bytes;
    const std::uint64_t bytes = identity.sectors * sector_bytes / 100 * what.fill_percent / unit * unit;
    if (bytes == 0)
        return now;
    AddressFit fit{FitPolicy::as_is, identity.sectors * sector_bytes};
    const ReplaySpeed closed{.depth = 32};
    std::uint64_t at = 0;
    const auto fill = [&](TraceRequest& request) -> std::expected<bool, std::string> {
        request = {0, at, std::min<std::uint64_t>(1u << 20, bytes - at), 0, TraceOp::write};
        at += request.bytes;
        return request.bytes != 0;
    };
    auto filled = replay(space, fill, fit, closed, now);
    if (!filled)
        return std::unexpected("precondition, filling: " + filled.error());
    Random random{seed};
    auto left = static_cast<std::uint64_t>(what.random_fills * static_cast<double>(bytes / unit));
    const auto overwrite = [&](TraceRequest& request) -> std::expected<bool, std::string> {
        request = {0, random.below(bytes / unit) * unit, unit, 0, TraceOp::write};
        return left-- != 0;
    };
    auto overwritten = replay(space, overwrite, fit, closed, filled->end);
    if (!overwritten)
        return std::unexpected("precondition, overwriting: " + overwritten.error());
    return overwritten->end;
}

std::expected<ReplaySpeed, std::string> parse_replay_speed(const std::string& text) {
    if (text == "open")
        return ReplaySpeed{};
    if (text.starts_with("closed:"))
        if (const auto depth = parse_unsigned(std::string_view{text}.substr(7)); depth && *depth >= 1 && *depth <= 65536)
            return ReplaySpeed{.depth = static_cast<std::uint32_t>(*depth)};
    if (text.ends_with('x'))
        if (const auto milli = parse_scaled(std::string_view{text}.substr(0, text.size() - 1), 1000); milli && *milli > 0)
            return ReplaySpeed{.factor = static_cast<double>(*milli) / 1000};
    return std::unexpected(fmt::format("--speed {}: 'open', 'closed:DEPTH' (1 to 65536) or a factor such as '10x' is wanted", text));
}

std::expected<Precondition, std::string> parse_precondition(const std::string& text) {
    Precondition what;
    const auto wrong = [&] { return std::unexpected(fmt::format("--precondition {}: 'fill:90,random:2x' is an example: percent of the device, then overwrites in fills", text)); };
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        std::string_view part = std::string_view{text}.substr(at, comma - at);
        at = comma + 1;
        if (part == "random") {
            what.random_fills = 1;
            continue;
        }
        if (part.starts_with("random:")) {
            part.remove_prefix(7);
            const auto milli = part.ends_with('x') ? parse_scaled(part.substr(0, part.size() - 1), 1000) : std::nullopt;
            if (!milli || *milli > 100'000)
                return wrong();
            what.random_fills = static_cast<double>(*milli) / 1000;
            continue;
        }
        if (part.starts_with("fill:"))
            part.remove_prefix(5);
        const bool is_fraction = part.find('.') != std::string_view::npos;
        const auto percent = is_fraction ? parse_scaled(part, 100) : parse_unsigned(part);
        if (!percent || *percent > 100)
            return wrong();
        what.fill_percent = static_cast<std::uint32_t>(*percent);
    }
    return what;
}

} // namespace flashlab
