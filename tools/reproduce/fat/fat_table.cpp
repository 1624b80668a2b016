#include "tools/reproduce/fat/fat_table.h"

#include "base/contract.h"
#include "base/little_endian.h"

namespace flashlab {

FsResult<void> FatTable::load(SimTime& clock) {
    free_[0] = free_[1] = 0;
    hint_[static_cast<std::size_t>(Part::directories)] = fat_first_cluster;
    hint_[static_cast<std::size_t>(Part::files)] = layout_.first_file_cluster();
    for (std::uint32_t cluster = fat_first_cluster; cluster < layout_.end_cluster(); ++cluster) {
        const auto bytes = sectors_.load(sector_of(cluster), clock);
        if (!bytes) return std::unexpected(bytes.error());
        // One look-up of the cached sector for all of its entries.
        const std::uint32_t end = std::min(layout_.end_cluster(), (cluster / fat_entries_a_sector + 1) * fat_entries_a_sector);
        for (; cluster < end; ++cluster) {
            used_[cluster] = load_le<std::uint32_t>(bytes->subspan(cluster % fat_entries_a_sector * 4)) != fat_free;
            if (!used_[cluster]) ++free_[static_cast<std::size_t>(part_of(cluster))];
        }
        --cluster;
    }
    return {};
}

FsResult<std::uint32_t> FatTable::next_of(std::uint32_t cluster, SimTime& clock) {
    if (!is_cluster(cluster)) return std::unexpected(FsError{EIO});
    const auto bytes = sectors_.load(sector_of(cluster), clock);
    if (!bytes) return std::unexpected(bytes.error());
    return load_le<std::uint32_t>(bytes->subspan(cluster % fat_entries_a_sector * 4));
}

FsResult<void> FatTable::set(std::uint32_t cluster, std::uint32_t next, SimTime& clock) {
    const std::uint64_t sector = sector_of(cluster);
    const auto bytes = sectors_.load(sector, clock);
    if (!bytes) return std::unexpected(bytes.error());
    store_le<std::uint32_t>(bytes->subspan(cluster % fat_entries_a_sector * 4), next);
    sectors_.mark_dirty(sector);
    unmirrored_.insert(sector - layout_.fat_sector(0));
    return {};
}

FsResult<std::uint32_t> FatTable::find_free(Part part) {
    const bool for_files = part == Part::files;
    const std::uint32_t begin = for_files ? layout_.first_file_cluster() : fat_first_cluster;
    const std::uint32_t end = for_files ? layout_.end_cluster() : layout_.first_file_cluster();
    std::uint32_t& hint = hint_[static_cast<std::size_t>(part)];
    if (free_clusters(part) == 0) return std::unexpected(FsError{ENOSPC});
    while (used_[hint]) hint = hint + 1 == end ? begin : hint + 1;
    return hint;
}

FsResult<std::uint32_t> FatTable::append(std::uint32_t last, Part part, SimTime& clock) {
    const auto cluster = find_free(part);
    if (!cluster) return cluster;
    if (auto ended = set(*cluster, fat_end_of_chain, clock); !ended) return std::unexpected(ended.error());
    used_[*cluster] = true;
    --free_[static_cast<std::size_t>(part)];
    if (last != 0)
        if (auto linked = set(last, *cluster, clock); !linked) return std::unexpected(linked.error());
    return *cluster;
}

FsResult<std::vector<std::uint32_t>> FatTable::release(std::uint32_t first, SimTime& clock) {
    std::vector<std::uint32_t> chain;
    for (std::uint32_t cluster = first; cluster != fat_end_of_chain;) {
        const auto next = next_of(cluster, clock);
        if (!next) return std::unexpected(next.error());
        if (*next == fat_free) // a chain that runs into itself or into free clusters
            return std::unexpected(FsError{EIO});
        if (auto freed = set(cluster, fat_free, clock); !freed) return std::unexpected(freed.error());
        used_[cluster] = false;
        ++free_[static_cast<std::size_t>(part_of(cluster))];
        chain.push_back(cluster);
        cluster = *next;
    }
    return chain;
}

FsResult<void> FatTable::mirror(SimTime& clock) {
    while (!unmirrored_.empty()) {
        const std::uint64_t sector = *unmirrored_.begin();
        const auto bytes = sectors_.load(layout_.fat_sector(0) + sector, clock);
        if (!bytes) return std::unexpected(bytes.error());
        if (auto written = sectors_.write_past(layout_.fat_sector(1) + sector, *bytes, clock); !written) return written;
        unmirrored_.erase(unmirrored_.begin());
    }
    return {};
}

} // namespace flashlab
