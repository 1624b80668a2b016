#include "fs/fuse/delay_queue.h"

#include <algorithm>

#include <sys/prctl.h>

namespace flashlab {

namespace {

constexpr auto spin = std::chrono::microseconds{40}; ///< a sleeping thread comes back within this on a quiet host

constexpr auto stays_awake = std::chrono::seconds{1}; ///< after the last answer

constexpr auto leaves_later = [](const auto& a, const auto& b) { return a.leaves != b.leaves ? a.leaves > b.leaves : a.order > b.order; };

} // namespace

DelayQueue::DelayQueue(const LatencyClock& clock) : clock_{clock}, thread_{[this] { loop(); }} {}

DelayQueue::~DelayQueue() { finish(); }

std::size_t DelayQueue::size() {
    const std::lock_guard lock{mutex_};
    return heap_.size();
}

void DelayQueue::push(std::unique_ptr<Pending> pending) {
    {
        const std::lock_guard lock{mutex_};
        heap_.push_back({clock_.at_before(pending->due, pending->lead), ++pushes_, std::move(pending)});
        std::ranges::push_heap(heap_, leaves_later);
        if (heap_.front().order != pushes_) return; // the thread waits for an earlier one anyway
        version_.fetch_add(1, std::memory_order_relaxed);
    }
    changed_.notify_one();
}

void DelayQueue::set_clock(const LatencyClock& clock) {
    {
        const std::lock_guard lock{mutex_};
        clock_ = clock;
        version_.fetch_add(1, std::memory_order_relaxed);
    }
    changed_.notify_one();
}

void DelayQueue::release() {
    {
        const std::lock_guard lock{mutex_};
        released_ = true;
        version_.fetch_add(1, std::memory_order_relaxed);
    }
    changed_.notify_one();
}

void DelayQueue::finish() {
    {
        const std::lock_guard lock{mutex_};
        finishing_ = true;
        version_.fetch_add(1, std::memory_order_relaxed);
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
}

WallTime DelayQueue::leaves_at() const {
    const Waiting& first = heap_.front();
    return clock_.wall_of(first.pending->due) - first.pending->lead;
}

/// True: the first object need not wait any more.
bool DelayQueue::first_is_free() const { return released_ || clock_.off() || (finishing_ && heap_.front().pending->is_answer); }

/// True when the first may run now; false when something changed and the caller must look again.
bool DelayQueue::wait_for_first(std::unique_lock<std::mutex>& lock) {
    const WallTime leave = leaves_at();
    if (WallClock::now() + spin < leave) {
        changed_.wait_until(lock, leave - spin);
        return false;
    }
    const std::uint64_t seen = version_.load(std::memory_order_relaxed);
    lock.unlock();
    while (WallClock::now() < leave && version_.load(std::memory_order_relaxed) == seen) {}
    lock.lock();
    return version_.load(std::memory_order_relaxed) == seen;
}

void DelayQueue::wait_for_work(std::unique_lock<std::mutex>& lock) {
    if (!awake_.are_held()) {
        changed_.wait(lock);
    } else if (changed_.wait_for(lock, stays_awake) == std::cv_status::timeout) {
        awake_.let_go();
    }
}

void DelayQueue::loop() {
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    std::unique_lock lock{mutex_};
    for (;;) {
        if (heap_.empty()) {
            if (finishing_) return;
            wait_for_work(lock);
            continue;
        }
        if (!clock_.off()) awake_.hold();
        if (!first_is_free() && !wait_for_first(lock)) continue;
        std::ranges::pop_heap(heap_, leaves_later);
        std::unique_ptr<Pending> first = std::move(heap_.back().pending);
        heap_.pop_back();
        lock.unlock();
        Pending& pending = *first;
        pending.run(std::move(first));
        lock.lock();
    }
}

} // namespace flashlab
