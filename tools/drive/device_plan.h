/// What mkfs and bench make of a configuration and a wanted size: geometry, PRAM, the layout, and what the drive costs the host.
///
/// Idea       The plan takes the smallest blocks_per_plane whose logical space holds the size. It takes fewer channels while a group would have less
///            than 64 blocks; a drive that is sold first gets smaller blocks. What is open or kept free is as large on a small drive as on a large
///            one: a drive that is sold, at another size than its preset's, gets the ftl.reserved_permille with which random writes cost what they
///            cost the preset's, and the share of its planes that the preset's SLC cache has.
/// Invariant  A plan that is returned can be built: Geometry, timing, PRAM and FTL have all accepted it.
/// Cost       A few dozen plan_ftl() calls, each a draw for every block.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "ftl/make_ftl.h"
#include "tools/drive/device_config.h"

namespace flashlab {

inline constexpr std::uint64_t default_device_bytes = std::uint64_t{4} << 30;
inline constexpr std::uint64_t smallest_device_bytes = std::uint64_t{16} << 20;

struct DevicePlan {
    DeviceConfig config; ///< complete: geometry, pram.bytes, layout
    FtlPlan ftl;
    std::uint64_t logical_bytes = 0;
    std::uint64_t nand_bytes = 0;   ///< disk at most: the image is sparse
    std::uint64_t pram_bytes = 0;   ///< disk at once
    std::uint64_t mirror_bytes = 0; ///< metadata in a journal: RAM that holds them and the ring, at most
    std::uint64_t ram_bytes = 0;    ///< of a mount, about
};

/// That the keys of the drive's DRAM agree with each other; whether it is large enough for the scheme, DramPartition knows.
[[nodiscard]] std::expected<void, std::string> check_dram(const SsdConfig& config);

/// `size`: the logical size wanted; none: the geometry stays as configured. Keys that were `asked` for keep their values, or the plan is refused.
[[nodiscard]] std::expected<DevicePlan, std::string> plan_device(const DeviceConfig& config, std::optional<std::uint64_t> size,
                                                                 const std::vector<std::string>& asked = {});

} // namespace flashlab
