/// The question that a mount answers through an ioctl on its root directory: where does the folder of its device lie now?
///
/// Idea       The source in mountinfo is the path at the time of the mount. The folder may have been moved since, and another one put in its place.
///            The daemon holds the folder open, so it knows where the folder is.
/// Invariant  Answered without the monitor: a slow drive does not delay it.
/// Cost       One request.
/// Power cut  After a cut it answers EIO, as every request does.
#pragma once

#include <array>

#include <sys/ioctl.h>

namespace flashlab {

using DevicePath = std::array<char, 4096>; ///< ends with a zero
inline constexpr unsigned where_command = _IOR('F', 0xf1, DevicePath);

} // namespace flashlab
