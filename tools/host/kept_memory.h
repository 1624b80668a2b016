/// Freed memory stays with the process.
///
/// Idea       A run that makes and drops whole drives thousands of times a second gets the same megabytes again and again. By default the C library
///            gives them back to the kernel, which must then clear each page anew: a fifth of the time of such a run.
/// Invariant  Results do not depend on it.
/// Cost       The process stays as large as it ever was.
#pragma once

namespace flashlab {

/// For the whole process, from now on.
void keep_freed_memory();

} // namespace flashlab
