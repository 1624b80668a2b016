/// A device in memory for a run in virtual time: bench, replay, the papers' experiments.
///
/// Idea       The device is chosen by the same options in all these commands. The host's memory holds its content.
/// Invariant  There are no undo records, because the power of such a device is never cut.
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

/// Checks that a drive of this configuration can be assembled. Only the scheme itself knows whether dram.size is enough for what it keeps in DRAM.
/// Cost: if dram.size is set, a drive without payload is built. Otherwise nothing is.
[[nodiscard]] std::expected<void, std::string> check_dram_fits(const DeviceConfig& config);

/// The device that the options come to, on whatever host: nothing is asked of this one's memory.
[[nodiscard]] std::expected<DevicePlan, std::string> plan_device_of(const DeviceChoice& choice, std::uint64_t default_bytes);
/// The same, refused where this host has not the memory.
/// `default_bytes`: the size of the default device, where neither options nor configuration give a size.
[[nodiscard]] std::expected<DevicePlan, std::string> plan_virtual_device(const DeviceChoice& choice, std::uint64_t default_bytes);

/// The device is assembled, but not started. `events` must outlive the device.
[[nodiscard]] std::expected<std::unique_ptr<Device>, std::string> make_virtual_device(const DevicePlan& plan, Payload payload, EventSink& events);

} // namespace flashlab
