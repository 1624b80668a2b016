#include <algorithm>

#include <fmt/format.h>

#include "tools/reproduce/coftl_point.h"
#include "tools/reproduce/experiments.h"
#include "tools/reproduce/verdicts.h"

namespace flashlab {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
/// In place of a doubling that adds nothing, so that there is something to divide by.
constexpr double next_to_nothing = 1e-3;

using Point = CoftlPoint;

std::string listed(const std::vector<double>& y) {
    std::string text;
    for (const double value : y) text += fmt::format("{}{:.0f}", text.empty() ? "" : ", ", value);
    return text + " requests/s";
}

class Figure {
public:
    Figure(std::string_view id, const RunContext& context, std::vector<Point> points)
        : id_{id}, context_{context}, points_{std::move(points)}, loads_{context} {}

    std::expected<void, std::string> measure() {
        auto measured = measure_points<double>(context_.workers, points_.size(), [&](std::size_t i) -> std::expected<double, std::string> {
            return requests_per_second(points_[i], context_, loads_);
        });
        if (!measured) return std::unexpected(measured.error());
        values_ = std::move(*measured);
        for (std::size_t i = 0; i < points_.size(); ++i)
            out_.points.push_back({fmt::format("{}, requests/s", points_[i].series), points_[i].x, params_of(points_[i]), values_[i]});
        for (const CoftlLoad load : {CoftlLoad::desktop, CoftlLoad::small_writes}) {
            const auto played = std::ranges::find(points_, load, &Point::load);
            if (played == points_.end()) continue;
            const auto source = loads_.of(*played).source();
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
        free({"queue depth", fmt::format("{}", Point{}.queue_depth),
              "closed loop: the paper counts completed requests per second and gives neither rate nor depth; with many more in flight Fig. 7 "
              "flattens"});
        free({"page tables in RAM", "4096 (8 MB)", "the paper caches them and gives no number"});
        free({"scale of quick runs", fmt::format("a part of {} of capacity, cache, tables and working sets", Point::quick_scale), "time", "",
              "the first results of Fig. 8"});
        return std::move(out_);
    }
    static constexpr std::string_view bl = "BL", buffered_bl = "BL with a write buffer of 16 MB";

private:
    std::string_view id_;
    RunContext context_;
    std::vector<Point> points_;
    CoftlLoads loads_;
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
        points.push_back({"COFTL, 4 KB random writes", "coftl", static_cast<double>(blocks), 16, blocks, 16 * mib, CoftlLoad::small_writes});
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
        points.push_back({same_capacity, "coftl", static_cast<double>(channels), channels, 2, 16 * mib, CoftlLoad::desktop, true});
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
