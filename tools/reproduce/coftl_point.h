/// One point of an experiment on COFTL and its baseline BL: the paper's device, a load, and what is changed about them.
///
/// Idea       Figures 7 to 9 vary channels, blocks a virtual block and cache. What goes beyond them takes something away, or gives the chips commands
///            that the paper only mentions. All start from the same device, so that one thing differs.
/// Invariant  A point that changes nothing is the figure's own.
/// Cost       A device filled once and some thousand requests: a tenth of a second in a quick run.
/// Source     Chang et al. 2010, section IV, Table II.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tools/reproduce/experiment.h"
#include "tools/reproduce/load.h"

namespace flashlab {

enum class CoftlLoad : std::uint8_t { desktop, small_writes, desktop_without_hot_set };

struct CoftlPoint {
    std::string_view series;
    std::string_view ftl; ///< coftl, or block_map: BL
    double x = 0;
    std::uint32_t channels = 16;
    std::uint32_t blocks_per_virtual_block = 2;
    std::uint64_t cache_bytes = coftl_cache_bytes; ///< at full size: COFTL's data cache, BL's write buffer
    CoftlLoad load = CoftlLoad::desktop;
    bool is_same_capacity = false;       ///< of all 16 channels, on fewer of them
    bool has_least_spare = false;        ///< what merges need, instead of 3 %
    std::uint32_t queue_depth = 4;       ///< requests in flight
    bool has_independent_planes = true;  ///< false: planes of a chip take turns
    bool has_two_plane_commands = false; ///< COFTL: sets on pairs of planes
    bool has_mirrored_log = false;       ///< COFTL

    static constexpr std::uint64_t coftl_cache_bytes = std::uint64_t{16} << 20;
    static constexpr std::uint32_t quick_scale = 8; ///< of capacity, caches, tables and working sets
};

/// The loads of an experiment, opened once for all its points.
class CoftlLoads {
public:
    explicit CoftlLoads(const RunContext& context);
    [[nodiscard]] const Load& of(const CoftlPoint& point) const { return loads_[static_cast<std::size_t>(point.load)]; }

private:
    std::array<Load, 3> loads_;
};

[[nodiscard]] Json::Object params_of(const CoftlPoint& point);
/// Completed requests a second, after a fill of the whole logical space.
[[nodiscard]] std::expected<double, std::string> requests_per_second(const CoftlPoint& point, const RunContext& context, const CoftlLoads& loads);

} // namespace flashlab
