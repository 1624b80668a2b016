/// Metadata sectors in RAM: a few, written through at the end of each operation.
///
/// Idea       An operation changes copies; write_dirty() writes each changed sector once, in rising order: FAT before directories. Least recently used ones go.
/// Invariant  Between two operations nothing is dirty. A dirty sector that has to go is written first.
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
    /// The sector's bytes, until the next call of load() or fresh(). `clock` moves when it has to be read.
    [[nodiscard]] FsResult<Bytes> load(std::uint64_t sector, SimTime& clock);
    /// The same, all zero and dirty, without reading it.
    [[nodiscard]] FsResult<Bytes> fresh(std::uint64_t sector, SimTime& clock);
    /// Of a sector that was the last to be loaded.
    void mark_dirty(std::uint64_t sector);
    [[nodiscard]] FsResult<void> write_dirty(SimTime& clock);
    /// A clean sector leaves.
    void forget(std::uint64_t sector);
    /// A sector that nobody keeps here.
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
