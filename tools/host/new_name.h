/// rename(2) to a name that must be free.
///
/// Idea       The kernel looks and renames in one step. Where the file system lacks that, a file gets the name as a second one first; a directory, or
///            a file that can have no second name, is renamed when the name looks free.
/// Invariant  What has the name already is not replaced; in the last case alone by one who takes it in between.
/// Cost       One system call, three without the flag.
#pragma once

#include <string>

namespace flashlab {

/// False: errno says why, EEXIST that the name is taken.
[[nodiscard]] bool rename_to_new_name(const std::string& from, const std::string& to);

} // namespace flashlab
