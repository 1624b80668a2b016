/// A device in memory for a run in virtual time: bench, replay, the papers' experiments.
///
/// Idea       The choice of a device is the same options everywhere; what holds its bytes is the host's memory.
/// Invariant  No undo records and no past: such a device is never cut.
/// Cost       RAM for the tables that the plan names, and for the payload where it is kept.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "nand/memory_page_store.h"
#include "tools/drive/device.h"
#include "tools/drive/device_plan.h"
#include "tools/run/device_choice.h"

namespace flashlab {

/// That a drive of this configuration can be assembled: the one authority on whether dram.size holds what the scheme keeps there is the scheme itself.
/// Cost: a drive without payload, and only when its DRAM is partitioned.
[[nodiscard]] std::expected<void, std::string> check_partitioned_dram(const DeviceConfig& config);

/// `default_bytes`: the size of the default device where nothing says another.
[[nodiscard]] std::expected<DevicePlan, std::string> plan_virtual_device(const DeviceChoice& choice, std::uint64_t default_bytes);

/// Assembled, not started. `events` outlives it.
[[nodiscard]] std::expected<std::unique_ptr<Device>, std::string> make_virtual_device(const DevicePlan& plan, Payload payload, EventSink& events);

} // namespace flashlab
