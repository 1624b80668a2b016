// The page and the text of `bench --protocol`: every round and every cell is drawn once, the verdict comes first, text stays text.
#include "tools/report/protocol_report.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/occurrences.h"

using namespace flashlab;

namespace {

/// The figures of a page, in its order.
std::vector<std::string> figures_in(const std::string& page) {
    std::vector<std::string> figures;
    for (std::size_t at = page.find("<figure>"); at != std::string::npos; at = page.find("<figure>", at + 1))
        figures.push_back(page.substr(at, page.find("</figure>", at) - at));
    return figures;
}

struct MadeCell {
    std::uint64_t reads, bytes;
};

/// As run_protocol() makes it: round r of cell c has the value tracked[r] + 1000 c.
Json made_result(std::string_view protocol, const std::vector<std::string>& keys, const std::vector<MadeCell>& cells,
                 const std::vector<double>& tracked, bool is_steady = true) {
    const auto all_of = [&](auto&& make, std::size_t n) {
        Json out{Json::Array{}};
        for (std::size_t i = 0; i < n; ++i) out.push(make(i));
        return out;
    };
    double mean = 0;
    const std::size_t judged = std::min<std::size_t>(5, tracked.size());
    for (std::size_t r = tracked.size() - judged; r < tracked.size(); ++r) mean += tracked[r] / static_cast<double>(judged);
    Json shown = all_of(
        [&](std::size_t c) {
            Json cell = Json::object({{"read_percent", cells[c].reads}, {"block_bytes", cells[c].bytes}, {"depth", 1}});
            for (const std::string& key : keys) cell.add(key, mean + 1000.0 * static_cast<double>(c));
            return cell;
        },
        cells.size());
    Json by_round = all_of(
        [&](std::size_t r) {
            Json round = Json::object({{"seconds", 0.5 * static_cast<double>(r + 1)}, {"drive_fills", 0.25 * static_cast<double>(r + 1)}});
            for (const std::string& key : keys)
                round.add(key, all_of([&](std::size_t c) { return Json{tracked[r] + 1000.0 * static_cast<double>(c)}; }, cells.size()));
            return round;
        },
        tracked.size());
    return Json::object({{"protocol", std::string{protocol}},
                         {"cell_seconds", 0.1},
                         {"cell_bytes", protocol == "snia-pts-wsat" ? std::uint64_t{1} << 28 : 0},
                         {"rounds", static_cast<std::uint64_t>(tracked.size())},
                         {"steady", Json::object({{"reached", is_steady},
                                                  {"why_not", is_steady ? Json{} : Json{"too little was overwritten: 1.16 of 2 fills"}},
                                                  {"first_round", static_cast<std::uint64_t>(tracked.size() - judged + 1)},
                                                  {"last_round", static_cast<std::uint64_t>(tracked.size())},
                                                  {"tracked", "4 KiB random writes a second"},
                                                  {"mean", mean},
                                                  {"excursion", 0.123},
                                                  {"excursion_at_most", 0.2},
                                                  {"slope", 0.045},
                                                  {"slope_at_most", 0.1}})},
                         {"tracked", all_of([&](std::size_t r) { return Json{tracked[r]}; }, tracked.size())},
                         {"cells", std::move(shown)},
                         {"by_round", std::move(by_round)},
                         {"ftl", "page_map"},
                         {"preset", "tiny"},
                         {"config_hash", "abc"},
                         {"device_bytes", std::uint64_t{1} << 30},
                         {"seed", 7},
                         {"version", "1.0"}});
}

const std::vector<MadeCell> four_cells{{100, 4096}, {100, 512}, {0, 4096}, {0, 512}};
const std::vector<double> seven_rounds{500, 900, 1000, 1010, 1020, 1030, 1040};

/// The ends of the line of this number in a plot, from its polyline.
struct Ends {
    double x[2], y[2];
};
Ends ends_of_line(const std::string& figure, int number) {
    std::size_t at = 0;
    for (int i = 0; i <= number; ++i) at = figure.find("<polyline points='", at + 1);
    REQUIRE(at != std::string::npos);
    const std::string path = figure.substr(at + 18, figure.find('\'', at + 18) - at - 18);
    Ends ends{};
    REQUIRE(std::sscanf(path.c_str(), "%lf,%lf", &ends.x[0], &ends.y[0]) == 2);
    REQUIRE(std::sscanf(path.c_str() + path.rfind(' '), "%lf,%lf", &ends.x[1], &ends.y[1]) == 2);
    return ends;
}

} // namespace

TEST_CASE("the plots of requests a second have every round of the loads without reads, the five rounds that count, and every cell", "[tools][html]") {
    const auto figures = figures_in(protocol_page(made_result("snia-pts-iops", {"iops"}, four_cells, seven_rounds)));
    REQUIRE(figures.size() == 3);
    CHECK(occurrences(figures[0], "<circle") == 2 * seven_rounds.size());
    CHECK(occurrences(figures[0], "<title>4 KiB, judged: 2, 2900</title>") == 1); // the third cell
    CHECK(occurrences(figures[1], "<circle") == 5);
    CHECK(occurrences(figures[1], "<title>measured: 7, 1040</title>") == 1);
    CHECK(occurrences(figures[2], "<circle") == four_cells.size());
    CHECK(occurrences(figures[2], "<title>100/0: 512, 2020</title>") == 1);
    for (const std::string& figure : figures) CHECK(occurrences(figure, "<figcaption>") == 1);
}

TEST_CASE("the latency protocol has a plot of its mean, its five nines and its maximum", "[tools][html]") {
    const auto figures = figures_in(protocol_page(made_result("snia-pts-latency", {"mean_us", "five_nines_us", "max_us"}, four_cells, seven_rounds)));
    REQUIRE(figures.size() == 5);
    for (const std::size_t i : {2u, 3u, 4u}) CHECK(occurrences(figures[i], "<circle") == four_cells.size());
}

TEST_CASE("a protocol of one load has each round over time and over what was written, and write amplification", "[tools][html]") {
    const Json result = made_result("snia-pts-wsat", {"iops", "waf", "mean_us"}, {{0, 4096}}, seven_rounds);
    const auto figures = figures_in(protocol_page(result));
    REQUIRE(figures.size() == 5);
    for (const std::size_t i : {1u, 2u, 3u, 4u}) CHECK(occurrences(figures[i], "<circle") == seven_rounds.size());
    CHECK(occurrences(figures[1], ": 1.75, 1040</title>") == 1); // drive fills
    CHECK(occurrences(figures[2], ": 3.5, 1040</title>") == 1);  // seconds
}

TEST_CASE("what a thread saw beside an open load is a plot of four percentiles, and a table", "[tools][html]") {
    Json result = made_result("ssdiq", {"iops", "waf", "mean_us"}, {{0, 4096}}, seven_rounds);
    Json beside{Json::Array{}};
    for (const double planned : {100.0, 300.0})
        beside.push(Json::object(
            {{"requests_a_second", planned}, {"read_p50_us", 61.5}, {"read_p99_us", 71.5}, {"write_p50_us", 81.5}, {"write_p99_us", 91.5}}));
    result.add("beside", std::move(beside));
    const std::string page = protocol_page(result);
    const auto figures = figures_in(page);
    REQUIRE(figures.size() == 6);
    CHECK(occurrences(figures[5], "<circle") == 8);
    CHECK(occurrences(page, "<td>91.5</td>") == 2);
}

TEST_CASE("the window has the line of least squares through its points, and lines 10 % above and below their mean", "[tools][html]") {
    const auto figures = figures_in(protocol_page(made_result("snia-pts-iops", {"iops"}, four_cells, seven_rounds)));
    REQUIRE(figures.size() == 3);
    const Ends measured = ends_of_line(figures[1], 0), mean = ends_of_line(figures[1], 1), above = ends_of_line(figures[1], 2),
               below = ends_of_line(figures[1], 3), least_squares = ends_of_line(figures[1], 4);
    CHECK(mean.y[0] == mean.y[1]);
    for (const int end : {0, 1}) { // these five values lie on a line
        CHECK(least_squares.x[end] == measured.x[end]);
        CHECK(least_squares.y[end] == Approx(measured.y[end]).margin(0.2));
    }
    CHECK(measured.y[1] < measured.y[0]);
    const double per_value = (measured.y[0] - measured.y[1]) / 40; // from 1000 to 1040
    CHECK(mean.y[0] - above.y[0] == Approx(102 * per_value).epsilon(0.02));
    CHECK(below.y[0] - mean.y[0] == Approx(102 * per_value).epsilon(0.02));
}

TEST_CASE("page and text begin with the verdict, and a drive that is not steady is called so, with its limits", "[tools][html]") {
    for (const bool is_steady : {true, false}) {
        const Json result = made_result("snia-pts-iops", {"iops"}, four_cells, seven_rounds, is_steady);
        const std::string page = protocol_page(result), text = protocol_text(result);
        const std::string verdict = is_steady ? "teady after 7 rounds" : "NOT steady after 7 rounds";
        CHECK(page.find(verdict) < page.find("<figure>"));
        CHECK(text.find(verdict) < text.find('\n'));
        CHECK(occurrences(page, "NOT steady") == (is_steady ? 0 : 1));
        CHECK(occurrences(page, "they are no result of this test") == (is_steady ? 0 : 1));
        for (const std::string& said : {page, text})
            CHECK(occurrences(said, "rounds: too little was overwritten: 1.16 of 2 fills.") == (is_steady ? 0 : 1));
        CHECK(occurrences(page, "3020 random writes of 4 KiB a second") == 1);
        CHECK(occurrences(page, "12.3 % of the mean, where 20 % are allowed") == 1);
        CHECK(occurrences(page, "4.5 %, where 10 % are allowed") == 1);
    }
}

TEST_CASE("page and text say what a load of a round takes: time, or bytes that are written", "[tools][html]") {
    const Json in_time = made_result("snia-pts-iops", {"iops"}, four_cells, seven_rounds);
    const Json in_bytes = made_result("snia-pts-wsat", {"iops", "waf", "mean_us"}, {{0, 4096}}, seven_rounds);
    for (const auto& made : {protocol_page, protocol_text}) {
        CHECK(occurrences(made(in_time), "takes 0.1 s of the drive") == 1);
        CHECK(occurrences(made(in_bytes), "writes 256 MiB, and takes 0.1 s of the drive at least") == 1);
    }
}

TEST_CASE("a protocol that ended after one round has its page, too", "[tools][html]") {
    Json result = made_result("snia-pts-wsat", {"iops", "waf", "mean_us"}, {{0, 4096}}, {700}, false);
    for (const auto& figure : figures_in(protocol_page(result))) {
        CHECK(figure.find("nan") == std::string::npos);
        CHECK(figure.find("700") != std::string::npos);
    }
}

TEST_CASE("text of a result never becomes markup, and the page fetches nothing", "[tools][html]") {
    Json result = made_result("snia-pts-iops", {"iops"}, four_cells, seven_rounds);
    const std::string hostile = "</title><script>alert(1)</script><img src='x' onerror=\"y\">&";
    Json named;
    for (const auto& [key, value] : result.members())
        named.add(key, key == "preset" || key == "ftl" || key == "config_hash" || key == "version" ? Json{hostile} : value);
    const std::string page = protocol_page(named);
    CHECK(occurrences(page, "&lt;script&gt;alert(1)") >= 4);
    for (const char* fetched : {"<script", "<img", "src='", "url(", "@import"}) CHECK(occurrences(page, fetched) == 0);
    CHECK(occurrences(page, "href=") == 1);                            // the icon that a browser would ask for: there is none
    CHECK(occurrences(page, "http") == occurrences(page, "<svg") + 1); // the SVGs' name space, and the policy that forbids
}
