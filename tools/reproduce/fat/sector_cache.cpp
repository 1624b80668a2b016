#include "tools/reproduce/fat/sector_cache.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

SectorCache::SectorCache(MetadataSectors& place, std::uint32_t sectors) : place_{place}, slots_(sectors) {
    ensure(sectors >= 2, "a cache of at least two sectors");
}

SectorCache::Slot* SectorCache::find(std::uint64_t sector) {
    const auto at = std::ranges::find_if(slots_, [&](const Slot& slot) { return slot.used != 0 && slot.sector == sector; });
    return at == slots_.end() ? nullptr : &*at;
}

FsResult<void> SectorCache::write(Slot& slot, SimTime& clock) {
    const auto done = place_.write(slot.sector, slot.bytes, clock);
    if (!done) return std::unexpected(done.error());
    clock = *done;
    slot.is_dirty = false;
    return {};
}

FsResult<SectorCache::Slot*> SectorCache::make_room(SimTime& clock) {
    Slot& oldest = *std::ranges::min_element(slots_, {}, &Slot::used);
    if (oldest.is_dirty)
        if (auto written = write(oldest, clock); !written) return std::unexpected(written.error());
    oldest.used = 0;
    return &oldest;
}

FsResult<SectorCache::Bytes> SectorCache::load(std::uint64_t sector, SimTime& clock) {
    Slot* slot = find(sector);
    if (slot == nullptr) {
        auto room = make_room(clock);
        if (!room) return std::unexpected(room.error());
        slot = *room;
        const auto done = place_.read(sector, slot->bytes, clock);
        if (!done) return std::unexpected(done.error());
        clock = *done;
        slot->sector = sector;
    }
    slot->used = ++uses_;
    return Bytes{slot->bytes};
}

FsResult<SectorCache::Bytes> SectorCache::fresh(std::uint64_t sector, SimTime& clock) {
    Slot* slot = find(sector);
    if (slot == nullptr) {
        auto room = make_room(clock);
        if (!room) return std::unexpected(room.error());
        slot = *room;
        slot->sector = sector;
    }
    slot->used = ++uses_;
    slot->is_dirty = true;
    slot->bytes.fill(std::byte{0});
    return Bytes{slot->bytes};
}

void SectorCache::mark_dirty(std::uint64_t sector) {
    Slot* slot = find(sector);
    ensure(slot != nullptr, "a changed sector is in the cache");
    slot->is_dirty = true;
}

FsResult<void> SectorCache::write_dirty(SimTime& clock) {
    dirty_.clear();
    for (Slot& slot : slots_)
        if (slot.is_dirty) dirty_.push_back(&slot);
    std::ranges::sort(dirty_, {}, &Slot::sector);
    for (Slot* slot : dirty_)
        if (auto written = write(*slot, clock); !written) return written;
    return {};
}

void SectorCache::forget(std::uint64_t sector) {
    if (Slot* slot = find(sector); slot != nullptr) {
        ensure(!slot->is_dirty, "only a clean sector is forgotten");
        slot->used = 0;
    }
}

FsResult<void> SectorCache::write_past(std::uint64_t sector, std::span<const std::byte, sector_bytes> bytes, SimTime& clock) {
    ensure(find(sector) == nullptr, "a sector written past the cache is not in it");
    const auto done = place_.write(sector, bytes, clock);
    if (!done) return std::unexpected(done.error());
    clock = *done;
    return {};
}

} // namespace flashlab
