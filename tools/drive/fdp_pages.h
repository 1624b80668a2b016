/// The log pages of NVMe's Flexible Data Placement, made from the report of `flashlab smart`: what `nvme fdp` prints with -o json.
///
/// Idea       One endurance group, one reclaim group, a handle for each stream of the host. A reclaim unit is an open superblock on each die.
/// Invariant  Names and nesting are those that nvme-cli prints.
/// Cost       Negligible.
/// Source     NVM Express TP4146: log pages 20h to 23h, I/O Management Receive (reclaim unit handle status); names as nvme-cli 2 prints them.
#pragma once

#include <expected>
#include <string>

#include "tools/drive/device.h"
#include "tools/text/json.h"

namespace flashlab {

inline constexpr std::string_view no_placement_handles =
    "the drive has no placement handles: make one with --set ftl.separation=host, and as many as ftl.host_streams says";
/// Streams that the host may name; 0: it has none.
[[nodiscard]] std::uint64_t placement_handles_of(const SsdConfig& config);
/// For the smart report: {handles, isolated, unit_bytes, erased_bytes, writable_bytes: [one a handle], events: [{type, handle, at_ns,
/// moved_bytes}]}; null where the host's streams share superblocks.
[[nodiscard]] Json placement_report(const Device& device, std::uint64_t erased_blocks);
/// `page`: configs, usage, stats, status or events. The error: the drive has no handles, and what to set.
[[nodiscard]] std::expected<Json, std::string> fdp_page(const Json& smart, std::string_view page);

} // namespace flashlab
