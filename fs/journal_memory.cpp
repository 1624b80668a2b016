#include "fs/journal_memory.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

MemoryPramStore& JournalMemory::take(std::uint64_t bytes) {
    ensure(!is_taken_, "JournalMemory: one store at a time");
    is_taken_ = true;
    if (!cells_ || cells_->cells().size() != bytes) {
        cells_ = std::make_unique<MemoryPramStore>(bytes);
        written_.assign(pram_wear_regions(bytes), false);
        return *cells_;
    }
    const auto wear = cells_->wear();
    for (std::size_t region = 0; region < written_.size(); ++region) {
        if (!written_[region] && wear[region] == 0) continue;
        const std::uint64_t at = region * pram_wear_region_bytes;
        std::ranges::fill(cells_->cells().subspan(at, std::min(pram_wear_region_bytes, bytes - at)), std::byte{0});
        wear[region] = 0;
        written_[region] = false;
    }
    return *cells_;
}

void JournalMemory::note_written(std::uint64_t at, std::uint64_t bytes) {
    if (bytes == 0) return;
    for (std::uint64_t region = at / pram_wear_region_bytes; region <= (at + bytes - 1) / pram_wear_region_bytes; ++region) written_[region] = true;
}

std::span<std::byte> JournalMemory::ring(std::size_t bytes) {
    if (ring_bytes_ < bytes) {
        ring_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
        ring_bytes_ = bytes;
    }
    return {ring_.get(), bytes};
}

void JournalMemory::drop_ring() {
    ring_.reset();
    ring_bytes_ = 0;
}

} // namespace flashlab
