#include <algorithm>

#include <fmt/format.h>

#include "tools/reproduce/experiments.h"
#include "tools/reproduce/partition_sweep.h"

namespace flashlab {
namespace {

// Device, fill and loads: as in figures 4 to 10, 16 MB of DRAM, and a load of changing phases. One value is changed at a time, all others stay as in
// the figures. The interval is the curve's, the others are of the published ghosts.
constexpr std::uint64_t dram_mib = 16;
constexpr std::array varied_loads{PartitionLoad{"sysmark", "SYSmark"}, PartitionLoad{"financial", "Financial"},
                                  PartitionLoad{"tpcc+financial", "TPC-C/Financial"}};

using Result = std::expected<Reproduction, std::string>;

/// One of the values that the paper leaves open, or chose without a reason.
struct Varied {
    const char* name;
    const char* unit;
    std::vector<double> values; ///< the figures' own among them
    void (*set)(PartitionSetting&, double);
    PartitionKind of = PartitionKind::ghost;
};

std::vector<Varied> all_varied() {
    return {{"the clamp",
             "hits of a ghost without any",
             {0.1, 0.25, 0.5, 1, 2},
             [](PartitionSetting& s, double v) { s.floor_permille = static_cast<std::uint32_t>(v * 1000); }},
            {"the interval",
             "the interval over the usual one",
             {0.25, 1, 4, 16},
             [](PartitionSetting& s, double v) { s.interval = static_cast<std::uint32_t>(v * 1000); },
             PartitionKind::adaptive},
            {"the size of the ghost's bitmap",
             "KiB of ghost bitmap",
             {8, 32, 128, 512},
             [](PartitionSetting& s, double v) { s.bitmap_bytes = static_cast<std::uint64_t>(v) << 10; }},
            {"the reach of the ghosts",
             "% of the DRAM that a ghost stands for",
             {3, 10, 30, 100},
             [](PartitionSetting& s, double v) { s.reach_permille = static_cast<std::uint32_t>(v * 10); }},
            {"the tune unit", "tune units", {1, 4, 16}, [](PartitionSetting& s, double v) { s.tune_units = static_cast<std::uint32_t>(v); }}};
}

/// Time over the best static's for each value; how far the values are apart.
std::expected<double, std::string> vary(Reproduction& out, const std::string& ftl, const PartitionCurve& c, const Varied& varied,
                                        const RunContext& context) {
    std::vector<PartitionSetting> settings;
    for (const double value : varied.values) {
        settings.push_back(adaptive_setting(ftl, {c.load, c.dram_mib}));
        settings.back().kind = varied.of;
        varied.set(settings.back(), value);
    }
    const auto results = run_partitions(settings, context);
    if (!results) return std::unexpected(results.error());
    for (std::size_t i = 0; i < settings.size(); ++i)
        out.points.push_back({fmt::format("{} {}, time over the best static's ({})", c.load.title, ftl, varied.unit),
                              varied.values[i],
                              {{"ftl", ftl}, {"workload", c.load.name}, {"dram_bytes", c.dram_mib * mebibyte}, {"value", varied.values[i]}},
                              results->at(i).operation_s / c.best().operation_s});
    const auto [least, most] = std::ranges::minmax(*results, {}, &PartitionResult::operation_s);
    return most.operation_s / least.operation_s;
}

} // namespace

Result run_beyond_sensitivity(const RunContext& context) {
    std::vector<PartitionCase> cases;
    std::vector<std::string> names;
    for (const PartitionLoad& load : varied_loads) {
        cases.push_back({load, dram_mib});
        names.emplace_back(load.name);
    }
    Reproduction out;
    for (const std::string ftl : {"dftl", "fast"}) {
        const auto curves = sweep_partitions(ftl, cases, context);
        if (!curves) return std::unexpected(curves.error());
        for (const Varied& varied : all_varied()) {
            double widest = 1;
            std::string spreads;
            for (const PartitionCurve& c : *curves) {
                const auto spread = vary(out, ftl, c, varied, context);
                if (!spread) return std::unexpected(spread.error());
                widest = std::max(widest, *spread);
                spreads += fmt::format("{}{} {:.1f} %", spreads.empty() ? "" : ", ", c.load.title, percent(*spread - 1));
            }
            out.claim("beyond-sensitivity", fmt::format("{}: {} moves the time by 5 % at most", ftl, varied.name),
                      fmt::format("{} {:g} to {:g}: {}", varied.unit, varied.values.front(), varied.values.back(), spreads), {{{widest}}});
        }
    }
    return with_partition_setup(std::move(out), names, context);
}

} // namespace flashlab
