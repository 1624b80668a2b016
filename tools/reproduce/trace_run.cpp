#include "tools/reproduce/trace_run.h"

#include <memory>

#include "ftl/cache/mapping_space.h"
#include "ftl/maps/learned_table.h"
#include "ftl/maps/paged_ftl.h"
#include "tools/run/run_report.h"
#include "tools/run/virtual_device.h"

namespace flashlab {

namespace {

constexpr std::uint64_t number_bytes = 4; ///< of a page or of a block

const LearnedTable* learned_table(Ftl& ftl) {
    const auto* leaftl = dynamic_cast<const PagedFtl<LearnedTable>*>(&ftl.undecorated());
    return leaftl == nullptr ? nullptr : &leaftl->table();
}

/// What the maps take of the drive's DRAM at this moment, without valid bitmaps, block states and erase counts, which all layers need. hftl's map
/// lies in PRAM: it keeps the pages of open blocks. Layers that share their DRAM tell it themselves.
std::uint64_t map_dram_bytes(Device& device) {
    Ftl& ftl = device.ftl();
    if (const MappingSpace* space = ftl.mapping_space()) return space->map_bytes_used();
    const Geometry& g = device.array().geometry();
    std::uint64_t logs = 0, open = 0;
    for (std::uint32_t block = 0; block < g.blocks(); ++block) {
        const BlockUse use = ftl.status_of(BlockId{block}).use;
        logs += use == BlockUse::log ? 1 : 0;
        open += use == BlockUse::open ? 1 : 0;
    }
    const std::uint64_t a_block = g.pages_per_block();
    if (ftl.name() == "page_map") return ftl.logical_pages() * number_bytes;
    if (ftl.name() == "hftl") return open * a_block * number_bytes;
    return (ftl.logical_pages() / a_block + logs * a_block) * number_bytes;
}

} // namespace

MakeRequests requests_of(const Load& load) {
    return [&load](std::uint64_t) -> std::expected<NextRequest, std::string> {
        auto trace = load.open();
        if (!trace) return std::unexpected(trace.error());
        return [reader = std::shared_ptr<TraceReader>{std::move(*trace)}](TraceRequest& request) { return reader->next(request); };
    };
}

NextRequest first_of(NextRequest all, std::uint64_t requests) {
    return [next = std::move(all), left = requests](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (left == 0) return false;
        --left;
        return next(request);
    };
}

std::expected<TraceOutcome, std::string> run_requests_on(const TraceRun& run, const MakeRequests& ageing, const MakeRequests& load) {
    const auto plan = plan_device(run.config, std::nullopt);
    if (!plan) return std::unexpected(plan.error());
    NullEventSink events;
    auto device = make_virtual_device(*plan, Payload::none, events);
    if (!device) return std::unexpected(device.error());
    if (auto started = (*device)->start(sim_start); !started) return std::unexpected(started.error());
    const auto filled = precondition(**device, run.before, run.seed, (*device)->ready_at());
    if (!filled) return std::unexpected(filled.error());
    const std::uint64_t bytes = (*device)->ssd().identify().sectors * sector_bytes;
    AddressFit fit{FitPolicy::wrap, bytes};
    SimTime begin = *filled;
    if (ageing) {
        const auto aged_by = ageing(bytes);
        if (!aged_by) return std::unexpected(aged_by.error());
        const auto aged = replay(**device, *aged_by, fit, run.speed, begin);
        if (!aged) return std::unexpected(aged.error());
        begin = aged->end;
    }
    const auto next = load(bytes);
    if (!next) return std::unexpected(next.error());
    const RunSnapshot before = RunSnapshot::of(**device, begin);
    const auto tally = replay(**device, first_of(*next, run.requests), fit, run.speed, begin);
    if (!tally) return std::unexpected(tally.error());
    if (tally->requests() == 0 || tally->end <= tally->begin)
        return std::unexpected(std::string{"the trace is too short: nothing of it takes any time on this drive"});
    TraceOutcome outcome;
    outcome.seconds = static_cast<double>((tally->end - tally->begin).count()) / 1e9;
    outcome.requests = tally->requests();
    outcome.map_bytes = map_dram_bytes(**device);
    Ftl& ftl = (*device)->ftl();
    const LearnedTable* table = learned_table(ftl);
    outcome.table_bytes = table != nullptr ? table->table_bytes() : ftl.logical_pages() * number_bytes;
    outcome.report = report_run({"", run.seed, 0}, **device, before, *tally);
    if (run.look) run.look(**device);
    return outcome;
}

std::expected<TraceOutcome, std::string> run_trace_on(const TraceRun& run, const Load& load) { return run_requests_on(run, {}, requests_of(load)); }

} // namespace flashlab
