#include "tools/replay.h"

#include <algorithm>
#include <queue>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "tools/traces/trace_fields.h"

namespace flashlab {
namespace {

using Completions = std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>>;

/// Lets the device do what is due by `now`, in the order of its own wishes.
class DeviceClock {
public:
    explicit DeviceClock(Device& device) : device_{device} {}
    void pass(SimTime now) {
        while (wake_ <= now) {
            const SimTime at = wake_;
            wake_ = std::max(device_.ssd().tick(at), at + Duration{1});
        }
        device_.settle(now);
    }
    /// Work may have become due at once.
    void wake_at(SimTime now) { wake_ = std::min(wake_, now); }

private:
    Device& device_;
    SimTime wake_ = sim_start;
};

DeviceResult<SimTime> issue_piece(Ssd& ssd, TraceOp op, const AddressPiece& piece, SimTime now) {
    const std::uint64_t first = piece.offset / sector_bytes;
    const std::uint64_t sectors = (piece.offset + piece.bytes + sector_bytes - 1) / sector_bytes - first;
    if (op == TraceOp::trim)
        return ssd.trim(Sector{first}, sectors, now);
    const auto count = static_cast<std::uint32_t>(sectors);
    return op == TraceOp::read ? ssd.read(Sector{first}, count, {}, now) : ssd.write(Sector{first}, count, {}, WriteDurability::volatile_ok, now);
}

/// All pieces arrive together; the request is answered with the last of them.
std::expected<SimTime, std::string> issue(Ssd& ssd, const TraceRequest& request, AddressFit& fit, SimTime now) {
    const auto pieces = fit.place(request);
    if (!pieces)
        return std::unexpected(pieces.error());
    SimTime done = now;
    if (request.op == TraceOp::flush) {
        const auto flushed = ssd.flush(now);
        if (!flushed)
            return std::unexpected(to_text(flushed.error()));
        return *flushed;
    }
    for (const AddressPiece& piece : **pieces) {
        const auto answered = issue_piece(ssd, request.op, piece, now);
        if (!answered)
            return std::unexpected(to_text(answered.error()));
        done = std::max(done, *answered);
    }
    return done;
}

void count(RunTally& tally, TraceOp op, Duration latency) {
    tally.all.add(latency);
    if (op == TraceOp::read) {
        ++tally.reads;
        tally.read.add(latency);
    } else if (op == TraceOp::write) {
        ++tally.writes;
        tally.write.add(latency);
    } else {
        ++(op == TraceOp::trim ? tally.trims : tally.flushes);
    }
}

} // namespace

std::expected<RunTally, std::string> replay(Device& device, const NextRequest& next, AddressFit& fit, const ReplaySpeed& speed, SimTime begin) {
    RunTally tally;
    tally.begin = tally.end = begin;
    DeviceClock clock{device};
    Completions in_flight;
    SimTime now = begin;
    TraceRequest request;
    for (;;) {
        const auto more = next(request);
        if (!more)
            return std::unexpected(more.error());
        if (!*more)
            return tally;
        if (speed.depth == 0) {
            const auto since = static_cast<double>(request.time_ns) / speed.factor;
            now = std::max(now, begin + Duration{speed.factor == 1 ? static_cast<std::int64_t>(request.time_ns) : static_cast<std::int64_t>(since)});
        } else if (in_flight.size() == speed.depth) {
            now = std::max(now, in_flight.top());
            in_flight.pop();
        }
        clock.pass(now);
        const auto done = issue(device.ssd(), request, fit, now);
        if (!done)
            return std::unexpected(fmt::format("request {}: {}", tally.requests() + 1, done.error()));
        clock.wake_at(*done);
        if (speed.depth != 0)
            in_flight.push(*done);
        tally.end = std::max(tally.end, *done);
        count(tally, request.op, *done - now);
    }
}

std::expected<SimTime, std::string> precondition(Device& device, const Precondition& what, std::uint64_t seed, SimTime now) {
    const auto identity = device.ssd().identify();
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
    auto filled = replay(device, fill, fit, closed, now);
    if (!filled)
        return std::unexpected("precondition, filling: " + filled.error());
    Random random{seed};
    auto left = static_cast<std::uint64_t>(what.random_fills * static_cast<double>(bytes / unit));
    const auto overwrite = [&](TraceRequest& request) -> std::expected<bool, std::string> {
        request = {0, random.below(bytes / unit) * unit, unit, 0, TraceOp::write};
        return left-- != 0;
    };
    auto overwritten = replay(device, overwrite, fit, closed, filled->end);
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
