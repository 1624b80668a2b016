/// What info, smart and ctl stats print. The values come from a running device inside the monitor, or from an unmounted device that was opened for
/// them.
///
/// Idea       JSON objects with stable keys. People see the same as a table.
/// Cost       smart and stats walk the block table once.
#pragma once

#include "ftl/counters.h"
#include "tools/drive/device.h"
#include "tools/drive/device_history.h"
#include "tools/text/json.h"

namespace flashlab {

/// What a scheme counts that has no place of its own, since `before`: {name: value}. Null: it counts nothing else.
[[nodiscard]] Json counters_as_json(const CounterValues& now, const CounterValues& before = {});
/// What pages that cannot be read have cost; all zero where all can.
struct BitErrorCounters {
    std::uint64_t read_retries = 0;
    std::uint64_t uncorrected_reads = 0; ///< pages
    std::uint64_t scrubbed_blocks = 0;
    std::uint64_t rebuilt_pages = 0; ///< from the other dies
    [[nodiscard]] static BitErrorCounters of(const Device& device);
    [[nodiscard]] Json since(const BitErrorCounters& before) const;
};
[[nodiscard]] Json info_report(Device& device);
/// The NVMe SMART log 02h and OCP C0h fields that a simulated drive has, keys as nvme-cli prints them, plus waf, wear, spare and bad blocks.
[[nodiscard]] Json smart_report(Device& device, const DeviceHistory& history);
/// The part of ctl stats that the device knows. The mount adds its operations.
[[nodiscard]] Json stats_report(Device& device, SimTime now, Duration since_start);

} // namespace flashlab
