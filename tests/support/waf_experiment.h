/// Write amplification of page_map under uniform random writes, beside the closed form: the test and ftl_bench print the same experiment.
///
/// Idea       One plane, one frontier, 4,096 blocks of 64 pages; filled once, then three fills of uniform random pages, the last two of them counted.
///            Spare is what is neither logical nor kept for checkpoints, of what is not kept for checkpoints: nothing is hidden.
/// Source     Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012: LRU (here: fifo) and greedy cleaning.
#pragma once

#include <cmath>
#include <string>

#include "base/random.h"
#include "ftl/blocks/closed_form.h"
#include "ftl/memory_drive.h"
#include "tests/support/device_shapes.h"

namespace flashlab::test {

/// `alpha`: physical over logical pages.
inline double waf_of_fifo(double alpha) { return alpha / (alpha + lambert_w(-alpha * std::exp(-alpha))); }

struct WafPoint {
    double spare = 0;
    double measured = 0; ///< programs of the host and of collections, for each page written
    double with_map = 0; ///< checkpoints included
    double greedy = 0;
    double fifo = 0;
    double expected = 0; ///< as mkfs tells it
};

inline WafPoint measure_waf(std::uint32_t reserved_permille, const std::string& victim, std::uint32_t blocks_per_plane = 4096) {
    SsdConfig config = one_plane(blocks_per_plane);
    config.ftl.scheme = "page_map";
    config.ftl.victim = victim;
    config.ftl.reserved_permille = reserved_permille;
    NullEventSink sink;
    const auto drive = MemoryDrive::make(config, Payload::none, sink).value();
    const Geometry& geometry = drive->geometry();
    const FtlPlan& plan = drive->plan();
    NandArray& array = drive->array();
    Ftl& ftl = drive->ftl();
    SimTime now = ftl.recover(sim_start).value().done;
    const auto write = [&](std::uint32_t lpn) {
        now = ftl.write(Lpn{lpn}, 1, {}, {now, {}}).value();
        array.settle(now);
    };
    const auto programs = [&](Cause cause) { return static_cast<double>(array.counters().programs[static_cast<std::size_t>(cause)]); };
    Random random{17};
    for (std::uint32_t l = 0; l < plan.logical_pages; ++l) write(l);
    for (std::uint32_t i = 0; i < plan.logical_pages; ++i) write(static_cast<std::uint32_t>(random.below(plan.logical_pages)));
    const double before = programs(Cause::user) + programs(Cause::gc);
    const double map_before = programs(Cause::map);
    const double writes = 2.0 * plan.logical_pages;
    for (std::uint64_t i = 0; i < 2ull * plan.logical_pages; ++i) write(static_cast<std::uint32_t>(random.below(plan.logical_pages)));
    const double physical = static_cast<double>(geometry.blocks() - plan.meta_blocks) * geometry.pages_per_block();
    WafPoint point;
    point.spare = 1 - plan.logical_pages / physical;
    point.measured = (programs(Cause::user) + programs(Cause::gc) - before) / writes;
    point.with_map = point.measured + (programs(Cause::map) - map_before) / writes;
    point.greedy = greedy_amplification(physical / plan.logical_pages, geometry.pages_per_block());
    point.fifo = waf_of_fifo(physical / plan.logical_pages);
    point.expected = plan.expected_waf;
    return point;
}

} // namespace flashlab::test
