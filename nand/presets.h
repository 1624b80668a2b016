/// Flash parts by name: the devices of the four papers and a few of today's, each with where its figures come from.
///
/// Idea       Plain data; ftl and tools put the rest of a device around it.
/// Invariant  Every preset passes Geometry::make and NandTiming::validate. A published preset never changes: a better one gets a new name.
/// Cost       A search in a short table.
/// Power cut  Nothing survives except the figures that an image's header repeats.
/// Source     In each preset's own text.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "nand/nand_config.h"

namespace flashlab {

struct NandPreset {
    std::string_view name;
    std::string_view summary; ///< one line for a list
    std::string_view source;  ///< where the figures come from and what was chosen
    NandConfig nand;
};

/// All presets, the default first.
[[nodiscard]] std::span<const NandPreset> nand_presets();
[[nodiscard]] std::optional<NandPreset> find_nand_preset(std::string_view name);

} // namespace flashlab
