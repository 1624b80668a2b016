#include "tools/reproduce/beyond_ftls.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/contract.h"
#include "pram/memory_pram_store.h"
#include "tools/device_presets.h"
#include "tools/payload_stamp.h"
#include "tools/reproduce/trace_run.h"
#include "tools/virtual_device.h"

namespace flashlab {
namespace {

constexpr std::array<std::string_view, 7> layers{"page_map", "dftl", "hftl", "fast", "log_block", "block_map", "coftl"};
constexpr std::array<std::string_view, 4> loads{"financial", "tpcc", "desktop", "pc"};
/// By bits a cell.
constexpr std::array<std::string_view, 4> cell_presets{"modern-slc", "modern-mlc", "modern-tlc", "modern-qlc"};
constexpr std::uint32_t tlc = 3;
constexpr std::uint32_t scale = 16; ///< of the loads' working sets, to the device's 1 GiB
constexpr std::uint32_t queue_depth = 8;

/// One device for all: 1.1 GiB of flash in 2 channels, 12 % of it spare, DRAM for 1 MiB of map or cache.
DeviceConfig device_of(std::string_view scheme, std::string_view preset_name, std::uint32_t blocks_per_plane) {
    auto preset = find_device_preset(preset_name);
    ensure(preset.has_value(), "the presets of today exist");
    DeviceConfig config;
    config.ssd = preset->config;
    auto& geometry = config.ssd.nand.geometry;
    geometry.channels = 2;
    geometry.blocks_per_plane = blocks_per_plane;
    FtlConfig& ftl = config.ssd.ftl;
    ftl.scheme = scheme;
    ftl.reserved_permille = 120;
    ftl.mapping_cache_bytes = std::uint64_t{1} << 20;
    ftl.coftl.cache_bytes = std::uint64_t{1} << 20;
    ftl.striping = scheme == "coftl" ? geometry.channels : 1;
    return config;
}

struct Cell {
    std::string_view scheme, load;
    std::uint32_t bits; ///< a cell
};

Json::Object params(std::string_view scheme, std::string_view load, std::uint32_t bits) {
    return {{"ftl", scheme}, {"workload", load}, {"bits_a_cell", bits}, {"preset", cell_presets[bits - 1]}};
}

/// Measured values of all cells of the table.
class Table {
public:
    Table(std::vector<Cell> all, std::vector<TraceOutcome> outcomes) : all_{std::move(all)}, outcomes_{std::move(outcomes)} {}
    [[nodiscard]] const TraceOutcome& at(std::string_view scheme, std::string_view load, std::uint32_t bits) const {
        const auto found = std::ranges::find_if(all_, [&](const Cell& c) { return c.scheme == scheme && c.load == load && c.bits == bits; });
        ensure(found != all_.end(), "a cell of the table");
        return outcomes_[static_cast<std::size_t>(found - all_.begin())];
    }
    void add_points(Reproduction& out, std::string_view what, const std::vector<std::uint32_t>& over, double (*value)(const TraceOutcome&)) const {
        for (const std::string_view load : loads)
            for (const std::string_view scheme : layers)
                for (const std::uint32_t bits : over)
                    out.points.push_back({fmt::format("{}, {} ({})", scheme, what, load), static_cast<double>(bits), params(scheme, load, bits), value(at(scheme, load, bits))});
    }

private:
    std::vector<Cell> all_;
    std::vector<TraceOutcome> outcomes_;
};

double requests_per_second(const TraceOutcome& o) { return o.requests_per_second(); }
double p99_ms(const TraceOutcome& o) { return o.report["latency_us"]["p99"].real() / 1000; }
double amplification(const TraceOutcome& o) { return o.report["waf"].real(); }
double map_kib(const TraceOutcome& o) { return static_cast<double>(o.map_bytes) / 1024; }
double erases(const TraceOutcome& o) { return o.report["nand_erase_blocks"].real(); }

void judge(Reproduction& out, const Table& table) {
    std::string slower, more, order;
    for (const std::string_view load : loads) {
        const double ideal = requests_per_second(table.at("page_map", load, tlc)), least = amplification(table.at("page_map", load, tlc));
        for (const std::string_view scheme : layers) {
            if (scheme != "coftl" && requests_per_second(table.at(scheme, load, tlc)) > ideal * 1.05)
                slower += fmt::format(" {} on {} x{:.2f};", scheme, load, requests_per_second(table.at(scheme, load, tlc)) / ideal);
            if (amplification(table.at(scheme, load, tlc)) < least * 0.95)
                more += fmt::format(" {} on {} {:.2f} of {:.2f};", scheme, load, amplification(table.at(scheme, load, tlc)), least);
        }
        const auto slowest = [&](std::uint32_t bits) {
            return *std::ranges::min_element(layers, {}, [&](std::string_view s) { return requests_per_second(table.at(s, load, bits)); });
        };
        for (std::uint32_t bits = 1; bits <= cell_presets.size(); ++bits)
            if (slowest(bits) != "block_map")
                order += fmt::format(" {} with {} bits: {};", load, bits, slowest(bits));
    }
    out.claims.push_back({"no layer without a data cache is faster than a page map in DRAM", slower.empty() ? "within 5 %" : "faster:" + slower, slower.empty()});
    out.claims.push_back({"no layer writes less flash than a page map in DRAM", more.empty() ? "within 5 %" : "less:" + more, more.empty()});
    const auto memory = [&](std::string_view scheme) { return map_kib(table.at(scheme, loads.front(), tlc)); };
    std::string sizes;
    for (const std::string_view scheme : layers)
        sizes += fmt::format("{}{} {:.0f} KiB", sizes.empty() ? "" : ", ", scheme, memory(scheme));
    const bool in_order = memory("dftl") < memory("page_map") && memory("block_map") < memory("dftl") && memory("block_map") < memory("log_block");
    out.claims.push_back({"dftl keeps less of its map in DRAM than a page map, and a block map least", sizes + fmt::format(" ({})", loads.front()), in_order});
    out.claims.push_back({"block mapping is the slowest on every load and cell", order.empty() ? "on all" : "slowest:" + order, order.empty()});
}

} // namespace

ExperimentRun::Result run_beyond_ftls(const RunContext& context) {
    std::vector<Cell> all;
    for (const std::string_view load : loads)
        for (const std::string_view scheme : layers)
            for (std::uint32_t bits = 1; bits <= cell_presets.size(); ++bits)
                all.push_back({scheme, load, bits});
    const auto load_of = [&](std::string_view name) { return Load{context, std::string{name}, fmt::format("workload:{},scale={}", name, scale)}; };
    auto outcomes = measure_points<TraceOutcome>(context.workers, all.size(), [&](std::size_t i) -> std::expected<TraceOutcome, std::string> {
        const std::uint64_t requests = all[i].scheme == "block_map" ? (context.is_quick() ? 2000u : 20'000u) : (context.is_quick() ? 20'000u : 200'000u);
        TraceRun run{.config = device_of(all[i].scheme, cell_presets[all[i].bits - 1], 320), .requests = requests, .speed = {.depth = queue_depth}};
        auto outcome = run_trace_on(run, load_of(all[i].load));
        return outcome ? std::move(outcome) : std::unexpected(fmt::format("{} on {}: {}", all[i].scheme, all[i].load, outcome.error()));
    });
    if (!outcomes)
        return std::unexpected(outcomes.error());
    const Table table{std::move(all), std::move(*outcomes)};
    Reproduction out;
    table.add_points(out, "requests/s", {1, 2, 3, 4}, requests_per_second);
    table.add_points(out, "p99 ms", {1, 2, 3, 4}, p99_ms);
    table.add_points(out, "write amplification", {tlc}, amplification);
    table.add_points(out, "erased blocks", {tlc}, erases);
    table.add_points(out, "DRAM of its maps, KiB", {tlc}, map_kib);
    judge(out, table);
    for (const std::string_view load : loads) {
        const auto source = load_of(load).source();
        if (!source)
            return std::unexpected(source.error());
        out.loads.push_back(*source);
    }
    out.free_parameters = {{"device", "1 GiB, 2 channels, 12 % spare", "one for all, small enough to be in its steady state soon; written once beforehand"},
                           {"DRAM", "1 MiB of map cache (dftl) or data cache (coftl)", "a thousandth of the capacity, as drives of today have for the whole map"},
                           {"queue depth", fmt::format("{}", queue_depth), "closed loop"},
                           {"block_map", "a tenth of the requests", "it copies a block for nearly every write"}};
    return out;
}

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
    if (!device)
        return std::unexpected(device.error());
    rig.device = std::move(*device);
    return rig;
}

/// What the next start takes of the drive's time after the process was killed: everything issued is complete, nothing was shut down.
std::expected<double, std::string> restart_ms(const TraceRun& run, const Load& load) {
    const auto plan = plan_device(run.config, std::nullopt);
    if (!plan)
        return std::unexpected(plan.error());
    NullEventSink events;
    auto used = assemble(*plan, events), next = assemble(*plan, events);
    if (!used || !next)
        return std::unexpected(used ? next.error() : used.error());
    if (auto started = used->device->start(sim_start); !started)
        return std::unexpected(started.error());
    PayloadStamp stamp;
    RunSpace space{*used->device};
    space.payload = &stamp;
    const auto filled = precondition(space, run.before, run.seed, space.begin);
    if (!filled)
        return std::unexpected(filled.error());
    auto trace = load.open();
    if (!trace)
        return std::unexpected(trace.error());
    AddressFit fit{FitPolicy::wrap, space.bytes()};
    std::uint64_t left = run.requests;
    const auto tally = replay(space, [&](TraceRequest& r) -> std::expected<bool, std::string> { return left-- == 0 ? std::expected<bool, std::string>{false} : (*trace)->next(r); }, fit,
                              run.speed, *filled);
    if (!tally)
        return std::unexpected(tally.error());
    next->cells->copy_from(*used->cells);
    next->pram->copy_from(*used->pram);
    if (auto started = next->device->start(sim_start); !started)
        return std::unexpected("restart: " + started.error());
    return static_cast<double>((next->device->ready_at() - sim_start).count()) / 1e6;
}

} // namespace

ExperimentRun::Result run_beyond_recovery(const RunContext& context) {
    const std::vector<std::uint32_t> sizes = context.is_quick() ? std::vector<std::uint32_t>{16, 32} : std::vector<std::uint32_t>{32, 64, 128};
    const Load load{context, "financial", fmt::format("workload:financial,scale={}", 4 * scale)};
    const auto measured = measure_points<double>(context.workers, layers.size() * sizes.size(), [&](std::size_t i) {
        const std::string_view scheme = layers[i / sizes.size()];
        return restart_ms({.config = device_of(scheme, cell_presets[tlc - 1], sizes[i % sizes.size()]), .requests = 5000, .speed = {.depth = queue_depth}}, load);
    });
    if (!measured)
        return std::unexpected(measured.error());
    Reproduction out;
    std::string grows;
    for (std::size_t s = 0; s < layers.size(); ++s) {
        for (std::size_t n = 0; n < sizes.size(); ++n)
            out.points.push_back({fmt::format("{}, recovery ms", layers[s]), static_cast<double>(sizes[n]), {{"ftl", layers[s]}, {"blocks_per_plane", sizes[n]}}, (*measured)[s * sizes.size() + n]});
        grows += fmt::format("{}{} x{:.2f}", s == 0 ? "" : ", ", layers[s], (*measured)[(s + 1) * sizes.size() - 1] / std::max(1e-9, (*measured)[s * sizes.size()]));
    }
    const auto coftl = static_cast<std::size_t>(std::ranges::find(layers, "coftl") - layers.begin());
    const double growth = (*measured)[(coftl + 1) * sizes.size() - 1] / (*measured)[coftl * sizes.size()];
    const double capacity = static_cast<double>(sizes.back()) / sizes.front();
    out.claims.push_back({"COFTL's recovery is bounded by its free list, not by the capacity", fmt::format("flash x{:.0f}: {}", capacity, grows), growth < capacity * 0.75});
    const auto source = load.source();
    if (!source)
        return std::unexpected(source.error());
    out.loads = {*source};
    out.free_parameters = {{"device", "2 channels of TLC of today, 12 % spare", "x is blocks of 1 MiB a plane; there are four planes"}};
    return out;
}

} // namespace flashlab
