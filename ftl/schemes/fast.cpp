#include "ftl/schemes/fast.h"

#include <algorithm>

#include "ftl/cache/unit_costs.h"

namespace flashlab {

FtlResult<MergeFtl::Place> FastFtl::place(Lpn lpn, std::uint32_t pages, SimTime now) {
    const LogicalBlock home = map_.block_of(lpn);
    const std::uint32_t offset = map_.offset_of(lpn);
    if (offset == 0) {
        const auto slot = open_sequential(home, now);
        if (!slot) return std::unexpected(slot.error());
        return place_in(*slot, pages);
    }
    if (const auto slot = logs_.of_home(home); slot && logs_.has_room(*slot) && logs_.at(*slot).next == offset) return place_in(*slot, pages);
    if (const auto slot = logs_.newest(LogKind::shared); slot && logs_.has_room(*slot)) return place_in(*slot, pages);
    const auto slot = open_random(now);
    if (!slot) return std::unexpected(slot.error());
    return place_in(*slot, pages);
}

FtlResult<LogSlot> FastFtl::open_sequential(LogicalBlock home, SimTime now) {
    while (const auto slot = logs_.oldest(LogKind::own)) {
        if (auto emptied = reclaim(*slot, now); !emptied) return std::unexpected(emptied.error());
    }
    return open_log(home, now);
}

FtlResult<LogSlot> FastFtl::open_random(SimTime now) {
    constexpr std::uint32_t sequential = 1;
    while (logs_.count(LogKind::shared) + sequential >= max_logs()) {
        const auto victim = logs_.oldest(LogKind::shared);
        if (!victim) return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, now});
        if (auto emptied = reclaim(*victim, now); !emptied) return std::unexpected(emptied.error());
    }
    return open_log(std::nullopt, now);
}

MappingSpaceShape FastFtl::map_shape() const {
    MappingSpaceShape shape;
    shape.fixed_bytes = fixed_bytes();
    shape.least_bytes = shape.fixed_bytes + std::uint64_t{least_logs()} * bytes_a_log();
    shape.most_bytes = shape.fixed_bytes + std::uint64_t{most_logs()} * bytes_a_log();
    shape.unit_bytes = bytes_a_log();
    shape.entries_per_unit = map_.pages_per_block();
    shape.interval = 10'000;
    return shape;
}

/// Log blocks that are too many are reclaimed in their turn.
FtlResult<SimTime> FastFtl::set_map_bytes(std::uint64_t bytes, SimTime now) {
    limit_logs(static_cast<std::uint32_t>((bytes - std::min(bytes, fixed_bytes())) / bytes_a_log()));
    while (logs_.count() > max_logs()) {
        const auto victim = logs_.oldest(LogKind::shared);
        if (!victim) break;
        if (auto emptied = reclaim(*victim, now); !emptied) return std::unexpected(emptied.error());
    }
    return now;
}

/// Table IV: reads cost the same however many log blocks there are. A page that leaves the buffer costs its part of all merges: also of those for the
/// SW log block, which every page that begins a logical block opens anew.
ProfitFactors FastFtl::profit_factors() {
    const UnitCosts cost = unit_costs(array_, 1);
    const double pages = map_.pages_per_block();
    const MergeTotals total = merge_totals();
    constexpr double kept = 1 - 1.0 / 64; // an interval; as RunningMean
    const auto remember = [](double& sum, std::uint64_t now, std::uint64_t before) { sum = sum * kept + static_cast<double>(now - before); };
    remember(copies_, total.copies, merges_seen_.copies);
    remember(erases_, total.erases, merges_seen_.erases);
    remember(pages_, total.pages, merges_seen_.pages);
    merges_seen_ = total;
    const SharedReclaims& seen = shared_reclaims();
    const double homes = seen.homes.value_or(0); // below one where most victims hold nothing any more
    const double copies = homes > 0 ? seen.copies.value_or(0) / homes : pages;
    return {.buffer_read = cost.read,
            .buffer_write = cost.write + (copies_ * (cost.read + cost.write) + erases_ * cost.erase) / std::max(pages_, 1.0),
            .map_read = 0,
            .map_write = (copies * (cost.read + cost.write) + cost.erase) / (hits_are_pages_ ? std::max(seen.pages_a_home.value_or(1), 1.0) : 1.0)};
}

/// As published: a hit is a page that a merge took out of a shared log block, and a merge takes several.
void FastFtl::watch(GhostBitmap& ghost) {
    watch_logs(ghost);
    hits_are_pages_ = true;
    merges_seen_ = merge_totals();
}

void FastFtl::measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) {
    std::vector<std::uint64_t> lengths;
    for (const std::uint64_t bytes : map_bytes) {
        const std::uint64_t logs = std::max<std::uint64_t>((bytes - std::min(bytes, fixed_bytes())) / bytes_a_log(), least_logs());
        lengths.push_back(std::max<std::uint64_t>(logs - 1, 1) * map_.pages_per_block()); // one is kept for writes that begin a logical block
    }
    measure_logs(std::move(lengths), record_bytes);
    merges_seen_ = merge_totals();
}

double FastFtl::take_misses(std::span<MissCount> counts) {
    std::vector<double> merges(counts.size());
    const double each_stands_for = take_merges(merges);
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i].writes += merges[i];
    return each_stands_for;
}

} // namespace flashlab
