#include "tools/reproduce/coftl_figures.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/contract.h"
#include "tools/drive/device_presets.h"
#include "tools/reproduce/trace_run.h"
#include "tools/reproduce/verdicts.h"

namespace flashlab {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint32_t quick_scale = 8;
constexpr std::uint32_t most_channels = 16;
/// In place of a doubling that adds nothing, so that there is something to divide by.
constexpr double next_to_nothing = 1e-3;

/// What varies over the three figures.
struct Point {
    std::string_view series;
    std::string_view ftl;
    double x;
    std::uint32_t channels;
    std::uint32_t blocks_per_virtual_block;
    std::uint64_t cache_bytes;     ///< at full size: COFTL's data cache, BL's write buffer
    bool small_writes = false;     ///< in place of the desktop load
    bool is_same_capacity = false; ///< of all 16 channels, on fewer of them
};

// Table II: 8 GB MLC chips of 2 planes, one a channel. 97 % was written beforehand: the whole logical space, 3 % being spare.
DeviceConfig device_of(const Point& p, bool is_quick) {
    auto preset = find_device_preset("coftl");
    ensure(preset.has_value(), "the preset coftl exists");
    DeviceConfig config;
    config.ssd = preset->config;
    auto& geometry = config.ssd.nand.geometry;
    geometry.channels = p.channels;
    const std::uint32_t scale = is_quick ? quick_scale : 1;
    geometry.blocks_per_plane /= scale;
    if (p.is_same_capacity) geometry.blocks_per_plane *= most_channels / p.channels;
    FtlConfig& ftl = config.ssd.ftl;
    ftl.scheme = p.ftl;
    ftl.striping = p.ftl == "coftl" ? p.blocks_per_virtual_block : 1;
    config.ssd.nand.striping = p.ftl == "coftl" ? 1 : p.blocks_per_virtual_block;
    if (p.ftl == "coftl")
        ftl.coftl.cache_bytes = p.cache_bytes / scale;
    else
        config.ssd.dram.write_buffer_bytes = p.cache_bytes / scale;
    ftl.coftl.cached_tables = 4096 / scale;
    return config;
}

Json::Object params(const Point& p) {
    return {{"ftl", p.ftl},
            {"workload", p.small_writes ? "4 KB random writes" : "desktop"},
            {"channels", p.channels},
            {"blocks_per_virtual_block", p.blocks_per_virtual_block},
            {"cache_bytes", p.cache_bytes}};
}

/// BL copies a block of 256 pages for nearly every write: enough of them is a thousand. With a buffer it must be full first.
std::uint64_t requests_of(const Point& p, bool is_quick) {
    if (p.ftl == "block_map") return (p.cache_bytes != 0 ? 4 : 1) * (is_quick ? 2000 : 10'000);
    return is_quick ? 40'000 : 200'000;
}

std::string listed(const std::vector<double>& y) {
    std::string text;
    for (const double value : y) text += fmt::format("{}{:.0f}", text.empty() ? "" : ", ", value);
    return text + " requests/s";
}

class Figure {
public:
    Figure(std::string_view id, const RunContext& context, std::vector<Point> points)
        : id_{id}, context_{context}, points_{std::move(points)},
          desktop_{context, "desktop", context.is_quick() ? fmt::format("workload:desktop,scale={}", quick_scale) : "workload:desktop"},
          small_writes_{context, "small-writes",
                        context.is_quick() ? fmt::format("workload:small-writes,scale={}", quick_scale) : "workload:small-writes"} {}

    std::expected<void, std::string> measure() {
        auto measured = measure_points<double>(context_.workers, points_.size(), [&](std::size_t i) -> std::expected<double, std::string> {
            const Point& p = points_[i];
            TraceRun run{.config = device_of(p, context_.is_quick()), .requests = requests_of(p, context_.is_quick())};
            run.speed.depth = queue_depth;
            const auto outcome = run_trace_on(run, p.small_writes ? small_writes_ : desktop_);
            if (!outcome) return std::unexpected(fmt::format("{}, {:g}: {}", p.series, p.x, outcome.error()));
            return outcome->requests_per_second();
        });
        if (!measured) return std::unexpected(measured.error());
        values_ = std::move(*measured);
        for (std::size_t i = 0; i < points_.size(); ++i)
            out_.points.push_back({fmt::format("{}, requests/s", points_[i].series), points_[i].x, params(points_[i]), values_[i]});
        for (const Load* load : {&desktop_, &small_writes_}) {
            if (load == &small_writes_ && std::ranges::none_of(points_, &Point::small_writes)) continue;
            const auto source = load->source();
            if (!source) return std::unexpected(source.error());
            out_.loads.push_back(*source);
        }
        return {};
    }
    /// The curve of a series, in the order of x.
    [[nodiscard]] std::vector<double> curve(std::string_view series) const {
        std::vector<double> y;
        for (std::size_t i = 0; i < points_.size(); ++i)
            if (points_[i].series == series) y.push_back(values_[i]);
        return y;
    }
    void claim(std::string name, std::string ours, std::vector<Evidence> evidence) {
        out_.claim(id_, std::move(name), std::move(ours), std::move(evidence));
    }
    /// Against BL as the paper has it, and against BL that buffers writes in the DRAM that COFTL has for its cache.
    void claim_above_bl(std::string_view where) {
        const auto ours = curve("COFTL");
        for (const std::string_view baseline : {bl, buffered_bl}) {
            const auto theirs = curve(baseline);
            claim(fmt::format("COFTL is far above BL {}{}", baseline == bl ? "" : "with the same DRAM ", where),
                  fmt::format("x{:.2f} at least; BL: {}", least_ratio(ours, theirs), listed(theirs)), {{ours, theirs}});
        }
    }
    void free(FreeParameter parameter) { out_.free_parameters.push_back(std::move(parameter)); }
    Reproduction done() {
        free({"load", "desktop",
              "the paper's trace (a desktop's 160 GB disk under NTFS) is not public; ours is tools/workloads: documents, mail, downloads, web"});
        free({"hot set of the load", "6 MB written, in runs of 1 MB", "not given; file system metadata, registry and mail store",
              "Fig. 8: saturated from 16 MB on", "the first results of Fig. 8"});
        free({"queue depth", fmt::format("{}", queue_depth),
              "closed loop: the paper counts completed requests per second and gives neither rate nor depth; with many more in flight Fig. 7 "
              "flattens"});
        free({"page tables in RAM", "4096 (8 MB)", "the paper caches them and gives no number"});
        free({"scale of quick runs", fmt::format("a part of {} of capacity, cache, tables and working sets", quick_scale), "time", "",
              "the first results of Fig. 8"});
        return std::move(out_);
    }
    static constexpr std::string_view bl = "BL", buffered_bl = "BL with a write buffer of 16 MB";

private:
    static constexpr std::uint32_t queue_depth = 4;
    std::string_view id_;
    RunContext context_;
    std::vector<Point> points_;
    Load desktop_, small_writes_;
    std::vector<double> values_;
    Reproduction out_;
};

} // namespace

ExperimentRun::Result run_co_fig7(const RunContext& context) {
    std::vector<Point> points;
    for (const std::uint32_t blocks : {1u, 2u, 4u, 8u, 16u}) {
        points.push_back({"COFTL", "coftl", static_cast<double>(blocks), 16, blocks, 16 * mib});
        points.push_back({Figure::bl, "block_map", static_cast<double>(blocks), 16, blocks, 0});
        points.push_back({Figure::buffered_bl, "block_map", static_cast<double>(blocks), 16, blocks, 16 * mib});
        points.push_back({"COFTL, 4 KB random writes", "coftl", static_cast<double>(blocks), 16, blocks, 16 * mib, true});
    }
    Figure f{"co-fig7", context, std::move(points)};
    if (auto measured = f.measure(); !measured) return std::unexpected(measured.error());
    const auto ours = f.curve("COFTL");
    f.claim("the throughput grows with the blocks of a virtual block", listed(ours), {{ours}});
    f.claim_above_bl("at every size of a virtual block");
    f.free({"cache", "16 MB", "Fig. 7 does not say; where Fig. 8 saturates"});
    f.free({"BL over several blocks", "striped pages",
            "BL gets the same channels: its page is as wide as a virtual page, its block one block on each of them"});
    return f.done();
}

ExperimentRun::Result run_co_fig8(const RunContext& context) {
    std::vector<Point> points;
    for (const std::uint64_t megabytes : {1u, 2u, 4u, 8u, 16u, 32u, 64u})
        points.push_back({"COFTL", "coftl", static_cast<double>(megabytes * mib), 16, 4, megabytes * mib});
    Figure f{"co-fig8", context, std::move(points)};
    if (auto measured = f.measure(); !measured) return std::unexpected(measured.error());
    const auto y = f.curve("COFTL");
    const std::vector<double> up_to_16{y.begin(), y.begin() + 5};
    f.claim("the throughput grows with the cache up to 16 MB", listed(up_to_16), {{up_to_16}});
    const auto doubling = [&](std::size_t to) { return y[to] / y[to - 1] - 1; };
    f.claim("it is saturated from 16 MB on",
            fmt::format("a doubling adds {:.0f} % up to 8 MB, {:.0f} % to 16, {:.0f} % to 32, {:.0f} % to 64", 100 * doubling(3), 100 * doubling(4),
                        100 * doubling(5), 100 * doubling(6)),
            {{{y[5], y[6]}, {y[4], y[5]}}, {{doubling(4)}, {std::max(doubling(5), next_to_nothing)}}});
    return f.done();
}

ExperimentRun::Result run_co_fig9(const RunContext& context) {
    constexpr std::string_view same_capacity = "COFTL, the capacity of 16 channels";
    std::vector<Point> points;
    for (const std::uint32_t channels : {2u, 4u, 8u, 16u}) {
        points.push_back({"COFTL", "coftl", static_cast<double>(channels), channels, 2, 16 * mib});
        points.push_back({Figure::bl, "block_map", static_cast<double>(channels), channels, 2, 0});
        points.push_back({Figure::buffered_bl, "block_map", static_cast<double>(channels), channels, 2, 16 * mib});
        points.push_back({same_capacity, "coftl", static_cast<double>(channels), channels, 2, 16 * mib, false, true});
    }
    Figure f{"co-fig9", context, std::move(points)};
    if (auto measured = f.measure(); !measured) return std::unexpected(measured.error());
    const auto ours = f.curve("COFTL"), constant = f.curve(same_capacity);
    f.claim("the throughput grows with the channels", listed(ours), {{ours}});
    f.claim("the throughput grows with the channels at constant capacity", listed(constant), {{constant}});
    f.claim_above_bl("with every number of channels");
    return f.done();
}

} // namespace flashlab
