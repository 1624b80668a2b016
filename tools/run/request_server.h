/// Requests to a target, one after the other: issued, counted, and looked at by the caller of the run.
///
/// Idea       What the loops share that differ in who says which request is next, and when (run_loop.h, queue_run.h).
/// Invariant  A request that is served is in the tally, unless a look began the tally anew behind it.
/// Cost       Two indirect calls a request.
#pragma once

#include <algorithm>
#include <expected>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tools/run/run_loop.h"

namespace flashlab {

class RequestServer {
public:
    /// All arguments outlive it.
    RequestServer(const RunTarget& target, const RunWatch& watch, SimTime begin) : target_{target}, watch_{watch}, until_look_{watch.every} {
        tally.begin = tally.end = begin;
    }

    /// The answer. The latency counts from `submitted`.
    std::expected<IssueAnswer, std::string> serve(const TraceRequest& request, SimTime submitted, SimTime now) {
        if (begins_) {
            tally.begin = tally.end = now;
            if (watch_.counts_from) watch_.counts_from(now);
        }
        begins_ = false;
        target_.pass(now);
        auto done = target_.issue(request, now, now - submitted);
        if (!done) return std::unexpected(fmt::format("request {}: {}", tally.answered() + 1, done.error()));
        target_.work_at(done->at);
        tally.end = std::max(tally.end, done->at);
        if (done->failure.empty())
            count(request.op, done->at - submitted);
        else
            note_failed(request, done->failure);
        return done;
    }
    /// The caller's look, where one is due. False: the run ends here.
    [[nodiscard]] bool goes_on() {
        if (watch_.every == 0 || --until_look_ != 0) return true;
        until_look_ = watch_.every;
        const RunStep step = watch_.look(tally);
        if (step == RunStep::count_from_here) begin_anew();
        return step != RunStep::stop;
    }
    /// A caller with a watch reports the part of the run that was done. For any other caller a part is worth nothing.
    [[nodiscard]] std::expected<RunTally, std::string> ended_by_signal() {
        if (watch_.every == 0) return std::unexpected(std::string{"interrupted"});
        return std::move(tally);
    }

    RunTally tally;

private:
    void count(TraceOp op, Duration latency) {
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
    void note_failed(const TraceRequest& request, const std::string& why) {
        const std::uint64_t bytes = sectors_of(request.offset, request.bytes) * sector_bytes;
        if (request.op == TraceOp::read) tally.failed_read_bytes += bytes;
        if (request.op == TraceOp::write) tally.failed_write_bytes += bytes;
        if (++tally.failed == 1) tally.first_failure = fmt::format("request {}: {}", tally.answered(), why);
    }
    void begin_anew() {
        const SimTime here = tally.end;
        const std::uint64_t answered = tally.answered();
        const std::size_t queues = tally.queues.size();
        tally = RunTally{};
        tally.before = answered;
        tally.begin = tally.end = here;
        tally.queues.resize(queues);
        begins_ = true; // with the next request, not with the last answer before it
    }

    const RunTarget& target_;
    const RunWatch& watch_;
    std::uint64_t until_look_;
    bool begins_ = false;
};

} // namespace flashlab
