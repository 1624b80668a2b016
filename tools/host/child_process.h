/// A child that runs a function of ours, and what it leaves in files in memory.
///
/// Idea       Such a child (fork() without exec) prints into memfd_create(2)'s files, which the parent reads when it has ended: no pipe can fill up.
/// Invariant  The child ends when its parent does, and signals end it as they end any program.
/// Cost       A few system calls.
#pragma once

#include <string>

#include <sys/types.h>

namespace flashlab {

/// The first thing that the child does. `parent`: getpid() before the fork.
void begin_child(pid_t parent);
/// Reads what a file in memory holds, and closes it.
[[nodiscard]] std::string take_text(int file);

} // namespace flashlab
