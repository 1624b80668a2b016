/// What checks left running when they ended: processes in sessions of their own, which the end of a process group does not meet.
///
/// Idea       This process adopts the orphans among its descendants (PR_SET_CHILD_SUBREAPER). Whose they are their environment says.
/// Invariant  Only orphans are ended, and only those of the check that is over: a server that another check started lives until that one ends.
/// Cost       One read of /proc a check. Where the kernel does not list children there, nothing is ended.
/// Threading  Any number of threads start and end checks.
#pragma once

#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>

#include <sys/types.h>

namespace flashlab {

class LeftBehind {
public:
    /// From now on orphans come to this process.
    LeftBehind();
    /// `spawn` returns the process that it started; -1: none.
    template <class Spawn>
    [[nodiscard]] pid_t start(const Spawn& spawn) {
        const std::shared_lock starting{starting_};
        const pid_t child = spawn();
        const std::lock_guard lock{mutex_};
        if (child > 0) running_.insert(child);
        return child;
    }
    /// The status of a started process, which is ending.
    [[nodiscard]] int wait(pid_t child);
    /// Ends the orphans whose environment has this variable, such as "NAME=value", and takes leave of those that have ended.
    void end_those_with(const std::string& variable);

private:
    [[nodiscard]] bool is_running(pid_t child);

    std::shared_mutex starting_; ///< exclusive: no process comes that is not in running_ yet
    std::mutex mutex_;
    std::set<pid_t> running_; ///< what start() started: whoever did waits for it
};

} // namespace flashlab
