// What a replay costs, everything included: for each scheme the reference traces and synthetic loads in steady state, in CPU time, beside a plain
// page map.
//
//   build/release/tests/replay_bench [--traces DIR] [--part steady|traces|maps|parsing|memory] [--ftl SCHEME] [--quick]
//   [--requests N of a trace, default 100000]
//
// Parsing is measured apart; a replay reads its requests from memory. Prints Markdown: docs/performance.md has a run of it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <unordered_set>

#include "base/random.h"
#include "ftl/make_ftl.h"
#include "tests/bench/cpu_clock.h"
#include "tests/bench/memory_bench.h"
#include "tests/bench/parse_bench.h"
#include "tests/bench/plain_page_map.h"
#include "tools/drive/config_file.h"
#include "tools/run/replay.h"
#include "tools/run/virtual_device.h"
#include "tools/traces/trace_reader.h"

namespace flashlab::bench {
namespace {

namespace files = std::filesystem;

template <class Result>
auto must(Result&& result, const std::string& what) {
    if (!result) {
        fmt::print(stderr, "replay_bench: {}: {}\n", what, result.error());
        std::exit(1);
    }
    return std::move(*result);
}

DevicePlan plan(const std::string& ftl, std::optional<std::uint64_t> bytes, std::uint32_t reserved_permille, std::uint64_t cache_bytes = 0) {
    ConfigSources sources;
    sources.settings = {"ftl.scheme=" + ftl, "nand.factory_bad_per_million=0", fmt::format("ftl.reserved_permille={}", reserved_permille)};
    if (cache_bytes != 0) sources.settings.push_back(fmt::format("ftl.mapping_cache_bytes={}", cache_bytes));
    return must(plan_device(must(gather_config(sources), "configuration"), bytes), ftl);
}

struct Rig {
    NullEventSink events;
    std::unique_ptr<Device> device;
    explicit Rig(const DevicePlan& what) {
        device = must(make_virtual_device(what, Payload::none, events), "device");
        if (auto started = device->start(sim_start); !started) {
            fmt::print(stderr, "replay_bench: start: {}\n", started.error());
            std::exit(1);
        }
    }
    [[nodiscard]] std::uint64_t operations() {
        const SampleEvent s = device->ssd().sample(sim_start);
        const auto sum = [](const auto& by_cause) { return std::accumulate(std::begin(by_cause), std::end(by_cause), std::uint64_t{0}); };
        return sum(s.nand_reads) + sum(s.nand_programs) + sum(s.nand_erases);
    }
    [[nodiscard]] std::uint64_t bytes() { return device->ssd().identify().sectors * sector_bytes; }
};

struct Cost {
    std::uint64_t requests = 0, operations = 0;
    double seconds = 0;
    [[nodiscard]] double per_second() const { return static_cast<double>(requests) / seconds; }
    [[nodiscard]] double ns_an_operation() const { return operations == 0 ? 0 : seconds * 1e9 / static_cast<double>(operations); }
    [[nodiscard]] double operations_a_request() const { return static_cast<double>(operations) / static_cast<double>(requests); }
};

Cost run(Rig& rig, const RunSpace& space, const NextRequest& next, AddressFit& fit, const ReplaySpeed& speed, SimTime begin) {
    Cost cost;
    cost.operations = rig.operations();
    const double at = cpu_seconds();
    const auto tally = must(replay(space, next, fit, speed, begin), "replay");
    cost.seconds = cpu_seconds() - at;
    cost.operations = rig.operations() - cost.operations;
    cost.requests = tally.requests();
    return cost;
}

void print_row(const std::string& load, const std::string& ftl, const Cost& cost, double floor_per_second) {
    fmt::print("| {} | {} | {:.0f} | {:.0f} | {:.2f} | {:.1f} |\n", load, ftl, cost.per_second() / 1e3, cost.ns_an_operation(),
               cost.operations_a_request(), floor_per_second / cost.per_second());
    std::fflush(stdout);
}

void print_head() {
    fmt::print(
        "| load | scheme | k requests / CPU s | ns / NAND operation | NAND operations / request | floor is faster by |\n|---|---|---|---|---|---|\n");
}

// --- synthetic: 4 KiB random writes in steady state, and half reads

double floor_steady(const DevicePlan& what, std::uint64_t requests, std::uint32_t read_percent) {
    const Geometry geometry = must(Geometry::make(what.config.ssd.nand.geometry), "geometry");
    const auto pages = static_cast<std::uint32_t>(what.logical_bytes / geometry.page_bytes());
    PlainPageMap map{geometry.blocks(), geometry.pages_per_block(), pages};
    Random random{7};
    for (std::uint32_t l = 0; l < pages; ++l) map.write(l);
    for (std::uint64_t i = 0; i < 2ull * pages; ++i) map.write(static_cast<std::uint32_t>(random.below(pages)));
    std::uint64_t found = 0;
    const double at = cpu_seconds();
    for (std::uint64_t i = 0; i < requests; ++i) {
        const auto page = static_cast<std::uint32_t>(random.below(pages));
        if (random.below(100) < read_percent)
            found += map.read(page);
        else
            map.write(page);
    }
    const double seconds = cpu_seconds() - at;
    if (found == 1) fmt::print(" "); // the reads are not left out
    return static_cast<double>(requests) / seconds;
}

void bench_synthetic(const std::string& ftl, std::uint64_t requests) {
    const DevicePlan what = plan(ftl, std::nullopt, 125);
    for (const auto& [name, read_percent] : {std::pair{"random write, steady", 0u}, std::pair{"50/50 mix, steady", 50u}}) {
        Rig rig{what};
        const RunSpace space{*rig.device};
        const double before = cpu_seconds();
        const SimTime ready = must(precondition(space, {.fill_percent = 100, .random_fills = 2}, 1, space.begin), "precondition");
        const double preconditioned = cpu_seconds() - before;
        const std::uint64_t unit = rig.device->ssd().identify().atomic_unit_bytes, pages = rig.bytes() / unit;
        // Block mapping merges a block for nearly each write of such a load.
        const std::uint64_t count =
            ftl == "block_map" || ftl == "log_block" || ftl == "fast" || ftl == "coftl" ? std::max<std::uint64_t>(requests / 50, 1) : requests;
        AddressFit fit{FitPolicy::as_is, rig.bytes()};
        Random random{11};
        const auto next = [&, left = count, percent = read_percent](TraceRequest& request) mutable -> std::expected<bool, std::string> {
            request = {0, random.below(pages) * unit, unit, 0, random.below(100) < percent ? TraceOp::read : TraceOp::write};
            return left-- != 0;
        };
        const Cost cost = run(rig, space, next, fit, {.depth = 32}, ready);
        print_row(fmt::format("{} (aged in {:.1f} CPU s)", name, preconditioned), ftl, cost, floor_steady(what, count, read_percent));
    }
}

// --- traces

struct LoadedTrace {
    std::string name;
    std::vector<TraceRequest> requests;
    std::uint64_t pages = 0; ///< of 4 KiB, touched in all
    double floor_per_second = 0;
};

/// The same requests on a plain page map of their footprint.
double floor_of(const LoadedTrace& trace) {
    const std::uint64_t bytes = (trace.pages + 8192) * 4096;
    AddressFit fit{FitPolicy::compact, bytes};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;
    std::vector<bool> writes;
    for (const TraceRequest& request : trace.requests)
        for (const AddressPiece& piece : *must(fit.place(request), "compact")) {
            runs.emplace_back(piece.offset / 4096, (piece.offset + piece.bytes + 4095) / 4096 - piece.offset / 4096);
            writes.push_back(request.op == TraceOp::write);
        }
    PlainPageMap map{static_cast<std::uint32_t>(bytes / 4096 / 256 * 9 / 8 + 16), 256, static_cast<std::uint32_t>(bytes / 4096)};
    std::uint64_t found = 0;
    const double at = cpu_seconds();
    for (std::size_t i = 0; i < runs.size(); ++i)
        for (std::uint32_t p = 0; p < runs[i].second; ++p)
            if (writes[i])
                map.write(runs[i].first + p);
            else
                found += map.read(runs[i].first + p);
    const double seconds = cpu_seconds() - at;
    if (found == 1) fmt::print(" ");
    return static_cast<double>(trace.requests.size()) / std::max(seconds, 1e-6);
}

LoadedTrace load(const files::path& path, std::uint64_t most) {
    LoadedTrace out{path.filename().string(), {}, 0, 0};
    const auto reader = must(TraceReader::open(path.string(), {}), path.string());
    TraceRequest request;
    std::unordered_set<std::uint64_t> seen;
    while (out.requests.size() < most && must(reader->next(request), path.string())) {
        out.requests.push_back(request);
        for (std::uint64_t p = request.offset / 4096; p * 4096 < request.offset + request.bytes; ++p)
            seen.insert(std::uint64_t{request.device} << 40 ^ p);
    }
    out.pages = seen.size();
    const std::uint64_t base = out.requests.empty() ? 0 : out.requests.front().time_ns;
    for (TraceRequest& r : out.requests) r.time_ns -= base;
    out.floor_per_second = floor_of(out);
    return out;
}

void bench_trace(const LoadedTrace& trace, const std::string& ftl) {
    Rig rig{plan(ftl, std::max<std::uint64_t>(std::uint64_t{1} << 30, trace.pages * 4096 * 5 / 4), 125)};
    AddressFit fit{FitPolicy::compact, rig.bytes()};
    const RunSpace space{*rig.device};
    const auto next = [&, at = std::size_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (at == trace.requests.size()) return false;
        request = trace.requests[at++];
        return true;
    };
    print_row(trace.name, ftl, run(rig, space, next, fit, {}, space.begin), trace.floor_per_second);
}

// --- maps: what a look-up costs beside page_map's, which is one load

double ns_of_a_read(const std::string& ftl, std::uint64_t cache_bytes, double random_fills, std::uint64_t requests) {
    Rig rig{plan(ftl, std::uint64_t{1} << 30, 125, ftl == "page_map" ? 0 : cache_bytes)};
    const RunSpace space{*rig.device};
    const SimTime ready = must(precondition(space, {.fill_percent = 100, .random_fills = random_fills}, 1, space.begin), "precondition");
    AddressFit fit{FitPolicy::as_is, rig.bytes()};
    Random random{13};
    const std::uint64_t unit = rig.device->ssd().identify().atomic_unit_bytes, pages = rig.bytes() / unit;
    const auto next = [&, left = requests](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        request = {0, random.below(pages) * unit, unit, 0, TraceOp::read};
        return left-- != 0;
    };
    const Cost cost = run(rig, space, next, fit, {.depth = 32}, ready);
    return cost.seconds * 1e9 / static_cast<double>(requests);
}

void bench_maps(std::uint64_t requests) {
    constexpr std::uint64_t table = std::uint64_t{1} << 20;
    fmt::print("\n| ns of CPU a random read; more than page_map's | 2 % of the table in DRAM, written in order | 2 %, at random | all in DRAM, in "
               "order | all, at random |\n|---|---|---|---|---|\n");
    std::array<double, 4> plain{};
    for (const char* ftl : {"page_map", "dftl", "tpftl", "sftl", "leaftl", "learnedftl"}) {
        fmt::print("| {} |", ftl);
        for (std::size_t i = 0; i < plain.size(); ++i) {
            const double ns = ns_of_a_read(ftl, i < 2 ? table / 50 : 8 * table, i % 2 == 0 ? 0 : 2, requests);
            if (std::string_view{ftl} == "page_map") plain[i] = ns;
            fmt::print(" {:.0f}; {:.0f} |", ns, ns - plain[i]);
            std::fflush(stdout);
        }
        fmt::print("\n");
    }
}

// --- memory, start-up

/// Pages, bytes allocated, bytes resident, of a drive of that size of which every page was written.
std::array<double, 3> filled(const std::string& ftl, std::uint64_t bytes) {
    const DevicePlan what = plan(ftl, bytes, 125);
    const double allocated = allocated_bytes(), resident = resident_bytes();
    Rig rig{what};
    const RunSpace space{*rig.device};
    (void)must(precondition(space, {.fill_percent = 100, .random_fills = 0}, 1, space.begin), "precondition");
    const auto& g = what.config.ssd.nand.geometry;
    const double pages = double(g.channels) * g.chips_per_channel * g.dies_per_chip * g.planes_per_die * g.blocks_per_plane * g.pages_per_block;
    return {pages, allocated_bytes() - allocated, resident_bytes() - resident};
}

void bench_memory(const std::string& ftl) {
    constexpr std::uint64_t gib = std::uint64_t{1} << 30;
    const auto start = in_own_process<1>([&] {
        const DevicePlan what = plan(ftl, 512 * gib, 70);
        const double at = cpu_seconds();
        Rig rig{what};
        return std::array{cpu_seconds() - at};
    });
    const auto small = in_own_process<3>([&] { return filled(ftl, 4 * gib); });
    const auto large = in_own_process<3>([&] { return filled(ftl, 12 * gib); });
    const double pages = large[0] - small[0];
    fmt::print("| {} | {:.2f} | {:.1f} | {:.1f} |\n", ftl, start[0], (large[1] - small[1]) / pages, (large[2] - small[2]) / pages);
    std::fflush(stdout);
}

} // namespace
} // namespace flashlab::bench

int main(int argc, char** argv) {
    using namespace flashlab;
    using namespace flashlab::bench;
    std::string directory, only_ftl, only_part;
    std::uint64_t most = 100'000, steady = 1'000'000;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option{argv[i]};
        const auto argument = [&] {
            return i + 1 < argc ? argv[++i] : (fmt::print(stderr, "replay_bench: {} wants an argument\n", option), std::exit(2), "");
        };
        if (option == "--traces")
            directory = argument();
        else if (option == "--ftl")
            only_ftl = argument();
        else if (option == "--part")
            only_part = argument();
        else if (option == "--requests")
            most = std::strtoull(argument(), nullptr, 10);
        else if (option == "--quick")
            steady = 20'000, most = std::min<std::uint64_t>(most, 1000);
        else
            return fmt::print(stderr, "replay_bench: unknown option {}\n", option), 2;
    }
    std::vector<files::path> paths;
    if (!directory.empty())
        for (const auto& entry : files::directory_iterator{directory})
            if (entry.path().extension() != ".md" && entry.path().extension() != ".json") paths.push_back(entry.path());
    std::ranges::sort(paths);
    const auto does = [&](std::string_view part) { return only_part.empty() || only_part == part; };
    std::vector<std::string> schemes;
    for (const std::string& ftl : all_schemes())
        if (only_ftl.empty() || only_ftl == ftl) schemes.push_back(ftl);
    if (does("steady") || does("traces")) print_head();
    if (does("steady"))
        for (const std::string& ftl : schemes) bench_synthetic(ftl, steady);
    if (does("traces"))
        for (const auto& path : paths) {
            const LoadedTrace trace = load(path, most);
            for (const std::string& ftl : schemes) bench_trace(trace, ftl);
        }
    if (does("parsing")) {
        ParseBench parsing;
        for (const auto& path : paths) parsing.trace(path);
        parsing.made();
    }
    if (does("maps")) bench_maps(steady);
    if (does("memory")) {
        fmt::print("\n| scheme | start-up of 512 GiB, CPU s (target 0.3) | bytes allocated / physical page, PRAM not yet touched included | bytes "
                   "resident / physical page (target 12) |\n|---|---|---|---|\n");
        for (const std::string& ftl : schemes) bench_memory(ftl);
    }
    return 0;
}
