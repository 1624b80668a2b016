#include "fs/fuse/service.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <vector>

#include "base/host_io_error.h"
#include "fs/fuse/io_ring.h"

namespace flashlab {

namespace {

constexpr unsigned requests_between_settles = 64;
constexpr auto late_by = std::chrono::microseconds{15}; ///< nothing below can be emulated through FUSE
constexpr auto shortest_tick = std::chrono::milliseconds{2};
constexpr auto longest_tick = std::chrono::milliseconds{250}; ///< latency off: requests move the clock, so wall time does not tell the next tick

/// True: the error is a plain answer ("there is none") to this operation, not a failure.
bool is_plain_answer(FsOp op, int error) {
    return (op == FsOp::getxattr && error == ENODATA) || (op == FsOp::lookup && error == ENOENT) || (op == FsOp::lseek && error == ENXIO);
}

/// A request does not carry the caller's supplementary groups: libfuse reads them in /proc.
bool caller_has_group(const void* caller, std::uint32_t group) {
    const auto request = static_cast<fuse_req_t>(const_cast<void*>(caller));
    std::vector<gid_t> groups(64);
    int count = fuse_req_getgroups(request, static_cast<int>(groups.size()), groups.data());
    if (count > static_cast<int>(groups.size())) {
        groups.resize(static_cast<std::size_t>(count));
        count = fuse_req_getgroups(request, count, groups.data());
    }
    groups.resize(static_cast<std::size_t>(std::clamp(count, 0, static_cast<int>(groups.size()))));
    return std::ranges::find(groups, group) != groups.end();
}

FileTime file_time_now() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return {now.tv_sec, static_cast<std::uint32_t>(now.tv_nsec)};
}

} // namespace

Service::Service(FileSystem& fs, DevicePower& power, EventSink& events, UseObserver* use, LatencyMode latency, SimTime clock_start)
    : fs_{fs}, host_cache_{fs.host_cache()}, power_{power}, events_{events}, use_{use}, clock_{clock_start, latency, WallClock::now()},
      answered_{clock_start}, delayed_{clock_} {}

FsCall Service::call_for(fuse_req_t request) const {
    const fuse_ctx* context = fuse_req_ctx(request);
    // A request does not carry the caller's capabilities: uid 0 stands for CAP_FSETID.
    return {.now = clock_.at(WallClock::now()),
            .wall = file_time_now(),
            .uid = context->uid,
            .gid = context->gid,
            .umask = context->umask,
            .may_override_suid = context->uid == 0,
            .access_times = access_times(),
            .stream = streams_ == nullptr ? no_stream : streams_->stream_of(context->uid, static_cast<std::uint32_t>(context->pid)),
            .has_group = caller_has_group,
            .caller = request};
}

std::optional<Attributes> Service::file_to_move(fuse_req_t request, Ino parent, const char* name) {
    if (use_ == nullptr || !is_powered()) return std::nullopt;
    const std::lock_guard lock{monitor_};
    const FsCall call = call_for(request);
    const auto found = fs_.lookup(call, parent, name);
    if (!found) return std::nullopt;
    fs_.forget(found->value.ino, 1, call.now);
    return found->value;
}

FsCall Service::own_call() const { return {.now = clock_.at(WallClock::now()), .wall = file_time_now(), .may_override_suid = true}; }

int Service::refusal(const RequestInfo& info) const {
    if (dead_.load(std::memory_order_relaxed)) return EIO;
    if (info.mutates && guard_.tripped()) return EROFS;
    return 0;
}

int Service::admit_locked(const RequestInfo& info, SimTime now) {
    stall_ = Duration{0};
    sync_error_ = 0;
    const int refused = refusal(info);
    if (refused != 0 || faults_ == nullptr) [[likely]]
        return refused;
    const RequestFaults::Verdict verdict = faults_->on_request(info.op, info.ino, now);
    stall_ = verdict.stall;
    if (info.op != FsOp::fsync) return verdict.error;
    sync_error_ = verdict.error;
    return 0;
}

int Service::told_locked(int error) const {
    if (error != EROFS || dead_ || !host_errno_) return error;
    return is_host_full(host_errno_()) ? ENOSPC : error;
}

void Service::account(fuse_req_t request, const RequestInfo& info, SimTime start, SimTime end, int error, std::uint64_t served) {
    statistics_.record(info.op, end - start, is_plain_answer(info.op, error) ? 0 : error);
    if (use_ != nullptr && request != nullptr) use_->call_ended(fuse_req_ctx(request)->pid, info.op, info.ino, served, error, end - start);
    const EventId id = events_.next_id();
    if (!events_.wants(EventLevel::requests)) return;
    events_.on(
        FsOpEvent{.id = id, .start = start, .end = end, .op = info.op, .ino = info.ino, .offset = info.offset, .bytes = info.bytes, .error = error});
}

void Service::refuse_dead(std::unique_lock<Monitor>& lock, fuse_req_t request) {
    lock.unlock();
    fuse_reply_err(request, EIO);
}

void Service::stall_answer(fuse_req_t request, std::unique_ptr<Pending> answer, WallTime due) {
    if (IoRing::has(request)) return stalled_.wait_and_answer(std::move(answer), due);
    stalled_.push(std::move(answer), due);
}

/// Every so many requests this settles the device and runs background work that is due.
/// No cut can need undo records that ended before the clock's time.
void Service::settle_sometimes_locked(WallTime wall) {
    if (until_settle_-- != 0) return;
    until_settle_ = requests_between_settles;
    if (dead_ || guard_.tripped()) return;
    tick_locked(clock_.at(wall));
}

void Service::tick_locked(SimTime now) {
    const auto done = guard_.run("background work", [&]() -> FsResult<SimTime> {
        if (now >= next_tick_) next_tick_ = fs_.tick(now);
        power_.settle(now);
        return now;
    });
    if (!done) next_tick_ = sim_never;
    if (armed_) (void)struck_by_cut_locked({.op = FsOp::writeback, .ino = root_ino, .mutates = true}, now);
}

WallTime Service::tick() {
    const std::lock_guard lock{monitor_};
    const WallTime wall = WallClock::now();
    if (!dead_ && !guard_.tripped()) {
        next_tick_ = sim_start; // requests since the last tick may have made something due: dirty data, freed pages, commits
        tick_locked(clock_.at(wall));
    }
    if (next_tick_ - clock_.at(wall) > std::chrono::hours{1}) return wall + longest_tick; // also keeps sim_never out of the arithmetic
    return std::clamp(clock_.wall_of(next_tick_), wall + shortest_tick, wall + longest_tick);
}

FsResult<Duration> Service::run_background() {
    constexpr RequestInfo info{.op = FsOp::writeback, .ino = root_ino, .mutates = true};
    const std::lock_guard lock{monitor_};
    if (const int refused = refusal(info)) return std::unexpected(FsError{refused});
    const SimTime now = clock_.at(WallClock::now());
    next_tick_ = sim_start;
    tick_locked(now);
    if (const int refused = refusal(info)) return std::unexpected(FsError{refused});
    return next_tick_ == sim_never ? Duration::max() : next_tick_ - now;
}

LeadClass Service::lead_class(const RequestInfo& info) {
    const auto kind = info.op == FsOp::read ? LeadClass::Kind::read : info.op == FsOp::write ? LeadClass::Kind::write : LeadClass::Kind::plain;
    return LeadClass::of(kind, info.bytes);
}

void Service::note_arrival_locked(fuse_req_t request, const RequestInfo& info, SimTime arrival) {
    if (use_ != nullptr) use_->call_began(fuse_req_ctx(request)->pid, info.op, info.ino, info.offset, info.bytes);
    if (clock_.off()) return;
    leads_.arrived(static_cast<std::uint64_t>(fuse_req_ctx(request)->pid), lead_class(info), arrival, clock_.wall_of(arrival));
}

bool Service::may_leave_locked(SimTime completion, WallClock::duration lead, WallTime wall) const {
    return clock_.off() || clock_.wall_of(completion) - lead <= wall;
}

bool Service::note_answered(SimTime start, SimTime completion) {
    const std::lock_guard lock{monitor_};
    if (dead_) return false;
    if (!clock_.off()) leads_.left(start, WallClock::now());
    answered_ = std::max(answered_, completion);
    if (clock_.off()) clock_.pass(completion, WallClock::now());
    return true;
}

void Service::count_lateness(SimTime start, SimTime completion, WallClock::duration lead) {
    if (completion <= start) return; // the request takes no simulated time: no latency was emulated
    const WallTime wall = WallClock::now();
    const std::lock_guard lock{monitor_};
    if (clock_.off()) return;
    if (wall > clock_.wall_of(completion) - lead + late_by) late_answers_.fetch_add(1, std::memory_order_relaxed);
}

/// Latency off: the steps need not wait for the clock. The clock moves only when the answer is given, so that an armed cut can still strike any step.
StepResult Service::run_steps_locked(SlowCall& job, SimTime start) {
    SimTime now = start;
    for (;;) {
        const StepResult result = guard_.run("a step", [&] { return job.step(now); });
        if (!result || std::holds_alternative<Done>(*result)) return result;
        now = std::max(now, std::get<ResumeAt>(*result).at);
    }
}

FsResult<void> Service::sync_all() {
    return sync([this](const FsCall& call) { return fs_.begin_sync_all(call); });
}

FsResult<void> Service::sync_names() { // as an fsync of a directory does, whichever it is
    return sync([this](const FsCall& call) { return fs_.begin_sync(call, root_ino, SyncScope::data_and_metadata); });
}

FsResult<void> Service::sync(const BeginSync& begin) {
    std::unique_lock lock{monitor_};
    constexpr RequestInfo info{.op = FsOp::writeback, .ino = root_ino, .mutates = true};
    if (const int refused = told_locked(refusal(info))) return std::unexpected(FsError{refused});
    const SimTime start = clock_.at(WallClock::now());
    auto job = guard_.run("sync", [&] { return begin(own_call()); });
    if (!job) return std::unexpected(FsError{told_locked(job.error().error_number)});
    const auto wait_until = [&](SimTime time) { // the monitor is free meanwhile; at latency off the clock jumps instead
        while (!dead_ && clock_.at(WallClock::now()) < time) {
            if (clock_.off()) return clock_.pass(time, WallClock::now());
            const WallTime wall = std::min(clock_.wall_of(time), WallClock::now() + longest_tick); // the rate may change
            lock.unlock();
            std::this_thread::sleep_until(wall);
            lock.lock();
        }
    };
    int error = 0;
    for (bool done = false; !done && error == 0;) {
        const StepResult result = guard_.run("sync", [&] { return (*job)->step(clock_.at(WallClock::now())); });
        done = result && std::holds_alternative<Done>(*result);
        if (result) wait_until(done ? std::get<Done>(*result).at : std::get<ResumeAt>(*result).at);
        error = result ? refusal(info) : result.error().error_number; // others ran while this waited
        if (dead_) error = EIO;
    }
    error = told_locked(error);
    job->reset();
    if (!dead_) {
        const SimTime end = clock_.at(WallClock::now());
        if (error == 0) answered_ = std::max(answered_, end);
        account(nullptr, {.op = FsOp::writeback, .ino = root_ino}, start, end, error, 0);
    }
    if (error != 0) return std::unexpected(FsError{error});
    return {};
}

void Service::set_latency(LatencyMode mode) {
    const std::lock_guard lock{monitor_};
    clock_.set_mode(mode, WallClock::now());
    delayed_.set_clock(clock_);
}

MountStats Service::stats() {
    const std::lock_guard lock{monitor_};
    return {clock_.at(WallClock::now()), clock_.mode(), late_answers_.load(), delayed_.size(), statistics_.snapshot()};
}

SimTime Service::clock_now() {
    const std::lock_guard lock{monitor_};
    return std::max(clock_.at(WallClock::now()), answered_);
}

void Service::finish() {
    stalled_.release();
    delayed_.finish();
}

} // namespace flashlab
