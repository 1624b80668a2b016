#include "fs/fuse/kernel_pages.h"

namespace flashlab {

void KernelPages::note_cached(Ino ino, std::uint64_t offset, std::uint64_t bytes) {
    if (files_.empty() || bytes == 0) return;
    const auto file = files_.find(ino);
    if (file == files_.end()) return;
    const std::uint64_t last = (offset + bytes - 1) / page_bytes;
    for (std::uint64_t page = offset / page_bytes; page <= last; ++page) {
        const auto chunk = file->second.absent.find(page / pages_in_chunk);
        if (chunk != file->second.absent.end()) chunk->second[page % pages_in_chunk / 64] &= ~(1ull << page % 64);
    }
}

bool KernelPages::note_direct_write(Ino ino, std::uint64_t offset, std::uint64_t bytes) {
    if (bytes == 0) return false;
    File& file = files_[ino];
    bool may_be_cached = file.drops_under_way != 0;
    const std::uint64_t last = (offset + bytes - 1) / page_bytes;
    for (std::uint64_t page = offset / page_bytes; page <= last; ++page) {
        std::uint64_t& word = file.absent[page / pages_in_chunk][page % pages_in_chunk / 64];
        const std::uint64_t bit = 1ull << page % 64;
        may_be_cached = may_be_cached || (word & bit) == 0;
        word |= bit;
    }
    file.drops_under_way += may_be_cached ? 1 : 0;
    return may_be_cached;
}

/// While a drop is under way the file stays known: later writes must not overtake the drop.
void KernelPages::forget(Ino ino) {
    const auto file = files_.find(ino);
    if (file != files_.end() && file->second.drops_under_way == 0) files_.erase(file);
}

void KernelPages::note_dropped(Ino ino) {
    const auto file = files_.find(ino);
    if (file != files_.end() && file->second.drops_under_way != 0) --file->second.drops_under_way;
}

} // namespace flashlab
