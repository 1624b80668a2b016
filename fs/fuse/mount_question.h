/// What a mount is asked through its root directory, by ioctl: where the folder of its device lies now.
///
/// Idea       The source in mountinfo is the path at the time of the mount. The folder may have been moved since, and another one put in its place; the daemon
///            holds the folder itself and knows.
/// Invariant  Answered without the monitor: a slow drive does not delay it.
/// Cost       One request.
/// Power cut  After one it gets EIO, as all requests do.
#pragma once

#include <array>

#include <sys/ioctl.h>

namespace flashlab {

using DevicePath = std::array<char, 4096>; ///< ends with a zero
inline constexpr unsigned where_command = _IOR('F', 0xf1, DevicePath);

} // namespace flashlab
