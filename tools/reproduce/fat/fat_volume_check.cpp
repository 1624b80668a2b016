#include <fmt/format.h>

#include "tools/reproduce/fat/fat_volume.h"

namespace flashlab {

/// What a check has seen so far.
struct FatVolume::Walk {
    std::vector<CheckProblem> problems;
    std::vector<bool> reached;
    void tell(const char* invariant, const std::string& where, std::string detail) { problems.push_back({invariant, where, std::move(detail)}); }
};

FsResult<void> FatVolume::walk_chain(Walk& walk, const FatEntry& entry, const std::string& path) {
    std::uint32_t clusters = 0;
    for (std::uint32_t cluster = entry.first_cluster; cluster != 0 && cluster != fat_end_of_chain; ++clusters) {
        if (!table_.is_cluster(cluster)) {
            walk.tell("V1", path, fmt::format("the chain leads to {}, which is no cluster", cluster));
            return {};
        }
        if (walk.reached[cluster]) {
            walk.tell("V1", path, fmt::format("cluster {} is in two chains, or twice in one", cluster));
            return {};
        }
        walk.reached[cluster] = true;
        if ((cluster < layout_.first_file_cluster()) != entry.is_directory)
            walk.tell("V2", path, fmt::format("cluster {} is not in the part for {}", cluster, entry.is_directory ? "directories" : "files"));
        const auto next = table_.next_of(cluster, clock_);
        if (!next) return std::unexpected(next.error());
        if (*next == fat_free) {
            walk.tell("V1", path, fmt::format("cluster {} of the chain is free", cluster));
            return {};
        }
        cluster = *next;
    }
    const std::uint64_t wanted = (std::uint64_t{entry.size} + fat_cluster_bytes - 1) / fat_cluster_bytes;
    if (!entry.is_directory && clusters != wanted)
        walk.tell("V1", path, fmt::format("{} bytes in {} clusters, not in {}", entry.size, clusters, wanted));
    return {};
}

FsResult<void> FatVolume::walk_directory(Walk& walk, FatDirectory directory, const std::string& path) {
    const std::size_t before = walk.problems.size();
    const FatEntry self{.name = {}, .is_directory = true, .modified = {}, .first_cluster = directory.first_cluster};
    if (auto walked = walk_chain(walk, self, path.empty() ? "/" : path); !walked) return walked;
    if (walk.problems.size() != before) return {}; // it cannot be listed
    std::vector<FatEntry> entries;
    const auto last = visit_slots(directory, [&](std::uint64_t, std::uint32_t, FatEntry::Bytes bytes) {
        if (FatEntry::is_in_use(bytes)) entries.push_back(FatEntry::decode(bytes));
        return true;
    });
    if (!last) return std::unexpected(last.error());
    for (const FatEntry& entry : entries) {
        const std::string name = path + "/" + entry.name;
        const auto walked = entry.is_directory ? walk_directory(walk, {entry.first_cluster}, name) : walk_chain(walk, entry, name);
        if (!walked) return walked;
    }
    return {};
}

FsResult<void> FatVolume::compare_copies(Walk& walk) {
    for (std::uint32_t s = 0; s < layout_.fat_sectors; ++s) {
        const auto first = sectors_.load(layout_.fat_sector(0) + s, clock_);
        if (!first) return std::unexpected(first.error());
        SectorBytes one;
        std::ranges::copy(*first, one.begin());
        const auto second = sectors_.load(layout_.fat_sector(1) + s, clock_);
        if (!second) return std::unexpected(second.error());
        if (!std::ranges::equal(one, *second)) walk.tell("V3", fmt::format("FAT sector {}", s), "the copy differs");
        sectors_.forget(layout_.fat_sector(1) + s);
    }
    return {};
}

FsResult<std::vector<CheckProblem>> FatVolume::check(const FsCall& call) {
    begin(call);
    Walk walk{.problems = {}, .reached = std::vector<bool>(layout_.end_cluster())};
    if (auto walked = walk_directory(walk, {}, ""); !walked) return std::unexpected(walked.error());
    for (std::uint32_t cluster = fat_first_cluster; cluster < layout_.end_cluster(); ++cluster) {
        const auto next = table_.next_of(cluster, clock_);
        if (!next) return std::unexpected(next.error());
        const std::string where = fmt::format("cluster {}", cluster);
        if (*next != fat_free && !walk.reached[cluster]) walk.tell("V1", where, "in use, and in no chain");
        if ((*next != fat_free) != table_.is_used(cluster)) walk.tell("T1", where, "the bitmap in RAM differs from the FAT");
    }
    if (table_.is_mirrored())
        if (auto compared = compare_copies(walk); !compared) return std::unexpected(compared.error());
    return std::move(walk.problems);
}

} // namespace flashlab
