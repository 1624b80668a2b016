#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/contract.h"
#include "ftl/maps/demand_table.h"
#include "ftl/maps/learned_table.h"
#include "ftl/maps/lru_entries.h"
#include "ftl/maps/paged_ftl.h"
#include "ftl/schemes/demand_options.h"
#include "ftl/schemes/page_plan.h"
#include "tools/drive/device_presets.h"
#include "tools/reproduce/experiments.h"
#include "tools/reproduce/map_point.h"

namespace flashlab {
namespace {

// A drive as the paper's, smaller: SLC times, blocks of 256 pages, 20 % spare, and a write buffer whose flush is what is learned from together. The
// table is measured on an empty drive, so that it holds what the load wrote and no more, and where all of it fits; latency on one that was filled.
constexpr std::uint32_t channels = 4, pages_a_block = 256;
constexpr std::uint32_t full_blocks = 320, quick_blocks = 40; ///< a plane: 1 GiB and 128 MiB, and spare
constexpr std::uint32_t spare_permille = 200;
constexpr std::uint64_t full_buffer = 8u << 20, quick_buffer = 1u << 20;
constexpr std::uint64_t compaction_bytes = 100u << 20; ///< written between two, as in the artefact; in a quick run an eighth
constexpr std::array<std::uint32_t, 3> gammas{0, 4, 16};
constexpr std::string_view buffered = "leaftl, eight times the buffer";
constexpr std::array<std::string_view, 3> by_gamma{"leaftl", "leaftl, gamma 4", "leaftl, gamma 16"};
constexpr std::array<double, 3> dram_percent{2, 10, 25}; ///< of a table of 4 bytes
constexpr double most_dram = dram_percent[1];            ///< of the claims

// The paper's traces are of servers and homes (MSR, FIU). hm_0 of MSR is there as an excerpt.
constexpr std::array generated{ScaledLoad{"financial", 1, 8}, ScaledLoad{"sysmark", 1, 4}, ScaledLoad{"pc", 16, 128}, ScaledLoad{"desktop", 8, 64}};
constexpr std::array own_traces{RealTrace{"msr-hm0", "msr-hm0-sample1000.csv"}};

std::uint64_t logical_pages_of(bool is_quick) {
    return std::uint64_t{channels} * (is_quick ? quick_blocks : full_blocks) * pages_a_block * (1000 - spare_permille) / 1000;
}

/// `map_bytes`: of DRAM.
DeviceConfig leaftl_drive(std::string_view map, std::uint32_t gamma, bool is_quick, std::uint64_t map_bytes, std::uint32_t buffers = 1) {
    const auto preset = find_device_preset("modern-slc");
    ensure(preset.has_value(), "the preset of SLC exists");
    DeviceConfig config;
    config.ssd = preset->config;
    config.ssd.nand.geometry = {.channels = channels,
                                .chips_per_channel = 1,
                                .dies_per_chip = 1,
                                .planes_per_die = 1,
                                .blocks_per_plane = is_quick ? quick_blocks : full_blocks,
                                .pages_per_block = pages_a_block,
                                .page_bytes = map_page_bytes,
                                .spare_bytes = 160, // gamma 16 and our record; 128 in the paper, which says nothing of one
                                .cell = CellType::slc};
    config.ssd.nand.timing.page_read = Duration{20'000};
    config.ssd.nand.timing.page_program = Duration{200'000};
    config.ssd.nand.timing.block_erase = Duration{1'500'000};
    config.ssd.nand.factory_bad_per_million = 0;
    config.ssd.dram.write_buffer_bytes = buffers * (is_quick ? quick_buffer : full_buffer);
    FtlConfig& ftl = config.ssd.ftl;
    ftl.scheme = map;
    ftl.reserved_permille = spare_permille;
    ftl.options.set(page_option::checkpoint_blocks, 1u << 30);
    ftl.options.set(demand_option::mapping_cache_bytes, map_bytes);
    ftl.options.set(leaftl_option::gamma, gamma);
    ftl.options.set(leaftl_option::batch_pages, static_cast<std::uint32_t>(config.ssd.dram.write_buffer_bytes / map_page_bytes));
    ftl.options.set(leaftl_option::compaction_pages, compaction_bytes / map_page_bytes / (is_quick ? 8 : 1));
    return config;
}

// The table

constexpr std::array<std::uint32_t, 5> segment_pages{1, 4, 16, 64, 256}, group_levels{1, 2, 4, 8, 16};

struct LeaTable {
    double bytes = 0, compacted = 0, dftl_bytes = 0, sftl_bytes = 0;
    double segments = 0, groups = 0, mapped = 0;
    std::array<double, segment_pages.size()> no_longer{};
    std::array<double, group_levels.size()> no_deeper{};
};

std::uint32_t pages_of(const Segment& s) {
    return s.is_exact() ? s.length / std::max(1u, slope::stride(s.slope)) + 1 : static_cast<std::uint32_t>(s.names.size());
}

void add_group(LeaTable& table, const SegmentLevels& group) {
    if (group.is_empty()) return;
    SegmentLevels compacted = group;
    compacted.compact(true);
    table.compacted += compacted.bytes();
    table.bytes += group.bytes();
    ++table.groups;
    for (std::size_t i = 0; i < group_levels.size(); ++i) table.no_deeper[i] += group.levels() <= group_levels[i] ? 1 : 0;
    group.for_each([&](const Segment& s) {
        if (s.is_hole()) return;
        ++table.segments;
        for (std::size_t i = 0; i < segment_pages.size(); ++i) table.no_longer[i] += pages_of(s) <= segment_pages[i] ? 1 : 0;
    });
}

/// Runs of consecutive places among each `apart`-th of these pages.
template <class Table>
std::uint32_t runs_of(const Table& table, std::uint32_t first, std::uint32_t end, std::uint32_t apart) {
    std::uint32_t runs = 0;
    for (std::uint32_t l = first; l < end; ++l) {
        const auto unit = table.current(Lpn{l});
        const auto before = l - first < apart ? std::nullopt : table.current(Lpn{l - apart});
        runs += unit && !(before && before->value() + 1 == unit->value()) ? 1 : 0;
    }
    return runs;
}

/// What S-FTL (Jiang et al., 2011) would keep of the same places: of each translation page with any, an entry a run of consecutive places, and a bit
/// a page that says where runs begin; never more than all entries. As `sftl` does, a page takes its runs of neighbours or of every n-th page, on n
/// channels, whichever are fewer.
template <class Table>
double sftl_bytes(const Table& table, std::uint32_t logical_pages) {
    constexpr std::uint32_t entries_a_page = map_page_bytes / 4;
    double bytes = 0;
    for (std::uint32_t first = 0; first < logical_pages; first += entries_a_page) {
        const std::uint32_t end = std::min(first + entries_a_page, logical_pages);
        const std::uint32_t runs = std::min(runs_of(table, first, end, 1), runs_of(table, first, end, channels));
        if (runs != 0) bytes += std::min(4.0 * runs + entries_a_page / 8, 4.0 * entries_a_page);
    }
    return bytes;
}

using Dftl = PagedFtl<DemandTable<LruEntries>>;

LeaTable table_of(Device& device) {
    if (const auto* dftl = dynamic_cast<const Dftl*>(&device.ftl().undecorated())) {
        LeaTable table;
        table.sftl_bytes = sftl_bytes(dftl->table(), dftl->logical_pages());
        return table;
    }
    const auto* leaftl = dynamic_cast<const PagedFtl<LearnedTable>*>(&device.ftl().undecorated());
    ensure(leaftl != nullptr, "leaftl is a page map of learned segments");
    LeaTable table;
    leaftl->table().for_each_group([&](const SegmentLevels& group) { add_group(table, group); });
    const double waiting = 8.0 * static_cast<double>(leaftl->table().waiting_pages());
    table.bytes += waiting;
    table.compacted += waiting;
    table.mapped = static_cast<double>(leaftl->space().mapped_pages);
    table.dftl_bytes = 8 * table.mapped;
    table.sftl_bytes = sftl_bytes(leaftl->table(), leaftl->logical_pages());
    return table;
}

std::expected<LeaTable, std::string> measure_table(const MapSetting& s, const Load& load, bool is_quick) {
    LeaTable table;
    const auto outcome = run_trace_on({.config = leaftl_drive(s.map == "dftl" ? s.map : "leaftl", static_cast<std::uint32_t>(s.x), is_quick,
                                                              10 * logical_pages_of(is_quick), s.map == buffered ? 8 : 1),
                                       .requests = is_quick ? 16'000u : 400'000u,
                                       .speed = {.depth = 8},
                                       .before = {},
                                       .look = [&table](Device& device) { table = table_of(device); }},
                                      load);
    if (!outcome) return std::unexpected(fmt::format("{}, gamma {}: {}", s.load, s.x, outcome.error()));
    return table;
}

void add_distributions(Reproduction& out, const MapSetting& s, const LeaTable& t) {
    for (std::size_t i = 0; i < segment_pages.size(); ++i)
        out.points.push_back({fmt::format("{}: gamma {}, of at most so many pages, part of the segments", s.load, s.x),
                              static_cast<double>(segment_pages[i]),
                              {{"workload", s.load}, {"gamma", s.x}, {"segment_pages", segment_pages[i]}},
                              part_of(t.no_longer[i], t.segments)});
    for (std::size_t i = 0; i < group_levels.size(); ++i)
        out.points.push_back({fmt::format("{}: gamma {}, of at most so many levels, part of the groups", s.load, s.x),
                              static_cast<double>(group_levels[i]),
                              {{"workload", s.load}, {"gamma", s.x}, {"levels", group_levels[i]}},
                              part_of(t.no_deeper[i], t.groups)});
}

void show_tables(Reproduction& out, const std::vector<MapSetting>& all, const std::vector<LeaTable>& tables) {
    ComparedLoads ours, sftl, larger;
    std::vector<double> over_leaftl, of_dftl;
    const auto add = [&](const MapSetting& s, std::string_view what, double value) {
        out.points.push_back({fmt::format("{}: {}", s.load, what), s.x, {{"workload", s.load}, {"gamma", s.x}}, value});
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        const LeaTable& t = tables[i];
        if (all[i].map == "dftl") {
            add(all[i], "S-FTL's table of dftl's places, KiB", t.sftl_bytes / 1024);
            of_dftl.push_back(part_of(t.sftl_bytes, tables[i - gammas.size()].bytes));
            continue;
        }
        if (all[i].map == buffered) {
            add(all[i], "leaftl's table with eight times the buffer, KiB", t.bytes / 1024);
            add(all[i], "a segment holds with eight times the buffer, pages", part_of(t.mapped, t.segments));
            continue;
        }
        add(all[i], "leaftl's table, KiB", t.bytes / 1024);
        add(all[i], "leaftl's table, all compacted, KiB", t.compacted / 1024);
        add(all[i], "a segment holds, pages", part_of(t.mapped, t.segments));
        add_distributions(out, all[i], t);
        if (all[i].x != 0) {
            larger.add(fmt::format("{}, gamma {}", all[i].load, all[i].x), t.bytes, tables[i - (all[i].x == gammas[1] ? 1 : 2)].bytes);
            continue;
        }
        add(all[i], "dftl's table of 8 bytes a page, KiB", t.dftl_bytes / 1024);
        add(all[i], "S-FTL's table, KiB", t.sftl_bytes / 1024);
        ours.add(all[i].load, t.dftl_bytes, t.bytes);
        sftl.add(all[i].load, t.dftl_bytes, t.sftl_bytes);
        over_leaftl.push_back(part_of(t.sftl_bytes, t.bytes));
    }
    out.points.push_back({"table, S-FTL's over leaftl's, mean of the loads, times", 0, {{"gamma", 0}}, mean_of(over_leaftl)});
    out.points.push_back({"table, S-FTL's of dftl's places over leaftl's, mean of the loads, times", 0, {{"gamma", 0}}, mean_of(of_dftl)});
    const auto claim = [&](std::string name, ComparedLoads compared) {
        out.claim("maps-leaftl", std::move(name), std::move(compared.words), {std::move(compared.evidence)});
    };
    claim("leaftl's table is smaller than dftl's, as the paper's", std::move(ours));
    claim("S-FTL's table is smaller than dftl's, as the paper's", std::move(sftl));
    claim("a larger gamma makes the table no larger", std::move(larger));
}

// Latency

std::expected<MapMeasured, std::string> measure_latency(const MapSetting& s, const Load& load, bool is_quick) {
    const auto at = std::ranges::find(by_gamma, s.map);
    const std::uint32_t gamma = at == by_gamma.end() ? 0 : gammas[static_cast<std::size_t>(at - by_gamma.begin())];
    const std::string_view scheme = at == by_gamma.end() ? s.map : "leaftl";
    const auto bytes = static_cast<std::uint64_t>(4.0 * static_cast<double>(logical_pages_of(is_quick)) * s.x / 100);
    const std::uint64_t requests = is_quick ? 6000 : 200'000;
    const MakeRequests whole = requests_of(load);
    const MakeRequests once = [&](std::uint64_t of_drive) -> std::expected<NextRequest, std::string> {
        auto next = whole(of_drive);
        if (!next) return std::unexpected(next.error());
        return first_of(std::move(*next), requests);
    };
    const auto outcome =
        run_requests_on({.config = leaftl_drive(scheme, gamma, is_quick, bytes), .requests = requests, .speed = {.depth = 8}}, once, whole);
    if (!outcome) return std::unexpected(fmt::format("{} on {}: {}", s.map, s.load, outcome.error()));
    return map_measured(*outcome, scheme, LatencyOf::all_requests);
}

void judge_latency(Reproduction& out, const MapPoints& points) {
    const auto claim = [&](std::string name, ComparedLoads compared) {
        out.claim("maps-leaftl", std::move(name), std::move(compared.words), {std::move(compared.evidence)});
    };
    claim("leaftl answers sooner than dftl, as the paper's", points.over(&MapMeasured::mean, {"leaftl", most_dram}, {"dftl", most_dram}));
    claim("sftl answers sooner than dftl, as the paper's", points.over(&MapMeasured::mean, {"sftl", most_dram}, {"dftl", most_dram}));
    const std::vector<double> sooner = points.over(&MapMeasured::mean, {"sftl", most_dram}, {"leaftl", most_dram}).ratios();
    out.points.push_back(
        {"response time, sftl over leaftl, mean of the loads, times", most_dram, {{"dram_percent_of_table", most_dram}}, mean_of(sooner)});
    claim("gamma 0: nothing is predicted wrongly", points.each(&MapMeasured::mispredicted, by_gamma[0], most_dram));
    claim("gamma 4: little is predicted wrongly", points.each(&MapMeasured::mispredicted, by_gamma[1], most_dram));
    claim("gamma 16: little is predicted wrongly", points.each(&MapMeasured::mispredicted, by_gamma[2], most_dram));
}

} // namespace

ExperimentRun::Result run_maps_leaftl(const RunContext& context) {
    const std::vector<PlayedLoad> loads = played(context, generated, own_traces);
    const bool is_quick = context.is_quick();
    std::vector<MapSetting> of_table, of_latency;
    for (std::size_t l = 0; l < loads.size(); ++l) {
        const std::string& name = loads[l].name;
        for (const std::uint32_t gamma : gammas) of_table.push_back({name, "leaftl", static_cast<double>(gamma), l});
        for (const std::string_view map : {std::string_view{"dftl"}, buffered}) of_table.push_back({name, map, 0, l});
        for (const std::string_view map : {"dftl", "sftl", "leaftl"})
            for (const double percent : dram_percent) of_latency.push_back({name, map, percent, l});
        for (std::size_t i = 1; i < by_gamma.size(); ++i) of_latency.push_back({name, by_gamma[i], most_dram, l});
        of_latency.push_back({name, "page_map", 100, l});
    }
    const auto tables = measure_points<LeaTable>(context.workers, of_table.size(),
                                                 [&](std::size_t i) { return measure_table(of_table[i], loads[of_table[i].source].load, is_quick); });
    if (!tables) return std::unexpected(tables.error());
    auto latencies = measure_points<MapMeasured>(context.workers, of_latency.size(), [&](std::size_t i) {
        return measure_latency(of_latency[i], loads[of_latency[i].source].load, is_quick);
    });
    if (!latencies) return std::unexpected(latencies.error());
    Reproduction out;
    show_tables(out, of_table, *tables);
    const MapPoints points{"dram_percent_of_table", of_latency, std::move(*latencies)};
    points.add(out, "mean us", &MapMeasured::mean);
    points.add(out, "double reads a page read", &MapMeasured::double_reads);
    points.add(out, "wrong predictions a page read", &MapMeasured::mispredicted, [](const MapSetting& s) { return s.map.starts_with("leaftl"); });
    points.add(out, "write amplification", &MapMeasured::waf);
    judge_latency(out, points);
    if (const auto added = add_sources(out, loads); !added) return std::unexpected(added.error());
    out.free_parameters = {
        {"device", is_quick ? "128 MiB, 4 channels, 20 % spare" : "1 GiB, 4 channels, 20 % spare", "20, 200 and 1500 us, blocks of 256 pages"},
        {"write buffer", is_quick ? "1 MiB; segments compacted each 12.5 MiB written" : "8 MiB; segments compacted each 100 MiB written",
         "for all maps; leaftl learns from so many pages together; an eighth of both in a quick run"},
        {"table of dftl", "8 bytes for each page that the load wrote", "4 for each page of a whole table would halve what leaftl and S-FTL save"},
        {"table of S-FTL", "computed from leaftl's places, and from dftl's", "sftl's cache has only what it uses", "S-FTL's table over leaftl's",
         "of leaftl's places, which are sorted, it is 0.68 of leaftl's, where the paper has 2.9"},
        {"latency", "of all requests, 8 in flight, the load played a second time", "the paper's drives were warm, too"},
        {"checkpoints of the maps", "none", "the paper has no recovery"}};
    return out;
}

} // namespace flashlab
