/// A learned table's part in the partition of the DRAM: groups against a write buffer.
#include <algorithm>
#include <utility>

#include "ftl/maps/learned_table.h"

namespace flashlab {

/// One group is there whatever the share.
std::uint64_t LearnedTable::most_bytes() const {
    return std::max(config_.bytes, std::uint64_t{group_bytes} + SegmentLevels::encoded_bytes_at_most(shape_.pages));
}

MappingSpaceShape LearnedTable::map_shape() const {
    MappingSpaceShape shape;
    shape.fixed_bytes = directory_bytes();
    shape.least_bytes = shape.fixed_bytes + group_bytes + SegmentLevels::encoded_bytes_at_most(shape_.pages);
    shape.most_bytes = shape.fixed_bytes + most_bytes();
    shape.unit_bytes = group_bytes + 8 * shape_.pages;
    shape.interval = 1000;
    shape.ghost_reach_permille = 30; // as DemandTable's
    return shape;
}

/// What waits takes no more than a quarter.
void LearnedTable::give(std::uint64_t bytes) {
    bytes_ = bytes;
    batch_pages_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes_ / (4 * waiting_bytes), 1, config_.batch_pages));
}

FtlResult<SimTime> LearnedTable::set_map_bytes(std::uint64_t bytes, SimTime now) {
    const MappingSpaceShape shape = map_shape();
    give(std::clamp(bytes, shape.least_bytes, shape.most_bytes) - shape.fixed_bytes);
    if (waiting_.size() >= batch_pages_) learn();
    return make_room(0, {now, {Cause::map, no_event}});
}

/// A write misses when its group was not there: then the group's translation page is to be written for it once more.
ProfitFactors LearnedTable::profit_factors() {
    DemandCounters by_group = counted_;
    by_group.map_write_misses = groups_missed_;
    by_group.map_write_hits = pages_learned_ - groups_missed_;
    return costs_.factors(by_group, parts_);
}

void LearnedTable::measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) {
    std::vector<std::uint64_t> sizes;
    for (const std::uint64_t bytes : map_bytes) sizes.push_back(bytes - std::min(bytes, directory_bytes()));
    curve_.emplace(sizes, record_bytes / ReuseCurve::device_bytes_per_weighed, ReuseCurve::Weighed{group_bytes + 8, groups_.size()});
}

/// One read of a translation page serves the groups of a request. What is known without its group, being new, needs none.
void LearnedTable::count_reads(Lpn first, std::uint32_t pages) {
    const std::uint32_t end = group_of(Lpn{first.value() + pages - 1}) + 1;
    for (std::uint32_t g = group_of(first); g < end;) {
        const std::uint32_t until = std::min(end, (g / shape_.groups + 1) * shape_.groups);
        for (const double part = 1.0 / (until - g); g < until; ++g)
            if (groups_[g].is_here) curve_->read(g, part, true, groups_[g].charged);
    }
}

void LearnedTable::count_learned(std::uint32_t group, std::size_t pages, std::uint32_t charged_before) {
    pages_learned_ += pages;
    if (curve_) curve_->write(group, true, groups_[group].charged);
    if (charged_before != 0) return;
    ++groups_missed_;
    if (!ghost_) return;
    GhostBitmap::Together alone;
    ghost_->join(alone, group);
    ghost_->missed_write(alone);
}

} // namespace flashlab
