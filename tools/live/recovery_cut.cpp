#include "tools/live/recovery_cut.h"

#include "tools/drive/device_directory.h"

namespace flashlab {

std::expected<CutSummary, std::string> cut_recovery(const std::string& directory, std::uint64_t seed, EventLevel log) {
    OpenOptions options;
    options.log = log;
    options.kind = "recovery";
    auto opened = DeviceDirectory::open(directory, options);
    if (!opened) return std::unexpected(opened.error());
    Device& device = (*opened)->device();
    const auto instant = device.instant_in_flight(CutAt::work, sim_start, seed);
    CutSummary cut = device.cut(instant.value_or(device.ready_at()), seed);
    cut.struck = instant ? CutAt::recovery : CutAt::idle;
    if (const auto closed = (*opened)->close(cut.at, {}); !closed) return std::unexpected(closed.error());
    return cut;
}

} // namespace flashlab
