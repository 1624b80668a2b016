/// The host's limit on the size of a file (ulimit -f), which kills who writes beyond it.
///
/// Idea       The signal SIGXFSZ gets a handler that does nothing. The write then fails with EFBIG, and the command says which file it could not
///            write, instead of dying in the middle of an image. A handler, unlike an ignored signal, does not outlive exec: programs that are run
///            for the user still meet the limit as they would without us.
/// Invariant  A process that ignores the signal already goes on to do so.
/// Cost       Two system calls at the start.
#pragma once

namespace flashlab {

/// To be called before anything is written.
void let_writes_fail_at_the_size_limit();

} // namespace flashlab
