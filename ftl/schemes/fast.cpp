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

/// Table IV: reads cost the same however many log blocks there are.
ProfitFactors FastFtl::profit_factors() {
    const UnitCosts cost = unit_costs(array_, 1);
    const double pages = map_.pages_per_block();
    const SharedReclaims& seen = shared_reclaims();
    const double full_merge = pages * (cost.read + cost.write) + cost.erase;
    const double reclaim = seen.copies.value_or(0) * (cost.read + cost.write) + (seen.homes.value_or(0) + 1) * cost.erase;
    return {.buffer_read = cost.read,
            .buffer_write = cost.write + reclaim / pages,
            .map_read = 0,
            .map_write = full_merge / std::max(seen.pages_a_home.value_or(1), 1.0)};
}

} // namespace flashlab
