#include "tools/reproduce/restart.h"

#include "base/contract.h"
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

} // namespace

std::expected<Restart, std::string> restart(const TraceRun& run, const MakeRequests& load) {
    const auto plan = plan_device(run.config, std::nullopt);
    if (!plan) return std::unexpected(plan.error());
    NullEventSink events;
    auto used = assemble(*plan, events), next = assemble(*plan, events);
    if (!used || !next) return std::unexpected(used ? next.error() : used.error());
    if (auto started = used->device->start(sim_start); !started) return std::unexpected(started.error());
    PayloadStamp stamp;
    RunSpace space{*used->device};
    space.payload = &stamp;
    const auto filled = precondition(space, run.before, run.seed, space.begin);
    if (!filled) return std::unexpected(filled.error());
    const auto requests = load(space.bytes());
    if (!requests) return std::unexpected(requests.error());
    AddressFit fit{FitPolicy::wrap, space.bytes()};
    const auto tally = replay(space, first_of(*requests, run.requests), fit, run.speed, *filled);
    if (!tally) return std::unexpected(tally.error());
    next->cells->copy_from(*used->cells);
    next->pram->copy_from(*used->pram);
    if (auto started = next->device->start(sim_start); !started) return std::unexpected("restart: " + started.error());
    return Restart{static_cast<double>((next->device->ready_at() - sim_start).count()) / 1e6, next->device->recovery().pages_scanned,
                   next->device->array().geometry().blocks()};
}

} // namespace flashlab
