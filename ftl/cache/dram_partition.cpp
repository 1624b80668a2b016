#include "ftl/cache/dram_partition.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/contract.h"

namespace flashlab {

namespace {

std::uint64_t part_of(std::uint64_t bytes, std::uint32_t permille) {
    return bytes / 1000 * permille + bytes % 1000 * permille / 1000;
} // without overflow

constexpr std::uint32_t curve_interval = 1000;
constexpr double curve_memory = 16;      ///< requests for each page of the DRAM, after which counts are worth 1/e; whatever the interval
constexpr std::uint64_t curve_part = 32; ///< one of so many bytes of the DRAM is for records of the maps' curve
constexpr std::size_t curve_steps = 24;  ///< shares that are weighed against each other: coarser than 4 % of the DRAM would miss the best one

std::uint64_t map_records(const DramConfig& config) {
    return config.partition == "ghost" ? config.ghost_bitmap_bytes : config.size_bytes / curve_part;
}

/// What the ghosts' or the curves' own records take: those of the maps, and one for each page of the DRAM, which the ghost buffer may hold whatever
/// its reach, and the curve does.
std::uint64_t ghost_metadata(const DramConfig& config, const MappingSpace* maps, std::uint64_t page_bytes) {
    if (!config.is_adaptive() || maps == nullptr) return 0;
    return map_records(config) + config.size_bytes / page_bytes * GhostBuffer::device_bytes_per_page;
}

GhostState::Hits as_hits(GhostHits hits) { return {static_cast<double>(hits.reads), static_cast<double>(hits.writes)}; }

} // namespace

std::optional<std::string> DramPartition::refusal(const DramConfig& config, Ftl& ftl) {
    const MappingSpace* const maps = ftl.mapping_space();
    const std::uint32_t page_bytes = ftl.logical_page_bytes();
    if (config.partition == "ghost" && (!std::has_single_bit(config.ghost_bitmap_bytes) || config.ghost_bitmap_bytes < 8))
        return fmt::format("dram.ghost_bitmap_bytes = {}: a power of two, at least 8", config.ghost_bitmap_bytes);
    if (maps == nullptr && config.size_bytes < ftl.map_cache_bytes() + page_bytes)
        return fmt::format("dram.size = {} does not hold a logical page of {} bytes{}", config.size_bytes, page_bytes,
                           ftl.map_cache_bytes() == 0
                               ? ""
                               : fmt::format(" beside the {} bytes of the maps' cache and directory: raise dram.size, or lower "
                                             "ftl.mapping_cache_bytes (0: a 32nd of the map)",
                                             ftl.map_cache_bytes()));
    if (maps == nullptr) return std::nullopt;
    const std::uint64_t least = maps->map_shape().least_bytes;
    const auto wanted = [&](const DramConfig& dram) {
        return ghost_metadata(dram, maps, page_bytes) + least + (dram.is_adaptive() ? page_bytes : 0);
    };
    if (config.size_bytes >= wanted(config)) return std::nullopt;
    DramConfig enough = config; // the records grow with the DRAM, by less than it
    while (enough.size_bytes < wanted(enough)) enough.size_bytes = wanted(enough);
    return fmt::format("dram.size = {} is too small: maps that always lie there take {} bytes{}; give dram.size={} or more", config.size_bytes, least,
                       config.is_adaptive() ? ", and the partition keeps a page of the write buffer and records of what would have been hits" : "",
                       enough.size_bytes);
}

DramPartition::DramPartition(const DramConfig& config, Ftl& ftl, BufferedFtl& buffer, EventSink& events)
    : config_{config}, maps_{ftl.mapping_space()}, buffer_{buffer}, events_{events}, shape_{maps_ ? maps_->map_shape() : MappingSpaceShape{}},
      page_bytes_{buffer.logical_page_bytes()}, metadata_bytes_{ghost_metadata(config, maps_, page_bytes_)},
      is_adaptive_{config.is_adaptive() && maps_ != nullptr} {
    ensure(config.is_partitioned() && !refusal(config, ftl), "a DRAM that can be partitioned");
    if (maps_ == nullptr) {
        map_bytes_ = ftl.map_cache_bytes();
        return;
    }
    entry_bytes_ = std::max(shape_.unit_bytes / shape_.entries_per_unit, 1u);
    interval_ = config.tune_interval != 0 ? config.tune_interval : config.partition == "ghost" ? shape_.interval : curve_interval;
    if (is_adaptive_)
        ghost_reach_ =
            std::max({part_of(config.size_bytes, config.ghost_reach_permille == 0 ? shape_.ghost_reach_permille : config.ghost_reach_permille),
                      page_bytes_, entry_bytes_});
    // An adaptive partition keeps a page of buffer: where nothing is ever held the ghost cannot tell a stream from pages that come back.
    const std::uint64_t kept = std::min(config.size_bytes, metadata_bytes_ + (is_adaptive_ ? page_bytes_ : 0));
    const PartitionLimits limits{.least = shape_.least_bytes,
                                 .most = std::max(shape_.least_bytes, std::min(config.size_bytes - kept, shape_.most_bytes)),
                                 .tune_bytes = std::uint64_t{shape_.unit_bytes} * config.tune_units,
                                 .ghost_floor = config.ghost_floor_permille / 1000.0};
    tuner_.emplace(limits, part_of(config.size_bytes, config.map_share_permille));
    if (config.partition == "ghost") watch_ghosts();
    if (config.partition == "curve") watch_curves(limits);
}

void DramPartition::watch_ghosts() {
    ghost_buffer_.emplace(static_cast<std::uint32_t>(dram_pages()));
    buffer_.watch(*ghost_buffer_);
    ghost_map_.emplace(config_.ghost_bitmap_bytes, config_.size_bytes);
    maps_->watch(*ghost_map_);
}

/// A row of shares from the least of the maps to the most. It begins at the step that is next to dram.map_share_permille.
void DramPartition::watch_curves(const PartitionLimits& limits) {
    std::vector<std::uint64_t> row;
    for (std::size_t i = 0; i <= curve_steps; ++i) row.push_back(limits.least + (limits.most - limits.least) / curve_steps * i);
    row.back() = limits.most;
    const auto next = [&](std::uint64_t bytes) { return bytes > tuner_->map_bytes() ? bytes - tuner_->map_bytes() : tuner_->map_bytes() - bytes; };
    const auto begins = static_cast<std::size_t>(std::ranges::min_element(row, {}, next) - row.begin());
    std::vector<std::uint64_t> pages; // of the buffer, from the fewest
    for (std::size_t i = row.size(); i-- != 0;) pages.push_back(pages_beside(row[i]));
    buffer_curve_.emplace(pages, std::max<std::uint64_t>(dram_pages(), 1));
    buffer_.watch(*buffer_curve_);
    maps_->measure(row, map_records(config_));
    buffer_missed_.resize(row.size());
    maps_missed_.resize(row.size());
    CurveTuner::Rules rules;
    rules.kept = std::max(0.0, 1 - interval_ / (curve_memory * static_cast<double>(std::max<std::uint64_t>(dram_pages(), 1))));
    curve_tuner_.emplace(std::move(row), begins, rules);
}

std::uint32_t DramPartition::pages_beside(std::uint64_t map_bytes) const {
    const std::uint64_t left = config_.size_bytes - std::min(config_.size_bytes, metadata_bytes_ + map_bytes);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(left / page_bytes_, buffer_.most()));
}

FtlResult<SimTime> DramPartition::begin(SimTime now) {
    if (maps_ == nullptr) return buffer_.set_capacity(pages_beside(map_bytes_), now);
    map_bytes_ = curve_tuner_ ? curve_tuner_->map_bytes()[curve_tuner_->step()] : tuner_->map_bytes();
    const auto set = apply(map_bytes_, now);
    if (is_adaptive_) { // the recovery's traffic says nothing of the load
        if (ghost_map_) ghost_map_->clear_hits();
        if (curve_tuner_) (void)maps_->take_misses(maps_missed_);
        std::ranges::fill(maps_missed_, MissCount{});
        (void)maps_->profit_factors();
    }
    return set;
}

/// The side that loses goes first. A device that takes no more writes keeps its shares.
FtlResult<SimTime> DramPartition::apply(std::uint64_t map_bytes, SimTime now) {
    SimTime done = now;
    const auto note = [&](const FtlResult<SimTime>& one) {
        if (one) done = std::max(done, *one);
        return one.has_value();
    };
    const std::uint32_t pages = pages_beside(map_bytes);
    const bool buffer_first = pages <= buffer_.capacity();
    for (const bool of_buffer : {buffer_first, !buffer_first}) {
        const auto set = of_buffer ? buffer_.set_capacity(pages, now) : maps_->set_map_bytes(map_bytes, now);
        if (!note(set) && set.error().kind != FtlErrorKind::read_only) return set;
        if (!set) return done;
    }
    map_bytes_ = map_bytes;
    size_ghosts();
    return done;
}

void DramPartition::size_ghosts() {
    if (!ghost_buffer_) return;
    const std::uint64_t beside_buffer = dram_pages() - std::min<std::uint64_t>(dram_pages(), buffer_.capacity());
    ghost_buffer_->set_capacity(static_cast<std::uint32_t>(std::min(beside_buffer, ghost_reach_ / page_bytes_)));
    ghost_map_->set_capacity(std::min(config_.size_bytes - map_bytes_, ghost_reach_) / entry_bytes_);
}

void DramPartition::decide(SimTime now) {
    counted_.map_share_sum += map_share();
    ++counted_.decisions;
    if (curve_tuner_)
        decide_by_curves(now);
    else
        decide_by_ghosts(now);
}

void DramPartition::decide_by_curves(SimTime now) {
    const double buffer_page = buffer_curve_->take(buffer_missed_);
    std::ranges::reverse(buffer_missed_); // step by step less buffer
    const double map_unit = maps_->take_misses(maps_missed_);
    const auto decision = curve_tuner_->decide({buffer_missed_, buffer_page}, {maps_missed_, map_unit}, maps_->profit_factors());
    last_ = {.at = now, .buffer_benefit = decision.buffer_benefit, .map_benefit = decision.map_benefit};
    std::ranges::fill(buffer_missed_, MissCount{});
    std::ranges::fill(maps_missed_, MissCount{});
    moved(map_bytes_, curve_tuner_->map_bytes()[decision.step], now);
}

void DramPartition::decide_by_ghosts(SimTime now) {
    const GhostHits found = ghost_buffer_->hits(), found_maps = ghost_map_->hits();
    const GhostState buffer{as_hits(found), std::uint64_t{ghost_buffer_->size()} * page_bytes_, config_.size_bytes};
    const GhostState map{as_hits(found_maps), ghost_map_->size() * entry_bytes_, config_.size_bytes};
    const auto decision = tuner_->decide(buffer, map, maps_->profit_factors());
    last_ = {.at = now,
             .buffer_benefit = decision.buffer_benefit,
             .map_benefit = decision.map_benefit,
             .buffer_ghost_reads = found.reads,
             .buffer_ghost_writes = found.writes,
             .map_ghost_reads = found_maps.reads,
             .map_ghost_writes = found_maps.writes,
             .buffer_ghost_bytes = buffer.bytes,
             .map_ghost_bytes = map.bytes};
    moved(map_bytes_, decision.map_bytes, now);
    ghost_buffer_->clear_hits();
    ghost_map_->clear_hits();
}

void DramPartition::moved(std::uint64_t before, std::uint64_t wanted, SimTime now) {
    (void)apply(wanted, now); // what went wrong, the next write tells the host
    counted_.to_map += wanted > before ? 1 : 0;
    counted_.to_buffer += wanted < before ? 1 : 0;
    last_.map_bytes_before = before;
    last_.map_bytes = map_bytes_;
    last_.buffer_bytes = buffer_bytes();
    if (events_.wants(EventLevel::summary)) events_.on(last_);
}

void DramPartition::check(std::vector<CheckProblem>& out) const {
    const std::uint64_t shared = map_bytes_ + buffer_bytes() + metadata_bytes_;
    if (shared > config_.size_bytes) out.push_back({"P1", "DRAM", fmt::format("{} bytes are shared out of {}", shared, config_.size_bytes)});
    if (const int broken = buffer_curve_ ? buffer_curve_->broken_invariant() : 0; broken != 0)
        out.push_back({fmt::format("U{}", broken), "curve of the write buffer", fmt::format("{} records", buffer_curve_->records())});
    if (!ghost_buffer_) return;
    const std::uint64_t entries = ghost_map_->size();
    if (ghost_buffer_->size() * page_bytes_ > ghost_reach_ || entries * entry_bytes_ > ghost_reach_)
        out.push_back(
            {"P2", "ghosts", fmt::format("{} pages and {} entries within a reach of {} bytes", ghost_buffer_->size(), entries, ghost_reach_)});
    const std::uint64_t pages = std::uint64_t{buffer_.capacity()} + ghost_buffer_->size();
    if (pages > std::max<std::uint64_t>(dram_pages(), buffer_.capacity()) || map_bytes_ + entries * entry_bytes_ > config_.size_bytes)
        out.push_back({"P2", "ghosts",
                       fmt::format("{} pages of buffer and ghost, {} bytes of maps and {} of their ghost in {}", pages, map_bytes_,
                                   entries * entry_bytes_, config_.size_bytes)});
    if (const int broken = ghost_buffer_->broken_invariant(); broken != 0)
        out.push_back({fmt::format("B{}", broken), "ghost buffer", "its lists disagree"});
    if (const int broken = ghost_map_->broken_invariant(); broken != 0)
        out.push_back(
            {fmt::format("M{}", broken), "ghost mapping cache", fmt::format("{} entries, {} bits", ghost_map_->size(), ghost_map_->bits_set())});
}

} // namespace flashlab
