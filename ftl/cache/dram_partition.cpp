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

/// What the ghosts' own records take: a bitmap or what a scheme's own ghost has in its place, and a record for each page of the DRAM, which the ghost
/// buffer may hold, whatever its reach.
std::uint64_t ghost_metadata(const DramConfig& config, const MappingSpace* maps, std::uint64_t page_bytes) {
    if (!config.is_adaptive() || maps == nullptr) return 0;
    return config.ghost_bitmap_bytes + config.size_bytes / page_bytes * GhostBuffer::device_bytes_per_page;
}

GhostState::Hits as_mean(GhostHits hits) { return {static_cast<double>(hits.reads), static_cast<double>(hits.writes)}; }

} // namespace

std::optional<std::string> DramPartition::refusal(const DramConfig& config, const MappingSpace* maps, std::uint32_t page_bytes) {
    const std::uint64_t own = ghost_metadata(config, maps, page_bytes);
    if (config.is_adaptive() && (!std::has_single_bit(config.ghost_bitmap_bytes) || config.ghost_bitmap_bytes < 8))
        return fmt::format("dram.ghost_bitmap_bytes = {}: a power of two, at least 8", config.ghost_bitmap_bytes);
    const std::uint64_t least = own + (maps == nullptr ? page_bytes : maps->map_shape().least_bytes);
    if (config.size_bytes >= least) return std::nullopt;
    if (maps == nullptr) return fmt::format("dram.size = {} does not hold a logical page of {} bytes", config.size_bytes, page_bytes);
    return fmt::format("dram.size = {} is too small: maps that always lie there and the ghosts' records take {}{}", config.size_bytes, least,
                       own != 0 ? "; static needs no ghosts" : "");
}

DramPartition::DramPartition(const DramConfig& config, MappingSpace* maps, BufferedFtl& buffer, EventSink& events)
    : config_{config}, maps_{maps}, buffer_{buffer}, events_{events}, shape_{maps ? maps->map_shape() : MappingSpaceShape{}},
      page_bytes_{buffer.logical_page_bytes()}, metadata_bytes_{ghost_metadata(config, maps, page_bytes_)},
      is_adaptive_{config.is_adaptive() && maps != nullptr} {
    ensure(config.is_partitioned() && !refusal(config, maps, buffer.logical_page_bytes()), "a DRAM that can be partitioned");
    if (maps_ == nullptr) return;
    entry_bytes_ = std::max(shape_.unit_bytes / shape_.entries_per_unit, 1u);
    interval_ = config.tune_interval == 0 ? shape_.interval : config.tune_interval;
    if (is_adaptive_)
        ghost_reach_ =
            std::max({part_of(config.size_bytes, config.ghost_reach_permille == 0 ? shape_.ghost_reach_permille : config.ghost_reach_permille),
                      page_bytes_, entry_bytes_});
    // An adaptive partition keeps a page of buffer: where nothing is ever held the ghost cannot tell a stream from pages that come back.
    const std::uint64_t kept = std::min(config.size_bytes, metadata_bytes_ + (is_adaptive_ ? page_bytes_ : 0));
    const PartitionLimits limits{.least = shape_.least_bytes,
                                 .most = std::max(shape_.least_bytes, std::min(config.size_bytes - kept, shape_.most_bytes)),
                                 .tune_bytes = std::uint64_t{shape_.unit_bytes} * config.tune_units,
                                 .ghost_floor = config.ghost_floor_permille / 1000.0,
                                 .most_step = shape_.has_own_ghost ? ghost_reach_ / 2 * config.tune_units : 0};
    tuner_.emplace(limits, part_of(config.size_bytes, config.map_share_permille));
    if (!is_adaptive_) return;
    ghost_buffer_.emplace(static_cast<std::uint32_t>(dram_pages()));
    buffer_.watch(*ghost_buffer_);
    if (shape_.has_own_ghost) {
        maps_->keep_records(config.ghost_bitmap_bytes);
    } else {
        ghost_map_.emplace(config.ghost_bitmap_bytes, config.size_bytes);
        maps_->watch(*ghost_map_);
    }
}

std::uint32_t DramPartition::pages_beside(std::uint64_t map_bytes) const {
    const std::uint64_t left = config_.size_bytes - std::min(config_.size_bytes, metadata_bytes_ + map_bytes);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(left / page_bytes_, buffer_.most()));
}

FtlResult<SimTime> DramPartition::begin(SimTime now) {
    if (maps_ == nullptr) return buffer_.set_capacity(pages_beside(0), now);
    map_bytes_ = tuner_->map_bytes();
    const auto set = apply(map_bytes_, now);
    if (is_adaptive_) { // the recovery's traffic says nothing of the load
        if (ghost_map_) ghost_map_->clear_hits();
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
    if (!is_adaptive_) return;
    const std::uint64_t beside_buffer = dram_pages() - std::min<std::uint64_t>(dram_pages(), buffer_.capacity());
    ghost_buffer_->set_capacity(static_cast<std::uint32_t>(std::min(beside_buffer, ghost_reach_ / page_bytes_)));
    if (ghost_map_) ghost_map_->set_capacity(std::min(config_.size_bytes - map_bytes_, ghost_reach_) / entry_bytes_);
}

/// Merges come in bursts: both sides are judged by a mean over the last intervals.
void DramPartition::look_back(GhostState& buffer, GhostState& map) {
    const MappingSpace::OwnGhost own = maps_->own_ghost();
    buffer_reads_.add(buffer.hits.reads);
    buffer_writes_.add(buffer.hits.writes);
    map_writes_.add(own.writes);
    buffer.hits = {buffer_reads_.value(), buffer_writes_.value()};
    map.hits = {0, std::max(map_writes_.value(), 0.0)};
    map.bytes = own.bytes;
    map.has_room = own.has_room;
}

void DramPartition::decide(SimTime now) {
    counted_.map_share_sum += map_share();
    ++counted_.decisions;
    const GhostHits found = ghost_buffer_->hits();
    GhostState buffer{as_mean(found), std::uint64_t{ghost_buffer_->size()} * page_bytes_, config_.size_bytes};
    GhostState map{{}, 0, config_.size_bytes};
    if (ghost_map_)
        map = {as_mean(ghost_map_->hits()), ghost_map_->size() * entry_bytes_, config_.size_bytes};
    else
        look_back(buffer, map);
    const std::uint64_t before = map_bytes_;
    const auto decision = tuner_->decide(buffer, map, maps_->profit_factors());
    (void)apply(decision.map_bytes, now); // what went wrong, the next write tells the host
    counted_.to_map += decision.map_bytes > before ? 1 : 0;
    counted_.to_buffer += decision.map_bytes < before ? 1 : 0;
    last_ = {.at = now,
             .buffer_benefit = decision.buffer_benefit,
             .map_benefit = decision.map_benefit,
             .buffer_ghost_reads = found.reads,
             .buffer_ghost_writes = found.writes,
             .map_ghost_reads = static_cast<std::uint64_t>(map.hits.reads + 0.5),
             .map_ghost_writes = static_cast<std::uint64_t>(map.hits.writes + 0.5),
             .buffer_ghost_bytes = buffer.bytes,
             .map_ghost_bytes = map.bytes,
             .map_bytes_before = before,
             .map_bytes = map_bytes_,
             .buffer_bytes = buffer_bytes()};
    if (events_.wants(EventLevel::summary)) events_.on(last_);
    ghost_buffer_->clear_hits();
    if (ghost_map_) ghost_map_->clear_hits();
}

void DramPartition::check(std::vector<CheckProblem>& out) const {
    const std::uint64_t shared = map_bytes_ + buffer_bytes() + metadata_bytes_;
    if (shared > config_.size_bytes) out.push_back({"P1", "DRAM", fmt::format("{} bytes are shared out of {}", shared, config_.size_bytes)});
    if (!is_adaptive_) return;
    const std::uint64_t entries = ghost_map_ ? ghost_map_->size() : 0;
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
    if (const int broken = ghost_map_ ? ghost_map_->broken_invariant() : 0; broken != 0)
        out.push_back(
            {fmt::format("M{}", broken), "ghost mapping cache", fmt::format("{} entries, {} bits", ghost_map_->size(), ghost_map_->bits_set())});
}

} // namespace flashlab
