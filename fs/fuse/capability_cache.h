/// Which inodes are known to have no security.capability.
///
/// Idea       The kernel asks for this attribute before every write. A direct-mapped table of inode numbers answers "none" without the monitor.
/// Invariant  An inode in the table has no such attribute. Entries are made and dropped inside the monitor,
///            together with the store's answer or change.
/// Cost       One load for each question; 512 KiB.
/// Threading  known_without() from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/id.h"

namespace flashlab {

class CapabilityCache {
public:
    [[nodiscard]] bool known_without(Ino ino) const { return slot(ino).load(std::memory_order_acquire) == ino.value(); }
    void note_without(Ino ino) { slot(ino).store(ino.value(), std::memory_order_release); }
    void drop(Ino ino) {
        if (known_without(ino)) slot(ino).store(0, std::memory_order_release);
    }

private:
    static constexpr std::size_t slots = 1u << 16;
    [[nodiscard]] std::atomic<std::uint64_t>& slot(Ino ino) { return inodes_[ino.value() % slots]; }
    [[nodiscard]] const std::atomic<std::uint64_t>& slot(Ino ino) const { return inodes_[ino.value() % slots]; }
    std::array<std::atomic<std::uint64_t>, slots> inodes_{}; ///< 0: nothing known, never an inode number
};

} // namespace flashlab
