#include "tools/reproduce/experiment.h"

#include <algorithm>
#include <array>

#include "tools/reproduce/dumbo_figures.h"
#include "tools/reproduce/dumbo_user.h"
#include "tools/reproduce/hybrid_files.h"
#include "tools/reproduce/hybrid_ftl.h"
#include "tools/reproduce/hybrid_iozone.h"

namespace flashlab {
namespace {

constexpr std::string_view dumbo = "Kang et al., A multi-channel architecture for high-performance NAND flash-based storage system, 2007";
constexpr std::string_view hybrid = "Kim et al., A PRAM and NAND flash hybrid architecture for high-performance embedded storage subsystems, 2008";

constexpr std::array all{
    Experiment{"mc-fig11", dumbo, "Throughput over request size, striping over 1, 2 and 4 channels", run_mc_fig11},
    Experiment{"mc-fig12", dumbo, "Throughput over request size, 1, 2 and 4 requests interleaved", run_mc_fig12},
    Experiment{"mc-fig13", dumbo, "Throughput over request size, with and without pipelining", run_mc_fig13},
    Experiment{"mc-fig14", dumbo, "Throughput of all ways to use four channels, pipelined", run_mc_fig14},
    Experiment{"mc-fig15", dumbo, "Mean service time of all ways to use four channels, pipelined", run_mc_fig15},
    Experiment{"mc-fig16", dumbo, "What applications get through Linux and the FTL, over the block size", run_mc_fig16},
    Experiment{"hy-fig3", hybrid, "How many words of a metadata sector a write changes", run_hy_fig3},
    Experiment{"hy-fig9", hybrid, "Write throughput of hftl nearly full, over reserved blocks in percent, with and without logical-page-delete", run_hy_fig9},
    Experiment{"hy-fig11", hybrid, "FTL level: throughput over request size, log blocks against a page map in PRAM", run_hy_fig11},
    Experiment{"hy-fig12", hybrid, "File system level: IOZone's patterns over record size, {log_block, hftl} x {FSMS off, on}", run_hy_fig12},
    Experiment{"hy-fig13", hybrid, "Block erases while files come and go", run_hy_fig13},
    Experiment{"hy-fig14", hybrid, "PRAM in use on 1 GB", run_hy_fig14},
};

} // namespace

std::span<const Experiment> experiments() { return all; }

const Experiment* find_experiment(std::string_view id) {
    const auto at = std::ranges::find(all, id, &Experiment::id);
    return at == all.end() ? nullptr : &*at;
}

Json to_json(const Experiment& experiment, const Reproduction& result) {
    Json points{Json::Array{}};
    for (const ReproducedPoint& p : result.points) {
        const auto paper = paper_value(experiment.id, p.series, p.x);
        points.push(Json::object({{"series", p.series},
                                  {"x", p.x},
                                  {"params", Json{p.params}},
                                  {"paper", paper ? Json{*paper} : Json{}},
                                  {"ours", p.ours},
                                  {"ratio", paper ? Json{p.ours / *paper} : Json{}}}));
    }
    Json claims{Json::Array{}};
    for (const ReproducedClaim& c : result.claims)
        claims.push(Json::object({{"text", c.text}, {"paper", paper_words(experiment.id, c.text)}, {"ours", c.ours}, {"holds", c.holds}}));
    return Json::object(
        {{"id", experiment.id}, {"paper", experiment.paper}, {"title", experiment.title}, {"points", std::move(points)}, {"claims", std::move(claims)}});
}

} // namespace flashlab
