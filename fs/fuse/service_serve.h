/// The templates of Service: one instantiation per operation, so that no request allocates for its own bookkeeping. Included by service.h only.
#pragma once

#include <cstdint>
#include <memory>

namespace flashlab {

/// An answer that is ready and waits for its time.
template <class Answer, class T>
class Service::PendingAnswer final : public Pending {
public:
    PendingAnswer(Service& service, fuse_req_t request, SimTime start, WallClock::duration early_by, Timed<T>&& result, Answer&& answer)
        : service_{service}, request_{request}, start_{start}, result_{std::move(result)}, answer_{std::move(answer)} {
        due = result_.done;
        lead = early_by;
    }
    void run(std::unique_ptr<Pending>) noexcept override {
        if (!service_.note_answered(start_, result_.done)) {
            fuse_reply_err(request_, EIO);
            return;
        }
        answer_(request_, result_.value);
        service_.count_lateness(start_, result_.done, lead);
    }

private:
    Service& service_;
    fuse_req_t request_;
    SimTime start_;
    Timed<T> result_;
    Answer answer_;
};

/// A call whose next step, or whose answer, waits for the clock.
template <class Answer>
class Service::PendingSteps final : public Pending {
public:
    PendingSteps(Service& service, fuse_req_t request, const RequestInfo& info, SimTime start, std::unique_ptr<SlowCall> job, Answer&& answer)
        : service_{service}, request_{request}, info_{info}, start_{start}, job_{std::move(job)}, answer_{std::move(answer)} {}

    void run(std::unique_ptr<Pending> self) noexcept override {
        if (job_ == nullptr) return finish();
        int error = 0;
        {
            const std::lock_guard lock{service_.monitor_};
            const WallTime begin = WallClock::now();
            error = service_.told_locked(step_locked());
            service_.leads_.step_took(WallClock::now() - begin);
        }
        if (error != 0) {
            fuse_reply_err(request_, error);
        } else {
            service_.delayed_.push(std::move(self));
        }
    }

    /// Runs the next step and sets `due`; returns the errno that ends the call.
    int step_locked() {
        if (const int refused = service_.refusal(info_)) { // since the last step the power was cut, or the guard tripped
            job_.reset();
            return refused;
        }
        const SimTime now = std::max(due, service_.clock_.at(WallClock::now()));
        const StepResult result =
            service_.clock_.off() ? service_.run_steps_locked(*job_, now) : service_.guard_.run(name_of(info_.op), [&] { return job_->step(now); });
        service_.note_ahead_locked(now);
        if (service_.struck_by_cut_locked(info_, now)) {
            job_.reset();
            return EIO;
        }
        const bool is_timed = !service_.clock_.off();
        if (result && std::holds_alternative<ResumeAt>(*result)) {
            due = std::get<ResumeAt>(*result).at;
            lead = is_timed ? service_.leads_.step_lead(lead_class(info_)) : WallClock::duration{0};
            is_answer = false;
            return 0;
        }
        lead = is_timed ? service_.leads_.lead(lead_class(info_)) : WallClock::duration{0};
        job_.reset(); // inside the monitor: a call may hold locks of inodes
        if (result) due = std::get<Done>(*result).at + stall;
        is_answer = true;
        const int error = result ? 0 : result.error().error_number;
        service_.account(request_, info_, start_, result ? due : now, error, info_.bytes);
        return error;
    }
    Duration stall{0}; ///< the answer comes later by this much

private:
    void finish() {
        if (!service_.note_answered(start_, due)) {
            fuse_reply_err(request_, EIO);
            return;
        }
        answer_(request_);
        service_.count_lateness(start_, due, lead);
    }

    Service& service_;
    fuse_req_t request_;
    RequestInfo info_;
    SimTime start_;
    std::unique_ptr<SlowCall> job_; ///< null: done, only the answer is left
    Answer answer_;
};

/// A call that was answered "again" and waits to be repeated.
template <class Work, class Answer>
class Service::PendingAttempt final : public Pending {
public:
    PendingAttempt(Service& service, fuse_req_t request, const RequestInfo& info, const FsCall& call, SimTime again, Work&& work, Answer&& answer)
        : service_{service}, request_{request}, info_{info}, call_{call}, arrival_{call.now}, work_{std::move(work)}, answer_{std::move(answer)} {
        due = again;
        lead = service_.leads_.step_lead(lead_class(info_));
        is_answer = false;
    }
    void run(std::unique_ptr<Pending> self) noexcept override {
        std::unique_lock lock{service_.monitor_};
        if (const int refused = service_.refusal(info_)) { // since it was put off
            lock.unlock();
            fuse_reply_err(request_, refused);
            return;
        }
        call_.now = std::max(due, service_.clock_.at(WallClock::now()));
        auto result = service_.attempt_locked(info_, call_, work_);
        service_.note_ahead_locked(call_.now);
        if (!result && result.error().is_again()) {
            due = result.error().again;
            lock.unlock();
            service_.delayed_.push(std::move(self));
            return;
        }
        service_.conclude(lock, request_, info_, arrival_, std::move(result), std::move(answer_));
    }

private:
    Service& service_;
    fuse_req_t request_;
    RequestInfo info_;
    FsCall call_;
    SimTime arrival_;
    Work work_;
    Answer answer_;
};

/// At latency off the clock need not wait: it moves when the answer is given.
template <class Work>
auto Service::attempt_locked(const RequestInfo& info, FsCall& call, Work& work) {
    for (;;) {
        auto result = guard_.run(name_of(info.op), [&] { return as_timed(work(std::as_const(call))); });
        if (result || !result.error().is_again() || !clock_.off()) return result;
        call.now = std::max(call.now, result.error().again);
    }
}

template <class T, class Answer>
void Service::conclude(std::unique_lock<Monitor>& lock, fuse_req_t request, const RequestInfo& info, SimTime arrival, FsResult<Timed<T>> result,
                       Answer answer) {
    const Duration stall = take_stall_locked();
    const SimTime end = (result ? std::max(result->done, arrival) : arrival) + stall;
    std::uint64_t served = info.bytes;
    if constexpr (requires {
                      { result->value.bytes } -> std::convertible_to<std::uint64_t>;
                  })
        if (result) served = result->value.bytes;
    account(request, info, arrival, end, result ? 0 : result.error().error_number, served);
    if (struck_by_cut_locked(info, arrival)) {
        lock.unlock();
        fuse_reply_err(request, EIO);
        return;
    }
    const WallTime wall = WallClock::now();
    if (!result) {
        settle_sometimes_locked(wall);
        const int told = told_locked(result.error().error_number);
        lock.unlock();
        fuse_reply_err(request, told);
        return;
    }
    const WallClock::duration lead = clock_.off() ? WallClock::duration{0} : leads_.lead(lead_class(info));
    const bool is_stalled = stall > Duration{0} && clock_.off();
    const bool leaves = !is_stalled && may_leave_locked(end, lead, wall);
    if (leaves) {
        answered_ = std::max(answered_, end);
        if (clock_.off()) {
            clock_.pass(end, wall);
        } else {
            leads_.left(arrival, wall);
        }
    }
    const bool timed = leaves && !clock_.off() && end > arrival;
    settle_sometimes_locked(wall);
    lock.unlock();
    if (leaves) {
        answer(request, result->value);
        if (timed) count_lateness(arrival, end, lead);
        return;
    }
    result->done = end;
    auto pending = std::make_unique<PendingAnswer<Answer, T>>(*this, request, arrival, lead, std::move(*result), std::move(answer));
    if (is_stalled) return stall_answer(request, std::move(pending), wall + stall);
    delayed_.push(std::move(pending));
}

template <class Work, class Answer>
void Service::serve(fuse_req_t request, const RequestInfo& info, Work&& work, Answer answer) {
    std::unique_lock lock{monitor_};
    if (dead_) return refuse_dead(lock, request);
    const FsCall call = call_for(request);
    note_arrival_locked(request, info, call.now);
    const int refused = admit_locked(info, call.now);
    auto result = refused != 0 ? std::unexpected(FsError{refused}) : guard_.run(name_of(info.op), [&] { return as_timed(work(call)); });
    conclude(lock, request, info, call.now, std::move(result), std::move(answer));
}

template <class Work, class Answer>
void Service::serve_patient(fuse_req_t request, const RequestInfo& info, Work work, Answer answer) {
    std::unique_lock lock{monitor_};
    if (dead_) return refuse_dead(lock, request);
    FsCall call = call_for(request);
    const SimTime arrival = call.now;
    note_arrival_locked(request, info, arrival);
    const int refused = admit_locked(info, call.now);
    auto result = refused != 0 ? std::unexpected(FsError{refused}) : attempt_locked(info, call, work);
    if (result || !result.error().is_again()) return conclude(lock, request, info, arrival, std::move(result), std::move(answer));
    settle_sometimes_locked(WallClock::now());
    lock.unlock();
    if constexpr (requires { work.keep(); }) work.keep();
    const SimTime again = result.error().again;
    delayed_.push(std::make_unique<PendingAttempt<Work, Answer>>(*this, request, info, call, again, std::move(work), std::move(answer)));
}

template <class Begin, class Answer>
void Service::serve_slow(fuse_req_t request, const RequestInfo& info, Begin&& begin, Answer answer) {
    std::unique_lock lock{monitor_};
    if (dead_) return refuse_dead(lock, request);
    const FsCall call = call_for(request);
    note_arrival_locked(request, info, call.now);
    const int refused = admit_locked(info, call.now);
    auto job = refused != 0 ? std::unexpected(FsError{refused}) : guard_.run(name_of(info.op), [&] { return begin(call); });
    int error = job ? 0 : job.error().error_number;
    const Duration stall = take_stall_locked();
    if (job && !clock_.off() && sync_error_ == 0) {
        auto pending = std::make_unique<PendingSteps<Answer>>(*this, request, info, call.now, std::move(*job), std::move(answer));
        pending->stall = stall;
        error = told_locked(pending->step_locked());
        settle_sometimes_locked(WallClock::now());
        lock.unlock();
        if (error != 0) {
            fuse_reply_err(request, error);
        } else {
            delayed_.push(std::move(pending));
        }
        return;
    }
    SimTime end = call.now;
    if (job) {
        const StepResult result = run_steps_locked(**job, call.now);
        job->reset();
        if (result) end = std::get<Done>(*result).at;
        error = result ? 0 : result.error().error_number;
    }
    if (sync_error_ != 0) {
        error = std::exchange(sync_error_, 0);
        faults_->sync_over();
    }
    end += stall;
    account(request, info, call.now, end, error, info.bytes);
    if (struck_by_cut_locked(info, call.now)) error = EIO;
    const bool is_stalled = error == 0 && stall > Duration{0};
    if (error == 0 && !is_stalled) {
        answered_ = std::max(answered_, end);
        if (clock_.off()) clock_.pass(end, WallClock::now());
    }
    if (!dead_) settle_sometimes_locked(WallClock::now());
    error = told_locked(error);
    lock.unlock();
    if (error != 0) {
        fuse_reply_err(request, error);
    } else if (is_stalled) {
        auto late = std::make_unique<PendingSteps<Answer>>(*this, request, info, call.now, nullptr, std::move(answer));
        late->due = end;
        stall_answer(request, std::move(late), WallClock::now() + stall);
    } else {
        answer(request);
    }
}

template <class Work>
void Service::serve_silently(const RequestInfo& info, Work&& work) {
    const std::lock_guard lock{monitor_};
    if (dead_ || guard_.tripped()) return;
    FsCall call = own_call();
    const auto done = guard_.run(name_of(info.op), [&]() -> FsResult<SimTime> {
        work(call);
        return call.now;
    });
    if (done) account(nullptr, info, call.now, *done, 0, 0);
}

} // namespace flashlab
