/// Which pages the kernel may have cached from before a direct write.
///
/// Idea       The kernel drops its pages of the range before an asynchronous O_DIRECT write and not after it, so a buffered reader in between leaves old bytes in
///            the cache for good. What the daemon has to drop is known here: of a file that is written directly, the pages that nobody has read through the
///            cache since they were dropped. A page is dropped once, then direct writes of it cost nothing until somebody caches it again.
/// Invariant  A page not marked may be cached. While a drop is under way every direct write of the file drops its own range, too.
/// Cost       Files that nobody writes directly: one comparison a request. Else a bit a page, 64 bytes an allocation of 2 MiB of file.
/// Power cut  Keeps nothing.
/// Threading  None: guarded by the monitor.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "base/id.h"

namespace flashlab {

class KernelPages {
public:
    /// The kernel caches this range: it was read or written through the page cache.
    void note_cached(Ino ino, std::uint64_t offset, std::uint64_t bytes);
    /// A direct write of this range was made. True: pages of it have to be dropped before it is answered, and note_dropped follows.
    [[nodiscard]] bool note_direct_write(Ino ino, std::uint64_t offset, std::uint64_t bytes);
    void note_dropped(Ino ino);
    /// Nobody writes the file directly any more.
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
