#include "tools/reproduce/restart.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/contract.h"
#include "base/random.h"
#include "nand/memory_page_store.h"
#include "pram/memory_pram_store.h"
#include "tools/run/payload_stamp.h"
#include "tools/run/virtual_device.h"

namespace flashlab {

namespace {

/// A drive in memory, with payload: its maps are to be read again.
struct RestartRig {
    MemoryPageStore* cells;
    MemoryPramStore* pram;
    std::unique_ptr<Device> device;
};

std::expected<RestartRig, std::string> assemble(const DevicePlan& plan, EventSink& events) {
    const auto geometry = Geometry::make(plan.config.ssd.nand.geometry);
    ensure(geometry.has_value(), "a plan's geometry is valid");
    auto cells = std::make_unique<MemoryPageStore>(*geometry, Payload::keep);
    auto pram = std::make_unique<MemoryPramStore>(plan.pram_bytes);
    RestartRig rig{cells.get(), pram.get(), nullptr};
    auto device = Device::assemble(plan.config, std::move(cells), std::move(pram), events, DevicePast::final);
    if (!device) return std::unexpected(device.error());
    rig.device = std::move(*device);
    return rig;
}

/// The first drive as it is, started by a new one.
std::expected<Restart, std::string> start_of_copy(const DevicePlan& plan, const RestartRig& used, EventSink& events) {
    auto next = assemble(plan, events);
    if (!next) return std::unexpected(next.error());
    next->cells->copy_from(*used.cells);
    next->pram->copy_from(*used.pram);
    if (auto started = next->device->start(sim_start); !started) return std::unexpected("restart: " + started.error());
    return Restart{static_cast<double>((next->device->ready_at() - sim_start).count()) / 1e6, next->device->recovery().pages_scanned,
                   next->device->array().geometry().blocks()};
}

std::expected<std::vector<Restart>, std::string> each_restart(const TraceRun& run, const MakeRequests& load, std::size_t kills) {
    const auto plan = plan_device(run.config, std::nullopt);
    if (!plan) return std::unexpected(plan.error());
    NullEventSink events;
    auto used = assemble(*plan, events);
    if (!used) return std::unexpected(used.error());
    if (auto started = used->device->start(sim_start); !started) return std::unexpected(started.error());
    PayloadStamp stamp;
    RunSpace space{*used->device};
    space.payload = &stamp;
    const auto filled = precondition(space, run.before, run.seed, space.begin);
    if (!filled) return std::unexpected(filled.error());
    const auto requests = load(space.bytes());
    if (!requests) return std::unexpected(requests.error());
    const NextRequest go_on = [&requests](TraceRequest& request) { return (*requests)(request); };
    AddressFit fit{FitPolicy::wrap, space.bytes()};
    Random random{run.seed};
    std::vector<Restart> all;
    SimTime now = *filled;
    for (std::uint64_t more = run.requests; all.size() < kills; more = 1 + random.below(run.requests / 2 + 1)) {
        const auto tally = replay(space, first_of(go_on, more), fit, run.speed, now);
        if (!tally) return std::unexpected(tally.error());
        now = tally->end;
        auto started = start_of_copy(*plan, *used, events);
        if (!started) return std::unexpected(started.error());
        all.push_back(*started);
    }
    return all;
}

} // namespace

std::expected<Restart, std::string> restart(const TraceRun& run, const MakeRequests& load) {
    const auto all = each_restart(run, load, 1);
    if (!all) return std::unexpected(all.error());
    return all->front();
}

std::expected<Restarts, std::string> restarts(const TraceRun& run, const MakeRequests& load, std::size_t kills) {
    auto all = each_restart(run, load, kills);
    if (!all) return std::unexpected(all.error());
    const auto sorted = [&all](auto Restart::*value) {
        std::ranges::sort(*all, {}, value);
        return std::pair{(*all)[all->size() / 2].*value, all->back().*value};
    };
    const auto [ms, most_ms] = sorted(&Restart::ms);
    const auto [pages, most_pages] = sorted(&Restart::pages_scanned);
    const std::uint64_t blocks = all->front().blocks;
    return Restarts{{ms, pages, blocks}, {most_ms, most_pages, blocks}};
}

} // namespace flashlab
