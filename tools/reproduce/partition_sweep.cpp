#include "tools/reproduce/partition_sweep.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace flashlab {
namespace {

constexpr std::uint32_t steps = 6; ///< between the smallest share and all

PartitionSetting setting(const std::string& ftl, const PartitionCase& of, PartitionKind kind, std::uint32_t permille) {
    PartitionSetting s;
    s.ftl = ftl;
    s.workload = of.load.name;
    s.kind = kind;
    s.dram_bytes = of.dram_mib * mebibyte;
    s.map_permille = permille;
    return s;
}

bool is_faster(const PartitionResult& a, const PartitionResult& b) { return a.operation_s < b.operation_s; }

/// Runs `steps_of` of every curve in one batch, so that all cores work; twelfths of the axis.
std::expected<void, std::string> add_static(const std::string& ftl, std::vector<PartitionCurve>& curves,
                                            const std::vector<std::vector<std::uint32_t>>& twelfths, const RunContext& context) {
    std::vector<PartitionSetting> settings;
    for (std::size_t c = 0; c < curves.size(); ++c)
        for (const std::uint32_t at : twelfths[c])
            settings.push_back(static_setting(ftl, {curves[c].load, curves[c].dram_mib}, at * 1000 / (2 * steps)));
    const auto results = run_partitions(settings, context);
    if (!results) return std::unexpected(results.error());
    std::size_t next = 0;
    for (std::size_t c = 0; c < curves.size(); ++c) {
        for (std::size_t i = 0; i < twelfths[c].size(); ++i) curves[c].fixed.push_back(results->at(next++));
        std::ranges::sort(curves[c].fixed, {}, &PartitionResult::mean_map_share);
    }
    return {};
}

} // namespace

const PartitionResult& PartitionCurve::best() const { return *std::ranges::min_element(fixed, is_faster); }
const PartitionResult& PartitionCurve::worst() const { return *std::ranges::max_element(fixed, is_faster); }

const PartitionResult& PartitionCurve::stays() const {
    return *std::ranges::min_element(fixed, {}, [](const PartitionResult& r) { return std::abs(r.mean_map_share - 0.5); });
}

double late_seconds(const PartitionResult& r) { return std::accumulate(r.period_s.begin() + partition_periods / 2, r.period_s.end(), r.debts_s); }

std::vector<PartitionCase> partition_cases(const std::vector<std::uint64_t>& dram_mib) {
    std::vector<PartitionCase> cases;
    for (const std::uint64_t mib : dram_mib)
        for (const PartitionLoad& load : partition_loads) cases.push_back({load, mib});
    return cases;
}

PartitionSetting static_setting(const std::string& ftl, const PartitionCase& of, std::uint32_t permille) {
    return setting(ftl, of, PartitionKind::static_share, permille);
}

PartitionSetting adaptive_setting(const std::string& ftl, const PartitionCase& of) { return setting(ftl, of, PartitionKind::adaptive, 500); }

std::expected<std::vector<PartitionCurve>, std::string> sweep_partitions(const std::string& ftl, const std::vector<PartitionCase>& cases,
                                                                         const RunContext& context) {
    std::vector<PartitionCurve> curves;
    for (const PartitionCase& of : cases) curves.push_back({of.load, of.dram_mib, {}, {}});
    std::vector<std::uint32_t> coarse;
    for (std::uint32_t step = 0; step <= steps; ++step) coarse.push_back(2 * step);
    if (auto done = add_static(ftl, curves, std::vector(curves.size(), coarse), context); !done) return std::unexpected(done.error());
    std::vector<std::vector<std::uint32_t>> beside(curves.size());
    for (std::size_t c = 0; c < curves.size(); ++c) {
        const auto best = static_cast<std::uint32_t>(std::ranges::min_element(curves[c].fixed, is_faster) - curves[c].fixed.begin());
        if (best > 0) beside[c].push_back(2 * best - 1);
        if (best < steps) beside[c].push_back(2 * best + 1);
    }
    if (auto done = add_static(ftl, curves, beside, context); !done) return std::unexpected(done.error());
    std::vector<PartitionSetting> adaptive;
    for (const PartitionCase& of : cases) adaptive.push_back(adaptive_setting(ftl, of));
    const auto results = run_partitions(adaptive, context);
    if (!results) return std::unexpected(results.error());
    for (std::size_t c = 0; c < curves.size(); ++c) curves[c].adaptive = results->at(c);
    return curves;
}

void plot_curve(Reproduction& out, const std::string& ftl, const PartitionCurve& c, const std::string& what,
                const std::function<double(const PartitionResult&)>& y) {
    const auto add = [&](const PartitionResult& r, bool adaptive) {
        const Json::Object params{
            {"ftl", ftl}, {"workload", c.load.name}, {"dram_bytes", c.dram_mib * mebibyte}, {"map_share", r.mean_map_share}, {"adaptive", adaptive}};
        out.points.push_back({fmt::format("{} {}, {} ({} MB)", c.load.title, adaptive ? "adaptive" : "static", what, c.dram_mib),
                              percent(r.mean_map_share), params, y(r)});
    };
    for (const PartitionResult& r : c.fixed) add(r, false);
    add(c.adaptive, true);
}

void plot_stays(Reproduction& out, const std::string& ftl, const PartitionCurve& c, const std::string& what, double y) {
    out.points.push_back({fmt::format("{} stays at 50 %, {} ({} MB)", c.load.title, what, c.dram_mib),
                          percent(c.stays().mean_map_share),
                          {{"ftl", ftl},
                           {"workload", c.load.name},
                           {"dram_bytes", c.dram_mib * mebibyte},
                           {"map_share", c.stays().mean_map_share},
                           {"adaptive", false}},
                          y});
}

std::expected<Reproduction, std::string> with_partition_setup(Reproduction out, const std::vector<std::string>& workloads,
                                                              const RunContext& context) {
    auto sources = partition_load_sources(workloads, context);
    if (!sources) return std::unexpected(sources.error());
    out.loads = std::move(*sources);
    out.free_parameters = partition_free_parameters();
    return out;
}

} // namespace flashlab
