#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/contract.h"
#include "base/random.h"
#include "ftl/schemes/demand_options.h"
#include "ftl/schemes/page_plan.h"
#include "tools/drive/device_presets.h"
#include "tools/reproduce/experiments.h"
#include "tools/reproduce/map_point.h"
#include "tools/workloads/portable_math.h"
#include "tools/workloads/random_distribution.h"

namespace flashlab {
namespace {

// The paper's drive (FEMU, 8 channels of 8 chips, 40, 200 and 2000 us), smaller. Entries for 0.2 % of the table, as its 8,192 of 32 GiB; models lie
// beside them, uncharged. So learnedftl is measured twice: as the paper charges, and all maps with what its entries and models take together.
constexpr std::uint32_t channels = 8;
constexpr std::uint32_t full_blocks = 72, quick_blocks = 36; ///< a plane, a ninth of them spare
constexpr std::uint32_t full_block_pages = 512, quick_block_pages = 128;
constexpr std::uint32_t spare_permille = 111;
constexpr double of_entries = 0.2, of_models = 6.25; ///< percent of a table of 4 bytes: 256 bytes of model for 1,024 pages
constexpr double equal_dram = of_entries + of_models;
constexpr std::uint32_t in_flight = 64;
constexpr std::uint32_t lea_gamma = 4;
constexpr std::uint64_t piece_bytes = 512u << 10;
constexpr std::array<double, 5> arrivals{20, 40, 60, 80, 100}; ///< thousand a second, where requests do not wait for each other
constexpr std::array<std::string_view, 4> maps{"dftl", "tpftl", "leaftl", "learnedftl"};

enum class Past : std::uint8_t { in_order, in_pieces, at_random };
struct FioLoad {
    std::string_view name;
    std::string_view pages; ///< a distribution; empty: in order, 512 KiB each
    std::uint32_t reads;    ///< of a hundred
    Past past;
    std::string_view trace = {};
    [[nodiscard]] bool is_read_at_random() const { return reads > 50 && !pages.empty(); }
};
constexpr std::array fio_loads{
    FioLoad{"random reads, written in order", "uniform", 100, Past::in_order},
    FioLoad{"random reads, written in pieces", "uniform", 100, Past::in_pieces},
    FioLoad{"random reads, written at random", "uniform", 100, Past::at_random},
    FioLoad{"zipf, 8 of 10 reads, written in order", "zipf:0.9", 80, Past::in_order},
    FioLoad{"reads in order", "", 100, Past::in_order},
    FioLoad{"writes in order", "", 0, Past::in_order},
    FioLoad{"random writes", "uniform", 0, Past::at_random},
};
constexpr std::array own_traces{RealTrace{"websearch1", "websearch1-first60s.mqsim.gz"}, RealTrace{"systor17", "systor17-sample-a.csv.gz"}};

DeviceConfig learned_drive(std::string_view map, bool is_quick, double percent) {
    const auto preset = find_device_preset("modern-slc");
    ensure(preset.has_value(), "the preset of SLC exists");
    DeviceConfig config;
    config.ssd = preset->config;
    config.ssd.nand.geometry = {.channels = channels,
                                .chips_per_channel = 1,
                                .dies_per_chip = 1,
                                .planes_per_die = 1,
                                .blocks_per_plane = is_quick ? quick_blocks : full_blocks,
                                .pages_per_block = is_quick ? quick_block_pages : full_block_pages,
                                .page_bytes = map_page_bytes,
                                .spare_bytes = 128,
                                .cell = CellType::slc};
    config.ssd.nand.timing.page_read = Duration{40'000};
    config.ssd.nand.timing.page_program = Duration{200'000};
    config.ssd.nand.timing.block_erase = Duration{2'000'000};
    config.ssd.nand.factory_bad_per_million = 0;
    FtlConfig& ftl = config.ssd.ftl;
    ftl.scheme = map;
    ftl.reserved_permille = spare_permille;
    ftl.options.set(page_option::checkpoint_blocks, 1u << 30);
    const auto& g = config.ssd.nand.geometry;
    const double table = 4.0 * g.channels * g.blocks_per_plane * g.pages_per_block * (1000 - spare_permille) / 1000;
    const double given = map == "learnedftl" ? equal_dram : percent; // its models are charged, whoever counts them
    ftl.options.set(demand_option::mapping_cache_bytes, static_cast<std::uint64_t>(table * given / 100));
    ftl.options.set(learnedftl_option::model_permille, static_cast<std::uint32_t>(1000 * of_models / equal_dram));
    ftl.options.set(leaftl_option::gamma, lea_gamma);
    return config;
}

/// Requests of one page anywhere, or all of the drive in order, again and again.
MakeRequests requests_of_fio(const FioLoad& load, double thousand_a_second = 0) {
    return [&load, thousand_a_second](std::uint64_t bytes) -> std::expected<NextRequest, std::string> {
        if (load.pages.empty())
            return [&load, bytes, at = std::uint64_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
                if (at + piece_bytes > bytes) at = 0;
                request = {.offset = at, .bytes = piece_bytes, .op = load.reads != 0 ? TraceOp::read : TraceOp::write};
                at += piece_bytes;
                return true;
            };
        const auto spec = parse_distribution(load.pages);
        if (!spec) return std::unexpected(spec.error());
        const std::uint64_t pages = bytes / map_page_bytes;
        return [&load, pages, gap = thousand_a_second > 0 ? 1e6 / thousand_a_second : 0, arrival = 0.0, random = Random{11},
                ranks = RandomDistribution{*spec, pages}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
            const std::uint64_t page = ranks.rank(random) * 2'654'435'761 % pages;
            request = {.time_ns = static_cast<std::uint64_t>(arrival),
                       .offset = page * map_page_bytes,
                       .bytes = map_page_bytes,
                       .op = random.below(100) < load.reads ? TraceOp::read : TraceOp::write};
            if (gap > 0) arrival -= gap * portable_log(1 - random.unit());
            return true;
        };
    };
}

/// As many bytes as the drive has, in pieces of 512 KiB anywhere.
std::expected<NextRequest, std::string> pieces_anywhere(std::uint64_t bytes) {
    const std::uint64_t pieces = bytes / piece_bytes;
    return [pieces, left = pieces, random = Random{13}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (left == 0) return false;
        --left;
        request = {.offset = random.below(pieces) * piece_bytes, .bytes = piece_bytes, .op = TraceOp::write};
        return true;
    };
}

std::expected<MapMeasured, std::string> measure(const MapSetting& s, const FioLoad& load, const Load* trace, bool is_quick) {
    const std::uint64_t requests = load.pages.empty() && trace == nullptr ? (is_quick ? 400u : 8'000u) : (is_quick ? 12'000u : 400'000u);
    const auto outcome = run_requests_on({.config = learned_drive(s.map, is_quick, s.x),
                                          .requests = requests,
                                          .speed = {.depth = load.pages.empty() && trace == nullptr ? 4 : in_flight},
                                          .before = {.fill_percent = 100, .random_fills = load.past == Past::at_random ? 1.0 : 0.0}},
                                         load.past == Past::in_pieces ? MakeRequests{pieces_anywhere} : MakeRequests{},
                                         trace != nullptr ? requests_of(*trace) : requests_of_fio(load));
    if (!outcome) return std::unexpected(fmt::format("{} on {}: {}", s.map, s.load, outcome.error()));
    return map_measured(*outcome, s.map, load.reads == 0 ? LatencyOf::all_requests : LatencyOf::reads);
}

// Requests that arrive

constexpr std::string_view tpftl_charged = "tpftl, equal DRAM";
constexpr std::array<std::string_view, 4> arriving{"tpftl", tpftl_charged, "leaftl", "learnedftl"};

std::expected<MapMeasured, std::string> measure_arrivals(const MapSetting& s, bool is_quick) {
    const FioLoad& load = fio_loads.front();
    const std::string_view scheme = s.map == tpftl_charged ? "tpftl" : s.map;
    const auto outcome = run_requests_on({.config = learned_drive(scheme, is_quick, s.map == tpftl_charged ? equal_dram : of_entries),
                                          .requests = is_quick ? 12'000u : 400'000u,
                                          .speed = {}},
                                         MakeRequests{}, requests_of_fio(load, s.x));
    if (!outcome) return std::unexpected(fmt::format("{} at {} thousand a second: {}", s.map, s.x, outcome.error()));
    return map_measured(*outcome, scheme, LatencyOf::reads);
}

/// The same reads, which arrive whether or not the drive keeps pace. What p99 says then depends on how near they come to what it can do.
std::expected<void, std::string> show_arrivals(Reproduction& out, const RunContext& context) {
    std::vector<MapSetting> all;
    for (const std::string_view map : arriving)
        for (const double rate : arrivals) all.push_back({"random reads that arrive, written in order", map, rate, 0});
    auto measured =
        measure_points<MapMeasured>(context.workers, all.size(), [&](std::size_t i) { return measure_arrivals(all[i], context.is_quick()); });
    if (!measured) return std::unexpected(measured.error());
    const MapPoints points{"thousand_a_second", std::move(all), std::move(*measured)};
    points.add(out, "p99 us of arrivals", &MapMeasured::p99);
    return {};
}

const FioLoad& fio_load(const std::string& name) {
    // A real trace is played on a drive that was written in pieces.
    static constexpr FioLoad of_trace{"trace", "uniform", 100, Past::in_pieces};
    const auto at = std::ranges::find(fio_loads, name, &FioLoad::name);
    return at == fio_loads.end() ? of_trace : *at;
}
bool reads_at_random(const MapSetting& s) { return fio_load(s.load).is_read_at_random(); }
bool others(const MapSetting& s) { return !reads_at_random(s); }
bool reads(const MapSetting& s) { return fio_load(s.load).reads != 0; }

void judge_learned(Reproduction& out, const MapPoints& points) {
    const auto claim = [&](std::string name, ComparedLoads compared) {
        out.claim("maps-learnedftl", std::move(name), std::move(compared.words), {std::move(compared.evidence)});
    };
    const std::pair<std::string_view, double> learned{"learnedftl", of_entries}, tpftl{"tpftl", of_entries}, leaftl{"leaftl", of_entries};
    const auto over = [&](MapPoints::Value value, const auto& map, const auto& under) { return points.over(value, map, under, reads_at_random); };
    const ComparedLoads doubled = over(&MapMeasured::double_reads, learned, tpftl);
    const ComparedLoads p99_tpftl = over(&MapMeasured::p99, tpftl, learned), p99_leaftl = over(&MapMeasured::p99, leaftl, learned);
    claim("learnedftl has fewer double reads than tpftl", doubled);
    claim("learnedftl's p99 is below tpftl's", p99_tpftl);
    claim("learnedftl's p99 is below leaftl's", p99_leaftl);
    claim("learnedftl serves more reads a second than tpftl", over(&MapMeasured::requests_per_second, learned, tpftl));
    claim("learnedftl reads in order and writes as fast as tpftl", points.over(&MapMeasured::requests_per_second, learned, tpftl, others));
    // learnedftl itself is the same with either charge: its point at the larger DRAM is that at the smaller one.
    const std::pair<std::string_view, double> charged{"tpftl", equal_dram};
    claim("with equal DRAM, learnedftl has fewer double reads than tpftl", over(&MapMeasured::double_reads, learned, charged));
    claim("with equal DRAM, learnedftl's p99 is below tpftl's", over(&MapMeasured::p99, charged, learned));
    const Json::Object params{{"dram_percent_of_table", of_entries}};
    const std::vector<double> ratios = doubled.ratios();
    out.points.push_back(
        {"double reads, learnedftl over tpftl, the least of the loads, times", of_entries, params, *std::ranges::min_element(ratios)});
    out.points.push_back({"p99, tpftl over learnedftl, mean of the loads, times", of_entries, params, mean_of(p99_tpftl.ratios())});
    out.points.push_back({"p99, leaftl over learnedftl, mean of the loads, times", of_entries, params, mean_of(p99_leaftl.ratios())});
}

} // namespace

ExperimentRun::Result run_maps_learnedftl(const RunContext& context) {
    const std::vector<PlayedLoad> traces = played(context, {}, own_traces);
    std::vector<MapSetting> all;
    for (std::size_t l = 0; l < fio_loads.size() + traces.size(); ++l) {
        const std::string name = l < fio_loads.size() ? std::string{fio_loads[l].name} : traces[l - fio_loads.size()].name;
        for (const std::string_view map : maps)
            for (const double percent : {of_entries, equal_dram})
                if (map != "learnedftl" || percent == of_entries) all.push_back({name, map, percent, l});
        all.push_back({name, "page_map", 100, l});
    }
    auto measured = measure_points<MapMeasured>(context.workers, all.size(), [&](std::size_t i) {
        const bool is_trace = all[i].source >= fio_loads.size();
        return measure(all[i], fio_load(all[i].load), is_trace ? &traces[all[i].source - fio_loads.size()].load : nullptr, context.is_quick());
    });
    if (!measured) return std::unexpected(measured.error());
    const MapPoints points{"dram_percent_of_table", std::move(all), std::move(*measured)};
    Reproduction out;
    points.add(out, "double reads a page read", &MapMeasured::double_reads, reads);
    points.add(out, "pages predicted by a model, part", &MapMeasured::predicted,
               [](const MapSetting& s) { return s.map == "learnedftl" && reads(s); });
    points.add(out, "wrong predictions a page read", &MapMeasured::mispredicted, [](const MapSetting& s) { return s.map == "leaftl" && reads(s); });
    points.add(out, "requests/s", &MapMeasured::requests_per_second);
    points.add(out, "p99 us", &MapMeasured::p99);
    points.add(out, "p99.9 us", &MapMeasured::p999);
    judge_learned(out, points);
    if (const auto shown = show_arrivals(out, context); !shown) return std::unexpected(shown.error());
    if (const auto added = add_sources(out, traces); !added) return std::unexpected(added.error());
    out.free_parameters = {
        {"device", context.is_quick() ? "128 MiB, 8 channels, blocks of 128 pages, 11 % spare" : "1 GiB, 8 channels, blocks of 512 pages, 11 % spare",
         "40, 200 and 2000 us"},
        {"DRAM", "0.2 % of a table of 4 bytes in entries, as the paper; 6.45 % for learnedftl, with its models, and a second time for the others",
         "the paper does not charge the models"},
        {"requests", "one page each, 64 in flight; in order 512 KiB each, 4 in flight", "latencies are of reads where there are any"},
        {"past", "in order; then in pieces of 512 KiB, or at random by pages, once over", "the paper warms its drive up and does not say how"},
        {"leaftl", "gamma 4, no write buffer", "the paper counts its wrong predictions, so its gamma is not 0"},
        {"checkpoints of the maps", "none", "the paper has no recovery"}};
    return out;
}

} // namespace flashlab
