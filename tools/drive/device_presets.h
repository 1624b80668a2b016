/// Whole devices by name: a NAND preset, a PRAM, a translation layer and a host link that belong together.
///
/// Idea       nand/presets.h describes flash. A device adds what surrounds the flash, with its source. It is data, not code.
/// Invariant  Every preset's values pass the schema's ranges and the Geometry's checks (a test tries all).
/// Cost       Copied once.
/// Source     Each preset names its own.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "ftl/ssd_config.h"

namespace flashlab {

/// The drives of commands without --preset: one like those sold, and, where a translation layer is named, the one that all of them can use.
inline constexpr std::string_view default_preset_name = "nvme-tlc", common_preset_name = "modern-tlc";
/// Whether a drive of this preset takes the size that a command gives it where nobody asked for one.
[[nodiscard]] constexpr bool takes_default_size(std::string_view preset) { return preset == default_preset_name || preset == common_preset_name; }

struct DevicePreset {
    std::string name;
    std::string title;
    std::string source;
    SsdConfig config;
    bool is_scaled = false;           ///< of a drive that is sold: a size of another space keeps what random writes cost it (device_plan.h)
    std::uint32_t block_halvings = 0; ///< so often a smaller size may halve the blocks, before the drive has fewer dies
};

[[nodiscard]] std::vector<DevicePreset> device_presets();
/// For an unknown name the error lists all names.
[[nodiscard]] std::expected<DevicePreset, std::string> find_device_preset(std::string_view name);

} // namespace flashlab
