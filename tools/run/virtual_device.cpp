#include "tools/run/virtual_device.h"

#include <fmt/format.h>

#include "base/contract.h"
#include "pram/memory_pram_store.h"
#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_presets.h"
#include "tools/host/host_memory.h"
#include "tools/text/sizes.h"

namespace flashlab {

namespace {
constexpr std::uint64_t record_bytes = 8; ///< of a page in memory without payload
} // namespace

std::expected<DevicePlan, std::string> plan_device_of(const DeviceChoice& choice, std::uint64_t default_bytes) {
    ConfigSources sources{.preset = choice.preset, .file = choice.config_file, .environment = flashlab_environment(), .settings = choice.settings};
    if (choice.ftl)
        if (auto added = add_option_setting(sources, "--ftl", "ftl.scheme", *choice.ftl); !added) return std::unexpected(added.error());
    const auto config = gather_config(sources);
    if (!config) return std::unexpected(config.error());
    auto size = choice.size_bytes;
    if (!size && takes_default_size(config->ssd.preset) && !choice.config_file && choice.settings.empty()) size = default_bytes;
    auto plan = plan_device(*config, size, asked_keys(sources));
    return plan ? std::move(plan) : std::unexpected(with_origin(plan.error(), sources));
}

std::expected<DevicePlan, std::string> plan_virtual_device(const DeviceChoice& choice, std::uint64_t default_bytes) {
    auto plan = plan_device_of(choice, default_bytes);
    ConfigSources sources;
    sources.file = choice.config_file;
    if (plan) {
        const std::uint64_t records = plan->nand_bytes / plan->config.ssd.nand.geometry.page_bytes * record_bytes;
        if (auto there = check_host_memory(plan->ram_bytes + plan->pram_bytes + records); !there)
            return std::unexpected(fmt::format("a device of {} takes about {} of memory once it is full: {}; give a smaller --size, or less memory "
                                               "for caches (dram.size, dram.write_buffer_bytes, the scheme's own: flashlab info --keys)",
                                               human_size(plan->logical_bytes), human_size(plan->ram_bytes + plan->pram_bytes + records),
                                               there.error()));
    }
    if (plan)
        if (auto fits = check_dram_fits(plan->config); !fits) return std::unexpected(with_origin(fits.error(), sources));
    return plan;
}

std::expected<void, std::string> check_dram_fits(const DeviceConfig& config) {
    if (config.ssd.dram.size_bytes == 0) return {};
    const auto geometry = Geometry::make(config.ssd.nand.geometry);
    if (!geometry) return std::unexpected(geometry.error());
    NullEventSink events;
    const auto device = Device::assemble(config, std::make_unique<MemoryPageStore>(*geometry, Payload::none),
                                         std::make_unique<MemoryPramStore>(config.ssd.pram.bytes), events, DevicePast::final);
    return device ? std::expected<void, std::string>{} : std::unexpected(device.error());
}

std::expected<std::unique_ptr<Device>, std::string> make_virtual_device(const DevicePlan& plan, Payload payload, EventSink& events) {
    const auto geometry = Geometry::make(plan.config.ssd.nand.geometry);
    ensure(geometry.has_value(), "a plan's geometry is valid");
    return Device::assemble(plan.config, std::make_unique<MemoryPageStore>(*geometry, payload), std::make_unique<MemoryPramStore>(plan.pram_bytes),
                            events, DevicePast::final);
}

} // namespace flashlab
