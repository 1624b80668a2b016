/// The root directory of a new file system, for a user who is not root.
///
/// Idea       mkfs gives the root directory to root, so that the same options give the same images. An ordinary user's first mount of it takes it, as
///            mke2fs does with root_owner.
/// Invariant  Only a root directory that is empty and belongs to root is taken.
/// Cost       One look at the directory a mount.
/// Power cut  The change is as durable as any chown.
#pragma once

#include "fs/file_system.h"

namespace flashlab {

/// Does nothing for root.
void take_new_root(FileSystem& fs, SimTime now);

} // namespace flashlab
