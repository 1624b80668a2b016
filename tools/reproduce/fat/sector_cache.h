/// A few metadata sectors in RAM. Changed sectors are written at the end of each operation.
///
/// Idea       An operation changes copies. write_dirty() writes each changed sector once, in rising order: FAT before directories. The least recently
///            used sector makes room for another.
/// Invariant  Between two operations no sector is dirty. A dirty sector that has to make room is written first.
/// Cost       A search through at most some dozen slots a call.
/// Power cut  What an operation has not written is lost.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/reproduce/fat/metadata_sectors.h"

namespace flashlab {

class SectorCache {
public:
    SectorCache(MetadataSectors& place, std::uint32_t sectors);

    using Bytes = std::span<std::byte, sector_bytes>;
    /// The sector's bytes, valid until the next call of load() or fresh(). If the sector has to be read, `clock` moves on.
    [[nodiscard]] FsResult<Bytes> load(std::uint64_t sector, SimTime& clock);
    /// The same for a sector that is not read: its bytes are all zero, and it is dirty.
    [[nodiscard]] FsResult<Bytes> fresh(std::uint64_t sector, SimTime& clock);
    /// Marks a sector as changed. It must be the last one loaded.
    void mark_dirty(std::uint64_t sector);
    [[nodiscard]] FsResult<void> write_dirty(SimTime& clock);
    /// Drops a clean sector from the cache.
    void forget(std::uint64_t sector);
    /// Writes a sector without putting it into the cache. It must not be there already.
    [[nodiscard]] FsResult<void> write_past(std::uint64_t sector, std::span<const std::byte, sector_bytes> bytes, SimTime& clock);

private:
    struct Slot {
        std::uint64_t sector = 0;
        std::uint64_t used = 0; ///< 0: empty
        bool is_dirty = false;
        SectorBytes bytes{};
    };
    [[nodiscard]] Slot* find(std::uint64_t sector);
    [[nodiscard]] FsResult<Slot*> make_room(SimTime& clock);
    [[nodiscard]] FsResult<void> write(Slot& slot, SimTime& clock);

    MetadataSectors& place_;
    std::vector<Slot> slots_;
    std::vector<Slot*> dirty_; ///< reused by write_dirty()
    std::uint64_t uses_ = 0;
};

} // namespace flashlab
