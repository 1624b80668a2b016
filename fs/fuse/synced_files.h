/// Which files are written as if each open had O_SYNC: files with chattr(1)'s flag S.
///
/// Idea       The flag belongs to the file, not to an open, and a write must know it before it enters the monitor. So every open notes the file's
///            flag, every change of flags notes the new one, and a write asks here.
/// Invariant  The answer is right for every open file: notes are made inside the monitor, together with the answer that they come from.
/// Cost       One load a write as long as no such file was opened; then a lock and a look-up.
/// Power cut  Keeps nothing: the flag is in the inode.
/// Threading  Everything from anywhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_set>

#include "base/id.h"
#include "fs/file_flags.h"

namespace flashlab {

class SyncedFiles {
public:
    [[nodiscard]] bool has(Ino ino) const {
        if (!any_.load(std::memory_order_acquire)) return false;
        const std::lock_guard held{lock_};
        return inodes_.contains(ino.value());
    }
    void note(Ino ino, std::uint32_t flags) {
        const bool synced = (flags & file_flag_sync) != 0;
        if (!synced && !any_.load(std::memory_order_acquire)) return;
        const std::lock_guard held{lock_};
        if (synced)
            inodes_.insert(ino.value());
        else
            inodes_.erase(ino.value());
        any_.store(!inodes_.empty(), std::memory_order_release);
    }

private:
    mutable std::mutex lock_;
    std::unordered_set<std::uint64_t> inodes_;
    std::atomic<bool> any_{false};
};

} // namespace flashlab
