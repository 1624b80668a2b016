/// The templates of Service: one instantiation per operation, so that no request allocates for its own bookkeeping. Included by service.h only.
#pragma once

namespace flashlab {

/// An answer ready but for its time.
template <class Answer, class T>
class Service::PendingAnswer final : public Pending {
public:
    PendingAnswer(Service& service, fuse_req_t request, SimTime start, Timed<T>&& result, Answer&& answer)
        : service_{service}, request_{request}, start_{start}, result_{std::move(result)}, answer_{std::move(answer)} {
        due = result_.done;
    }
    void run(std::unique_ptr<Pending>) noexcept override {
        if (!service_.note_answered(result_.done)) {
            fuse_reply_err(request_, EIO);
            return;
        }
        answer_(request_, result_.value);
        service_.count_lateness(start_, result_.done);
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
            error = step_locked();
        }
        if (error != 0) {
            fuse_reply_err(request_, error);
        } else {
            service_.delayed_.push(std::move(self));
        }
    }

    /// Runs the next step and sets `due`; returns the errno that ends the call.
    int step_locked() {
        if (service_.dead_) {
            job_.reset();
            return EIO;
        }
        const SimTime now = service_.clock_.at(WallClock::now());
        const StepResult result = service_.clock_.off() ? service_.run_steps_locked(*job_, std::max(now, due))
                                                        : service_.guard_.run(name_of(info_.op), [&] { return job_->step(now); });
        if (result && std::holds_alternative<ResumeAt>(*result)) {
            due = std::get<ResumeAt>(*result).at;
            is_answer = false;
            return 0;
        }
        job_.reset(); // inside the monitor: a call may hold locks of inodes
        if (result) due = std::get<Done>(*result).at;
        is_answer = true;
        const int error = result ? 0 : result.error().error_number;
        service_.account(info_, start_, result ? due : now, error);
        return error;
    }

private:
    void finish() {
        if (!service_.note_answered(due)) {
            fuse_reply_err(request_, EIO);
            return;
        }
        answer_(request_);
        service_.count_lateness(start_, due);
    }

    Service& service_;
    fuse_req_t request_;
    RequestInfo info_;
    SimTime start_;
    std::unique_ptr<SlowCall> job_; ///< null: done, only the answer is left
    Answer answer_;
};

template <class Work, class Answer>
void Service::serve(fuse_req_t request, const RequestInfo& info, Work&& work, Answer answer) {
    std::unique_lock lock{monitor_};
    const FsCall call = call_for(request);
    const int refused = refusal(info);
    auto result = refused != 0 ? std::unexpected(FsError{refused}) : guard_.run(name_of(info.op), [&] { return as_timed(work(call)); });
    const SimTime end = result ? std::max(result->done, call.now) : call.now;
    account(info, call.now, end, result ? 0 : result.error().error_number);
    if (struck_by_cut_locked(info, call.now)) {
        lock.unlock();
        fuse_reply_err(request, EIO);
        return;
    }
    const WallTime wall = WallClock::now();
    if (!result) {
        settle_sometimes_locked(wall);
        lock.unlock();
        fuse_reply_err(request, result.error().error_number);
        return;
    }
    const bool leaves = may_leave_locked(end, wall);
    if (leaves) {
        answered_ = std::max(answered_, end);
        if (clock_.off()) clock_.pass(end, wall);
    }
    const bool timed = leaves && !clock_.off() && end > call.now;
    settle_sometimes_locked(wall);
    lock.unlock();
    if (leaves) {
        answer(request, result->value);
        if (timed) count_lateness(call.now, end);
        return;
    }
    using T = std::remove_cvref_t<decltype(result->value)>;
    delayed_.push(std::make_unique<PendingAnswer<Answer, T>>(*this, request, call.now, std::move(*result), std::move(answer)));
}

template <class Begin, class Answer>
void Service::serve_slow(fuse_req_t request, const RequestInfo& info, Begin&& begin, Answer answer) {
    std::unique_lock lock{monitor_};
    const FsCall call = call_for(request);
    const int refused = refusal(info);
    auto job = refused != 0 ? std::unexpected(FsError{refused}) : guard_.run(name_of(info.op), [&] { return begin(call); });
    int error = job ? 0 : job.error().error_number;
    if (job && !clock_.off()) {
        auto pending = std::make_unique<PendingSteps<Answer>>(*this, request, info, call.now, std::move(*job), std::move(answer));
        error = pending->step_locked();
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
    account(info, call.now, end, error);
    if (struck_by_cut_locked(info, call.now)) error = EIO;
    if (error == 0) {
        answered_ = std::max(answered_, end);
        clock_.pass(end, WallClock::now());
    }
    if (!dead_) settle_sometimes_locked(WallClock::now());
    lock.unlock();
    if (error != 0) {
        fuse_reply_err(request, error);
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
    if (done) account(info, call.now, *done, 0);
}

} // namespace flashlab
