#include "tools/reproduce/coftl_point.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/contract.h"
#include "ftl/schemes/coftl.h"
#include "tools/drive/device_presets.h"
#include "tools/reproduce/trace_run.h"

namespace flashlab {
namespace {

constexpr std::uint32_t most_channels = 16;

// Table II: 8 GB MLC chips of 2 planes, one a channel. 97 % was written beforehand: the whole logical space, 3 % being spare.
DeviceConfig device_of(const CoftlPoint& p, bool is_quick) {
    auto preset = find_device_preset("coftl");
    ensure(preset.has_value(), "the preset coftl exists");
    DeviceConfig config;
    config.ssd = preset->config;
    auto& geometry = config.ssd.nand.geometry;
    geometry.channels = p.channels;
    const std::uint32_t scale = is_quick ? CoftlPoint::quick_scale : 1;
    geometry.blocks_per_plane /= scale;
    if (p.is_same_capacity) geometry.blocks_per_plane *= most_channels / p.channels;
    FtlConfig& ftl = config.ssd.ftl;
    const bool is_coftl = p.ftl == "coftl";
    ftl.scheme = p.ftl;
    ftl.striping = is_coftl ? p.blocks_per_virtual_block : 1;
    config.ssd.nand.striping = is_coftl ? 1 : p.blocks_per_virtual_block;
    config.ssd.nand.options.independent_planes = p.has_independent_planes;
    config.ssd.nand.options.two_plane = p.has_two_plane_commands;
    if (is_coftl)
        ftl.options.set(coftl_option::cache_bytes, p.cache_bytes / scale);
    else
        config.ssd.dram.write_buffer_bytes = p.cache_bytes / scale;
    ftl.options.set(coftl_option::cached_tables, 4096 / scale);
    ftl.options.set(coftl_option::mirrored_log, p.has_mirrored_log);
    if (p.has_least_spare) ftl.reserved_permille = 0;
    return config;
}

/// BL copies a block of 256 pages for nearly every write: enough of them is a thousand. With a buffer it must be full first.
std::uint64_t requests_of(const CoftlPoint& p, bool is_quick) {
    if (p.ftl == "block_map") return (p.cache_bytes != 0 ? 4 : 1) * (is_quick ? 2000 : 10'000);
    return is_quick ? 40'000 : 200'000;
}

Load load_of(const RunContext& context, std::string_view name) {
    const std::string generated = fmt::format("workload:{}", name);
    return {context, std::string{name}, context.is_quick() ? fmt::format("{},scale={}", generated, CoftlPoint::quick_scale) : generated};
}

std::string_view name_of(CoftlLoad load) {
    constexpr std::array<std::string_view, 3> names{"desktop", "4 KB random writes", "desktop without its hot set"};
    return names.at(static_cast<std::size_t>(load));
}

} // namespace

CoftlLoads::CoftlLoads(const RunContext& context)
    : loads_{load_of(context, "desktop"), load_of(context, "small-writes"), load_of(context, "desktop-even")} {}

/// What every point has, and of the rest what this one has changed.
Json::Object params_of(const CoftlPoint& p) {
    Json::Object params{{"ftl", p.ftl},
                        {"workload", name_of(p.load)},
                        {"channels", p.channels},
                        {"blocks_per_virtual_block", p.blocks_per_virtual_block},
                        {"cache_bytes", p.cache_bytes}};
    const CoftlPoint usual;
    if (p.has_least_spare) params.emplace_back("reserved_share", 0.0);
    if (p.queue_depth != usual.queue_depth) params.emplace_back("queue_depth", p.queue_depth);
    if (!p.has_independent_planes) params.emplace_back("planes", p.has_two_plane_commands ? "two-plane commands" : "in turn");
    if (p.has_mirrored_log) params.emplace_back("mirrored_log", true);
    return params;
}

std::expected<double, std::string> requests_per_second(const CoftlPoint& point, const RunContext& context, const CoftlLoads& loads) {
    TraceRun run{.config = device_of(point, context.is_quick()), .requests = requests_of(point, context.is_quick())};
    run.speed.depth = point.queue_depth;
    const auto outcome = run_trace_on(run, loads.of(point));
    if (!outcome) return std::unexpected(fmt::format("{}, {:g}: {}", point.series, point.x, outcome.error()));
    return outcome->requests_per_second();
}

} // namespace flashlab
