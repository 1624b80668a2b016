#include "tools/workloads/paper_workloads.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace flashlab {
namespace {

constexpr std::uint32_t kib = 1024;
constexpr double gib = 1024.0 * 1024 * 1024;

/// What of a load is not scaled, and how its two working sets lie: the written one from address 0, the read one over its upper end.
struct Shape {
    double read_gib, write_gib;
    double overlap; ///< share of the smaller working set that belongs to both
    WorkloadSpec load;
};

/// Desktop benchmark. Sizes: those of Windows 11 starting up (reads) and a mix of document saves (writes), tilted to Table V's means. Reuse: hplajw,
/// whose 1/16 of the working set is written 14 times over in its one week.
Shape sysmark() {
    return {0.11,
            0.24,
            0.5,
            {.name = "sysmark",
             .read_share = 0.33,
             .read = {.sizes = {{4 * kib, 550}, {8 * kib, 36}, {16 * kib, 233}, {32 * kib, 158}, {64 * kib, 10}, {128 * kib, 13}},
                      .cluster_slots = 16,
                      .popularity = {.kind = DistributionKind::zipf, .parameter = 0.9},
                      .sequential_share = 0.2,
                      .reuse_share = 0.25,
                      .reuse_window = 8192,
                      .sweep_share = 0.05},
             .write = {.sizes = {{4 * kib, 412}, {8 * kib, 252}, {16 * kib, 118}, {32 * kib, 77}, {64 * kib, 95}, {128 * kib, 46}},
                       .cluster_slots = 16,
                       .popularity = {.kind = DistributionKind::zipf, .parameter = 0.9},
                       .sequential_share = 0.2,
                       .reuse_share = 0.35,
                       .reuse_window = 8192,
                       .sweep_share = 0.02},
             .streams = 8,
             .reads_of_written = 0.3,
             .mean_interarrival_ns = 10'000'000}};
}

/// A user's desktop over days: large working sets, little of them hot.
Shape pc() {
    return {5.82,
            8.45,
            0.5,
            {.name = "pc",
             .read_share = 0.237,
             .read = {.sizes = {{4 * kib, 385}, {8 * kib, 33}, {16 * kib, 278}, {32 * kib, 247}, {64 * kib, 21}, {128 * kib, 35}},
                      .slot_bytes = 16 * kib,
                      .cluster_slots = 4,
                      .popularity = {.kind = DistributionKind::zipf, .parameter = 0.8},
                      .sequential_share = 0.35,
                      .reuse_share = 0.04,
                      .reuse_window = 8192,
                      .sweep_share = 0.6},
             .write = {.sizes = {{4 * kib, 518}, {8 * kib, 258}, {16 * kib, 99}, {32 * kib, 52}, {64 * kib, 52}, {128 * kib, 21}},
                       .slot_bytes = 16 * kib,
                       .cluster_slots = 4,
                       .popularity = {.kind = DistributionKind::zipf, .parameter = 0.9},
                       .sequential_share = 0.35,
                       .reuse_share = 0.13,
                       .reuse_window = 1024,
                       .sweep_share = 0.42},
             .streams = 8,
             .reads_of_written = 0.3,
             .mean_interarrival_ns = 10'000'000}};
}

/// On-line transactions. Sizes are the counts of the Financial1 excerpt, tilted to Table V's means; its sequentiality and reuse are met as they are.
Shape financial() {
    return {0.45,
            0.5,
            0.5,
            {.name = "financial",
             .read_share = 0.474,
             .read = {.sizes = {{512, 623}, {1 * kib, 102}, {2 * kib, 12}, {3 * kib, 44}, {4 * kib, 6}, {8 * kib, 213}},
                      .cluster_slots = 4,
                      .popularity = {.kind = DistributionKind::zipf, .parameter = 0.9},
                      .sequential_share = 0.77,
                      .reuse_share = 0.05,
                      .reuse_window = 8192,
                      .sweep_share = 0.1},
             .write = {.sizes = {{512, 62},
                                 {1 * kib, 118},
                                 {1536, 27},
                                 {2 * kib, 16},
                                 {2560, 48},
                                 {3 * kib, 361},
                                 {3584, 169},
                                 {4 * kib, 24},
                                 {6656, 25},
                                 {7680, 22},
                                 {8 * kib, 93},
                                 {12 * kib, 35}},
                       .cluster_slots = 4,
                       .popularity = {.kind = DistributionKind::zipf, .parameter = 0.9},
                       .sequential_share = 0.77,
                       .reuse_share = 0.1,
                       .reuse_window = 8192,
                       .sweep_share = 0.1},
             .streams = 8,
             .reads_of_written = 0.1,
             .mean_interarrival_ns = 26'000'000}};
}

/// Random small requests over a working set that is read about twice; hardly any sequentiality, as in the TPC-C excerpt.
Shape tpcc() {
    const DistributionSpec popularity{DistributionKind::hotspot, 0.2, 0.5};
    return {8.04,
            4.45,
            0.8,
            {.name = "tpcc",
             .read_share = 0.814,
             .read = {.sizes = {{2 * kib, 933}, {4 * kib, 51}, {8 * kib, 16}},
                      .slot_bytes = 2 * kib,
                      .cluster_slots = 4,
                      .popularity = popularity,
                      .sequential_share = 0.015,
                      .reuse_share = 0.001,
                      .reuse_window = 8192,
                      .sweep_share = 0.5},
             .write = {.sizes = {{2 * kib, 962}, {4 * kib, 32}, {8 * kib, 6}},
                       .slot_bytes = 2 * kib,
                       .cluster_slots = 4,
                       .popularity = popularity,
                       .sequential_share = 0.015,
                       .reuse_share = 0.012,
                       .reuse_window = 8192,
                       .sweep_share = 0.5},
             .streams = 8,
             .reads_of_written = 0.1,
             .mean_interarrival_ns = 1'000'000}};
}

/// Daily work on a desktop, as the COFTL paper describes its trace: documents, mail, up- and downloads, web. A small hot set, long sequential
/// transfers, and what is touched once.
Shape desktop() {
    return {3,
            1.5,
            0.5,
            {.name = "desktop",
             .read_share = 0.45,
             .read = {.sizes = {{4 * kib, 500}, {8 * kib, 100}, {16 * kib, 180}, {32 * kib, 120}, {64 * kib, 60}, {128 * kib, 30}, {256 * kib, 10}},
                      .slot_bytes = 16 * kib,
                      .cluster_slots = 64,
                      .popularity = {DistributionKind::hotspot, 0.001, 0.85},
                      .sequential_share = 0.4,
                      .reuse_share = 0.25,
                      .reuse_window = 256},
             .write = {.sizes = {{4 * kib, 450}, {8 * kib, 200}, {16 * kib, 150}, {32 * kib, 80}, {64 * kib, 60}, {128 * kib, 40}, {256 * kib, 20}},
                       .slot_bytes = 16 * kib,
                       .cluster_slots = 64,
                       .popularity = {DistributionKind::hotspot, 0.002, 0.85},
                       .sequential_share = 0.4,
                       .reuse_share = 0.25,
                       .reuse_window = 256},
             .streams = 4,
             .reads_of_written = 0.5,
             .mean_interarrival_ns = 10'000'000}};
}

/// Desktop without a hot set: what neither continues a stream nor comes back goes anywhere.
Shape desktop_even() {
    Shape shape = desktop();
    shape.load.name = "desktop-even";
    shape.load.read.popularity = shape.load.write.popularity = {};
    return shape;
}

/// What breaks a scheme of large pages: small writes without locality.
Shape small_writes() {
    const OpLoad anywhere{.sizes = {{4 * kib, 1}}, .slot_bytes = 4 * kib};
    return {1,
            1,
            1,
            {.name = "small-writes",
             .read_share = 0,
             .read = anywhere,
             .write = anywhere,
             .streams = 1,
             .reads_of_written = 0,
             .mean_interarrival_ns = 10'000'000}};
}

struct Named {
    std::string_view name;
    Shape (*make)();
};
constexpr std::array loads{Named{"sysmark", sysmark},          Named{"pc", pc},
                           Named{"financial", financial},      Named{"tpcc", tpcc},
                           Named{"desktop", desktop},          Named{"desktop-even", desktop_even},
                           Named{"small-writes", small_writes}};
constexpr std::array names{loads[0].name, loads[1].name, loads[2].name, loads[3].name, loads[4].name, loads[5].name, loads[6].name};

std::uint64_t working_set(double size_gib, std::uint32_t scale, const OpLoad& load) {
    const std::uint64_t whole = std::uint64_t{load.slot_bytes} * load.cluster_slots;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(size_gib * gib / scale) / whole, 1) * whole;
}

} // namespace

std::span<const std::string_view> paper_workload_names() { return names; }

std::expected<WorkloadSpec, std::string> paper_workload(std::string_view name, std::uint32_t scale) {
    if (scale < 1 || scale > 256) return std::unexpected(fmt::format("scale {}: 1 to 256 is wanted", scale));
    const auto found = std::ranges::find(loads, name, &Named::name);
    if (found == loads.end()) return std::unexpected(fmt::format("no load is called '{}'; there are {}", name, fmt::join(names, ", ")));
    Shape shape = found->make();
    WorkloadSpec& load = shape.load;
    load.read.bytes = working_set(shape.read_gib, scale, load.read);
    load.write.bytes = working_set(shape.write_gib, scale, load.write);
    const auto common = static_cast<double>(std::min(load.read.bytes, load.write.bytes)) * shape.overlap;
    load.read.first_byte = (load.write.bytes - static_cast<std::uint64_t>(common)) / 4096 * 4096;
    for (OpLoad* op : {&load.read, &load.write}) op->reuse_window = std::max(op->reuse_window / scale, 64u);
    return load;
}

} // namespace flashlab
