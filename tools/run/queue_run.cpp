#include "tools/run/queue_run.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/contract.h"
#include "tools/host/interruption.h"
#include "tools/run/request_server.h"

namespace flashlab {
namespace {

/// A command in its queue.
struct Submitted {
    TraceRequest request;
    std::size_t load;
    SimTime wanted; ///< planned, else submitted
};

/// The host's side: who may submit, and what was submitted.
class Submitters {
public:
    Submitters(std::span<const QueueLoad> loads, SimTime begin) : loads_{loads}, begin_{begin}, has_ended_(loads.size()) {
        for (std::size_t l = 0; l < loads.size(); ++l)
            for (std::uint32_t i = 0; i < std::max(1u, loads[l].depth); ++i) free_at(begin, l);
    }
    /// When the next command may be submitted.
    [[nodiscard]] std::optional<SimTime> next() const { return free_.empty() ? std::nullopt : std::optional{free_.top().at}; }
    /// At next(). A load that has ended submits nothing, and one that plans its next command for later waits until then.
    [[nodiscard]] std::expected<void, std::string> submit(HostQueues& queues) {
        Place place = free_.top();
        free_.pop();
        const QueueLoad& load = loads_[place.load];
        if (!place.planned) {
            if (has_ended_[place.load] || has_no_time(load, place.at)) return {};
            const auto more = load.next(place.request);
            if (!more) return std::unexpected(more.error());
            has_ended_[place.load] = !*more;
            if (!*more) return {};
            ++given_;
            place.planned = load.is_planned ? begin_ + Duration{static_cast<std::int64_t>(place.request.time_ns)} : place.at;
            if (has_no_time(load, *place.planned)) return {};
            if (*place.planned > place.at) {
                place.at = *place.planned;
                free_.push(place);
                return {};
            }
        }
        const QueueId queue{place.request.queue};
        if (submitted_.size() <= queue.value()) submitted_.resize(queue.value() + 1);
        submitted_[queue.value()].push_back({place.request, place.load, *place.planned});
        queues.submit(queue, place.at);
        if (load.depth == 0) free_at(place.at, place.load);
        return {};
    }
    [[nodiscard]] Submitted take(QueueId queue) {
        ++taken_;
        auto& own = submitted_[queue.value()];
        const Submitted command = own.front();
        own.pop_front();
        return command;
    }
    /// What the loads gave and nobody took.
    [[nodiscard]] std::uint64_t left() const { return given_ - taken_; }
    void answered(std::size_t load, SimTime at) {
        if (loads_[load].depth != 0) free_at(at, load);
    }

private:
    /// Room for a command from that time on. Of equal ones the first in the order of the loads, then the one that was there first.
    struct Place {
        SimTime at;
        std::size_t load;
        std::uint64_t number;
        std::optional<SimTime> planned{};
        TraceRequest request{};
        friend bool operator>(const Place& a, const Place& b) { return std::tuple{a.at, a.load, a.number} > std::tuple{b.at, b.load, b.number}; }
    };
    [[nodiscard]] bool has_no_time(const QueueLoad& load, SimTime at) const { return at - begin_ >= load.lasts; }
    void free_at(SimTime at, std::size_t load) { free_.push({at, load, places_++}); }

    std::span<const QueueLoad> loads_;
    SimTime begin_;
    std::priority_queue<Place, std::vector<Place>, std::greater<>> free_;
    std::uint64_t places_ = 0;
    std::uint64_t given_ = 0, taken_ = 0;
    std::vector<std::deque<Submitted>> submitted_; ///< by queue
    std::vector<bool> has_ended_;
};

void count(RunTally& tally, const Submitted& command, SimTime fetched, SimTime done) {
    const std::size_t number = command.request.queue;
    if (tally.queues.size() <= number) tally.queues.resize(number + 1);
    QueueTally& queue = tally.queues[number];
    queue.end = std::max(queue.end, done);
    queue.waited.add(fetched - command.wanted);
    ++queue.requests;
    if (command.request.op == TraceOp::read) queue.read.add(done - command.wanted);
    if (command.request.op == TraceOp::write) queue.write.add(done - command.wanted);
}

RunTally at_the_end(RunTally tally, const Submitters& submitters, const HostQueues& queues) {
    tally.left = submitters.left();
    tally.queues.resize(queues.size());
    for (std::uint16_t q = 0; q < queues.size(); ++q) tally.queues[q].priority = queues.priority_of(QueueId{q});
    return tally;
}

} // namespace

HostQueues host_queues(const SsdConfig& drive, std::vector<QueuePriority> priorities) {
    const ArbiterEntry* arbiter = find_named(arbiters(), drive.host_link.arbiter);
    ensure(arbiter != nullptr, "a drive was made of this configuration");
    return HostQueues{std::move(priorities), drive.host_link.slots, arbiter->make(drive.ftl.options)};
}

std::expected<RunTally, std::string> run_queues(const RunTarget& target, std::span<const QueueLoad> loads, HostQueues& queues, SimTime begin,
                                                const RunWatch& watch) {
    RequestServer server{target, watch, begin};
    Submitters submitters{loads, begin};
    for (;;) {
        if (Interruption::came()) {
            auto part = server.ended_by_signal();
            return part ? at_the_end(std::move(*part), submitters, queues) : std::move(part);
        }
        const auto submission = submitters.next();
        const auto next_fetch = queues.next_fetch();
        if (submission && (!next_fetch || *submission <= *next_fetch)) {
            if (auto done = submitters.submit(queues); !done) return std::unexpected(done.error());
            continue;
        }
        if (!next_fetch) break;
        const HostQueues::Fetch fetch = queues.fetch();
        const Submitted command = submitters.take(fetch.queue);
        const auto done = server.serve(command.request, command.wanted, fetch.at);
        if (!done) return std::unexpected(done.error());
        queues.answered(done->at);
        submitters.answered(command.load, done->at);
        if (done->failure.empty()) count(server.tally, command, fetch.at, done->at);
        if (!server.goes_on()) break;
    }
    return at_the_end(std::move(server.tally), submitters, queues);
}

} // namespace flashlab
