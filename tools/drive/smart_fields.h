/// The health report under the names that programs know: of nvme-cli's smart-log and of its OCP plug-in's smart-add-log.
///
/// Idea       Both are made from the flat report of `flashlab smart`. What a simulated drive does not have (capacitors, PCIe errors) is left out.
/// Invariant  Names, units and nesting are those that nvme-cli prints with -o json.
/// Cost       Negligible.
/// Source     NVM Express base specification, log page 02h; OCP Datacenter NVMe SSD specification, log page C0h; names as nvme-cli 2 prints them.
#pragma once

#include "tools/drive/lifetime.h"
#include "tools/text/json.h"

namespace flashlab {

/// As `nvme smart-log -o json`.
[[nodiscard]] Json nvme_smart_log(const Json& smart);
/// As `nvme ocp smart-add-log -o json`.
[[nodiscard]] Json ocp_smart_log(const Json& smart);
/// Adds remaining_years of a host that writes so many bytes a day.
void add_remaining_years(Json& smart, std::uint64_t host_bytes_per_day);

} // namespace flashlab
