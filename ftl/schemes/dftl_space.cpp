/// DFTL's part in the partition of the DRAM (AP4).
#include <algorithm>
#include <utility>

#include "ftl/schemes/dftl.h"

namespace flashlab {

namespace {

constexpr std::uint32_t least_entries = 4; ///< as mkfs

} // namespace

MappingSpaceShape Dftl::map_shape() const {
    MappingSpaceShape shape;
    const std::uint64_t entry = most_.bytes_each;
    shape.fixed_bytes = gtd_.size() * 4;
    shape.least_bytes = shape.fixed_bytes + least_entries * entry;
    shape.most_bytes = shape.fixed_bytes + most_.count * entry;
    shape.unit_bytes = most_.bytes_each;
    shape.interval = 1000;
    shape.ghost_reach_permille = 30; // what left last comes back soonest: a mean over all that have left says little of the next entries
    return shape;
}

std::uint64_t Dftl::map_bytes_used() const { return gtd_.size() * 4 + std::uint64_t{cache_.size()} * most_.bytes_each; }

FtlResult<SimTime> Dftl::set_map_bytes(std::uint64_t bytes, SimTime now) {
    const std::uint64_t fixed = gtd_.size() * 4;
    const std::uint64_t entries = (bytes - std::min(bytes, fixed)) / most_.bytes_each;
    cache_.set_capacity(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(entries, least_entries, most_.count)));
    return make_room(0, {now, {Cause::map, no_event}});
}

void Dftl::measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) {
    const std::uint64_t fixed = gtd_.size() * 4;
    std::vector<std::uint64_t> entries;
    for (const std::uint64_t bytes : map_bytes) entries.push_back((bytes - std::min(bytes, fixed)) / most_.bytes_each);
    curve_.emplace(entries, record_bytes / ReuseCurve::device_bytes_per_record);
}

/// One read of a translation page serves the pages of a request: each of them misses a part of it.
void Dftl::count_reads(Lpn first, std::uint32_t pages) {
    for (std::uint32_t l = first.value(), end = first.value() + pages; l < end;) {
        const std::uint32_t page = page_of(Lpn{l});
        const std::uint32_t until = std::min(end, (page + 1) * entries_per_page_);
        for (const double part = 1.0 / (until - l); l < until; ++l)
            if (gtd_[page] != unmapped) curve_->read(l, part, true);
    }
}

/// Table IV. A page that is read misses as often as a translation page is read for it: one read serves the pages of a request.
/// T_two where the paper's text explains the cost of writing a data page is read as T_dwo.
ProfitFactors Dftl::profit_factors() {
    const auto ratio = [](std::uint64_t misses, std::uint64_t hits, double before) {
        return misses + hits == 0 ? before : static_cast<double>(misses) / static_cast<double>(misses + hits);
    };
    const std::uint64_t entries_read = counted_.map_read_misses - profit_seen_.map_read_misses + counted_.map_read_hits - profit_seen_.map_read_hits;
    const std::uint64_t pages_read = std::min(std::exchange(looked_up_pages_, 0), entries_read);
    read_misses_ = ratio(pages_read, entries_read - pages_read, read_misses_);
    write_misses_ =
        ratio(counted_.map_write_misses - profit_seen_.map_write_misses, counted_.map_write_hits - profit_seen_.map_write_hits, write_misses_);
    profit_seen_ = counted_;
    const UnitCosts cost = unit_costs(array_, blocks_.units().pages_per_unit());
    const auto overhead = [&](FrontierId frontier) { // of a page written, for the block that is reclaimed in its place
        const double copies = collected_[frontier.value()].copies_a_block.value_or(0);
        return (copies * (cost.read + cost.write) + cost.erase) / blocks_.units().units_per_block();
    };
    const double batch = std::max(batch_.value_or(1), 1.0);
    const double flush = (cost.read + cost.write + overhead(map_frontier)) / batch;
    return {.buffer_read = cost.read + cost.read * read_misses_,
            .buffer_write = cost.write + overhead(data_frontier) + flush * write_misses_,
            .map_read = cost.read,
            .map_write = flush};
}

} // namespace flashlab
