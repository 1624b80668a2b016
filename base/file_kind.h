/// What kind of file a path names, in words: for messages that refuse all but regular ones.
///
/// Idea       Images, reports and configurations are regular files. A FIFO, a device or a directory in their place would block the caller, or give
///            bytes without end. So such a file is opened with O_NONBLOCK, asked for its kind with fstat(2),
///            and refused at once if it is not regular.
/// Cost       None.
#pragma once

#include <sys/stat.h>

namespace flashlab {

/// The kind that st_mode names; "a regular file" is one of the answers.
[[nodiscard]] inline const char* file_kind(mode_t mode) {
    return S_ISREG(mode) ? "a regular file" : S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a FIFO" : S_ISSOCK(mode) ? "a socket" : "a device";
}

/// nullptr when `fd` is a regular file, else the kind of file that it is.
[[nodiscard]] inline const char* irregular_kind(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) != 0 || S_ISREG(status.st_mode) ? nullptr : file_kind(status.st_mode);
}

} // namespace flashlab
