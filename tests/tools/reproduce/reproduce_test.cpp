/// Papers' figures measured anew: the JSON that the command prints, the same bytes twice, claims that follow from measurements, arithmetic of one
/// request.
#include "tools/reproduce/experiment.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "nand/presets.h"
#include "tests/support/catch.h"

#include "tools/reproduce/dumbo_raw.h"
#include "tools/reproduce/markdown_report.h"
#include "tools/reproduce/partition_sweep.h"
#include "tools/reproduce/series.h"
#include "tools/reproduce/verdicts.h"

using namespace flashlab;

namespace {

Json run_quickly(std::string_view id) {
    const Experiment* experiment = find_experiment(id);
    REQUIRE(experiment != nullptr);
    const auto result = experiment->reproduce(RunLength::quick);
    REQUIRE(result.has_value());
    return to_json(*experiment, *result);
}

/// A quick run of each experiment, made once.
const Json& quick_run(std::string_view id) {
    static std::map<std::string, Json, std::less<>> runs;
    auto at = runs.find(id);
    if (at == runs.end()) at = runs.emplace(id, run_quickly(id)).first;
    return at->second;
}

bool is_of(const Experiment& e, std::string_view paper) { return e.id.starts_with(paper); }

/// What the repository shows of an experiment is what it gives, to the byte.
void check_page(const Experiment& e) {
    std::ifstream in{FLASHLAB_TREE "/tools/reproduce/RESULTS.md"};
    std::ostringstream text;
    text << in.rdbuf();
    const auto result = e.reproduce(RunLength::quick);
    REQUIRE(result.has_value());
    INFO(e.id << ": flashlab reproduce all --quick --markdown tools/reproduce/RESULTS.md");
    CHECK(text.str().contains(MarkdownReport::section(e, *result)));
    for (const std::string& row : MarkdownReport::assumptions(*result))
        CHECK(text.str().contains(fmt::format("\n{}", row.substr(0, row.size() - 1))));
}

double megabytes(const DumboRun& run) {
    const auto result = run_dumbo(run);
    REQUIRE(result.has_value());
    return result->megabytes_per_second;
}

} // namespace

namespace {

/// The names that users rely on, then those of single experiments. A share is a fraction of 1.
const std::set<std::string, std::less<>> parameter_names{"op",
                                                         "request_bytes",
                                                         "striping",
                                                         "interleaving",
                                                         "pipelining",
                                                         "ftl",
                                                         "fsms",
                                                         "workload",
                                                         "dram_bytes",
                                                         "map_share",
                                                         "adaptive",
                                                         "blocks_per_virtual_block",
                                                         "cache_bytes",
                                                         "channels",
                                                         "reserved_share",
                                                         "file_bytes",
                                                         "fill_share",
                                                         "bits_a_cell",
                                                         "blocks",
                                                         "blocks_per_plane",
                                                         "buffer_bytes",
                                                         "bytes_written",
                                                         "deletes_pages",
                                                         "late_completions_share",
                                                         "map_bytes",
                                                         "mebibytes_of_what_grows",
                                                         "mirrored_log",
                                                         "part_of_each_sub_request",
                                                         "period",
                                                         "phases",
                                                         "planes",
                                                         "preset",
                                                         "queue_depth",
                                                         "sector_words",
                                                         "value",
                                                         "what",
                                                         "pattern",
                                                         "words",
                                                         "look_up_ns",
                                                         "buffer",
                                                         "flush_each",
                                                         "dram_percent_of_table",
                                                         "gamma",
                                                         "groups",
                                                         "segment_pages",
                                                         "levels",
                                                         "gb_written",
                                                         "percent_used",
                                                         "theta",
                                                         "percent_of_writes_to_the_hot",
                                                         "open_zones",
                                                         "thousand_a_second",
                                                         "left",
                                                         "load",
                                                         "separation",
                                                         "victim",
                                                         "used",
                                                         "chunk_units",
                                                         "random_share",
                                                         "units"};

void check_parameters(const Json& params) {
    for (const auto& [key, value] : params.members()) {
        CAPTURE(key, value.dump());
        CHECK(parameter_names.contains(key));
        if (key.ends_with("_share")) CHECK((value.real() >= 0 && value.real() <= 1));
    }
}

void check_shape(const Experiment& e, const Json& json) {
    CHECK(json["id"].text() == e.id);
    CHECK(!json["paper"].text().empty());
    CHECK(!json["title"].text().empty());
    REQUIRE(!json["points"].items().empty());
    for (const Json& p : json["points"].items()) {
        REQUIRE(p.members().size() == 6);
        CHECK(!p["series"].text().empty());
        CHECK(p["x"].real() >= 0);
        CHECK(!p["params"].members().empty());
        check_parameters(p["params"]);
        CHECK(p["ours"].real() >= 0);
        CHECK(p["paper"].is_null() == p["ratio"].is_null());
        if (!p["paper"].is_null()) CHECK(p["ratio"].real() == Approx(p["ours"].real() / p["paper"].real()));
    }
    REQUIRE(!json["claims"].items().empty());
    for (const Json& c : json["claims"].items()) {
        REQUIRE(c.members().size() == 6);
        const std::string kind = c["kind"].text();
        CHECK((kind == "result" || kind == "fitted" || kind == "by_construction"));
        CHECK(!c["bound"].text().empty());
        CHECK(c["text"].text().contains(c["bound"].text())); // who reads the claim reads what it is judged by
        CHECK(!c["text"].text().empty());
        CHECK(!c["ours"].text().empty());
        CHECK(!c["paper"].text().empty()); // every claim is one of the paper's
    }
    for (const Json& l : json["loads"].items()) CHECK((!l["name"].text().empty() && !l["source"].text().empty()));
    CHECK(!json["free_parameters"].items().empty());
    for (const Json& f : json["free_parameters"].items()) {
        REQUIRE(f.members().size() == 5); // fitted_to and changed_after are empty where nothing was
        CHECK((!f["name"].text().empty() && !f["value"].text().empty() && !f["why"].text().empty()));
    }
}

/// On two cores and on one: the same bytes.
void check_repeats(const Experiment& e, const Json& json) {
    Workers workers{2};
    const auto again = e.reproduce(RunContext{RunLength::quick, &workers});
    REQUIRE(again.has_value());
    CHECK(to_json(e, *again).dump() == json.dump());
}

} // namespace

TEST_CASE("every experiment that is listed runs quickly, in the documented shape, and gives the same bytes on one core and on two",
          "[tools][reproduce]") {
    std::set<std::string_view> ids;
    for (const Experiment& e : experiments()) {
        CAPTURE(e.id);
        CHECK(ids.insert(e.id).second);
        if (e.is_long) continue;
        const Json& json = quick_run(e.id);
        check_shape(e, json);
        check_repeats(e, json);
    }
}

TEST_CASE("the long experiments, too: shape, same bytes, and the tables of the page", "[.][reproduce-long]") {
    for (const Experiment& e : experiments()) {
        if (!e.is_long) continue;
        CAPTURE(e.id);
        const Json& json = quick_run(e.id);
        check_shape(e, json);
        check_repeats(e, json);
        check_page(e);
    }
}

TEST_CASE("COFTL's recovery meets a bound that layers which look into every block miss", "[.][reproduce-long]") {
    std::size_t judged = 0;
    for (const Json& p : quick_run("beyond-recovery")["points"].items()) {
        const std::string ftl = p["params"]["ftl"].text();
        if (!p["series"].text().ends_with("pages looked at") || (ftl != "coftl" && ftl != "page_map" && ftl != "dftl")) continue;
        CAPTURE(ftl, p["ours"].real(), p["params"]["blocks"].real());
        CHECK((p["ours"].real() < p["params"]["blocks"].real()) == (ftl == "coftl"));
        ++judged;
    }
    CHECK(judged == 6);
}

TEST_CASE("a curve over the share of the maps names it as a fraction, and shows it in percent", "[tools][reproduce]") {
    Reproduction out;
    PartitionCurve curve{partition_loads.front(), 16, {PartitionResult{}, PartitionResult{}}, {}};
    curve.fixed.front().mean_map_share = 1.0 / 3;
    curve.adaptive.mean_map_share = 0.5;
    plot_curve(out, "dftl", curve, "s", [](const PartitionResult&) { return 1.0; });
    REQUIRE(out.points.size() == 3);
    for (const ReproducedPoint& p : out.points) check_parameters(Json{p.params});
    CHECK(Json{out.points.front().params}["map_share"].real() == 1.0 / 3);
    CHECK(by_unit(out).front().x_label == "map_share, %");
}

TEST_CASE("work is done once each, on several cores, and the first failure comes out when all are done", "[tools][reproduce]") {
    for (const unsigned cores : {1u, 2u, 5u}) {
        Workers workers{cores};
        std::vector<std::atomic<int>> done(1000);
        workers.for_each(done.size(), [&](std::size_t i) { workers.for_each(2, [&](std::size_t) { ++done[i]; }); });
        CHECK(std::ranges::count(done, 2, [](const auto& n) { return n.load(); }) == 1000);
        const auto doubled =
            measure_points<std::size_t>(&workers, 100, [](std::size_t i) -> std::expected<std::size_t, std::string> { return 2 * i; });
        REQUIRE(doubled.has_value());
        for (std::size_t i = 0; i < doubled->size(); ++i) CHECK((*doubled)[i] == 2 * i);
        const auto failed = measure_points<int>(&workers, 100, [](std::size_t i) -> std::expected<int, std::string> {
            return i % 40 == 39 ? std::expected<int, std::string>{std::unexpected(std::to_string(i))} : std::expected<int, std::string>{0};
        });
        REQUIRE(!failed.has_value());
        CHECK(failed.error() == "39"); // the first in order, not in time
        CHECK_THROWS_AS(workers.for_each(50,
                                         [](std::size_t i) {
                                             if (i == 20) throw std::runtime_error{"twenty"};
                                         }),
                        std::runtime_error);
    }
}

TEST_CASE("every number of the paper meets a measurement", "[tools][reproduce]") {
    const auto quoted = [](std::string_view paper) {
        std::size_t numbers = 0;
        for (const Experiment& e : experiments())
            if (is_of(e, paper))
                for (const Json& p : quick_run(e.id)["points"].items()) numbers += p["paper"].is_null() ? 0 : 1;
        return numbers;
    };
    CHECK(quoted("mc-") == 11); // two each of figures 11 to 13, four of figure 14, one of figure 16
    CHECK(quoted("hy-") == 14); // two of figure 3, one of 9, three of 11, four of 12, one of 13, three of 14
}

TEST_CASE("every number of the papers on maps meets a measurement", "[.][reproduce-long]") {
    std::size_t quoted = 0;
    for (const std::string_view id : {"maps-tpftl", "maps-leaftl", "maps-learnedftl"})
        for (const Json& c : quick_run(id)["claims"].items()) {
            if (!c["text"].text().contains(": as the paper's")) continue;
            CAPTURE(id, c["text"].text());
            CHECK(c["ours"].text() != "not measured");
            ++quoted;
        }
    CHECK(quoted == 9);
}

TEST_CASE("the numbers that were fitted to DUMBO's are met within 15 %, and said to be fitted", "[tools][reproduce]") {
    std::size_t quoted = 0;
    for (const Experiment& e : experiments()) {
        if (!is_of(e, "mc-")) continue;
        for (const Json& c : quick_run(e.id)["claims"].items()) {
            if (!c["text"].text().contains("as the paper's")) continue;
            CAPTURE(e.id, c["text"].text(), c["ours"].text());
            CHECK(c["holds"].truth());
            CHECK(c["kind"].text() == "fitted");
            ++quoted;
        }
    }
    CHECK(quoted == 11);
}

TEST_CASE("the tables of tools/reproduce/RESULTS.md are those that the experiments give", "[tools][reproduce]") {
    for (const Experiment& e : experiments())
        if (!e.is_long) check_page(e);
}

TEST_CASE("claims that nothing measured could refute say that they hold by construction", "[tools][reproduce]") {
    for (const auto& [id, text] : {std::pair{"mc-fig11", "the gain is less than linear"}, std::pair{"mc-fig15", "interleaving does not lower it"},
                                   std::pair{"mc-fig16", "asynchronous writes"}, std::pair{"hy-fig14", "larger mapping units"}}) {
        std::size_t said = 0;
        for (const Json& c : quick_run(id)["claims"].items()) {
            CAPTURE(id, c["text"].text());
            CHECK((c["kind"].text() == "by_construction") == c["text"].text().contains(text));
            said += c["text"].text().contains(text) ? 1 : 0;
        }
        CHECK(said > 0);
    }
}

TEST_CASE("figure 14 of the hybrid claims no sum beside its two terms", "[tools][reproduce]") {
    for (const Json& c : quick_run("hy-fig14")["claims"].items()) CHECK_FALSE(c["text"].text().contains("both"));
}

TEST_CASE("one request at a time on one channel takes the sum of its phases", "[tools][reproduce]") {
    // Read: software, RS, tR, 2048 bytes at 25 ns over the bus, 2048 at 40 ns to the host. Write: the host's part, the bus, tPROG with the late
    // notice.
    const double read_us = 35 + 6 + 27.32 + 51.2 + 81.92;
    const double write_us = 35 + 15 + 81.92 + 51.2 + 196.37 + 71;
    CHECK(megabytes({.op = DumboOp::read, .request_bytes = 2048, .requests = 64, .layout = {}, .overheads = {}}) ==
          Approx(2048 / read_us).epsilon(1e-6));
    CHECK(megabytes({.op = DumboOp::write, .request_bytes = 2048, .requests = 64, .layout = {}, .overheads = {}}) ==
          Approx(2048 / write_us).epsilon(1e-6));
}

TEST_CASE("claims follow from what was measured: without overheads the host interface alone bounds four channels", "[tools][reproduce]") {
    const DriverOverheads nothing{Duration{0}, Duration{0}, Duration{0}, Duration{0}};
    NandConfig free_commands = find_nand_preset("dumbo")->nand;
    free_commands.timing.host_interface_command = free_commands.timing.host_interface_confirm = Duration{0};
    const DumboLayout four{.striping = 1, .interleaving = 4, .is_pipelined = true};
    const double read =
        megabytes({.op = DumboOp::read, .request_bytes = 2048, .requests = 512, .layout = four, .overheads = nothing, .device = free_commands});
    CHECK(read > 24);
    CHECK(read <= 25.0);
    const double slower = megabytes({.op = DumboOp::read, .request_bytes = 2048, .requests = 512, .layout = four, .overheads = {}});
    CHECK(slower < read);
}

TEST_CASE("a layout that needs more channels than there are is refused", "[tools][reproduce]") {
    const auto result =
        run_dumbo({.op = DumboOp::read, .request_bytes = 2048, .requests = 1, .layout = {.striping = 4, .interleaving = 2}, .overheads = {}});
    REQUIRE(!result.has_value());
    CHECK(result.error() == "S4:I2 does not fit 4 channels");
}

TEST_CASE("a curve grows only if every step goes up: not when two are equal, one falls in the middle, one is no number, or there is one alone",
          "[tools][reproduce]") {
    using Curve = std::vector<double>;
    CHECK(grows(Curve{1, 2, 3}));
    for (const Curve& y :
         {Curve{}, Curve{1}, Curve{1, 1}, Curve{1, 2, 2}, Curve{1, 3, 2, 4}, Curve{3, 2, 1}, Curve{2, 3, 1}, Curve{1, NAN, 3}, Curve{1, INFINITY}}) {
        CAPTURE(y);
        CHECK_FALSE(grows(y));
    }
    CHECK(grows(Curve{1, 2, 1.999, 3}, 0.001));
    CHECK_FALSE(grows(Curve{1, 2, 1.99, 3}, 0.001));
    CHECK_FALSE(grows(Curve{1, 0.9995}, 0.001)); // on the whole it falls
}

TEST_CASE("values are about the same within the tolerance, both ways and in the middle of a series; zeros and no numbers never are",
          "[tools][reproduce]") {
    using Curve = std::vector<double>;
    CHECK(is_about(100, 109, 0.1));
    CHECK(is_about(109, 100, 0.1));
    CHECK_FALSE(is_about(100, 111, 0.1));
    CHECK_FALSE(is_about(111, 100, 0.1));
    CHECK_FALSE(is_about(0, 0, 0.1)); // nothing was measured
    CHECK_FALSE(is_about(-100, 100, 0.1));
    CHECK(is_flat(Curve{100, 105, 102}, 0.1));
    for (const Curve& y : {Curve{}, Curve{100}, Curve{100, 150, 100}, Curve{100, 50, 100}, Curve{100, 106, 112}, Curve{100, NAN}, Curve{0, 0, 0}}) {
        CAPTURE(y);
        CHECK_FALSE(is_flat(y, 0.1));
    }
}

TEST_CASE("the least ratio of two curves is the worst point, wherever it lies, and none where nothing was measured", "[tools][reproduce]") {
    using Curve = std::vector<double>;
    CHECK(least_ratio(Curve{10, 6, 30}, Curve{1, 2, 3}) == 3);
    CHECK(least_ratio(Curve{10, 60, 3}, Curve{1, 2, 3}) == 1);
    CHECK(least_ratio(Curve{1, 60, 90}, Curve{1, 2, 3}) == 1);
    CHECK(least_ratio(Curve{10, 20}, Curve{0, 1}) == 0);
    CHECK(least_ratio(Curve{10, NAN}, Curve{1, 1}) == 0);
    CHECK(least_ratio(Curve{}, Curve{}) == 0);
    CHECK_THROWS_AS(least_ratio(Curve{1, 2}, Curve{1}), ContractViolation);
}
