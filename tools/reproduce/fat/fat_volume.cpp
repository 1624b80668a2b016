#include "tools/reproduce/fat/fat_volume.h"

#include <algorithm>

#include "base/contract.h"
#include "fs/device_errno.h"

namespace flashlab {

FatVolume::FatVolume(const FatLayout& layout, MetadataSectors& place, BlockDevice& device, const FatOptions& options, SimTime now)
    : layout_{layout}, device_{device}, options_{options}, sectors_{place, options.cached_sectors}, table_{layout_, sectors_},
      data_{layout_, device, options.data_cache_bytes}, clock_{now} {}

FsResult<SimTime> FatVolume::format(const FatLayout& layout, MetadataSectors& place, SimTime now) {
    SectorCache sectors{place, 2};
    FatTable table{layout, sectors};
    if (auto loaded = table.load(now); !loaded) return std::unexpected(loaded.error());
    if (auto root = table.append(0, FatTable::Part::directories, now); !root) return std::unexpected(root.error());
    if (auto written = sectors.write_dirty(now); !written) return std::unexpected(written.error());
    if (auto mirrored = table.mirror(now); !mirrored) return std::unexpected(mirrored.error());
    SectorBytes superblock{};
    layout.encode(superblock);
    return place.write(0, superblock, now); // last: a cut before leaves no file system
}

std::expected<std::unique_ptr<FatVolume>, std::string> FatVolume::open(MetadataSectors& place, BlockDevice& device, const FatOptions& options,
                                                                       SimTime now) {
    SectorBytes superblock{};
    const auto read = place.read(0, superblock, now);
    if (!read) return std::unexpected("the superblock cannot be read");
    const auto layout = FatLayout::decode(superblock);
    if (!layout) return std::unexpected(layout.error());
    if (layout->sector_of(layout->end_cluster()) > device.identify().sectors) return std::unexpected("the device is smaller than the file system");
    std::unique_ptr<FatVolume> volume{new FatVolume{*layout, place, device, options, *read}};
    if (auto loaded = volume->table_.load(volume->clock_); !loaded) return std::unexpected("the FAT cannot be read");
    return volume;
}

/// Every slot up to the first that was never used, which is visited, too. Returns the last cluster visited.
FsResult<std::uint32_t> FatVolume::visit_slots(FatDirectory in, const EntryVisitor& visit) {
    std::uint32_t cluster = in.first_cluster;
    for (std::uint32_t steps = 0; steps <= layout_.directory_clusters; ++steps) {
        for (std::uint32_t s = 0; s < fat_cluster_sectors; ++s) {
            const std::uint64_t sector = layout_.sector_of(cluster) + s;
            const auto bytes = sectors_.load(sector, clock_);
            if (!bytes) return std::unexpected(bytes.error());
            for (std::uint32_t slot = 0; slot < FatEntry::in_sector; ++slot) {
                const auto entry = FatEntry::slot(*bytes, slot);
                if (!visit(sector, slot, entry) || entry[0] == std::byte{0}) return cluster;
            }
        }
        const auto next = table_.next_of(cluster, clock_);
        if (!next) return std::unexpected(next.error());
        if (*next == fat_end_of_chain) return cluster;
        cluster = *next;
    }
    return std::unexpected(FsError{EIO}); // a chain that runs into itself
}

FsResult<FatVolume::Found> FatVolume::find(FatDirectory in, std::string_view name) {
    Found found;
    const auto last = visit_slots(in, [&](std::uint64_t sector, std::uint32_t slot, FatEntry::Bytes bytes) {
        if (!FatEntry::is_in_use(bytes)) {
            if (!found.has_free_slot) {
                found.has_free_slot = true;
                found.free_sector = sector;
                found.free_slot = slot;
            }
            return true;
        }
        FatEntry entry = FatEntry::decode(bytes);
        if (entry.name != name) return true;
        found.exists = true;
        found.file.entry = std::move(entry);
        found.file.sector = sector;
        found.file.slot = slot;
        return false;
    });
    if (!last) return std::unexpected(last.error());
    found.last_cluster = *last;
    return found;
}

FsResult<FatFile> FatVolume::lookup(const FsCall& call, FatDirectory in, std::string_view name) {
    begin(call);
    auto found = find(in, name);
    if (!found) return std::unexpected(found.error());
    if (!found->exists) return std::unexpected(FsError{ENOENT});
    return std::move(found->file);
}

FsResult<std::uint32_t> FatVolume::new_directory_cluster(std::uint32_t last) {
    const auto cluster = table_.append(last, FatTable::Part::directories, clock_);
    if (!cluster) return cluster;
    for (std::uint32_t s = 0; s < fat_cluster_sectors; ++s)
        if (auto zeroed = sectors_.fresh(layout_.sector_of(*cluster) + s, clock_); !zeroed) return std::unexpected(zeroed.error());
    return cluster;
}

FsResult<void> FatVolume::grow_directory(Found& found) {
    const auto cluster = new_directory_cluster(found.last_cluster);
    if (!cluster) return std::unexpected(cluster.error());
    found.has_free_slot = true;
    found.free_sector = layout_.sector_of(*cluster);
    found.free_slot = 0;
    return {};
}

FsResult<FatFile> FatVolume::add(const FsCall& call, FatDirectory in, std::string_view name, bool is_directory) {
    if (auto good = FatEntry::check_name(name); !good) return std::unexpected(good.error());
    begin(call);
    auto found = find(in, name);
    if (!found) return std::unexpected(found.error());
    if (found->exists) return std::unexpected(FsError{EEXIST});
    const std::uint32_t wanted = (is_directory ? 1u : 0u) + (found->has_free_slot ? 0u : 1u);
    if (table_.free_clusters(FatTable::Part::directories) < wanted) return std::unexpected(FsError{ENOSPC});
    FatFile file;
    file.entry = {.name = std::string{name}, .is_directory = is_directory, .modified = call.wall};
    if (is_directory) {
        const auto first = new_directory_cluster(0);
        if (!first) return std::unexpected(first.error());
        file.entry.first_cluster = *first;
    }
    if (!found->has_free_slot)
        if (auto grown = grow_directory(*found); !grown) return std::unexpected(grown.error());
    file.sector = found->free_sector;
    file.slot = found->free_slot;
    if (auto put = put_entry(file); !put) return std::unexpected(put.error());
    if (auto written = sectors_.write_dirty(clock_); !written) return std::unexpected(written.error());
    return file;
}

FsResult<FatFile> FatVolume::create(const FsCall& call, FatDirectory in, std::string_view name) { return add(call, in, name, false); }
FsResult<FatFile> FatVolume::make_directory(const FsCall& call, FatDirectory in, std::string_view name) { return add(call, in, name, true); }

FsResult<void> FatVolume::put_entry(const FatFile& file) {
    const auto bytes = sectors_.load(file.sector, clock_);
    if (!bytes) return std::unexpected(bytes.error());
    file.entry.encode(FatEntry::slot(*bytes, file.slot));
    sectors_.mark_dirty(file.sector);
    return {};
}

FsResult<bool> FatVolume::is_empty(FatDirectory directory) {
    bool empty = true;
    const auto last = visit_slots(directory, [&](std::uint64_t, std::uint32_t, FatEntry::Bytes bytes) {
        empty = empty && !FatEntry::is_in_use(bytes);
        return empty;
    });
    if (!last) return std::unexpected(last.error());
    return empty;
}

FsResult<void> FatVolume::remove(const FsCall& call, FatDirectory in, std::string_view name) {
    begin(call);
    const auto found = find(in, name);
    if (!found) return std::unexpected(found.error());
    if (!found->exists) return std::unexpected(FsError{ENOENT});
    const FatEntry& entry = found->file.entry;
    if (entry.is_directory) {
        const auto empty = is_empty(found->file.as_directory());
        if (!empty) return std::unexpected(empty.error());
        if (!*empty) return std::unexpected(FsError{ENOTEMPTY});
    }
    // The name goes first: a cut in between leaves clusters that nobody has, never a name without clusters.
    const auto bytes = sectors_.load(found->file.sector, clock_);
    if (!bytes) return std::unexpected(bytes.error());
    FatEntry::slot(*bytes, found->file.slot)[0] = FatEntry::removed_mark;
    sectors_.mark_dirty(found->file.sector);
    if (auto written = sectors_.write_dirty(clock_); !written) return written;
    return release_clusters(entry);
}

FsResult<void> FatVolume::release_clusters(const FatEntry& entry) {
    if (entry.first_cluster == 0) return {};
    const auto chain = table_.release(entry.first_cluster, clock_);
    if (!chain) return std::unexpected(chain.error());
    if (auto written = sectors_.write_dirty(clock_); !written) return written;
    for (const std::uint32_t cluster : *chain) data_.drop(cluster);
    // Logical-page-delete, in runs of neighbours. Sectors of directories are zeroed when they are taken again.
    for (std::size_t first = 0; first < chain->size() && options_.deletes_pages && !entry.is_directory;) {
        std::size_t end = first + 1;
        while (end < chain->size() && (*chain)[end] == (*chain)[end - 1] + 1) ++end;
        const auto done = device_.trim(Sector{layout_.sector_of((*chain)[first])}, (end - first) * fat_cluster_sectors, clock_);
        if (!done) return std::unexpected(errno_of(done.error()));
        clock_ = *done;
        first = end;
    }
    return {};
}

FsResult<std::vector<FatEntry>> FatVolume::list(const FsCall& call, FatDirectory in) {
    begin(call);
    std::vector<FatEntry> entries;
    const auto last = visit_slots(in, [&](std::uint64_t, std::uint32_t, FatEntry::Bytes bytes) {
        if (FatEntry::is_in_use(bytes)) entries.push_back(FatEntry::decode(bytes));
        return true;
    });
    if (!last) return std::unexpected(last.error());
    return entries;
}

FsResult<void> FatVolume::sync(const FsCall& call) {
    begin(call);
    if (auto flushed = data_.flush(clock_); !flushed) return flushed;
    if (auto mirrored = table_.mirror(clock_); !mirrored) return mirrored;
    const auto done = device_.flush(clock_);
    if (!done) return std::unexpected(errno_of(done.error()));
    clock_ = std::max(clock_, *done);
    return {};
}

} // namespace flashlab
