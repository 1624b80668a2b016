#include "tools/reproduce/experiment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "tools/reproduce/experiments.h"

namespace flashlab {
namespace {

constexpr std::string_view dumbo = "Kang et al., A multi-channel architecture for high-performance NAND flash-based storage system, 2007";
constexpr std::string_view hybrid = "Kim et al., A PRAM and NAND flash hybrid architecture for high-performance embedded storage subsystems, 2008";
constexpr std::string_view partitioning = "Shim et al., An adaptive partitioning scheme for DRAM-based cache in solid state drives, 2010";

constexpr std::string_view coftl = "Chang et al., An efficient FTL design for multi-chipped solid-state drives, 2010";

constexpr std::string_view tpftl = "Zhou et al., An efficient page-level FTL to optimize address translation in flash memory, 2015";
constexpr std::string_view leaftl = "Sun et al., LeaFTL: a learning-based flash translation layer for solid-state drives, 2023";
constexpr std::string_view learnedftl =
    "Wang et al., LearnedFTL: a learning-based page-level FTL for reducing double reads in flash-based SSDs, 2024";

constexpr std::string_view filled = "techpowerup.com, reviews of consumer drives: one sequential fill, plots read by eye";
constexpr std::string_view sold = "Haas et al., SSD-iq: uncovering the hidden side of SSD performance, 2025";

constexpr std::string_view beyond = "Beyond the papers";

constexpr std::array all{
    Experiment{"co-fig7", coftl, "Throughput over the blocks of a virtual block, 16 channels", run_co_fig7, true},
    Experiment{"co-fig8", coftl, "Throughput over the size of the data cache, 16 channels, 4 blocks a virtual block", run_co_fig8, true},
    Experiment{"co-fig9", coftl, "Throughput over the channels, 16 MB of cache, 2 blocks a virtual block", run_co_fig9, true},
    Experiment{"mc-fig11", dumbo, "Throughput over request size, striping over 1, 2 and 4 channels", run_mc_fig11},
    Experiment{"mc-fig12", dumbo, "Throughput over request size, 1, 2 and 4 requests interleaved", run_mc_fig12},
    Experiment{"mc-fig13", dumbo, "Throughput over request size, with and without pipelining", run_mc_fig13},
    Experiment{"mc-fig14", dumbo, "Throughput of all ways to use four channels, pipelined", run_mc_fig14},
    Experiment{"mc-fig15", dumbo, "Mean service time of all ways to use four channels, pipelined", run_mc_fig15},
    Experiment{"mc-fig16", dumbo, "What applications get through Linux and the FTL, over the block size", run_mc_fig16},
    Experiment{"hy-fig3", hybrid, "How many words of a metadata sector a write changes", run_hy_fig3},
    Experiment{"hy-fig9", hybrid, "Write throughput of hftl nearly full, over reserved blocks in percent, with and without logical-page-delete",
               run_hy_fig9},
    Experiment{"hy-fig11", hybrid, "FTL level: throughput over request size, log blocks against a page map in PRAM", run_hy_fig11},
    Experiment{"hy-fig12", hybrid, "File system level: IOZone's patterns over record size, {log_block, hftl} x {FSMS off, on}", run_hy_fig12},
    Experiment{"hy-fig13", hybrid, "Block erases while files come and go", run_hy_fig13},
    Experiment{"hy-fig14", hybrid, "PRAM in use on 1 GB", run_hy_fig14},
    Experiment{"ap-fig2", partitioning, "Operation time over the size of the write buffer and of the maps, DFTL", run_ap_fig2, true},
    Experiment{"ap-fig4", partitioning, "Operation time over the share of the maps, DFTL", run_ap_fig4, true},
    Experiment{"ap-fig5", partitioning, "Hits, copies and flash operations over the share of the maps, DFTL", run_ap_fig5, true},
    Experiment{"ap-fig6", partitioning, "Operation time over the share of the maps, FAST", run_ap_fig6, true},
    Experiment{"ap-fig7", partitioning, "Hits, copies and flash operations over the share of the maps, FAST", run_ap_fig7, true},
    Experiment{"ap-fig8", partitioning, "Throughput over time, DFTL and FAST", run_ap_fig8, true},
    Experiment{"ap-fig9", partitioning, "Erases over the share of the maps, DFTL", run_ap_fig9, true},
    Experiment{"ap-fig10", partitioning, "Erases over the share of the maps, FAST", run_ap_fig10, true},
    Experiment{"maps-tpftl", tpftl, "TPFTL and DFTL over the size of the cache: hits, translation pages, response time, write amplification",
               run_maps_tpftl, true},
    Experiment{"maps-leaftl", leaftl, "LeaFTL: its table over gamma, segments and levels, wrong predictions; latency beside DFTL", run_maps_leaftl,
               true},
    Experiment{"maps-learnedftl", learnedftl, "LearnedFTL, LeaFTL, TPFTL and DFTL: double reads, reads a second, tail latency", run_maps_learnedftl,
               true},
    Experiment{"dev-micron-7450", sold, "Micron 7450 MAX, 800 GB: write amplification, writes a second, latencies over load", run_dev_micron_7450,
               true},
    Experiment{"dev-solidigm-p5520", sold, "Solidigm D7-P5520, 1.92 TB: write amplification, writes a second, latencies over load",
               run_dev_solidigm_p5520, true},
    Experiment{"dev-samsung-980pro", filled, "Samsung 980 Pro, 1 TB: speed of a sequential fill over GB written", run_dev_samsung_980pro, true},
    Experiment{"dev-samsung-870qvo", filled, "Samsung 870 QVO, 4 TB: speed of a sequential fill over GB written", run_dev_samsung_870qvo, true},
    Experiment{"dev-adata-atom50", filled, "ADATA Atom 50, 1 TB: speed of a sequential fill over GB written", run_dev_adata_atom50, true},
    Experiment{"dev-lexar-nm800pro", filled, "Lexar NM800 Pro, 2 TB: speed of a sequential fill over GB written", run_dev_lexar_nm800pro, true},
    Experiment{"beyond-ftls", beyond, "All translation layers on one device of today: loads by bits a cell", run_beyond_ftls, true},
    Experiment{"beyond-recovery", beyond, "Time of a start after the process was killed, by capacity", run_beyond_recovery, true},
    Experiment{"beyond-maps", beyond, "DFTL, TPFTL, S-FTL, LeaFTL and LearnedFTL with equal DRAM, over DRAM in percent of the table", run_beyond_maps,
               true},
    Experiment{"beyond-groups", beyond, "LearnedFTL's groups on a drive written at random, beside the other maps", run_beyond_groups},
    Experiment{"beyond-coftl-parts", beyond, "COFTL against BL with the same DRAM over the channels, each part of its gain taken away",
               run_beyond_coftl_parts, true},
    Experiment{"beyond-coftl-chips", beyond, "COFTL over the channels: planes that take turns, two-plane commands, the log written twice",
               run_beyond_coftl_chips, true},
    Experiment{"beyond-phases", beyond, "Adaptive partitioning on a load of changing phases, DFTL and FAST: time, erases, share over time",
               run_beyond_phases, true},
    Experiment{"beyond-coftl-partition", beyond, "Adaptive partitioning for COFTL: operation time and erases over the share of the maps",
               run_beyond_coftl_partition, true},
    Experiment{"beyond-sensitivity", beyond, "Adaptive partitioning over its open values: clamp, interval, ghost size and reach, tune unit",
               run_beyond_sensitivity, true},
    Experiment{"beyond-causes", beyond, "What stands behind claims of ap-fig4 to 10 that fail: the suspected cause taken away", run_beyond_causes,
               true},
    Experiment{"beyond-pram-buffer", beyond, "A write buffer in PRAM beside one in DRAM, over how often the host flushes", run_beyond_pram_buffer,
               true},
    Experiment{"beyond-frontiers", beyond, "hftl with one and two buffer blocks, over the fill level", run_beyond_frontiers, true},
    Experiment{"beyond-handles", beyond, "Placement handles: write amplification with none, initially and persistently isolated", run_beyond_handles,
               true},
    Experiment{"beyond-files", beyond, "What hy-fig3 and hy-fig13 leave open of their files: records and small files, varied", run_beyond_files,
               true},
    Experiment{"beyond-overheads", beyond, "What mc-fig11, mc-fig16 and hy-fig12 charge for overheads, charged another way", run_beyond_overheads},
};

} // namespace

std::span<const Experiment> experiments() { return all; }

const Experiment* find_experiment(std::string_view id) {
    const auto at = std::ranges::find(all, id, &Experiment::id);
    return at == all.end() ? nullptr : &*at;
}

ExperimentRun::Result Experiment::reproduce(const RunContext& context) const {
    auto result = run(context);
    if (result) std::ranges::move(judge_quoted(id, *result), std::back_inserter(result->claims));
    return result;
}

/// A quotient of nothing by nothing is no number: null.
Json finite(double value) { return std::isfinite(value) ? Json{value} : Json{}; }

Json to_json(const Experiment& experiment, const Reproduction& result) {
    Json points{Json::Array{}};
    for (const ReproducedPoint& p : result.points) {
        const auto paper = paper_value(experiment.id, p.series, p.x);
        points.push(Json::object({{"series", p.series},
                                  {"x", p.x},
                                  {"params", Json{p.params}},
                                  {"paper", paper ? Json{*paper} : Json{}},
                                  {"ours", finite(p.ours)},
                                  {"ratio", paper ? finite(p.ours / *paper) : Json{}}}));
    }
    Json claims{Json::Array{}};
    for (const ReproducedClaim& c : result.claims)
        claims.push(Json::object(
            {{"text", c.text}, {"paper", c.paper}, {"ours", c.ours}, {"holds", c.holds}, {"kind", to_text(c.kind)}, {"bound", c.bound}}));
    Json loads{Json::Array{}}, parameters{Json::Array{}};
    for (const ReproducedLoad& l : result.loads) loads.push(Json::object({{"name", l.name}, {"source", l.source}}));
    for (const FreeParameter& f : result.free_parameters)
        parameters.push(
            Json::object({{"name", f.name}, {"value", f.value}, {"why", f.why}, {"fitted_to", f.fitted_to}, {"changed_after", f.changed_after}}));
    return Json::object({{"id", experiment.id},
                         {"paper", experiment.paper},
                         {"title", experiment.title},
                         {"points", std::move(points)},
                         {"claims", std::move(claims)},
                         {"loads", std::move(loads)},
                         {"free_parameters", std::move(parameters)}});
}

} // namespace flashlab
