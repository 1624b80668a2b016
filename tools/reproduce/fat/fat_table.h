/// The file allocation table: which cluster follows which, and which are free.
///
/// Idea       Entries are changed in cached sectors. A bitmap in RAM, read once at the mount, finds free clusters. Files and directories take their
///            clusters from two parts of the table. Each search begins where the last one ended.
/// Invariant  T1 the bitmap has a bit for each entry that is not free. T2 sectors in which the two copies differ are listed; after mirror() there are
///            none.
/// Cost       An entry: one cached sector. A mount reads the whole table. RAM: one bit a cluster.
/// Power cut  The entries of an operation are written in the order of their sectors; no other order is promised. Clusters may be lost until a check
///            finds them.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "tools/reproduce/fat/sector_cache.h"

namespace flashlab {

class FatTable {
public:
    FatTable(const FatLayout& layout, SectorCache& sectors) : layout_{layout}, sectors_{sectors}, used_(layout.end_cluster()) {}

    /// Reads the table. To be called at a mount.
    [[nodiscard]] FsResult<void> load(SimTime& clock);
    /// Error: EIO if the number names no cluster.
    [[nodiscard]] FsResult<std::uint32_t> next_of(std::uint32_t cluster, SimTime& clock);

    enum class Part : std::uint8_t { directories, files };
    [[nodiscard]] std::uint32_t free_clusters(Part part) const { return free_[static_cast<std::size_t>(part)]; }
    /// Takes a free cluster as the new end of a chain, after `last`. If `last` is 0 it begins a chain. Error: ENOSPC.
    [[nodiscard]] FsResult<std::uint32_t> append(std::uint32_t last, Part part, SimTime& clock);
    /// Frees every cluster of a chain and returns them in its order. A FAT sector through which the chain runs once is written once.
    [[nodiscard]] FsResult<std::vector<std::uint32_t>> release(std::uint32_t first, SimTime& clock);
    /// Brings the copy of the FAT up to date.
    [[nodiscard]] FsResult<void> mirror(SimTime& clock);
    [[nodiscard]] bool is_mirrored() const { return unmirrored_.empty(); }

    [[nodiscard]] bool is_cluster(std::uint32_t number) const { return number >= fat_first_cluster && number < layout_.end_cluster(); }
    [[nodiscard]] bool is_used(std::uint32_t cluster) const { return used_[cluster]; }

private:
    [[nodiscard]] std::uint64_t sector_of(std::uint32_t entry) const { return layout_.fat_sector(0) + entry / fat_entries_a_sector; }
    [[nodiscard]] FsResult<void> set(std::uint32_t cluster, std::uint32_t next, SimTime& clock);
    [[nodiscard]] Part part_of(std::uint32_t cluster) const { return cluster < layout_.first_file_cluster() ? Part::directories : Part::files; }
    [[nodiscard]] FsResult<std::uint32_t> find_free(Part part);

    const FatLayout& layout_;
    SectorCache& sectors_;
    std::vector<bool> used_;
    std::uint32_t free_[2] = {};
    std::uint32_t hint_[2] = {fat_first_cluster, 0};
    std::set<std::uint64_t> unmirrored_; ///< sectors of the table, from 0
};

} // namespace flashlab
