/// Which pages of a file the kernel may hold in its page cache, with bytes from before a direct write.
///
/// Idea       The kernel drops its pages of the range before an asynchronous O_DIRECT write, but not after it. So a buffered reader in between leaves
///            old bytes in the cache for good, and the daemon has to drop these pages. For a file that is written directly this class marks the pages
///            that are surely not cached: dropped, and not read through the cache since. A page is dropped once. After that direct writes of it cost
///            nothing, until somebody caches it again.
/// Invariant  A page without a mark may be cached. While a drop is under way, every direct write of the file drops its own range, too.
/// Cost       Files that nobody writes directly: one comparison a request. Other files:
///            a bit a page, allocated in 64 bytes for each 2 MiB of the file.
/// Threading  None: guarded by the monitor.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "base/id.h"

namespace flashlab {

class KernelPages {
public:
    /// Notes that the kernel caches this range: it was read or written through the page cache.
    void note_cached(Ino ino, std::uint64_t offset, std::uint64_t bytes);
    /// Notes a direct write of this range. True: pages of the range must be dropped before the write is answered, and note_dropped() must follow.
    [[nodiscard]] bool note_direct_write(Ino ino, std::uint64_t offset, std::uint64_t bytes);
    void note_dropped(Ino ino);
    /// Forgets the file, when nobody writes it directly any more.
    void forget(Ino ino);

private:
    static constexpr std::uint64_t page_bytes = 4096; ///< the kernel's
    static constexpr std::uint64_t words_in_chunk = 8;
    static constexpr std::uint64_t pages_in_chunk = words_in_chunk * 64;
    using Chunk = std::array<std::uint64_t, words_in_chunk>; ///< a bit a page: surely not cached
    struct File {
        std::unordered_map<std::uint64_t, Chunk> absent;
        std::uint64_t drops_under_way = 0;
    };
    std::unordered_map<Ino, File> files_;
};

} // namespace flashlab
