#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "base/contract.h"
#include "tools/reproduce/experiments.h"
#include "tools/reproduce/map_point.h"
#include "tools/reproduce/restart.h"

namespace flashlab {
namespace {

// Five maps on flash and the one in DRAM, on one drive: TLC of today, 2 channels, 12 % spare. Each map gets the same DRAM.
constexpr std::string_view apart = "learnedftl, copies apart"; ///< what the host writes and what collections move have superblocks of their own
constexpr std::array<std::string_view, 7> maps{"page_map", "dftl", "tpftl", "sftl", "leaftl", "learnedftl", apart};
constexpr std::array<std::uint32_t, 4> dram_permille{1, 5, 20, 100}; ///< of the table
constexpr std::uint64_t page_bytes = map_page_bytes;
constexpr std::uint32_t long_request = 32; ///< pages of one that writes in order
constexpr std::uint32_t in_flight = 8;
constexpr std::uint32_t full_blocks = 320, quick_blocks = 40, restarted_blocks = 40; ///< a plane
constexpr std::size_t kills = 15;                                                    ///< of each map: a start depends on the last checkpoint

enum class Past : std::uint8_t { in_order, at_random, in_order_again };
struct MapLoad {
    std::string_view name;
    std::string_view pages; ///< a distribution, as bench takes it
    std::uint32_t reads;    ///< of a hundred requests
    Past past;
    const Load* trace = nullptr; ///< a real one, on a drive written in order; `reads` then says nothing
};
constexpr std::array generated{
    MapLoad{"random reads, written in order", "uniform", 100, Past::in_order},
    MapLoad{"random reads, written at random", "uniform", 100, Past::at_random},
    MapLoad{"random reads, written again in order", "uniform", 100, Past::in_order_again},
    MapLoad{"zipf reads, written at random", "zipf:0.9", 100, Past::at_random},
    MapLoad{"zipf, 7 of 10 reads", "zipf:0.9", 70, Past::at_random},
    MapLoad{"random writes", "uniform", 0, Past::at_random},
};

/// Requests of one page; or the trace's.
MakeRequests pages_of(const MapLoad& load) {
    if (load.trace != nullptr) return requests_of(*load.trace);
    return single_pages(load.pages, [reads = load.reads](Random& random) { return random.below(100) < reads ? TraceOp::read : TraceOp::write; });
}

/// The whole drive, by long requests.
std::expected<NextRequest, std::string> all_in_order(std::uint64_t bytes) {
    constexpr std::uint64_t each = long_request * page_bytes;
    return [left = bytes / each, at = std::uint64_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (left == 0) return false;
        --left;
        request = {.offset = std::exchange(at, at + each), .bytes = each, .op = TraceOp::write};
        return true;
    };
}

DeviceConfig drive_of(std::string_view map, std::uint32_t blocks, std::uint32_t permille) {
    DeviceConfig config = config_of(MapDrive{map == apart ? "learnedftl" : map, blocks, 120, permille});
    if (map == apart) config.ssd.ftl.separation = "cause";
    return config;
}

struct Setting {
    std::string_view map;
    const MapLoad* load;
    std::uint32_t permille; ///< of the table in DRAM; 1000: page_map
};

std::expected<MapMeasured, std::string> measure(const Setting& s, bool is_quick) {
    const MapLoad& load = *s.load;
    const auto outcome = run_requests_on({.config = drive_of(s.map, is_quick ? quick_blocks : full_blocks, s.permille),
                                          .requests = is_quick ? 8000u : 200'000u,
                                          .speed = {.depth = in_flight},
                                          .before = {.fill_percent = 100, .random_fills = load.past == Past::in_order ? 0.0 : 1.0}},
                                         load.past == Past::in_order_again ? MakeRequests{all_in_order} : MakeRequests{}, pages_of(load));
    if (!outcome) return std::unexpected(fmt::format("{} on {}: {}", s.map, load.name, outcome.error()));
    return map_measured(*outcome, s.map, load.reads == 0 || load.trace != nullptr ? LatencyOf::all_requests : LatencyOf::reads);
}

/// All that was measured, by map, load and DRAM.
class MapTable {
public:
    MapTable(const std::vector<MapLoad>& loads, std::vector<Setting> all, std::vector<MapMeasured> measured)
        : loads_{loads}, all_{std::move(all)}, measured_{std::move(measured)} {}
    [[nodiscard]] const MapMeasured& at(std::string_view map, const MapLoad& load, std::uint32_t permille) const {
        const auto found = std::ranges::find_if(
            all_, [&](const Setting& s) { return s.map == map && s.load == &load && (s.permille == permille || s.map == "page_map"); });
        ensure(found != all_.end(), "a point of the table");
        return measured_[static_cast<std::size_t>(found - all_.begin())];
    }
    void add_points(Reproduction& out, std::string_view what, double MapMeasured::*value, bool (*of)(const MapLoad&)) const {
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (const MapLoad& load = *all_[i].load; of(load))
                out.points.push_back({fmt::format("{}: {}, {}", load.name, all_[i].map, what),
                                      all_[i].permille / 10.0,
                                      {{"workload", load.name}, {"ftl", all_[i].map}, {"dram_percent_of_table", all_[i].permille / 10.0}},
                                      measured_[i].*value});
    }
    /// One value over another for each DRAM on each of these loads that has any of it, and the words.
    [[nodiscard]] ComparedLoads over(double MapMeasured::*value, std::string_view map, std::string_view under, bool (*of)(const MapLoad&)) const {
        ComparedLoads both;
        for (const MapLoad& load : loads_) {
            const auto has_any = [&](std::uint32_t permille) { return at(map, load, permille).*value != 0 || at(under, load, permille).*value != 0; };
            if (!of(load) || !std::ranges::any_of(dram_permille, has_any)) continue;
            both.words += fmt::format("{}{}:", both.words.empty() ? "" : "; ", load.name);
            for (const std::uint32_t permille : dram_permille) {
                both.evidence.over.push_back(at(map, load, permille).*value);
                both.evidence.under.push_back(at(under, load, permille).*value);
                both.words += fmt::format(" {:.3g} of {:.3g}", both.evidence.over.back(), both.evidence.under.back());
            }
        }
        return both;
    }

private:
    const std::vector<MapLoad>& loads_;
    std::vector<Setting> all_;
    std::vector<MapMeasured> measured_;
};

bool any(const MapLoad&) { return true; }
bool reads(const MapLoad& load) { return load.reads != 0; }
bool reads_apart(const MapLoad& load) { return reads(load) && load.trace == nullptr; } ///< their latencies are counted
bool only_reads(const MapLoad& load) { return load.reads == 100 || load.trace != nullptr; }
bool writes(const MapLoad& load) { return load.reads != 100; }
bool random_reads(const MapLoad& load) { return load.reads == 100 && load.pages == "uniform" && load.trace == nullptr; }
bool in_order(const MapLoad& load) { return random_reads(load) && load.past != Past::at_random; }
bool at_random(const MapLoad& load) { return random_reads(load) && load.past == Past::at_random; }

void judge_maps(Reproduction& out, const MapTable& table) {
    const auto claim = [&](std::string name, double MapMeasured::*value, std::string_view map, std::string_view under, bool (*of)(const MapLoad&)) {
        auto compared = table.over(value, map, under, of);
        if (compared.evidence.over.empty()) return; // real traces are no random reads
        out.claim("beyond-maps", std::move(name), std::move(compared.words), {std::move(compared.evidence)});
    };
    claim("written in order, learnedftl has fewer double reads than tpftl", &MapMeasured::double_reads, "learnedftl", "tpftl", in_order);
    claim("written at random, learnedftl has fewer double reads than tpftl", &MapMeasured::double_reads, "learnedftl", "tpftl", at_random);
    claim("with copies apart, learnedftl written in order has fewer double reads than tpftl", &MapMeasured::double_reads, apart, "tpftl", in_order);
    claim("learnedftl's p99 under random reads is far below tpftl's", &MapMeasured::p99, "tpftl", "learnedftl", random_reads);
    claim("learnedftl's p99 under random reads is below leaftl's", &MapMeasured::p99, "leaftl", "learnedftl", random_reads);
    claim("tpftl writes fewer translation pages than dftl", &MapMeasured::translation_writes, "tpftl", "dftl", writes);
    claim("tpftl answers sooner than dftl", &MapMeasured::mean, "tpftl", "dftl", any);
    claim("leaftl's table is smaller than a page table", &MapMeasured::table_kib, "dftl", "leaftl", any);
    claim("leaftl answers reads sooner than dftl", &MapMeasured::mean, "leaftl", "dftl", reads_apart);
    claim("leaftl answers reads sooner than sftl", &MapMeasured::mean, "leaftl", "sftl", reads_apart);
    for (const std::string_view map : {"dftl", "tpftl", "sftl", "leaftl", "learnedftl"})
        claim(fmt::format("{} answers no sooner than a page map in DRAM", map), &MapMeasured::mean, map, "page_map", only_reads);
}

/// At a load that leaves all maps with much to bring back.
std::expected<void, std::string> show_restarts(Reproduction& out, const RunContext& context) {
    const auto measured = measure_points<Restarts>(context.workers, maps.size(), [&](std::size_t i) {
        return restarts({.config = drive_of(maps[i], restarted_blocks, 20), .requests = 5000, .speed = {.depth = in_flight}},
                        pages_of(generated.back()), kills);
    });
    if (!measured) return std::unexpected(measured.error());
    for (std::size_t i = 0; i < maps.size(); ++i) {
        const auto& [median, most] = (*measured)[i];
        const Json::Object params{{"dram_percent_of_table", 2}, {"ftl", maps[i]}, {"blocks", median.blocks}, {"kills", kills}};
        for (const auto& [name, of] : {std::pair{"median", median}, std::pair{"most", most}}) {
            out.points.push_back({fmt::format("{}, start after a kill, {} of {}, ms", maps[i], name, kills), 2, params, of.ms});
            out.points.push_back(
                {fmt::format("{}, {} of {} kills, pages looked at", maps[i], name, kills), 2, params, static_cast<double>(of.pages_scanned)});
        }
    }
    return {};
}

} // namespace

ExperimentRun::Result run_beyond_maps(const RunContext& context) {
    NamedLoads traces;
    std::vector<MapLoad> loads;
    if (context.trace_folder.empty()) {
        loads.assign(generated.begin(), generated.end());
    } else {
        auto found = loads_of_folder(context);
        if (!found) return std::unexpected(found.error());
        traces = std::move(*found);
        for (const auto& [name, load] : traces) loads.push_back({name, "", 50, Past::in_order, &load});
    }
    std::vector<Setting> all;
    for (const MapLoad& load : loads)
        for (const std::string_view map : maps)
            for (const std::uint32_t permille : dram_permille)
                if (map != "page_map" || permille == dram_permille.back()) all.push_back({map, &load, map == "page_map" ? 1000 : permille});
    auto measured = measure_points<MapMeasured>(context.workers, all.size(), [&](std::size_t i) { return measure(all[i], context.is_quick()); });
    if (!measured) return std::unexpected(measured.error());
    const MapTable table{loads, std::move(all), std::move(*measured)};
    Reproduction out;
    table.add_points(out, "hits", &MapMeasured::hits, reads);
    table.add_points(out, "double reads a page read", &MapMeasured::double_reads, reads);
    table.add_points(out, "pages predicted by a model", &MapMeasured::predicted, reads);
    table.add_points(out, "translation pages written a page", &MapMeasured::translation_writes, writes);
    table.add_points(out, "write amplification", &MapMeasured::waf, writes);
    table.add_points(out, "mean us", &MapMeasured::mean, any);
    table.add_points(out, "p50 us", &MapMeasured::p50, any);
    table.add_points(out, "p99 us", &MapMeasured::p99, any);
    table.add_points(out, "p99.9 us", &MapMeasured::p999, any);
    table.add_points(out, "DRAM of the map, KiB", &MapMeasured::dram_kib, any);
    table.add_points(out, "page table, KiB", &MapMeasured::table_kib, any);
    if (const auto restarted = show_restarts(out, context); !restarted) return std::unexpected(restarted.error());
    judge_maps(out, table);
    out.free_parameters = {
        {"device", context.is_quick() ? "128 MiB, 2 channels, 12 % spare" : "1 GiB, 2 channels, 12 % spare", "one for all; TLC of today"},
        {"DRAM", "0.1, 0.5, 2 and 10 % of a table of 4 bytes a page",
         "each byte of entries, nodes, segments, models and bits is charged to it; what always is there (directory, the group of segments in use, "
         "virtual blocks, entries of moved pages) comes on top: the rows of DRAM say how much"},
        {"requests", "one page each, 8 in flight", "latencies are of reads, of the load without any of writes"},
        {"learnedftl", "half of its DRAM for models, no groups", "beyond-groups has them"},
        {"leaftl", "gamma 0, no write buffer", "no map has one here"},
        {"kills", fmt::format("{} of one drive of 128 MiB that goes on, up to 2,500 random writes apart", kills),
         "what a start reads depends on when the last checkpoint was"}};
    if (traces.empty()) return out;
    out.free_parameters.push_back({"real traces",
                                   "as recorded, on a drive written in order; latencies are of all requests; addresses modulo the drive",
                                   "neighbours stay neighbours"});
    for (const auto& [name, load] : traces) {
        const auto source = load.source();
        if (!source) return std::unexpected(source.error());
        out.loads.push_back(*source);
    }
    return out;
}

} // namespace flashlab
