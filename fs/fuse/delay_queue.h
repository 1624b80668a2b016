/// Answers that wait for their simulated completion.
///
/// Idea       A heap ordered by the time of leaving, and one thread that sleeps until shortly before the first time and then spins. Workers never
///            block, so that any queue depth is emulated.
/// Invariant  An object runs at its due time less its lead at the earliest, unless the queue was released. Each pending object runs once per push.
/// Cost       An allocation and two wake-ups an answer, at latency real or Nx only; a spin of at most 40 us. For root, idle processors do not
///            sleep until a second after the last answer (AwakeProcessors).
/// Power cut  release() makes all objects due. An object that runs then finds the power gone and answers EIO.
/// Threading  All functions from any thread; pending objects run on the queue's own thread, without its lock.
/// Source     Timer slack: prctl(2), PR_SET_TIMERSLACK.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/sim_time.h"
#include "fs/fuse/awake_processors.h"
#include "fs/fuse/latency_clock.h"

namespace flashlab {

/// Work to be done when the clock reaches `due`. To wait again, the object hands itself back to the queue.
class Pending {
public:
    virtual ~Pending() = default;
    virtual void run(std::unique_ptr<Pending> self) noexcept = 0;
    SimTime due = sim_start;
    bool is_answer = true;       ///< false: a step, after which there is more to do
    WallClock::duration lead{0}; ///< it runs this much earlier than due: the time of the way through FUSE, there and back (LeadEstimator)
};

class DelayQueue {
public:
    explicit DelayQueue(const LatencyClock& clock);
    ~DelayQueue();
    DelayQueue(const DelayQueue&) = delete;
    DelayQueue& operator=(const DelayQueue&) = delete;

    void push(std::unique_ptr<Pending> pending);
    [[nodiscard]] std::size_t size();
    /// Tells the queue that the clock was re-based: waits are computed anew. At latency off all objects are due.
    void set_clock(const LatencyClock& clock);
    /// Call it when the power is gone: all objects, and those pushed later, are due at once.
    void release();
    /// Runs the remaining objects, answers at once and steps at their time, then ends the thread.
    void finish();

private:
    struct Waiting {
        SimTime leaves;      ///< when the object leaves, by the clock that was valid at the push
        std::uint64_t order; ///< equal times leave in the order of their pushes
        std::unique_ptr<Pending> pending;
    };
    void loop();
    void wait_for_work(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool wait_for_first(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] WallTime leaves_at() const;
    [[nodiscard]] bool first_is_free() const;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<std::uint64_t> version_{0}; ///< grows with each change a spinning wait must see
    LatencyClock clock_;
    std::vector<Waiting> heap_;
    std::uint64_t pushes_ = 0;
    bool released_ = false;
    bool finishing_ = false;
    AwakeProcessors awake_; ///< of the thread
    std::thread thread_;
};

} // namespace flashlab
