/// Keys of the file system's own counters and marks, under inode 0.
#pragma once

#include "fs/metadata_store.h"

namespace flashlab {

inline constexpr RecordKey next_ino_key{.ino = Ino{0}, .kind = RecordKind::counter, .subkey = 0};    ///< u64: numbers below may be in use
inline constexpr RecordKey inode_count_key{.ino = Ino{0}, .kind = RecordKind::counter, .subkey = 1}; ///< u64: inodes at the last clean shutdown

/// An inode without a name, or one whose truncate is under way: u64 first file page that shall go; all ones: none, the inode was made without a name.
[[nodiscard]] inline RecordKey orphan_key(Ino ino) { return RecordKey{.ino = Ino{0}, .kind = RecordKind::orphan, .subkey = ino.value()}; }

} // namespace flashlab
