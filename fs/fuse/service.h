/// The monitor and everything inside it: file system, device, clock, statistics, and the power switch.
///
/// Idea       serve() runs one request: compute inside the monitor with `now` read there, then answer at once (latency off) or when the clock reaches
///            the completion. serve_slow() does the same for calls in steps.
/// Invariant  The monitor is held for computing only. The time T of a cut is never before a completion that was answered, nor before a step that ran
///            ahead of the clock. Both are noted inside the monitor, an answer before it leaves.
///            After a cut or a tripped guard no request changes anything.
/// Cost       Two clock readings, one uncontended lock, one histogram increment; no allocation at latency off.
/// Power cut  cut() takes the device back to T. Every request that is not answered yet gets EIO.
/// Threading  Public functions may be called from any thread. A function whose name ends in _locked needs the monitor held.
#pragma once

#include <atomic>
#include <concepts>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "fs/fuse/capability_cache.h"
#include "fs/fuse/delay_queue.h"
#include "fs/fuse/fuse_api.h"
#include "fs/fuse/guard.h"
#include "fs/fuse/kernel_pages.h"
#include "fs/fuse/latency_clock.h"
#include "fs/fuse/lead_estimator.h"
#include "fs/fuse/monitor.h"
#include "fs/fuse/mount.h"
#include "fs/fuse/open_handle.h"
#include "fs/fuse/request_faults.h"
#include "fs/fuse/stalled_answers.h"
#include "fs/fuse/statistics.h"
#include "fs/fuse/synced_files.h"
#include "fs/use_observer.h"

namespace flashlab {

/// One request, for the event log and the statistics. `mutates`: the request may change the media, so an armed cut may strike it.
struct RequestInfo {
    FsOp op;
    Ino ino;
    bool mutates = false;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// The value of an answer that carries none.
struct Nothing {};

/// Brings the return types of the file system's calls into one type.
template <class T>
FsResult<Timed<T>> as_timed(FsResult<Timed<T>> result) {
    return result;
}
inline FsResult<Timed<Nothing>> as_timed(FsResult<SimTime> result) {
    if (!result) return std::unexpected(result.error());
    return Timed<Nothing>{{}, *result};
}

class Service {
public:
    Service(FileSystem& fs, DevicePower& power, EventSink& events, UseObserver* use, LatencyMode latency, SimTime clock_start);

    /// work(const FsCall&) -> FsResult<Timed<T>> or FsResult<SimTime>; answer(fuse_req_t, T&) sends the reply, outside the monitor.
    template <class Work, class Answer>
    void serve(fuse_req_t request, const RequestInfo& info, Work&& work, Answer answer);
    /// serve() for work that may answer "again" (fs/file_system.h): the work is repeated when the clock reaches the time given. After work.keep() the
    /// work owns all that it needs.
    template <class Work, class Answer>
    void serve_patient(fuse_req_t request, const RequestInfo& info, Work work, Answer answer);
    /// begin(const FsCall&) -> FsResult<std::unique_ptr<SlowCall>>; answer(fuse_req_t) when its last step is done.
    template <class Begin, class Answer>
    void serve_slow(fuse_req_t request, const RequestInfo& info, Begin&& begin, Answer answer);
    /// Runs work that has no answer, such as giving back references.
    template <class Work>
    void serve_silently(const RequestInfo& info, Work&& work);
    /// Runs work inside the monitor, for the control handler and for replies that could not be delivered.
    template <class Work>
    void with_monitor(Work&& work) {
        const std::lock_guard lock{monitor_};
        work(clock_.at(WallClock::now()));
    }

    [[nodiscard]] FileSystem& fs() { return fs_; }
    [[nodiscard]] HostCache host_cache() const { return host_cache_; } ///< asked outside the monitor, even when the device is gone
    [[nodiscard]] CapabilityCache& capabilities() { return capabilities_; }
    [[nodiscard]] OpenHandles& open_handles() { return open_handles_; }
    [[nodiscard]] SyncedFiles& synced_files() { return synced_files_; }
    [[nodiscard]] KernelPages& kernel_pages() { return kernel_pages_; } ///< inside the monitor only

    /// Tells the name of a file to who asks for names; inside the monitor.
    void tell_name(const Attributes& file, Ino parent, std::string_view name) {
        if (use_ != nullptr && file.ino.value() != 0) use_->named(file.ino, file.generation, parent, name);
    }
    /// Who asks; null: nobody. Inside the monitor only.
    [[nodiscard]] const UseObserver* use() const { return use_; }
    /// The file of a name that is about to move, where somebody asks for names. Takes the monitor.
    [[nodiscard]] std::optional<Attributes> file_to_move(fuse_req_t request, Ino parent, const char* name);

    /// Must be called before the first request.
    void ask_for_host_errno(std::function<int()> host_errno) { host_errno_ = std::move(host_errno); }
    /// Must be called before the first request. Null: no request fails or is late that the file system and the device carry out.
    void set_faults(RequestFaults* faults) { faults_ = faults; }
    void set_streams(const StreamRules* streams) { streams_ = streams; } ///< must be called before the first request. Null: no rules
    void set_disk(DiskFile* disk) { disk_ = disk; }                      ///< must be called before the first request
    [[nodiscard]] DiskFile* disk() { return disk_; }                     ///< MountConfig::disk
    [[nodiscard]] FsResult<void> sync_all();
    /// Makes all names and attributes durable, but not the data.
    [[nodiscard]] FsResult<void> sync_names();
    /// The kernel stops most calls that a read-only mount must refuse, not all. Access times then stay as they are.
    void set_access(bool read_only, AccessTimes times) {
        read_only_ = read_only;
        access_times_ = read_only ? AccessTimes::kept : times;
    }
    [[nodiscard]] bool is_read_only() const { return read_only_; }
    [[nodiscard]] AccessTimes access_times() const { return access_times_; }
    /// The power fails at an instant at which such work is in flight. Waits for one, for a moment.
    [[nodiscard]] CutSummary cut(std::uint64_t seed, CutAt at = CutAt::work);
    void set_latency(LatencyMode mode);
    /// Sets the measured round trips through FUSE: the lead estimator begins anew with them.
    void set_round_trips(const RoundTrips& measured) {
        const std::lock_guard lock{monitor_};
        leads_.begin(measured);
    }
    [[nodiscard]] MountStats stats();
    [[nodiscard]] SimTime clock_now();
    [[nodiscard]] bool is_powered() const { return !dead_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool is_sound() const { return !guard_.tripped(); }
    /// Does the ageing, write-back and idle work that is due. Returns the time of the next call.
    [[nodiscard]] WallTime tick();
    /// tick() on request: Mount::run_background.
    [[nodiscard]] FsResult<Duration> run_background();
    /// Answers all requests that still wait. From now on no answer waits.
    void finish();

private:
    struct ArmedCut {
        std::uint64_t seed;
        CutAt at;
        std::uint64_t passes; ///< so many occasions are let pass
        WallTime since, last_request;
    };
    template <class Answer, class T>
    class PendingAnswer;
    template <class Answer>
    class PendingSteps;
    template <class Work, class Answer>
    class PendingAttempt;

    template <class Work>
    [[nodiscard]] auto attempt_locked(const RequestInfo& info, FsCall& call, Work& work);
    /// Records the request in log and statistics, and answers it, or lets the answer wait for its time. Unlocks the monitor.
    template <class T, class Answer>
    void conclude(std::unique_lock<Monitor>& lock, fuse_req_t request, const RequestInfo& info, SimTime arrival, FsResult<Timed<T>> result,
                  Answer answer);

    [[nodiscard]] FsCall call_for(fuse_req_t request) const;
    [[nodiscard]] FsCall own_call() const;
    /// The errno for the caller: a drive that is read-only because the host is full answers ENOSPC.
    [[nodiscard]] int told_locked(int error) const;
    /// errno for a request that must not run, 0 otherwise.
    [[nodiscard]] int refusal(const RequestInfo& info) const;
    /// errno for a request that has just arrived and must not run, 0 otherwise. Notes how late its answer has to be.
    [[nodiscard]] int admit_locked(const RequestInfo& info, SimTime now);
    /// How late the answer of the request at hand has to be; it is asked for once.
    [[nodiscard]] Duration take_stall_locked() { return std::exchange(stall_, Duration{0}); }
    /// After a cut: neither the device nor the log is there any more.
    void refuse_dead(std::unique_lock<Monitor>& lock, fuse_req_t request);
    void stall_answer(fuse_req_t request, std::unique_ptr<Pending> answer, WallTime due);
    /// `request`: null for calls of our own. `served`: bytes that were read or written.
    void account(fuse_req_t request, const RequestInfo& info, SimTime start, SimTime end, int error, std::uint64_t served);
    void settle_sometimes_locked(WallTime wall);
    void tick_locked(SimTime now);
    void cut_locked(SimTime at, std::uint64_t seed, CutAt struck);
    /// After a request, a step or a tick: was this the occasion that an armed cut waits for?
    [[nodiscard]] bool struck_by_cut_locked(const RequestInfo& info, SimTime arrival);
    [[nodiscard]] bool strike_locked(CutAt kind, SimTime earliest);
    void strike_own_work_locked();
    /// Notes an answer before it leaves. False: the power is gone, and the request must not be answered with success any more.
    [[nodiscard]] bool note_answered(SimTime start, SimTime completion);
    /// Notes a step that ran at `now`, ahead of the clock by its lead at most, so that the answer behind it can be in time.
    /// No cut may come before `now`.
    void note_ahead_locked(SimTime now) {
        if (!clock_.off()) answered_ = std::max(answered_, now);
    }
    [[nodiscard]] bool may_leave_locked(SimTime completion, WallClock::duration lead, WallTime wall) const;
    void count_lateness(SimTime start, SimTime completion, WallClock::duration lead);
    [[nodiscard]] static LeadClass lead_class(const RequestInfo& info);
    /// Notes the newest request, for the lead of later answers.
    void note_arrival_locked(fuse_req_t request, const RequestInfo& info, SimTime arrival);
    [[nodiscard]] StepResult run_steps_locked(SlowCall& job, SimTime start);
    using BeginSync = std::function<FsResult<std::unique_ptr<SlowCall>>(const FsCall&)>;
    [[nodiscard]] FsResult<void> sync(const BeginSync& begin);

    FileSystem& fs_;
    HostCache host_cache_;
    DevicePower& power_;
    EventSink& events_;
    UseObserver* use_; ///< null: nobody asks who calls
    Monitor monitor_;
    LatencyClock clock_;
    Guard guard_;
    CapabilityCache capabilities_;
    OpenHandles open_handles_;
    SyncedFiles synced_files_;
    KernelPages kernel_pages_;
    OperationStatistics statistics_;
    LeadEstimator leads_;
    SimTime answered_ = sim_start; ///< latest completion any caller was told, and latest step that ran ahead of the clock
    SimTime next_tick_ = sim_start;
    unsigned until_settle_ = 0;
    std::optional<ArmedCut> armed_; ///< a cut that waits for its occasion
    std::condition_variable_any cut_happened_;
    CutSummary summary_{};
    std::function<int()> host_errno_; ///< of the image
    RequestFaults* faults_ = nullptr;
    const StreamRules* streams_ = nullptr;
    DiskFile* disk_ = nullptr;
    Duration stall_{0};  ///< of the request at hand
    int sync_error_ = 0; ///< errno that the sync at hand answers, whatever it finds
    std::atomic<bool> dead_{false};
    std::atomic<bool> read_only_{false};
    std::atomic<AccessTimes> access_times_{AccessTimes::relative};
    std::atomic<std::uint64_t> late_answers_{0};
    StalledAnswers stalled_;
    DelayQueue delayed_; ///< last: its thread uses all of the above
};

} // namespace flashlab

#include "fs/fuse/service_serve.h"
