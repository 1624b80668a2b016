#include <algorithm>

#include <fmt/format.h>

#include "tools/reproduce/experiments.h"
#include "tools/reproduce/load.h"
#include "tools/reproduce/partition_sweep.h"

namespace flashlab {
namespace {

// Section IV A: 64 GB of SLC (preset slc-64g), 8 or 16 MB of DRAM, every logical page written once beforehand. Loads: tools/workloads, fitted to
// Table V.
// Shares whose times are within 1 % of the least are all the best: nobody could tell them apart in the paper's plots.
constexpr double same_time = 1.01;
/// Where the worst share takes so many times the best one's time, the shares matter.
constexpr double shares_matter = 1.10;
/// A part of the buffer's hits: in place of none, so that there is something to divide by.
constexpr double no_fall = 1e-6;

using Curves = std::expected<std::vector<PartitionCurve>, std::string>;
using Result = std::expected<Reproduction, std::string>;

std::vector<std::string> all_loads() { return {"sysmark", "financial", "pc", "tpcc"}; }

std::string label(const PartitionCurve& c) { return fmt::format("{}, {} MB", c.load.title, c.dram_mib); }

/// What figures 5 and 7 show of both translation layers.
void plot_buffer_and_flash(Reproduction& out, const std::string& ftl, const PartitionCurve& c) {
    plot_curve(out, ftl, c, "% of reads that hit the buffer", [](const PartitionResult& r) { return percent(r.buffer_read_hits); });
    plot_curve(out, ftl, c, "% of writes that hit the buffer", [](const PartitionResult& r) { return percent(r.buffer_write_hits); });
    plot_curve(out, ftl, c, "flash reads", [](const PartitionResult& r) { return r.flash_reads; });
    plot_curve(out, ftl, c, "flash writes", [](const PartitionResult& r) { return r.flash_writes; });
}

/// Where the paper says that the best static share lies.
struct BestShare {
    const char* workload;
    double from, to;
};

/// In a quick run a log block is sixteen times as large a part of the DRAM: too coarse for FAST on the smallest working set.
bool is_too_coarse(const std::string& ftl, const PartitionCurve& c, const RunContext& context) {
    return context.is_quick() && ftl == "fast" && c.dram_mib == 16 && std::string_view{c.load.name} == "sysmark";
}

double off(double share, const BestShare& expected) { return std::max({0.0, expected.from - share, share - expected.to}); }

/// Of the best shares the one nearest to where the paper has it.
const PartitionResult& nearest_best(const PartitionCurve& c, const BestShare& expected) {
    const PartitionResult* nearest = &c.best();
    for (const PartitionResult& r : c.fixed)
        if (r.operation_s <= c.best().operation_s * same_time && off(r.mean_map_share, expected) < off(nearest->mean_map_share, expected))
            nearest = &r;
    return *nearest;
}

/// "near 25 %", "near 30 to 50 %".
std::string near(const BestShare& expected) {
    return expected.from == expected.to ? fmt::format("near {:.0f} %", percent(expected.from))
                                        : fmt::format("near {:.0f} to {:.0f} %", percent(expected.from), percent(expected.to));
}

void judge_times(Reproduction& out, std::string_view id, const std::string& ftl, const std::vector<PartitionCurve>& curves,
                 std::span<const BestShare> expected, const RunContext& context) {
    Evidence stays;
    std::string worst_seen = "the shares matter in no case";
    for (const PartitionCurve& c : curves) {
        const std::string name = fmt::format("{}, {}", label(c), ftl);
        if (!is_too_coarse(ftl, c, context)) {
            out.claim(id, fmt::format("{}: adaptive within 3 % of the best static", name),
                      fmt::format("{:+.1f} % at a mean share of {:.0f} %, the best static at {:.0f} %; {:+.1f} % in the second half",
                                  percent(c.adaptive.operation_s / c.best().operation_s - 1), percent(c.adaptive.mean_map_share),
                                  percent(c.best().mean_map_share), percent(late_seconds(c.adaptive) / late_seconds(c.best()) - 1)),
                      {{{c.adaptive.operation_s}, {c.best().operation_s}}});
            if (c.worst().operation_s >= shares_matter * c.best().operation_s) {
                stays.over.push_back(c.adaptive.operation_s);
                stays.under.push_back(c.stays().operation_s);
                if (stays.values().back() >= std::ranges::max(stays.values()))
                    worst_seen = fmt::format("{:+.1f} % at most ({})", percent(stays.values().back() - 1), label(c));
            }
        }
        const auto at = std::ranges::find_if(expected, [&](const BestShare& e) { return std::string_view{e.workload} == c.load.name; });
        if (at == expected.end()) continue;
        const PartitionResult& nearest = nearest_best(c, *at);
        out.claim(id, fmt::format("{}: best static share {}", name, near(*at)),
                  fmt::format("{:.0f} %; {:.0f} % takes {:.1f} % more time", percent(c.best().mean_map_share), percent(nearest.mean_map_share),
                              percent(nearest.operation_s / c.best().operation_s - 1)),
                  {{{nearest.mean_map_share}}});
    }
    out.claim(id, "adaptive is no slower than a partition that stays at 50 %", worst_seen, {stays});
}

/// Beside ours: ghosts that vote by units.
std::expected<void, std::string> plot_as_published(Reproduction& out, const std::string& ftl, const std::vector<PartitionCurve>& curves,
                                                   const RunContext& context) {
    std::vector<PartitionSetting> settings;
    for (const PartitionCurve& c : curves) {
        settings.push_back(adaptive_setting(ftl, {c.load, c.dram_mib}));
        settings.back().kind = PartitionKind::ghost;
    }
    const auto results = run_partitions(settings, context);
    if (!results) return std::unexpected(results.error());
    for (std::size_t i = 0; i < curves.size(); ++i) {
        const PartitionCurve& c = curves[i];
        const double longest = std::max(c.worst().operation_s, c.adaptive.operation_s);
        out.points.push_back({fmt::format("{} adaptive as published, operation time over the longest ({} MB)", c.load.title, c.dram_mib),
                              percent(results->at(i).mean_map_share),
                              {{"ftl", ftl},
                               {"workload", c.load.name},
                               {"dram_bytes", c.dram_mib * mebibyte},
                               {"map_share", results->at(i).mean_map_share},
                               {"adaptive", true}},
                              results->at(i).operation_s / longest});
    }
    return {};
}

Result times(std::string_view id, const std::string& ftl, std::span<const BestShare> expected, const RunContext& context) {
    auto cases = partition_cases({8, 16});
    auto names = all_loads();
    for (const RealTrace* trace : real_traces_of(context)) {
        names.emplace_back(trace->name);
        for (const std::uint64_t mib : {8u, 16u}) cases.push_back({{trace->name, trace->name}, mib});
    }
    const Curves curves = sweep_partitions(ftl, cases, context);
    if (!curves) return std::unexpected(curves.error());
    Reproduction out;
    for (const PartitionCurve& c : *curves) {
        const double longest = std::max(c.worst().operation_s, c.adaptive.operation_s);
        plot_curve(out, ftl, c, "operation time over the longest", [longest](const PartitionResult& r) { return r.operation_s / longest; });
        plot_stays(out, ftl, c, "operation time over the longest", c.stays().operation_s / longest);
    }
    judge_times(out, id, ftl, *curves, expected, context);
    if (auto added = plot_as_published(out, ftl, *curves, context); !added) return std::unexpected(added.error());
    return with_partition_setup(std::move(out), names, context);
}

const PartitionCurve& curve_of(const std::vector<PartitionCurve>& curves, std::string_view load) {
    return *std::ranges::find_if(curves, [load](const PartitionCurve& c) { return c.load.name == load; });
}

/// The static point whose share is next to `share`.
const PartitionResult& at_share(const PartitionCurve& c, double share) {
    return *std::ranges::min_element(c.fixed, {}, [share](const PartitionResult& r) { return std::abs(r.mean_map_share - share); });
}

Result erases(std::string_view id, const std::string& ftl, const RunContext& context) {
    const Curves curves = sweep_partitions(ftl, partition_cases({16}), context);
    if (!curves) return std::unexpected(curves.error());
    Reproduction out;
    for (const PartitionCurve& c : *curves) {
        plot_curve(out, ftl, c, "erases", [](const PartitionResult& r) { return r.erases; });
        const double lowest = std::ranges::min(c.fixed, {}, &PartitionResult::erases).erases;
        if (is_too_coarse(ftl, c, context)) continue;
        out.claim(id, fmt::format("{}, {}: erases within 5 % of the lowest static", c.load.title, ftl),
                  fmt::format("{:.0f}, lowest {:.0f}", c.adaptive.erases, lowest), {{{c.adaptive.erases}, {lowest}}});
    }
    return with_partition_setup(std::move(out), all_loads(), context);
}

} // namespace

Result run_ap_fig2(const RunContext& context) {
    constexpr std::array<std::uint64_t, 6> sizes_mib{1, 2, 4, 8, 16, 32};
    std::vector<PartitionSetting> settings;
    for (const char* load : {"pc", "tpcc"})
        for (const bool of_buffer : {true, false})
            for (const std::uint64_t mib : sizes_mib) {
                PartitionSetting s;
                s.ftl = "dftl";
                s.workload = load;
                s.kind = PartitionKind::separate;
                s.buffer_bytes = (of_buffer ? mib : 1) * mebibyte;
                s.map_bytes = (of_buffer ? 1 : mib) * mebibyte;
                settings.push_back(s);
            }
    const auto results = run_partitions(settings, context);
    if (!results) return std::unexpected(results.error());
    Reproduction out;
    const auto time = [&](std::size_t group, std::size_t i) { return results->at(group * sizes_mib.size() + i).operation_s; };
    constexpr std::array series{"PC, buffer grows, operation time in s", "PC, maps grow, operation time in s",
                                "TPC-C, buffer grows, operation time in s", "TPC-C, maps grow, operation time in s"};
    for (std::size_t g = 0; g < series.size(); ++g)
        for (std::size_t i = 0; i < sizes_mib.size(); ++i) {
            const PartitionSetting& s = settings.at(g * sizes_mib.size() + i);
            out.points.push_back({series.at(g),
                                  static_cast<double>(sizes_mib.at(i)),
                                  {{"ftl", s.ftl},
                                   {"workload", s.workload},
                                   {"mebibytes_of_what_grows", sizes_mib.at(i)},
                                   {"buffer_bytes", s.buffer_bytes},
                                   {"map_bytes", s.map_bytes}},
                                  time(g, i)});
        }
    const auto saved = [&](std::size_t group) { return 1 - time(group, sizes_mib.size() - 1) / time(group, 0); };
    const auto both = [&](std::size_t buffer, std::size_t maps) {
        return fmt::format("from 1 to 32 MB: buffer {:.1f} %, maps {:.1f} %", percent(saved(buffer)), percent(saved(maps)));
    };
    out.claim("ap-fig2", "PC: a larger buffer saves more than larger maps", both(0, 1), {{{saved(0)}, {saved(1)}}});
    out.claim("ap-fig2", "TPC-C: larger maps save more than a larger buffer", both(2, 3), {{{saved(3)}, {saved(2)}}});
    return with_partition_setup(std::move(out), {"pc", "tpcc"}, context);
}

Result run_ap_fig4(const RunContext& context) {
    constexpr std::array expected{BestShare{"sysmark", 0.3, 0.5}, BestShare{"financial", 0.3, 0.5}, BestShare{"pc", 0.25, 0.25},
                                  BestShare{"tpcc", 1, 1}};
    return times("ap-fig4", "dftl", expected, context);
}

Result run_ap_fig6(const RunContext& context) {
    constexpr std::array expected{BestShare{"sysmark", 0.25, 0.25}, BestShare{"financial", 0.25, 0.25}, BestShare{"tpcc", 0.65, 1}};
    return times("ap-fig6", "fast", expected, context);
}

Result run_ap_fig5(const RunContext& context) {
    const Curves curves = sweep_partitions("dftl", partition_cases({16}), context);
    if (!curves) return std::unexpected(curves.error());
    Reproduction out;
    for (const PartitionCurve& c : *curves) {
        plot_buffer_and_flash(out, "dftl", c);
        plot_curve(out, "dftl", c, "% of reads that hit the CMT", [](const PartitionResult& r) { return percent(r.map_read_hits); });
        plot_curve(out, "dftl", c, "% of writes that hit the CMT", [](const PartitionResult& r) { return percent(r.map_write_hits); });
        plot_curve(out, "dftl", c, "valid page copies", [](const PartitionResult& r) { return r.page_copies; });
    }
    for (const char* load : {"sysmark", "financial"}) {
        const PartitionCurve& c = curve_of(*curves, load);
        const PartitionResult& third = at_share(c, 0.33);
        const PartitionResult& all = c.fixed.back();
        out.claim("ap-fig5", fmt::format("{}: at a third of the DRAM the CMT hits as often as it ever will", c.load.title),
                  fmt::format("writes {:.1f} % at {:.0f} %, {:.1f} % with all", percent(third.map_write_hits), percent(third.mean_map_share),
                              percent(all.map_write_hits)),
                  {{{all.map_write_hits - third.map_write_hits}}});
        const PartitionResult& most = c.fixed.front();
        const PartitionResult& little = at_share(c, 0.85);
        const double first = most.buffer_write_hits - third.buffer_write_hits;
        const double last = third.buffer_write_hits - little.buffer_write_hits;
        out.claim("ap-fig5", fmt::format("{}: the buffer's hits fall little at first and sharply at the end", c.load.title),
                  fmt::format("writes {:.1f} %, {:.1f} % and {:.1f} % at {:.0f}, {:.0f} and {:.0f} % of maps", percent(most.buffer_write_hits),
                              percent(third.buffer_write_hits), percent(little.buffer_write_hits), percent(most.mean_map_share),
                              percent(third.mean_map_share), percent(little.mean_map_share)),
                  {{{last}, {std::max(first, no_fall)}}});
    }
    const PartitionCurve& pc = curve_of(*curves, "pc");
    const PartitionResult& pc_third = at_share(pc, 0.33);
    out.claim("ap-fig5", "PC: larger maps raise the valid page copies",
              fmt::format("{:.0f} at {:.0f} %, {:.0f} with all", pc_third.page_copies, percent(pc_third.mean_map_share), pc.fixed.back().page_copies),
              {{{pc.fixed.back().page_copies}, {pc_third.page_copies}}});
    const PartitionCurve& tpcc = curve_of(*curves, "tpcc");
    const PartitionResult& least = tpcc.fixed.front();
    const PartitionResult& half = at_share(tpcc, 0.5);
    const PartitionResult& all = tpcc.fixed.back();
    out.claim("ap-fig5", "TPC-C: larger maps save flash reads all the way",
              fmt::format("{:.0f} at {:.0f} %, {:.0f} at {:.0f} %, {:.0f} with all", least.flash_reads, percent(least.mean_map_share),
                          half.flash_reads, percent(half.mean_map_share), all.flash_reads),
              {{{all.flash_reads, half.flash_reads, least.flash_reads}}});
    return with_partition_setup(std::move(out), all_loads(), context);
}

Result run_ap_fig7(const RunContext& context) {
    const Curves curves = sweep_partitions("fast", partition_cases({16}), context);
    if (!curves) return std::unexpected(curves.error());
    Reproduction out;
    for (const PartitionCurve& c : *curves) {
        plot_buffer_and_flash(out, "fast", c);
        plot_curve(out, "fast", c, "% of writes that hit the log blocks", [](const PartitionResult& r) { return percent(r.log_write_hits); });
        plot_curve(out, "fast", c, "pages copied by merges", [](const PartitionResult& r) { return r.page_copies; });
    }
    for (const char* load : {"sysmark", "financial"}) {
        const PartitionCurve& c = curve_of(*curves, load);
        const PartitionResult& quarter = at_share(c, 0.27);
        out.claim("ap-fig7", fmt::format("{}: a quarter of the DRAM brings most of the log blocks' hits", c.load.title),
                  fmt::format("{:.1f} % at {:.0f} %, {:.1f} % with all", percent(quarter.log_write_hits), percent(quarter.mean_map_share),
                              percent(c.fixed.back().log_write_hits)),
                  {{{quarter.log_write_hits}, {c.fixed.back().log_write_hits}}});
        out.claim("ap-fig7", fmt::format("{}: meanwhile the buffer's hits hardly change", c.load.title),
                  fmt::format("writes {:.1f} % and {:.1f} %", percent(c.fixed.front().buffer_write_hits), percent(quarter.buffer_write_hits)),
                  {{{c.fixed.front().buffer_write_hits - quarter.buffer_write_hits}}});
    }
    const PartitionCurve& pc = curve_of(*curves, "pc");
    const PartitionResult& pc_least = pc.fixed.front();
    out.claim("ap-fig7", "PC: more log blocks, fewer pages copied",
              fmt::format("{:.0f} at {:.0f} %, {:.0f} with all", pc_least.page_copies, percent(pc_least.mean_map_share), pc.fixed.back().page_copies),
              {{{pc.fixed.back().page_copies}, {pc_least.page_copies}}});
    const PartitionCurve& tpcc = curve_of(*curves, "tpcc");
    std::vector<double> hits;
    for (const PartitionResult& r : tpcc.fixed) hits.push_back(r.buffer_write_hits);
    const auto [least, most] = std::ranges::minmax(hits);
    out.claim("ap-fig7", "TPC-C: the buffer's hits are low and almost unchanged",
              fmt::format("writes {:.1f} % to {:.1f} %", percent(least), percent(most)), {{hits}, {{most - least}}});
    return with_partition_setup(std::move(out), all_loads(), context);
}

Result run_ap_fig8(const RunContext& context) {
    Reproduction out;
    for (const std::string ftl : {"dftl", "fast"}) {
        const Curves curves = sweep_partitions(ftl, partition_cases({16}), context);
        if (!curves) return std::unexpected(curves.error());
        for (const char* load : {"pc", "tpcc"}) {
            const PartitionCurve& c = curve_of(*curves, load);
            const std::string name = fmt::format("{}, {}", c.load.title, ftl);
            std::size_t followed = 0;
            for (std::size_t p = 0; p < partition_periods; ++p) {
                const auto rate = [p](const PartitionResult& r) { return r.period_s.at(p) > 0 ? 1 / r.period_s.at(p) : 0.0; };
                const double unit = rate(c.best());
                for (const auto& [kind, r] : {std::pair{"adaptive", &c.adaptive}, std::pair{"worst static", &c.worst()}})
                    out.points.push_back({fmt::format("{}, {}, throughput over the best static's", name, kind),
                                          static_cast<double>(p + 1),
                                          {{"ftl", ftl},
                                           {"workload", c.load.name},
                                           {"dram_bytes", c.dram_mib * mebibyte},
                                           {"period", p + 1},
                                           {"adaptive", r == &c.adaptive}},
                                          unit > 0 ? rate(*r) / unit : 1.0});
                followed += rate(c.adaptive) >= 0.9 * unit ? 1 : 0;
            }
            out.claim("ap-fig8", fmt::format("{}: adaptive follows the best static", name),
                      fmt::format("within 10 % in {} of {} periods", followed, partition_periods),
                      {{{static_cast<double>(followed)}, {static_cast<double>(partition_periods)}}});
        }
        double gain = 0;
        for (const PartitionCurve& c : *curves) gain = std::max(gain, c.worst().operation_s / c.adaptive.operation_s - 1);
        out.points.push_back(
            {fmt::format("{}: largest gain over a static partition, %", ftl), 16, {{"ftl", ftl}, {"dram_bytes", 16 * mebibyte}}, percent(gain)});
    }
    return with_partition_setup(std::move(out), {"pc", "tpcc"}, context);
}

Result run_ap_fig9(const RunContext& context) { return erases("ap-fig9", "dftl", context); }
Result run_ap_fig10(const RunContext& context) { return erases("ap-fig10", "fast", context); }

} // namespace flashlab
