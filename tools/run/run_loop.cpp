#include "tools/run/run_loop.h"

#include <algorithm>
#include <memory>
#include <queue>
#include <vector>

#include <fmt/format.h>

#include "tools/host/interruption.h"
#include "tools/run/payload_stamp.h"
#include "tools/run/request_server.h"

namespace flashlab {
namespace {

using Completions = std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>>;

/// Lets the device do the background work that is due by `now`, in the order of the times for which the device asked.
class DeviceClock {
public:
    explicit DeviceClock(Device& device) : device_{device} {}
    void pass(SimTime now) {
        if (!begun_) wake_ = now; // not in the past: work of that time would belong to no run
        begun_ = true;
        while (wake_ <= now) {
            const SimTime at = wake_;
            wake_ = std::max(device_.ssd().tick(at), at + Duration{1});
        }
        device_.settle(now);
    }
    void wake_at(SimTime now) { wake_ = std::min(wake_, now); }

private:
    Device& device_;
    SimTime wake_ = sim_start;
    bool begun_ = false;
};

/// All pieces of a request arrive together. The request is answered with the last of them.
struct SectorsTarget {
    DeviceClock clock;
    BlockDevice& disk;
    AddressFit& fit;
    PayloadStamp* payload;
    Written written;
    Unreadable unreadable;

    std::expected<IssueAnswer, std::string> issue(const TraceRequest& request, SimTime now, Duration waited) {
        if (request.op == TraceOp::flush) return told(disk.flush({now, request.stream, QueueId{request.queue}, 0, waited}));
        const auto pieces = fit.place(request);
        if (!pieces) return std::unexpected(pieces.error());
        IssueAnswer whole{now};
        std::uint32_t number = 0;
        for (const AddressPiece& piece : **pieces) {
            if ((*pieces)->size() > 1) ++number;
            auto answered = issue_piece(request, piece, {now, request.stream, QueueId{request.queue}, number, waited});
            if (!answered) return answered;
            whole.at = std::max(whole.at, answered->at);
            if (whole.failure.empty()) whole.failure = std::move(answered->failure);
        }
        return whole;
    }
    std::expected<IssueAnswer, std::string> issue_piece(const TraceRequest& of, const AddressPiece& piece, const HostIo& io) {
        const Sector first{piece.offset / sector_bytes};
        const std::uint64_t sectors = sectors_of(piece.offset, piece.bytes);
        if (of.op == TraceOp::trim) return told(disk.trim(first, sectors, io));
        const auto n = static_cast<std::uint32_t>(sectors);
        if (of.op == TraceOp::write)
            return told(disk.write(first, n, bytes_for(first, n), of.fua ? WriteDurability::fua : WriteDurability::volatile_ok, io));
        if (payload == nullptr) return told(disk.read(first, n, {}, io));
        const std::span<std::byte> to = payload->room(n);
        auto done = told(disk.read(first, n, to, io));
        if (done && done->failure.empty())
            if (auto wrong = payload->find_wrong(first, to)) return std::unexpected(std::move(*wrong));
        return done;
    }
    [[nodiscard]] std::span<const std::byte> bytes_for(Sector first, std::uint32_t sectors) const {
        if (payload == nullptr) return {};
        return written == Written::zeros ? payload->zeros(sectors) : payload->stamped(first, sectors);
    }
    [[nodiscard]] std::expected<IssueAnswer, std::string> told(const DeviceResult<SimTime>& done) const {
        if (done) return *done;
        if (done.error().kind == DeviceErrorKind::uncorrectable && unreadable == Unreadable::is_counted)
            return IssueAnswer{done.error().done, to_text(done.error())};
        return std::unexpected(to_text(done.error()));
    }
};

} // namespace

Duration ReplaySpeed::since_begin(const TraceRequest& request) const {
    constexpr double latest_ns = 4e18; // a slowed-down clock stops here, before 64 bits overflow
    if (factor == 1) return Duration{static_cast<std::int64_t>(request.time_ns)};
    return Duration{static_cast<std::int64_t>(std::min(static_cast<double>(request.time_ns) / factor, latest_ns))};
}

std::expected<RunTally, std::string> run_requests(const RunTarget& target, const NextRequest& next, const ReplaySpeed& speed, SimTime begin,
                                                  const RunWatch& watch) {
    RequestServer server{target, watch, begin};
    Completions in_flight;
    SimTime now = begin;
    TraceRequest request;
    for (;;) {
        if (Interruption::came()) return server.ended_by_signal();
        const auto more = next(request);
        if (!more) return Interruption::came() ? server.ended_by_signal() : std::unexpected(more.error());
        if (!*more) return std::move(server.tally);
        if (speed.depth == 0) {
            now = std::max(now, begin + speed.since_begin(request));
        } else if (in_flight.size() == speed.depth) {
            now = std::max(now, in_flight.top());
            in_flight.pop();
        }
        if (now - begin >= speed.lasts) return std::move(server.tally);
        const auto done = server.serve(request, now, now);
        if (!done) return std::unexpected(done.error());
        if (speed.depth != 0) in_flight.push(done->at);
        if (!server.goes_on()) return std::move(server.tally);
    }
}

RunTarget sectors_target(const RunSpace& space, AddressFit& fit, Written written) {
    const auto shared = std::make_shared<SectorsTarget>(DeviceClock{*space.device}, *space.disk, fit, space.payload, written, space.unreadable);
    return {.issue = [shared](const TraceRequest& request, SimTime now, Duration waited) { return shared->issue(request, now, waited); },
            .pass = [shared](SimTime now) { shared->clock.pass(now); },
            .work_at = [shared](SimTime now) { shared->clock.wake_at(now); }};
}

} // namespace flashlab
