#include <array>
#include <utility>

#include <fmt/format.h>

#include "ftl/schemes/demand_options.h"
#include "tools/reproduce/experiments.h"
#include "tools/reproduce/map_point.h"

namespace flashlab {
namespace {

// LearnedFTL's groups on a drive that was written at random, beside the same map without them, and the others. A quarter is spare: the logs of
// groups lie in it.
constexpr std::array<std::string_view, 5> maps{"page_map", "dftl", "tpftl", "leaftl", "learnedftl"};
constexpr std::array<std::uint32_t, 3> groups{2, 4, 8};
constexpr std::uint32_t full_blocks = 320, quick_blocks = 80, spare_permille = 250, dram_permille = 100;
constexpr std::string_view reads = "random reads", writes = "random writes", hot_writes = "zipf writes";

std::expected<MapMeasured, std::string> measure(const MapSetting& s, bool is_quick) {
    DeviceConfig config = config_of(MapDrive{s.map, is_quick ? quick_blocks : full_blocks, spare_permille, dram_permille});
    if (s.x != 0) config.ssd.ftl.options.set(learnedftl_option::groups, static_cast<std::uint32_t>(s.x));
    const TraceOp op = s.load == reads ? TraceOp::read : TraceOp::write;
    const auto outcome = run_requests_on(
        {.config = config, .requests = is_quick ? 20'000u : 200'000u, .speed = {.depth = 8}, .before = {.fill_percent = 100, .random_fills = 2}}, {},
        single_pages(s.load == hot_writes ? "zipf:0.9" : "uniform", [op](Random&) { return op; }));
    if (!outcome) return std::unexpected(fmt::format("{} with {} groups, {}: {}", s.map, s.x, s.load, outcome.error()));
    return map_measured(*outcome, s.map, s.load == reads ? LatencyOf::reads : LatencyOf::all_requests);
}

bool of_reads(const MapSetting& s) { return s.load == reads; }
bool of_writes(const MapSetting& s) { return s.load != reads; }

} // namespace

ExperimentRun::Result run_beyond_groups(const RunContext& context) {
    std::vector<MapSetting> all;
    for (const std::string_view load : {reads, writes, hot_writes}) {
        for (const std::string_view map : maps) all.push_back({std::string{load}, map, 0});
        for (const std::uint32_t n : groups) all.push_back({std::string{load}, "learnedftl", static_cast<double>(n)});
    }
    auto measured = measure_points<MapMeasured>(context.workers, all.size(), [&](std::size_t i) { return measure(all[i], context.is_quick()); });
    if (!measured) return std::unexpected(measured.error());
    const MapPoints points{"groups", std::move(all), std::move(*measured)};
    Reproduction out;
    points.add(out, "double reads a page read", &MapMeasured::double_reads, of_reads);
    points.add(out, "write amplification", &MapMeasured::waf, of_writes);
    points.add(out, "mean us", &MapMeasured::mean);
    for (const std::uint32_t n : groups) {
        const auto claim = [&](std::string_view name, double MapMeasured::*value, std::string_view under, bool (*of)(const MapSetting&)) {
            auto compared = points.over(value, {"learnedftl", n}, {under, 0}, of);
            out.claim("beyond-groups", fmt::format("{} groups: {}", n, name), std::move(compared.words), {std::move(compared.evidence)});
        };
        claim("written at random, fewer double reads than tpftl", &MapMeasured::double_reads, "tpftl", of_reads);
        claim("written at random, fewer double reads than leaftl", &MapMeasured::double_reads, "leaftl", of_reads);
        auto tail = points.over(&MapMeasured::p99, {"tpftl", 0}, {"learnedftl", n}, of_reads);
        out.claim("beyond-groups", fmt::format("{} groups: p99 of reads is below tpftl's", n), std::move(tail.words), {std::move(tail.evidence)});
        claim("writes no more flash than blocks collected one by one", &MapMeasured::waf, "learnedftl", of_writes);
    }
    out.free_parameters = {{"drive",
                            fmt::format("{} blocks a plane, 25 % spare, filled in order, then written at random twice; DRAM for 10 % of the table",
                                        context.is_quick() ? quick_blocks : full_blocks),
                            "room for the logs; models are charged to the DRAM"}};
    return out;
}

} // namespace flashlab
