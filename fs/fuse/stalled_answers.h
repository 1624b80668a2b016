/// Answers that a fault holds back, in wall time.
///
/// Idea       At latency off no answer waits for the clock. What is to be late waits here, on a thread that exists from the first such answer on.
/// Invariant  Each object runs once: at its time, or at once when the mount ends or its power goes.
/// Cost       Nothing until a stall is asked for.
/// Power cut  release() makes all objects due. An object that runs then finds the power gone and answers EIO.
/// Threading  All functions from any thread; objects run on the thread of this class, without its lock.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fs/fuse/delay_queue.h"

namespace flashlab {

class StalledAnswers {
public:
    StalledAnswers() = default;
    ~StalledAnswers() { release(); }
    StalledAnswers(const StalledAnswers&) = delete;
    StalledAnswers& operator=(const StalledAnswers&) = delete;

    void push(std::unique_ptr<Pending> answer, WallTime due);
    /// As push(), but the caller's thread waits and answers: no other may answer a request of a ring (IoRing).
    void wait_and_answer(std::unique_ptr<Pending> answer, WallTime due);
    /// Answers all that wait, and from now on every answer at once. Returns when the thread has ended.
    void release();

private:
    struct Waiting {
        WallTime due;
        std::unique_ptr<Pending> answer;
    };
    void loop();
    static void run(std::unique_ptr<Pending> answer);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Waiting> waiting_;
    bool released_ = false;
    std::thread thread_;
};

} // namespace flashlab
