/// A process of the user's check, from its start to the end of all that it started.
///
/// Idea       posix_spawn, which copies no page tables, and a descriptor of the process to wait on: hundreds of checks a second. This process adopts
///            the orphans among its descendants; whose they are their environment says.
/// Invariant  Nothing that the check started outlives end(), unless it left its process group and forgot FLASHLAB_MOUNT, which is set to `directory`.
///            What it prints takes some megabytes at most, where the file system of `output` can give back the beginning of a file.
/// Cost       Starting the program, a shell where the line needs one (tools/explore/plain_command.h), and a look at /proc when it ends.
/// Threading  Any number of threads start and end checks; each process belongs to one of them.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <sys/types.h>

#include "base/file_descriptor.h"
#include "tools/explore/check_run.h"

namespace flashlab {

/// In place of standard input, else /dev/null, and of standard output, else call.output; what is said on standard error goes there all the same.
struct CheckPipes {
    int input = -1, output = -1;
};

class CheckProcess {
public:
    /// Null: it cannot be started.
    [[nodiscard]] static std::unique_ptr<CheckProcess> start(const CheckCall& call, const CheckPipes& pipes = {});
    ~CheckProcess();
    CheckProcess(const CheckProcess&) = delete;
    CheckProcess& operator=(const CheckProcess&) = delete;

    /// Until it ends, or `answers` can be read; then `passed`. Else what came before: timed_out (call.limit), interrupted.
    [[nodiscard]] CheckEnd wait(int answers = -1);
    /// Kills what runs still, and waits. Of one that was not cut short its exit code decides. Why it failed stands where it complains.
    CheckVerdict end(CheckEnd cut_short);

private:
    CheckProcess(pid_t child, const CheckCall& call);

    pid_t child_;
    std::string output_, errors_;
    std::string mark_; ///< the variable that all its descendants have
    std::chrono::milliseconds limit_;
    FileDescriptor watched_; ///< none: the kernel has no such descriptors; then it is waited for without a limit
};

} // namespace flashlab
