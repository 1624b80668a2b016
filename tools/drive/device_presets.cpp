#include "tools/drive/device_presets.h"

#include <fmt/format.h>

#include "ftl/schemes/page_plan.h"
#include "nand/presets.h"

namespace flashlab {
namespace {

/// What a consumer drive adds to its flash. Blocks of the static part of the SLC cache, permille of the others for the dynamic part.
struct Consumer {
    std::string_view name;
    std::uint32_t slc_blocks, dynamic_permille, reserved_permille;
    std::uint32_t link_ps_per_byte;
    std::int64_t firmware_ns;
    std::uint32_t buffer_mib;
};
/// Blocks of all drives that are sold are whole word lines when halved twice, in SLC mode, too (nand/presets.cpp).
constexpr std::uint32_t halvings_of_sold = 2;
constexpr std::uint32_t pcie4 = 143, sata = 1818; // 7 GB/s, 550 MB/s
/// No maker says how far its drive reads ahead. What hides 100 us of the flash from the faster link, in a power of two; for all.
constexpr std::uint64_t read_ahead_of_sold = 1u << 20;
constexpr Consumer consumers[] = {
    {"samsung-980pro-1t", 224, 300, 76, pcie4, 11'500, 4},
    {"samsung-870qvo-4t", 96, 66, 85, sata, 10'000, 4},
    {"adata-atom50-1t", 0, 765, 90, pcie4, 5'000, 8},
    {"lexar-nm800pro-2t", 0, 808, 90, pcie4, 18'000, 16},
};

/// What a drive with capacitors adds to its flash.
struct Enterprise {
    std::string_view name;
    std::uint32_t reserved_permille;
    std::int64_t controller_ns, firmware_ns; ///< a request in the controller, one after the other; and in all that overlaps
};
constexpr Enterprise enterprise_drives[] = {
    {default_preset_name, 153, 0, 8000}, {"micron-7450-max", 297, 1887, 6113}, {"solidigm-p5520", 165, 1429, 5571}};

/// What surrounds the flash of a paper; pram.bytes 0: mkfs chooses the size.
void surround(DevicePreset& preset) {
    auto& config = preset.config;
    config.pram.bytes = 0;
    if (preset.name == "k9g8g08u0m") {
        config.pram.word_bytes = 2;
        config.pram.word_read = Duration{80};
        config.pram.word_write = Duration{10'000};
        preset.source += " PRAM of 2-byte words, 80 ns read and 10 us write.";
    }
    if (preset.name == "dumbo") {
        config.host_link.ps_per_byte = 0; // it lies behind the page buffers: nand.host_interface_*
        config.host_link.request_overhead = Duration{1};
    }
    if (preset.name == "coftl") {
        config.ftl.scheme = "coftl";
        config.ftl.striping = config.nand.geometry.channels;
        config.ftl.reserved_permille = 30;
        preset.source += " Sets of one block on each channel; 3 % spare, since 97 % was written beforehand.";
    }
    for (const Enterprise& drive : enterprise_drives) {
        if (preset.name != drive.name) continue;
        preset.is_scaled = true;
        if (preset.name != default_preset_name) preset.block_halvings = halvings_of_sold;
        config.ftl.scheme = "page_map";
        config.ftl.reserved_permille = drive.reserved_permille;
        config.ftl.options.set(page_option::records_in_slc, true);
        config.dram.write_buffer_bytes = 16u << 20;
        config.dram.is_protected = true;
        config.dram.destage = "ahead";
        config.dram.read_ahead_bytes = read_ahead_of_sold;
        config.host_link.ps_per_byte = pcie4;
        config.host_link.request_overhead = Duration{500};
        config.host_link.pipelined = true;
        config.host_link.controller_request = Duration{drive.controller_ns};
        config.host_link.firmware_latency = Duration{drive.firmware_ns};
    }
    for (const Consumer& drive : consumers) {
        if (preset.name != drive.name) continue;
        preset.is_scaled = true;
        preset.block_halvings = halvings_of_sold;
        config.ftl.scheme = "page_map";
        config.ftl.reserved_permille = drive.reserved_permille;
        config.ftl.options.set(page_option::checkpoint_blocks, 16'000);
        config.ftl.options.set(page_option::slc_blocks, drive.slc_blocks);
        config.ftl.options.set(page_option::slc_dynamic_permille, drive.dynamic_permille);
        config.ftl.options.set(page_option::fold_page_ns, 64'000);
        config.dram.write_buffer_bytes = std::uint64_t{drive.buffer_mib} << 20;
        config.dram.destage = "ahead";
        config.dram.read_ahead_bytes = read_ahead_of_sold;
        config.host_link.ps_per_byte = drive.link_ps_per_byte;
        config.host_link.request_overhead = Duration{500};
        config.host_link.pipelined = true;
        config.host_link.firmware_latency = Duration{drive.firmware_ns};
    }
    if (preset.name == "slc-64g") config.ftl.reserved_permille = 30;
}

} // namespace

std::vector<DevicePreset> device_presets() {
    std::vector<DevicePreset> out;
    for (const auto& nand : nand_presets()) {
        DevicePreset preset;
        preset.name = nand.name;
        preset.title = nand.summary;
        preset.source = nand.source;
        preset.config.preset = preset.name;
        preset.config.nand = nand.nand;
        surround(preset);
        out.push_back(std::move(preset));
    }
    return out;
}

std::expected<DevicePreset, std::string> find_device_preset(std::string_view name) {
    std::string names;
    for (auto& preset : device_presets()) {
        if (preset.name == name) return preset;
        names += (names.empty() ? "" : ", ") + preset.name;
    }
    return std::unexpected(fmt::format("no preset is called '{}'; there are: {}", name, names));
}

} // namespace flashlab
