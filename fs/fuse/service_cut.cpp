// The power cut of a live mount: it waits for an occasion, and strikes inside it.
#include <algorithm>

#include "base/random.h"
#include "fs/fuse/service.h"

namespace flashlab {

namespace {

constexpr std::uint64_t most_passes = 16;                       ///< occasions of which one is drawn
constexpr auto drawn_within = std::chrono::seconds{1};          ///< then the next one is taken
constexpr auto longest_wait = std::chrono::seconds{2};          ///< for work of any kind, or of a sync
constexpr auto longest_wait_for_kind = std::chrono::seconds{5}; ///< for a collection or an erase
constexpr auto quiet = std::chrono::milliseconds{100};          ///< without a request nobody brings an occasion
constexpr int most_background_steps = 256;
/// Collections come back sooner; who comes back later, to try a write again on a drive that takes none, would only put the clock forward.
constexpr Duration longest_pause{1'000'000'000};

} // namespace

void Service::cut_locked(SimTime at, std::uint64_t seed, CutAt struck) {
    const WallTime all_answered = WallClock::now();
    const auto done = guard_.run("the power cut", [&]() -> FsResult<CutSummary> { return power_.cut(at, seed); });
    summary_ = done ? *done : CutSummary{.at = at};
    summary_.struck = struck;
    summary_.steady_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(all_answered.time_since_epoch()).count();
    dead_ = true;
    armed_.reset();
    cut_happened_.notify_all();
}

bool Service::strike_locked(CutAt kind, SimTime earliest) {
    const auto instant = power_.instant_in_flight(kind, earliest, armed_->seed);
    if (!instant) return false;
    cut_locked(*instant, armed_->seed, kind);
    return true;
}

/// Whatever was answered stays: T is not before the latest answer. What this request changed and was not told of may be torn.
bool Service::struck_by_cut_locked(const RequestInfo& info, SimTime arrival) {
    if (!armed_ || dead_ || !info.mutates) return false;
    const WallTime wall = WallClock::now();
    if (info.op != FsOp::writeback) armed_->last_request = wall;
    if (armed_->at == CutAt::flush && info.op != FsOp::fsync && info.op != FsOp::fsyncdir) return false;
    SimTime earliest = std::max(arrival, answered_);
    if (!clock_.off()) earliest = std::max(earliest, clock_.at(wall));
    if (armed_->passes != 0 && wall < armed_->since + drawn_within) {
        if (power_.instant_in_flight(armed_->at, earliest, armed_->seed)) --armed_->passes;
        return false;
    }
    return strike_locked(armed_->at, earliest);
}

/// Nobody brought an occasion. What is dirty would be written back by age sooner or later: that work begins now, and is struck.
void Service::strike_own_work_locked() {
    const SimTime earliest = std::max(clock_.at(WallClock::now()), answered_);
    const CutAt kind = armed_->at;
    if (kind != CutAt::flush && strike_locked(kind, earliest)) return;
    if (!guard_.tripped()) {
        const auto job = guard_.run("sync", [&] { return fs_.begin_sync_all(own_call()); });
        if (job) (void)run_steps_locked(**job, earliest);
        if (strike_locked(kind, earliest)) return;
    }
    SimTime now = std::max(earliest, power_.last_reserved_end());
    for (int step = 0; (kind == CutAt::gc || kind == CutAt::erase) && step < most_background_steps && !guard_.tripped(); ++step) {
        const auto next = guard_.run("background work", [&]() -> FsResult<SimTime> { return fs_.tick(now); });
        if (strike_locked(kind, earliest)) return;
        if (!next || *next > now + longest_pause) break;
        now = std::max(now, *next);
    }
    if (strike_locked(CutAt::work, earliest)) return;
    cut_locked(std::max(earliest, power_.last_reserved_end()), armed_->seed, CutAt::idle);
}

CutSummary Service::cut(std::uint64_t seed, CutAt at) {
    std::unique_lock lock{monitor_};
    if (at == CutAt::recovery) at = CutAt::work; // who asked cuts the recovery, when the device is free
    if (!dead_ && !armed_ && at == CutAt::idle)
        cut_locked(std::max({clock_.at(WallClock::now()), answered_, power_.last_reserved_end()}), seed, CutAt::idle);
    if (!dead_ && !armed_) {
        const WallTime begin = WallClock::now();
        armed_ = ArmedCut{seed, at, Random{seed}.below(most_passes), begin, begin};
        const WallTime latest = begin + (at == CutAt::work || at == CutAt::flush ? longest_wait : longest_wait_for_kind);
        for (WallTime now = begin; !dead_ && now < std::min(latest, armed_->last_request + quiet); now = WallClock::now())
            cut_happened_.wait_until(lock, std::min(latest, armed_->last_request + quiet));
        if (!dead_) strike_own_work_locked();
        armed_.reset();
    }
    cut_happened_.wait(lock, [this] { return dead_.load(); }); // somebody else's cut
    const CutSummary summary = summary_;
    lock.unlock();
    delayed_.release();
    stalled_.release();
    return summary;
}

} // namespace flashlab
