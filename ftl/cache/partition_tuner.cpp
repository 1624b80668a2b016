#include "ftl/cache/partition_tuner.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

PartitionTuner::PartitionTuner(const PartitionLimits& limits, std::uint64_t map_bytes)
    : limits_{limits}, map_bytes_{std::clamp(map_bytes, limits.least, limits.most)} {
    ensure(limits.least <= limits.most, "T1: there is room for the least");
}

double PartitionTuner::benefit(const GhostState& ghost, double of_read, double of_write) const {
    const bool has_hits = ghost.hits.reads + ghost.hits.writes > 0;
    const double profit = has_hits ? ghost.hits.reads * of_read + ghost.hits.writes * of_write : limits_.ghost_floor * std::max(of_read, of_write);
    return profit / static_cast<double>(std::max<std::uint64_t>(has_hits ? ghost.bytes : ghost.most_bytes, 1));
}

double PartitionTuner::step(double lesser, double greater, const GhostState& richer) const {
    const auto most = static_cast<double>(std::max(richer.bytes, limits_.tune_bytes));
    return lesser > 0 ? std::min(static_cast<double>(limits_.tune_bytes) * (greater / lesser), most) : most;
}

PartitionTuner::Decision PartitionTuner::decide(const GhostState& buffer, const GhostState& map, const ProfitFactors& factors) {
    Decision d{benefit(buffer, factors.buffer_read, factors.buffer_write), benefit(map, factors.map_read, factors.map_write), map_bytes_};
    const bool any = buffer.hits.reads + buffer.hits.writes + map.hits.reads + map.hits.writes > 0; // T2
    if (!any || d.buffer_benefit == d.map_benefit) return d;
    const GhostState& richer = d.map_benefit > d.buffer_benefit ? map : buffer;
    const auto bytes = static_cast<std::uint64_t>(step(std::min(d.buffer_benefit, d.map_benefit), std::max(d.buffer_benefit, d.map_benefit), richer));
    if (d.map_benefit > d.buffer_benefit)
        map_bytes_ += std::min(bytes, limits_.most - map_bytes_);
    else
        map_bytes_ -= std::min(bytes, map_bytes_ - limits_.least);
    d.map_bytes = map_bytes_;
    return d;
}

} // namespace flashlab
