// What simulating costs: nanoseconds of CPU for each operation of the array, each commit of the redo log and each NAND operation of a translation
// layer, beside the floor of a page map that does nothing else. No payload, no undo, no event log: the loops of a replay.
//
//   build/release/tests/ftl_bench [seconds-scale, default 1] [page_map, hftl or dftl: that one only]
//   build/release/tests/ftl_bench waf        write amplification of each victim policy beside the closed form
//   build/release/tests/ftl_bench wear [SCHEME] [FILLS] [THRESHOLD]   spread of erase counts under a skewed load, with levelling and without
//   build/release/tests/ftl_bench pram       what the sums of lines in pram.img cost the host
//   build/release/tests/ftl_bench recovery [SCHEME] [GIB]             pages read and time of the mount after kill -9, 1 to 64 GiB
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <queue>
#include <tuple>

#include "base/random.h"
#include "ftl/blocks/victim_policies.h"
#include "ftl/memory_drive.h"
#include "tests/bench/cpu_clock.h"
#include "tests/bench/plain_page_map.h"
#include "tests/bench/pram_bench.h"
#include "tests/bench/recovery_bench.h"
#include "tests/support/waf_experiment.h"
#include "tests/support/wear_experiment.h"

namespace flashlab::bench {
namespace {

SsdConfig device_of_today() {
    SsdConfig config;
    config.nand.factory_bad_per_million = 0;
    config.ftl.reserved_permille = 125;
    return config;
}

std::uint64_t sum(const std::uint64_t (&by_cause)[cause_count]) {
    std::uint64_t all = 0;
    for (const std::uint64_t n : by_cause) all += n;
    return all;
}

void bench_array(std::uint64_t scale) {
    const SsdConfig config = device_of_today();
    const Geometry geometry = *Geometry::make(config.nand.geometry);
    MemoryPageStore store{geometry, Payload::none};
    NullEventSink sink;
    NandArray array{geometry, config.nand, store, sink, UndoPolicy::none};
    if (!array.open()) std::abort();
    Random random{1};
    SimTime now = sim_start;
    const std::uint32_t planes = geometry.planes();
    double program = 0, read = 0, erase = 0;
    std::uint64_t programs = 0, reads = 0, erases = 0;
    for (std::uint64_t round = 0; round < 128 * scale; ++round) {
        const auto index = static_cast<std::uint32_t>(round % geometry.blocks_per_plane());
        double at = cpu_ns();
        for (std::uint32_t p = 0; p < planes; ++p) now = std::max(now, array.erase(geometry.block_at(PlaneId{p}, index), {now, {}}).value());
        array.settle(now);
        erase += cpu_ns() - at;
        erases += planes;
        at = cpu_ns();
        std::uint64_t sequence = 1;
        for (std::uint32_t i = 0; i < geometry.pages_per_block(); ++i) {
            SimTime end = now;
            for (std::uint32_t p = 0; p < planes; ++p) {
                const Ppn page = geometry.page_of(geometry.block_at(PlaneId{p}, index), i);
                const PageProgram one{page, {}, {Lpn{i}, WriteSequence{sequence++}, PageKind::data, 0}};
                end = array.program({&one, 1}, {now, {}}).value();
            }
            array.settle(now = end);
        }
        program += cpu_ns() - at;
        programs += std::uint64_t{planes} * geometry.pages_per_block();
        at = cpu_ns();
        for (std::uint32_t i = 0; i < geometry.pages_per_block(); ++i) {
            SimTime end = now;
            for (std::uint32_t p = 0; p < planes; ++p) {
                const auto where = static_cast<std::uint32_t>(random.below(geometry.pages_per_block()));
                const Ppn page = geometry.page_of(geometry.block_at(PlaneId{p}, index), where);
                end = array.read(PageRead{page, 0, geometry.page_bytes(), {}}, {now, {}}).value();
            }
            array.settle(now = end);
        }
        read += cpu_ns() - at;
        reads += std::uint64_t{planes} * geometry.pages_per_block();
    }
    fmt::print("array: program {:.0f} ns, read {:.0f} ns, erase {:.0f} ns\n", program / static_cast<double>(programs),
               read / static_cast<double>(reads), erase / static_cast<double>(erases));
}

void bench_redo_log(std::uint64_t scale) {
    PramConfig config;
    config.bytes = 1u << 20;
    MemoryPramStore store{config.bytes};
    fmt::print("redo log: commit of 40 words (a run of 20, 20 single ones) {:.0f} ns\n", commit_ns(config, store, false, 100'000 * scale));
}

struct Steady {
    double ns_a_write;
    double ns_an_operation;
};

Steady bench_floor(const FtlPlan& plan, const Geometry& geometry, std::uint64_t writes) {
    PlainPageMap map{geometry.blocks(), geometry.pages_per_block(), plan.logical_pages};
    Random random{7};
    for (std::uint32_t l = 0; l < plan.logical_pages; ++l) map.write(l);
    for (std::uint64_t i = 0; i < 2ull * plan.logical_pages; ++i) map.write(static_cast<std::uint32_t>(random.below(plan.logical_pages)));
    const std::uint64_t programs = map.programs, copies = map.copies, erases = map.erases;
    const double at = cpu_ns();
    for (std::uint64_t i = 0; i < writes; ++i) map.write(static_cast<std::uint32_t>(random.below(plan.logical_pages)));
    const double took = cpu_ns() - at;
    const double operations = static_cast<double>(map.programs - programs + map.copies - copies + map.erases - erases);
    fmt::print("floor: {:.0f} ns a write, {:.0f} ns an operation, write amplification {:.2f}\n", took / static_cast<double>(writes),
               took / operations, static_cast<double>(map.programs - programs) / static_cast<double>(writes));
    return {took / static_cast<double>(writes), took / operations};
}

void bench_ssd(const SsdConfig& config, std::uint64_t writes, const Steady& floor) {
    NullEventSink sink;
    const auto drive = MemoryDrive::make(config, Payload::none, sink).value();
    const FtlPlan& plan = drive->plan();
    const NandArray& array = drive->array();
    Ssd& ssd = drive->ssd();
    SimTime now = ssd.recover(sim_start).value().done;
    SimTime wake = now;
    std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>> in_flight;
    const std::uint32_t sectors = plan.logical_page_bytes / sector_bytes;
    const auto write = [&](std::uint64_t lpn) {
        if (in_flight.size() == 32) {
            now = std::max(now, in_flight.top());
            in_flight.pop();
            if (now >= wake) wake = ssd.tick(now);
            ssd.settle(now);
        }
        in_flight.push(ssd.write(Sector{lpn * sectors}, sectors, {}, WriteDurability::volatile_ok, now).value());
    };
    const auto operations = [&] { return sum(array.counters().reads) + sum(array.counters().programs) + sum(array.counters().erases); };
    Random random{7};
    for (std::uint32_t l = 0; l < plan.logical_pages; ++l) write(l);
    for (std::uint64_t i = 0; i < 2ull * plan.logical_pages; ++i) write(random.below(plan.logical_pages));
    const std::uint64_t before = operations(), programs = sum(array.counters().programs);
    const double at = cpu_ns();
    for (std::uint64_t i = 0; i < writes; ++i) write(random.below(plan.logical_pages));
    const double took = cpu_ns() - at;
    const double ns_a_write = took / static_cast<double>(writes);
    const double ns_an_operation = took / static_cast<double>(operations() - before);
    fmt::print("{}: {:.0f} ns a write ({:.0f} k/s, {:.1f} x floor), {:.0f} ns a NAND operation ({:.1f} x floor), write amplification {:.2f}\n",
               drive->ftl().name(), ns_a_write, 1e6 / ns_a_write, ns_a_write / floor.ns_a_write, ns_an_operation,
               ns_an_operation / floor.ns_an_operation, static_cast<double>(sum(array.counters().programs) - programs) / static_cast<double>(writes));
}

/// Block mapping: random writes over as much as the log blocks cover, and over four logical blocks for each log block.
void bench_block_mapping(const std::string& scheme, std::uint64_t writes) {
    SsdConfig config = device_of_today();
    config.ftl.scheme = scheme;
    const Geometry geometry = *Geometry::make(config.nand.geometry);
    const FtlPlan plan = plan_ftl(config, geometry).value();
    const std::uint32_t logs = plan.spare_blocks - plan.meta_blocks;
    for (const auto& [name, blocks, divisor] :
         {std::tuple{"half as many logical blocks as spare ones", logs / 2, 1u}, std::tuple{"four times as many", logs * 4, 20u}}) {
        NullEventSink sink;
        const auto drive = MemoryDrive::make(config, Payload::none, sink).value();
        const NandArray& array = drive->array();
        Ssd& ssd = drive->ssd();
        SimTime now = ssd.recover(sim_start).value().done;
        const std::uint32_t sectors = plan.logical_page_bytes / sector_bytes;
        const auto write = [&](std::uint64_t lpn, std::uint32_t pages) {
            now = ssd.write(Sector{lpn * sectors}, sectors * pages, {}, WriteDurability::volatile_ok, now).value();
            (void)ssd.tick(now);
            ssd.settle(now);
        };
        const std::uint32_t range = std::min(plan.logical_pages, blocks * geometry.pages_per_block());
        for (std::uint32_t l = 0; l < plan.logical_pages; l += geometry.pages_per_block()) write(l, geometry.pages_per_block());
        Random random{7};
        for (std::uint64_t i = 0; i < writes / divisor / 4; ++i) write(random.below(range), 1);
        const auto operations = [&] { return sum(array.counters().reads) + sum(array.counters().programs) + sum(array.counters().erases); };
        const std::uint64_t before = operations(), programs = sum(array.counters().programs);
        const double at = cpu_ns();
        for (std::uint64_t i = 0; i < writes / divisor; ++i) write(random.below(range), 1);
        const double took = cpu_ns() - at;
        const double n = static_cast<double>(writes / divisor);
        fmt::print("{}, {} {}: {:.0f} ns a write ({:.0f} k/s), {:.0f} ns a NAND operation, write amplification {:.2f}\n", scheme, blocks, name,
                   took / n, 1e6 * n / took, took / static_cast<double>(operations() - before),
                   static_cast<double>(sum(array.counters().programs) - programs) / n);
    }
}

/// COFTL behind its default cache: writes of one virtual page, a quarter of the device takes three quarters of them, and as many reads of a sector.
void bench_coftl(std::uint32_t width, std::uint64_t writes) {
    SsdConfig config = device_of_today();
    config.ftl.scheme = "coftl";
    config.ftl.striping = width;
    NullEventSink sink;
    const auto drive = MemoryDrive::make(config, Payload::none, sink).value();
    const FtlPlan& plan = drive->plan();
    const NandArray& array = drive->array();
    Ssd& ssd = drive->ssd();
    SimTime now = ssd.recover(sim_start).value().done;
    const std::uint32_t sectors = plan.logical_page_bytes / sector_bytes;
    for (std::uint32_t l = 0; l < plan.logical_pages; ++l)
        now = ssd.write(Sector{std::uint64_t{l} * sectors}, sectors, {}, WriteDurability::volatile_ok, now).value();
    Random random{7};
    const auto load = [&](std::uint64_t requests) {
        for (std::uint64_t i = 0; i < requests; ++i) {
            const std::uint64_t page = random.below(random.chance(3, 4) ? plan.logical_pages / 4 : plan.logical_pages);
            now = ssd.write(Sector{page * sectors}, sectors, {}, WriteDurability::volatile_ok, now).value();
            now = ssd.read(Sector{random.below(plan.logical_pages) * sectors}, 1, {}, now).value();
            ssd.settle(now);
        }
    };
    load(writes / 2);
    const auto operations = [&] { return sum(array.counters().reads) + sum(array.counters().programs) + sum(array.counters().erases); };
    const std::uint64_t before = operations(), programs = sum(array.counters().programs);
    const double at = cpu_ns();
    load(writes);
    const double took = cpu_ns() - at;
    const double n = static_cast<double>(writes);
    fmt::print("coftl, sets of {}: {:.0f} ns a write and a read ({:.0f} k/s), {:.0f} ns a NAND operation, write amplification {:.2f}\n", width,
               took / n, 1e6 * n / took, took / static_cast<double>(operations() - before),
               static_cast<double>(sum(array.counters().programs) - programs) / n / width);
}

int print_wear(const std::vector<std::string>& schemes, std::uint32_t fills, std::uint32_t threshold) {
    for (const std::string& scheme : schemes) {
        for (const std::uint32_t level : {threshold, 0u}) {
            SsdConfig config = test::wear_drive();
            config.ftl.scheme = scheme;
            const auto point = test::measure_wear(config, fills, level);
            fmt::print("{}\n",
                       point ? point->text() + (point->is_sound ? "" : " AND THE CHECK COMPLAINS") : fmt::format("{}: {}", scheme, point.error()));
            std::fflush(stdout);
        }
    }
    return 0;
}

int print_recovery(const std::vector<std::string>& schemes, std::vector<std::uint32_t> sizes) {
    fmt::print("| scheme | GiB | pages read | simulated ms | CPU ms |\n|---|---|---|---|---|\n");
    for (const std::string& scheme : schemes) {
        for (const std::uint32_t gib : sizes) {
            const bool merges = scheme == "block_map" || scheme == "log_block" || scheme == "fast" || scheme == "coftl";
            const auto point = measure_recovery(scheme, gib, merges ? 20'000 : 200'000);
            if (point)
                fmt::print("| {} | {} | {} | {:.1f} | {:.0f} |\n", scheme, gib, point->pages_read, point->simulated_ms, point->cpu_ms);
            else
                fmt::print("| {} | {} | {} | | |\n", scheme, gib, point.error());
            std::fflush(stdout);
        }
    }
    return 0;
}

} // namespace
} // namespace flashlab::bench

int main(int argc, char** argv) {
    using namespace flashlab;
    if (argc > 1 && std::string_view{argv[1]} == "waf") {
        for (const auto& policy : victim_policies())
            for (const std::uint32_t permille : {73u, 123u, 203u, 283u}) {
                const auto point = test::measure_waf(permille, std::string{policy.name});
                fmt::print("page_map, {}: spare {:.1f} %: write amplification {:.3f} ({:.3f} with checkpoints), Desnoyers' greedy {:.3f} ({:+.1f} "
                           "%), fifo {:.3f}\n",
                           policy.name, 100 * point.spare, point.measured, point.with_map, point.greedy, 100 * (point.measured / point.greedy - 1),
                           point.fifo);
            }
        return 0;
    }
    if (argc > 1 && std::string_view{argv[1]} == "pram")
        return bench::PramBench{}.run(argc > 2 ? std::max(1ull, std::strtoull(argv[2], nullptr, 10)) : 1);
    const auto number = [&](int at, std::uint32_t otherwise) {
        return argc > at ? static_cast<std::uint32_t>(std::strtoul(argv[at], nullptr, 10)) : otherwise;
    };
    const std::vector<std::string> chosen = argc > 2 && std::string_view{argv[2]} != "all" ? std::vector<std::string>{argv[2]} : all_schemes();
    if (argc > 1 && std::string_view{argv[1]} == "wear") return bench::print_wear(chosen, number(3, 100), number(4, 16));
    if (argc > 1 && std::string_view{argv[1]} == "recovery")
        return bench::print_recovery(chosen, argc > 3 ? std::vector{number(3, 1)} : std::vector<std::uint32_t>{1, 4, 16, 64});
    const std::uint64_t scale = argc > 1 ? std::max(1ull, std::strtoull(argv[1], nullptr, 10)) : 1;
    bench::bench_array(scale);
    bench::bench_redo_log(scale);
    const SsdConfig config = bench::device_of_today();
    const Geometry geometry = *Geometry::make(config.nand.geometry);
    const auto plan = plan_ftl(config, geometry);
    if (!plan) {
        fmt::print(stderr, "ftl_bench: {}\n", plan.error());
        return 1;
    }
    const std::uint64_t writes = 1'000'000 * scale;
    fmt::print("steady state: {} pages of {} KiB, {} planes, 12.5 % spare, random writes, depth 32\n", plan->logical_pages,
               plan->logical_page_bytes / 1024, geometry.planes());
    const bench::Steady floor = bench::bench_floor(*plan, geometry, writes);
    for (const char* scheme : {"page_map", "hftl", "dftl"}) {
        if (argc > 2 && std::string_view{argv[2]} != scheme) continue;
        SsdConfig own = config;
        own.ftl.scheme = scheme;
        bench::bench_ssd(own, writes, floor);
    }
    if (argc > 2) return 0;
    for (const char* scheme : {"log_block", "fast"}) bench::bench_block_mapping(scheme, writes);
    bench::bench_block_mapping("block_map", writes / 10);
    for (const std::uint32_t width : {1u, 8u}) bench::bench_coftl(width, writes / width / 10);
    return 0;
}
