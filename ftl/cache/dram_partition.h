/// One DRAM, shared by the write buffer and the scheme's maps: who has how much, and when that changes.
///
/// Idea       Static: the shares are set at the start and stay. Curve: both sides say what they would miss at each of a row of shares, and the share
///            moves to where that costs least. Ghost, as published: both caches have a ghost; at each interval the tuner compares their benefits. The
///            poorer side shrinks by flushing its victims, then the richer one grows. The records that either needs are taken off the budget first.
/// Invariant  P1 maps + buffer + metadata of the ghosts <= dram.size, as far as the flash let the maps shrink. P2 a cache and its ghost stand for at
///            most dram.size, the ghost for no more than its reach. P3 = H1, M1, M2, T1 of the parts.
/// Cost       An increment a request; a decision an interval, with the flushes it asks for. Nobody waits for them: they are in the way like any
///            write.
/// Power cut  The shares are lost with the DRAM: the next start begins with dram.map_share_permille.
/// Source     Shim et al., "An adaptive partitioning scheme for DRAM-based cache in solid state drives", MSST 2010 (AP1 to AP6).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/events.h"
#include "ftl/cache/buffered_ftl.h"
#include "ftl/cache/curve_tuner.h"
#include "ftl/cache/ghost_bitmap.h"
#include "ftl/cache/partition_tuner.h"
#include "ftl/ssd_config.h"

namespace flashlab {

struct PartitionCounters {
    std::uint64_t decisions = 0;
    std::uint64_t to_map = 0; ///< decisions that gave the maps more
    std::uint64_t to_buffer = 0;
    double map_share_sum = 0; ///< over the intervals: the share during each
};

class DramPartition {
public:
    /// `ftl` is below `buffer`. If its maps cannot share (mapping_space() is null) all that their cache leaves buffers writes. See refusal().
    DramPartition(const DramConfig& config, Ftl& ftl, BufferedFtl& buffer, EventSink& events);
    /// Why this DRAM cannot be partitioned for this scheme; none when it can.
    [[nodiscard]] static std::optional<std::string> refusal(const DramConfig& config, Ftl& ftl);

    /// The shares are set; the scheme has recovered.
    [[nodiscard]] FtlResult<SimTime> begin(SimTime now);
    /// A read or a write has been answered.
    void answered(SimTime now) {
        if (++requests_ < interval_ || !is_adaptive_) return;
        requests_ = 0;
        decide(now);
    }

    [[nodiscard]] std::uint64_t size_bytes() const { return config_.size_bytes; }
    [[nodiscard]] std::uint64_t map_bytes() const { return map_bytes_; }
    [[nodiscard]] std::uint64_t buffer_bytes() const { return std::uint64_t{buffer_.capacity()} * page_bytes_; }
    [[nodiscard]] std::uint64_t ghost_metadata_bytes() const { return metadata_bytes_; }
    [[nodiscard]] double map_share() const { return static_cast<double>(map_bytes_) / static_cast<double>(config_.size_bytes); }
    [[nodiscard]] std::uint64_t map_ghost_capacity_bytes() const { return ghost_map_ ? ghost_map_->capacity() * entry_bytes_ : 0; }
    [[nodiscard]] bool is_adaptive() const { return is_adaptive_; }
    /// As dram.partition; static where the maps lie elsewhere.
    [[nodiscard]] std::string_view kind() const { return is_adaptive_ ? std::string_view{config_.partition} : "static"; }
    [[nodiscard]] const PartitionCounters& counters() const { return counted_; }
    /// The last one; all zero before the first.
    [[nodiscard]] const PartitionEvent& last_decision() const { return last_; }
    void check(std::vector<CheckProblem>& out) const;

private:
    void watch_ghosts();
    void watch_curves(const PartitionLimits& limits);
    void decide(SimTime now);
    void decide_by_ghosts(SimTime now);
    void decide_by_curves(SimTime now);
    void moved(std::uint64_t before, std::uint64_t wanted, SimTime now);
    [[nodiscard]] FtlResult<SimTime> apply(std::uint64_t map_bytes, SimTime now);
    void size_ghosts();
    [[nodiscard]] std::uint32_t pages_beside(std::uint64_t map_bytes) const;
    [[nodiscard]] std::uint64_t dram_pages() const { return config_.size_bytes / page_bytes_; }

    DramConfig config_;
    MappingSpace* maps_;
    BufferedFtl& buffer_;
    EventSink& events_;
    MappingSpaceShape shape_;
    std::uint64_t page_bytes_;
    std::uint64_t entry_bytes_ = 1; ///< of a ghost mapping entry
    std::uint64_t metadata_bytes_ = 0;
    std::uint64_t ghost_reach_ = 0; ///< bytes that a ghost stands for at most
    bool is_adaptive_;
    std::uint32_t interval_ = 1000;
    std::uint32_t requests_ = 0;
    std::uint64_t map_bytes_ = 0;
    std::optional<GhostBuffer> ghost_buffer_;
    std::optional<GhostBitmap> ghost_map_;
    std::optional<PartitionTuner> tuner_; ///< of the ghosts; of a static share its limits
    std::optional<ReuseCurve> buffer_curve_;
    std::optional<CurveTuner> curve_tuner_;
    std::vector<MissCount> buffer_missed_, maps_missed_; ///< of an interval, by step
    PartitionCounters counted_;
    PartitionEvent last_;
};

} // namespace flashlab
