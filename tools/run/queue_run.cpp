#include "tools/run/queue_run.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "base/contract.h"
#include "tools/host/interruption.h"
#include "tools/run/request_server.h"

namespace flashlab {
namespace {

/// The host's side: who may submit, and what was submitted.
class Submitters {
public:
    Submitters(std::span<const QueueLoad> loads, SimTime begin) : loads_{loads}, submitted_(loads.size()), has_ended_(loads.size()) {
        for (std::size_t q = 0; q < loads.size(); ++q)
            for (std::uint32_t i = 0; i < loads[q].depth; ++i) free_.push({begin, q});
    }
    /// When the next command may be submitted.
    [[nodiscard]] std::optional<SimTime> next() const { return free_.empty() ? std::nullopt : std::optional{free_.top().first}; }
    /// At next(). A load that has ended submits nothing.
    [[nodiscard]] std::expected<void, std::string> submit(HostQueues& queues) {
        const auto [at, q] = free_.top();
        free_.pop();
        if (has_ended_[q]) return {};
        TraceRequest request;
        const auto more = loads_[q].next(request);
        if (!more) return std::unexpected(more.error());
        has_ended_[q] = !*more;
        if (!*more) return {};
        request.queue = static_cast<std::uint16_t>(q);
        submitted_[q].push_back(request);
        queues.submit(QueueId{request.queue}, at);
        return {};
    }
    [[nodiscard]] TraceRequest take(QueueId queue) {
        auto& own = submitted_[queue.value()];
        const TraceRequest request = own.front();
        own.pop_front();
        return request;
    }
    void answered(QueueId queue, SimTime at) { free_.push({at, queue.value()}); }

private:
    using Place = std::pair<SimTime, std::size_t>; ///< free from then on, in this queue
    std::span<const QueueLoad> loads_;
    std::priority_queue<Place, std::vector<Place>, std::greater<>> free_;
    std::vector<std::deque<TraceRequest>> submitted_;
    std::vector<bool> has_ended_;
};

void count(QueueTally& queue, TraceOp op, const HostQueues::Fetch& fetch, SimTime done) {
    queue.end = std::max(queue.end, done);
    queue.waited.add(fetch.at - fetch.submitted);
    (op == TraceOp::read ? queue.read : queue.others).add(done - fetch.submitted);
}

} // namespace

HostQueues host_queues(const SsdConfig& drive, std::span<const QueueLoad> loads) {
    std::vector<QueuePriority> priorities;
    for (const QueueLoad& load : loads) priorities.push_back(load.priority);
    const ArbiterEntry* arbiter = find_named(arbiters(), drive.host_link.arbiter);
    ensure(arbiter != nullptr, "a drive was made of this configuration");
    return HostQueues{std::move(priorities), drive.host_link.slots, arbiter->make(drive.ftl.options)};
}

std::expected<RunTally, std::string> run_queues(const RunTarget& target, std::span<const QueueLoad> loads, HostQueues& queues, SimTime begin,
                                                const RunWatch& watch) {
    RequestServer server{target, watch, begin};
    server.tally.queues.resize(loads.size());
    Submitters submitters{loads, begin};
    for (;;) {
        if (Interruption::came()) return server.ended_by_signal();
        const auto submission = submitters.next();
        const auto next_fetch = queues.next_fetch();
        if (submission && (!next_fetch || *submission <= *next_fetch)) {
            if (auto done = submitters.submit(queues); !done) return std::unexpected(done.error());
            continue;
        }
        if (!next_fetch) return std::move(server.tally);
        const HostQueues::Fetch fetch = queues.fetch();
        const TraceRequest request = submitters.take(fetch.queue);
        const auto done = server.serve(request, fetch.submitted, fetch.at);
        if (!done) return std::unexpected(done.error());
        queues.answered(*done);
        submitters.answered(fetch.queue, *done);
        count(server.tally.queues[fetch.queue.value()], request.op, fetch, *done);
        if (!server.goes_on()) return std::move(server.tally);
    }
}

} // namespace flashlab
