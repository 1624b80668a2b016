/// What a device has been through since mkfs: its clock and the counters of `smart`. The file is DIR/counters.json.
///
/// Idea       The layers count since the mount. The history adds up the mounts. It is written anew with the samples and at unmount.
/// Invariant  The file is replaced as a whole (rename). It holds statistics: losing it loses no data.
/// Cost       One small file a second at most.
/// Power cut  kill -9 loses at most the last second of counting. The clock then goes on from the last sample.
#pragma once

#include <expected>
#include <string>

#include "base/events.h"
#include "ftl/ssd.h"
#include "tools/text/json.h"

namespace flashlab {

struct DeviceHistory {
    std::int64_t clock_ns = 0;
    std::uint64_t power_cycles = 0;
    std::uint64_t unsafe_shutdowns = 0;
    bool in_use = false; ///< a mount began and has not ended cleanly
    SampleEvent totals;  ///< counters of all mounts that have ended
    std::uint64_t gc_jobs = 0, gc_page_copies = 0;
    std::uint64_t uncorrectable_reads = 0; ///< requests that met data which the flash did not give back
    std::uint64_t unmapped_reads = 0;      ///< pages that were read and hold nothing
    Json own_counters;                     ///< of the scheme: {name: value}; null: it has none
    Json bit_errors;                       ///< BitErrorCounters, as they are shown

    /// If the file cannot be read, the error says that counting begins again.
    [[nodiscard]] static std::expected<DeviceHistory, std::string> read(const std::string& directory);
    [[nodiscard]] std::expected<void, std::string> write(const std::string& directory) const;
    /// The totals with a running mount's counters on top.
    [[nodiscard]] DeviceHistory plus(const SampleEvent& sample, const FtlCounters& ftl, const Json& counters, const Json& raw_errors,
                                     const SsdCounters& ssd) const;
};

[[nodiscard]] Json to_json(const SampleEvent& sample);

} // namespace flashlab
