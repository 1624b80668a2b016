#include "fs/fuse/stalled_answers.h"

#include <algorithm>
#include <utility>

namespace flashlab {

void StalledAnswers::run(std::unique_ptr<Pending> answer) {
    Pending& pending = *answer;
    pending.run(std::move(answer));
}

void StalledAnswers::push(std::unique_ptr<Pending> answer, WallTime due) {
    {
        const std::lock_guard lock{mutex_};
        if (!released_) {
            waiting_.push_back({due, std::move(answer)});
            if (!thread_.joinable()) thread_ = std::thread{[this] { loop(); }};
        }
    }
    if (answer == nullptr) {
        changed_.notify_all();
    } else {
        run(std::move(answer));
    }
}

void StalledAnswers::wait_and_answer(std::unique_ptr<Pending> answer, WallTime due) {
    {
        std::unique_lock lock{mutex_};
        changed_.wait_until(lock, due, [this] { return released_; });
    }
    run(std::move(answer));
}

void StalledAnswers::release() {
    std::thread ended;
    {
        const std::lock_guard lock{mutex_};
        released_ = true;
        std::swap(ended, thread_);
    }
    changed_.notify_all();
    if (ended.joinable()) ended.join();
}

void StalledAnswers::loop() {
    std::unique_lock lock{mutex_};
    while (!released_ || !waiting_.empty()) {
        const auto first = std::ranges::min_element(waiting_, {}, &Waiting::due);
        if (first == waiting_.end()) {
            changed_.wait(lock);
        } else if (!released_ && first->due > WallClock::now()) {
            changed_.wait_until(lock, first->due);
        } else {
            std::unique_ptr<Pending> answer = std::move(first->answer);
            waiting_.erase(first);
            lock.unlock();
            run(std::move(answer));
            lock.lock();
        }
    }
}

} // namespace flashlab
