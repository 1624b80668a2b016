/// A child that runs a function of ours, and what it leaves in files in memory.
///
/// Idea       Such a child (fork() without exec) prints into memfd_create(2)'s files, which the parent reads when it has ended: no pipe can fill up.
/// Invariant  The child ends when its parent does, and signals end it as they end any program.
/// Cost       A few system calls.
#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

namespace flashlab {

/// Forks. `live` is what the child does; it ends with _exit(), because no destructor of the parent's state may run in the child. -1: errno says why
/// there is no child.
[[nodiscard]] pid_t start_child(const std::function<void()>& live);
/// Waits for a process to end. Its status as waitpid(2) gives it.
[[nodiscard]] int wait_for(pid_t child);
/// Reads what a file in memory holds, and closes it.
[[nodiscard]] std::string take_text(int file);

} // namespace flashlab
