#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/contract.h"
#include "tools/reproduce/coftl_point.h"
#include "tools/reproduce/experiments.h"
#include "tools/reproduce/verdicts.h"

namespace flashlab {
namespace {

// Device, load and cache of figure 9: 2 blocks a virtual block, 16 MB.
constexpr std::array<std::uint32_t, 4> channels{2, 4, 8, 16};

std::string listed(const std::vector<double>& quotients) {
    std::string text;
    for (std::size_t i = 0; i < channels.size(); ++i) text += fmt::format("{}x{:.2f} with {}", text.empty() ? "" : ", ", quotients[i], channels[i]);
    return text + " channels";
}

/// Curves over the channels, measured together and looked up by name.
class Curves {
public:
    explicit Curves(const RunContext& context) : context_{context}, loads_{context} {}

    /// `like` on every number of channels.
    void add(CoftlPoint like) {
        for (const std::uint32_t n : channels) {
            like.channels = n;
            like.x = n;
            points_.push_back(like);
        }
    }
    std::expected<void, std::string> measure(Reproduction& out) {
        const auto measured = measure_points<double>(context_.workers, points_.size(), [&](std::size_t i) -> std::expected<double, std::string> {
            return requests_per_second(points_[i], context_, loads_);
        });
        if (!measured) return std::unexpected(measured.error());
        for (std::size_t i = 0; i < points_.size(); ++i) {
            curves_[points_[i].series].push_back((*measured)[i]);
            out.points.push_back({fmt::format("{}, requests/s", points_[i].series), points_[i].x, params_of(points_[i]), (*measured)[i]});
        }
        for (const CoftlLoad load : {CoftlLoad::desktop, CoftlLoad::desktop_without_hot_set}) {
            const auto played = std::ranges::find(points_, load, &CoftlPoint::load);
            if (played == points_.end()) continue;
            const auto source = loads_.of(*played).source();
            if (!source) return std::unexpected(source.error());
            out.loads.push_back(*source);
        }
        out.free_parameters.push_back({"device, load, scale of quick runs", "as in co-fig9", "see there"});
        return {};
    }
    [[nodiscard]] const std::vector<double>& of(std::string_view series) const { return curves_.at(series); }
    [[nodiscard]] std::vector<double> quotient(std::string_view over, std::string_view under) const {
        std::vector<double> y;
        for (std::size_t i = 0; i < channels.size(); ++i) y.push_back(of(over)[i] / of(under)[i]);
        return y;
    }
    /// The quotient as a series of its own: a row of the table.
    void show(Reproduction& out, std::string_view name, std::string_view over, std::string_view under) const {
        const auto y = quotient(over, under);
        for (std::size_t i = 0; i < channels.size(); ++i)
            out.points.push_back({fmt::format("{}, times", name), static_cast<double>(channels[i]), {{"channels", channels[i]}}, y[i]});
    }

private:
    RunContext context_;
    CoftlLoads loads_;
    std::vector<CoftlPoint> points_;
    std::map<std::string_view, std::vector<double>> curves_;
};

/// What is changed about both sides, and what the two curves are called.
struct Part {
    std::string_view coftl, bl, ratio;
    void (*change)(CoftlPoint&);
};
constexpr std::array parts{
    Part{"COFTL", "BL with the same DRAM", "COFTL over BL", [](CoftlPoint&) {}},
    Part{"COFTL, least spare", "BL, least spare", "COFTL over BL, least spare", [](CoftlPoint& p) { p.has_least_spare = true; }},
    Part{"COFTL, capacity of 16 channels", "BL, capacity of 16 channels", "COFTL over BL, capacity of 16 channels",
         [](CoftlPoint& p) { p.is_same_capacity = true; }},
    Part{"COFTL, no cache", "BL, no buffer", "COFTL over BL, no cache", [](CoftlPoint& p) { p.cache_bytes = 0; }},
    Part{"COFTL, one in flight", "BL, one in flight", "COFTL over BL, one in flight", [](CoftlPoint& p) { p.queue_depth = 1; }},
    Part{"COFTL, 16 in flight", "BL, 16 in flight", "COFTL over BL, 16 in flight", [](CoftlPoint& p) { p.queue_depth = 16; }},
    Part{"COFTL, no hot set", "BL, no hot set", "COFTL over BL, no hot set", [](CoftlPoint& p) { p.load = CoftlLoad::desktop_without_hot_set; }},
};

void judge_parts(const Curves& curves, Reproduction& out) {
    const auto claim = [&](std::string name, std::string_view over, std::string_view under) {
        out.claim("beyond-coftl-parts", std::move(name), listed(curves.quotient(over, under)), {{curves.of(over), curves.of(under)}});
    };
    claim("with the spare sets of 16 channels COFTL is far above BL with every number of channels", "COFTL, capacity of 16 channels",
          "BL, capacity of 16 channels");
    claim("with the least spare COFTL is below BL with every number of channels", "COFTL, least spare", "BL, least spare");
    claim("with neither cache nor buffer COFTL is far above BL with every number of channels", "COFTL, no cache", "BL, no buffer");
    Evidence few;
    std::string seen;
    for (const auto& [coftl, bl] : {std::pair{"COFTL, one in flight", "BL, one in flight"}, std::pair{"COFTL, 16 in flight", "BL, 16 in flight"}}) {
        for (const std::size_t i : {0u, 1u}) {
            few.over.push_back(curves.of(coftl)[i]);
            few.under.push_back(curves.of(bl)[i]);
            seen += fmt::format("{}x{:.2f} with {}", seen.empty() ? "" : ", ", few.over.back() / few.under.back(), channels[i]);
        }
    }
    out.claim("beyond-coftl-parts", "requests in flight do not lift COFTL above BL on 2 and 4 channels", seen + " channels; one in flight, then 16",
              {few});
}

} // namespace

ExperimentRun::Result run_beyond_coftl_parts(const RunContext& context) {
    Reproduction out;
    Curves curves{context};
    for (const Part& part : parts) {
        for (const bool is_coftl : {true, false}) {
            CoftlPoint point{.series = is_coftl ? part.coftl : part.bl, .ftl = is_coftl ? "coftl" : "block_map"};
            part.change(point);
            curves.add(point);
        }
    }
    if (auto measured = curves.measure(out); !measured) return std::unexpected(measured.error());
    for (const Part& part : parts) curves.show(out, part.ratio, part.coftl, part.bl);
    for (const Part& part : parts)
        if (part.coftl != parts[0].coftl) curves.show(out, fmt::format("{} over COFTL", part.coftl), part.coftl, parts[0].coftl);
    for (const Part& part : parts)
        if (part.bl != parts[0].bl) curves.show(out, fmt::format("{} over BL", part.bl), part.bl, parts[0].bl);
    judge_parts(curves, out);
    return out;
}

ExperimentRun::Result run_beyond_coftl_chips(const RunContext& context) {
    Reproduction out;
    Curves curves{context};
    CoftlPoint point{.series = "planes independent", .ftl = "coftl"};
    curves.add(point);
    point.series = "planes independent, log mirrored";
    point.has_mirrored_log = true;
    curves.add(point);
    point.has_mirrored_log = false;
    point.series = "planes in turn";
    point.has_independent_planes = false;
    curves.add(point);
    point.series = "planes in turn, two-plane commands";
    point.has_two_plane_commands = true;
    curves.add(point);
    if (auto measured = curves.measure(out); !measured) return std::unexpected(measured.error());
    curves.show(out, "two-plane commands over planes in turn", "planes in turn, two-plane commands", "planes in turn");
    curves.show(out, "mirrored over one log", "planes independent, log mirrored", "planes independent");
    const auto claim = [&](std::string name, std::string_view over, std::string_view under) {
        out.claim("beyond-coftl-chips", std::move(name), listed(curves.quotient(over, under)), {{curves.of(over), curves.of(under)}});
    };
    claim("planes that take turns gain by two-plane commands with every number of channels", "planes in turn, two-plane commands", "planes in turn");
    claim("writing the log twice costs little with every number of channels", "planes independent, log mirrored", "planes independent");
    return out;
}

} // namespace flashlab
