#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/contract.h"
#include "ftl/schemes/coftl.h"
#include "ftl/schemes/demand_options.h"
#include "tools/drive/device_presets.h"
#include "tools/reproduce/experiments.h"
#include "tools/reproduce/restart.h"

namespace flashlab {
namespace {

constexpr std::array<std::string_view, 7> layers{"page_map", "dftl", "hftl", "fast", "log_block", "block_map", "coftl"};
constexpr std::array<std::string_view, 4> generated{"financial", "tpcc", "desktop", "pc"};
/// By bits a cell.
constexpr std::array<std::string_view, 4> cell_presets{"modern-slc", "modern-mlc", "modern-tlc", "modern-qlc"};
constexpr std::uint32_t tlc = 3;
constexpr std::uint32_t scale = 16; ///< of the loads' working sets, to the device's 1 GiB
constexpr std::uint32_t queue_depth = 8;
constexpr std::uint32_t blocks_per_plane = 320;          ///< 1 GiB and spare
constexpr std::uint32_t restarted_blocks_per_plane = 40; ///< an eighth: a restart keeps payload in memory, twice

/// One device for all: 1.1 GiB of flash in 2 channels, 12 % of it spare, DRAM for 1 MiB of map or cache.
DeviceConfig device_of(std::string_view scheme, std::string_view preset_name, std::uint32_t blocks) {
    auto preset = find_device_preset(preset_name);
    ensure(preset.has_value(), "the presets of today exist");
    DeviceConfig config;
    config.ssd = preset->config;
    auto& geometry = config.ssd.nand.geometry;
    geometry.channels = 2;
    geometry.blocks_per_plane = blocks;
    FtlConfig& ftl = config.ssd.ftl;
    ftl.scheme = scheme;
    ftl.reserved_permille = 120;
    ftl.options.set(demand_option::mapping_cache_bytes, std::uint64_t{1} << 20);
    ftl.options.set(coftl_option::cache_bytes, std::uint64_t{1} << 20);
    ftl.striping = scheme == "coftl" ? geometry.channels : 1;
    return config;
}

/// Generated ones, or every trace that lies in the folder.
std::expected<NamedLoads, std::string> loads_of(const RunContext& context) {
    if (!context.trace_folder.empty()) return loads_of_folder(context);
    NamedLoads loads;
    for (const std::string_view name : generated)
        loads.emplace_back(name, Load{context, std::string{name}, fmt::format("workload:{},scale={}", name, scale)});
    return loads;
}

struct Cell {
    std::string_view scheme, load;
    std::uint32_t bits; ///< a cell
    const Load* source;
};
struct Measured {
    TraceOutcome outcome;
    double restart_ms = 0; ///< of tlc
};

Json::Object params(std::string_view scheme, std::string_view load, std::uint32_t bits) {
    return {{"ftl", scheme}, {"workload", load}, {"bits_a_cell", bits}, {"preset", cell_presets[bits - 1]}};
}

/// Measured values of all cells of the table.
class Table {
public:
    Table(const NamedLoads& loads, std::vector<Cell> all, std::vector<Measured> outcomes) : all_{std::move(all)}, outcomes_{std::move(outcomes)} {
        for (const auto& [name, load] : loads) loads_.push_back(name);
    }
    [[nodiscard]] const std::vector<std::string_view>& loads() const { return loads_; }
    [[nodiscard]] const Measured& at(std::string_view scheme, std::string_view load, std::uint32_t bits) const {
        const auto found = std::ranges::find_if(all_, [&](const Cell& c) { return c.scheme == scheme && c.load == load && c.bits == bits; });
        ensure(found != all_.end(), "a cell of the table");
        return outcomes_[static_cast<std::size_t>(found - all_.begin())];
    }
    void add_points(Reproduction& out, std::string_view what, const std::vector<std::uint32_t>& over, double (*value)(const Measured&)) const {
        for (const std::string_view load : loads_)
            for (const std::string_view scheme : layers)
                for (const std::uint32_t bits : over)
                    out.points.push_back({fmt::format("{}, {} ({})", scheme, what, load), static_cast<double>(bits), params(scheme, load, bits),
                                          value(at(scheme, load, bits))});
    }

private:
    std::vector<std::string_view> loads_;
    std::vector<Cell> all_;
    std::vector<Measured> outcomes_;
};

double requests_per_second(const Measured& m) { return m.outcome.requests_per_second(); }
double p99_ms(const Measured& m) { return m.outcome.report["latency_us"]["p99"].real() / 1000; }
double amplification(const Measured& m) { return m.outcome.report["waf"].real(); }
double map_kib(const Measured& m) { return static_cast<double>(m.outcome.map_bytes) / 1024; }
double erases(const Measured& m) { return m.outcome.report["nand_erase_blocks"].real(); }
double start_ms(const Measured& m) { return m.restart_ms; }

void judge(Reproduction& out, const Table& table) {
    std::string slower, more, order;
    Evidence speeds, amplifications, slowness;
    for (const std::string_view load : table.loads()) {
        const double ideal = requests_per_second(table.at("page_map", load, tlc)), least = amplification(table.at("page_map", load, tlc));
        for (const std::string_view scheme : layers) {
            if (scheme != "coftl") {
                speeds.over.push_back(requests_per_second(table.at(scheme, load, tlc)));
                speeds.under.push_back(ideal);
                if (speeds.over.back() > ideal * 1.05) slower += fmt::format(" {} on {} x{:.2f};", scheme, load, speeds.over.back() / ideal);
            }
            amplifications.over.push_back(amplification(table.at(scheme, load, tlc)));
            amplifications.under.push_back(least);
            if (amplifications.over.back() < least * 0.95)
                more += fmt::format(" {} on {} {:.2f} of {:.2f};", scheme, load, amplifications.over.back(), least);
        }
        const auto slowest = [&](std::uint32_t bits) {
            return *std::ranges::min_element(layers, {}, [&](std::string_view s) { return requests_per_second(table.at(s, load, bits)); });
        };
        for (std::uint32_t bits = 1; bits <= cell_presets.size(); ++bits) {
            slowness.over.push_back(requests_per_second(table.at(slowest(bits), load, bits)));
            slowness.under.push_back(requests_per_second(table.at("block_map", load, bits)));
            if (slowest(bits) != "block_map") order += fmt::format(" {} with {} bits: {};", load, bits, slowest(bits));
        }
    }
    out.claim("beyond-ftls", "no layer without a data cache is faster than a page map in DRAM", slower.empty() ? "within 5 %" : "faster:" + slower,
              {speeds});
    out.claim("beyond-ftls", "no layer writes less flash than a page map in DRAM", more.empty() ? "within 5 %" : "less:" + more, {amplifications});
    const auto memory = [&](std::string_view scheme) { return map_kib(table.at(scheme, table.loads().front(), tlc)); };
    std::string sizes;
    for (const std::string_view scheme : layers) sizes += fmt::format("{}{} {:.0f} KiB", sizes.empty() ? "" : ", ", scheme, memory(scheme));
    out.claim("beyond-ftls", "dftl keeps less of its map in DRAM than a page map, and a block map least",
              sizes + fmt::format(" ({})", table.loads().front()),
              {{{memory("page_map"), memory("dftl"), memory("log_block")}, {memory("dftl"), memory("block_map"), memory("block_map")}}});
    out.claim("beyond-ftls", "block mapping is the slowest on every load and cell", order.empty() ? "on all" : "slowest:" + order, {slowness});
}

std::expected<Measured, std::string> measure(const Cell& cell, bool is_quick) {
    const auto failed = [&](const std::string& why) { return std::unexpected(fmt::format("{} on {}: {}", cell.scheme, cell.load, why)); };
    const std::uint32_t part = cell.scheme == "block_map" ? 10 : 1;
    const std::string_view preset = cell_presets[cell.bits - 1];
    auto outcome = run_trace_on({.config = device_of(cell.scheme, preset, blocks_per_plane),
                                 .requests = (is_quick ? 20'000u : 200'000u) / part,
                                 .speed = {.depth = queue_depth}},
                                *cell.source);
    if (!outcome) return failed(outcome.error());
    Measured all{std::move(*outcome)};
    if (cell.bits != tlc) return all;
    const auto restarted =
        restart({.config = device_of(cell.scheme, preset, restarted_blocks_per_plane), .requests = 5000u / part, .speed = {.depth = queue_depth}},
                requests_of(*cell.source));
    if (!restarted) return failed(restarted.error());
    all.restart_ms = restarted->ms;
    return all;
}

/// Points by layer and size, and COFTL's claim: it looks at fewer pages than the drive has blocks. The least scan of a whole drive is a page of each
/// block.
void show_recovery(Reproduction& out, const std::vector<std::uint32_t>& sizes, const std::vector<Restart>& measured) {
    std::string looked_at, blocks;
    Evidence bounded;
    for (std::size_t s = 0; s < layers.size(); ++s) {
        looked_at += fmt::format("{}{}", s == 0 ? "" : ", ", layers[s]);
        for (std::size_t n = 0; n < sizes.size(); ++n) {
            const Restart& r = measured[s * sizes.size() + n];
            const Json::Object params{{"ftl", layers[s]}, {"blocks_per_plane", sizes[n]}, {"blocks", r.blocks}};
            out.points.push_back({fmt::format("{}, recovery ms", layers[s]), static_cast<double>(sizes[n]), params, r.ms});
            out.points.push_back(
                {fmt::format("{}, pages looked at", layers[s]), static_cast<double>(sizes[n]), params, static_cast<double>(r.pages_scanned)});
            looked_at += fmt::format(" {}", r.pages_scanned);
            if (layers[s] != "coftl") continue;
            bounded.over.push_back(static_cast<double>(r.pages_scanned));
            bounded.under.push_back(static_cast<double>(r.blocks));
        }
    }
    for (std::size_t n = 0; n < sizes.size(); ++n) blocks += fmt::format("{}{}", n == 0 ? "" : ", ", measured[n].blocks);
    out.claim("beyond-recovery", "COFTL's recovery is bounded by its free list, not by the capacity",
              fmt::format("pages looked at on drives of {} blocks: {}", blocks, looked_at), {bounded});
}

} // namespace

ExperimentRun::Result run_beyond_ftls(const RunContext& context) {
    const auto loads = loads_of(context);
    if (!loads) return std::unexpected(loads.error());
    std::vector<Cell> all;
    for (const auto& [name, load] : *loads)
        for (const std::string_view scheme : layers)
            for (std::uint32_t bits = 1; bits <= cell_presets.size(); ++bits) all.push_back({scheme, name, bits, &load});
    auto measured = measure_points<Measured>(context.workers, all.size(), [&](std::size_t i) { return measure(all[i], context.is_quick()); });
    if (!measured) return std::unexpected(measured.error());
    const Table table{*loads, std::move(all), std::move(*measured)};
    Reproduction out;
    table.add_points(out, "requests/s", {1, 2, 3, 4}, requests_per_second);
    table.add_points(out, "p99 ms", {1, 2, 3, 4}, p99_ms);
    table.add_points(out, "write amplification", {tlc}, amplification);
    table.add_points(out, "erased blocks", {tlc}, erases);
    table.add_points(out, "DRAM of its maps, KiB", {tlc}, map_kib);
    table.add_points(out, "start after a kill, ms", {tlc}, start_ms);
    judge(out, table);
    for (const auto& [name, load] : *loads) {
        const auto source = load.source();
        if (!source) return std::unexpected(source.error());
        out.loads.push_back(*source);
    }
    out.free_parameters = {
        {"device", "1 GiB, 2 channels, 12 % spare", "one for all, small enough to be in its steady state soon; written once beforehand"},
        {"DRAM", "1 MiB of map cache (dftl) or data cache (coftl)", "a thousandth of the capacity, as drives of today have for the whole map"},
        {"queue depth", fmt::format("{}", queue_depth), "closed loop"},
        {"block_map", "a tenth of the requests", "it copies a block for nearly every write"},
        {"start after a kill", "an eighth of the device, 5,000 requests", "its payload is kept in memory"}};
    if (!context.trace_folder.empty())
        out.free_parameters.push_back({"addresses", "modulo the device", "the traces' own reach over up to 240 GB; neighbours stay neighbours"});
    return out;
}

ExperimentRun::Result run_beyond_recovery(const RunContext& context) {
    const std::vector<std::uint32_t> sizes = context.is_quick() ? std::vector<std::uint32_t>{32, 64} : std::vector<std::uint32_t>{32, 64, 128};
    const Load load{context, "financial", fmt::format("workload:financial,scale={}", 4 * scale)};
    const auto measured = measure_points<Restart>(context.workers, layers.size() * sizes.size(), [&](std::size_t i) {
        const std::string_view scheme = layers[i / sizes.size()];
        return restart(
            {.config = device_of(scheme, cell_presets[tlc - 1], sizes[i % sizes.size()]), .requests = 5000, .speed = {.depth = queue_depth}},
            requests_of(load));
    });
    if (!measured) return std::unexpected(measured.error());
    Reproduction out;
    show_recovery(out, sizes, *measured);
    const auto source = load.source();
    if (!source) return std::unexpected(source.error());
    out.loads = {*source};
    out.free_parameters = {{"device", "2 channels of TLC of today, 12 % spare", "x is blocks of 1 MiB a plane; there are four planes"}};
    return out;
}

} // namespace flashlab
