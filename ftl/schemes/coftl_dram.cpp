/// COFTL's part in the partition of the DRAM: page tables against a write buffer, which stands in for its own data cache.
#include <algorithm>

#include "ftl/cache/unit_costs.h"
#include "ftl/schemes/coftl.h"

namespace flashlab {

namespace {

constexpr std::uint32_t bytes_per_virtual_block = 8; ///< CO2: next free page set, and where its page table is
constexpr std::uint32_t least_tables = 1;

} // namespace

MappingSpaceShape Coftl::map_shape() const {
    MappingSpaceShape shape;
    shape.unit_bytes = shape_.page_count() * device_bytes_per_place;
    shape.fixed_bytes = std::uint64_t{config_.virtual_blocks} * bytes_per_virtual_block;
    shape.least_bytes = shape.fixed_bytes + std::uint64_t{least_tables} * shape.unit_bytes;
    shape.most_bytes = shape.fixed_bytes + std::uint64_t{tables_.most()} * shape.unit_bytes;
    shape.interval = 1000;
    shape.ghost_reach_permille = 30; // most tables never come back: a mean over all that have left says nothing of the next one
    return shape;
}

std::uint64_t Coftl::map_bytes_used() const {
    return std::uint64_t{config_.virtual_blocks} * bytes_per_virtual_block +
           std::uint64_t{tables_.used()} * shape_.page_count() * device_bytes_per_place;
}

FtlResult<SimTime> Coftl::set_map_bytes(std::uint64_t bytes, SimTime now) {
    const MappingSpaceShape shape = map_shape();
    const std::uint64_t tables = (bytes - std::min(bytes, shape.fixed_bytes)) / shape.unit_bytes;
    tables_.set_limit(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(tables, least_tables, tables_.most())));
    SimTime done = now;
    while (tables_.used() > tables_.limit()) {
        const auto evicted = evict_table(tables_.least_recently_used(), {now, {Cause::map, no_event}});
        if (!evicted) return evicted;
        done = std::max(done, *evicted);
    }
    return done;
}

void Coftl::measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) {
    const MappingSpaceShape shape = map_shape();
    std::vector<std::uint64_t> tables;
    for (const std::uint64_t bytes : map_bytes) tables.push_back((bytes - std::min(bytes, shape.fixed_bytes)) / shape.unit_bytes);
    curve_.emplace(tables, record_bytes / ReuseCurve::device_bytes_per_record);
}

void Coftl::count_use(VirtualBlockId vb, TableUse use, bool is_miss) {
    if (use == TableUse::other) return;
    const bool is_read = use == TableUse::read;
    ++(is_read ? uses_.reads : uses_.writes);
    if (curve_ && is_read) curve_->read(vb.value(), 1, true);
    if (curve_ && !is_read) curve_->write(vb.value());
    if (!is_miss) return;
    ++(is_read ? uses_.read_misses : uses_.write_misses);
    if (!ghost_) return;
    if (is_read)
        ghost_->missed_read(vb.value());
    else
        ghost_->missed_write(vb.value());
}

/// A read miss costs a load. A write miss costs one, too, and when its table leaves again a commit and the page sets that are skipped for it, each of
/// which is a page set nearer to the next merge. Ours: the paper of the partition has no COFTL.
ProfitFactors Coftl::profit_factors() {
    const auto ratio = [](std::uint64_t misses, std::uint64_t all, double before) {
        return all == 0 ? before : static_cast<double>(misses) / static_cast<double>(all);
    };
    read_misses_ = ratio(uses_.read_misses, uses_.reads, read_misses_);
    write_misses_ = ratio(uses_.write_misses, uses_.writes, write_misses_);
    uses_ = {};
    const UnitCosts page_set = unit_costs(array_, 1); // its pages lie on different channels
    const double chain = shape_.page_count() + static_cast<double>(config_.width) * array_.geometry().pages_per_block();
    const double merge_share = merge_ns_.value_or(0) / chain;
    const double load = load_ns_.value_or(page_set.read);
    const double retire = retire_ns_.value_or(page_set.write) + skipped_.value_or(0) * merge_share;
    return {.buffer_read = page_set.read + load * read_misses_,
            .buffer_write = page_set.write + merge_share + (load + retire) * write_misses_,
            .map_read = load,
            .map_write = load + retire};
}

} // namespace flashlab
