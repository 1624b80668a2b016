/// Plots as SVG: what is measured is drawn where it belongs, and nothing hides what it says.
#include "tools/report/svg_plot.h"

#include <cstdio>
#include <limits>
#include <set>
#include <string>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/occurrences.h"

using namespace flashlab;

TEST_CASE("a plot has a circle for each value of a line, a square for one alone, and a diamond for each of the paper", "[tools][html]") {
    const Plot plot{"title", "bytes", "MB/s", {{"a < b", {{512, 1}, {1024, 2}, {8192, 4}}, {{1024, 3}}}, {"c", {{512, 0.5}}, {}}}};
    const std::string svg = to_svg(plot);
    CHECK(occurrences(svg, "<circle") == 3);
    CHECK(occurrences(svg, "class='alone'><title>") == 1);
    CHECK(occurrences(svg, "<title>paper:") == 1);
    CHECK(occurrences(svg, "a &lt; b") >= 1);
    CHECK(occurrences(svg, "a < b") == 0);
    CHECK(occurrences(svg, ">1Ki<") == 1); // ticks stand at the values
    CHECK(svg == to_svg(plot));
}

TEST_CASE("positions follow the values: higher is further up, sizes are spaced by their ratio", "[tools][html]") {
    const std::string svg = to_svg({"t", "x", "y", {{"s", {{1, 10}, {4, 20}, {16, 40}}, {}}}});
    const std::size_t at = svg.find("points='") + 8;
    const std::string path = svg.substr(at, svg.find('\'', at) - at);
    double x[3], y[3];
    REQUIRE(std::sscanf(path.c_str(), "%lf,%lf %lf,%lf %lf,%lf", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]) == 6);
    CHECK(x[1] - x[0] == Approx(x[2] - x[1]).margin(0.2));
    CHECK(y[0] - y[1] == Approx((y[1] - y[2]) / 2).margin(0.2));
    CHECK(y[0] > y[1]);
}

TEST_CASE("values that cannot be drawn are left out, and one point alone is drawn", "[tools][html]") {
    CHECK(to_svg({"t", "x", "y", {}}).empty());
    CHECK(occurrences(to_svg({"t", "x", "y", {{"s", {{1, std::numeric_limits<double>::infinity()}, {2, 0}}, {}}}}), "<circle") == 1);
    const std::string flat = to_svg({"t", "x", "y", {{"s", {{3, 0}}, {}}}});
    CHECK(flat.find("nan") == std::string::npos);
    CHECK(flat.find("inf") == std::string::npos);
}

TEST_CASE("several series of one value each are bars, whose lengths follow the values, and the paper's number is a line across", "[tools][html]") {
    const Plot plot{"erases", "x", "blocks", {{"LBFTL", {{1, 400}}, {}}, {"hFTL", {{1, 100}}, {{1, 200}}}}};
    const std::string svg = to_svg(plot);
    CHECK(occurrences(svg, "<circle") == 0);
    REQUIRE(occurrences(svg, "<rect") == 2);
    double width[2];
    std::size_t at = 0;
    for (double& w : width) {
        at = svg.find("<rect", at) + 5;
        REQUIRE(std::sscanf(svg.c_str() + svg.find("width='", at), "width='%lf'", &w) == 1);
    }
    CHECK(width[0] == Approx(4 * width[1]).margin(0.2));
    CHECK(occurrences(svg, "<title>paper: 1, 200") == 1);
    CHECK(occurrences(svg, ">LBFTL<") == 1);
}

TEST_CASE("bars fill their plot: its height is theirs", "[tools][html]") {
    for (const std::size_t bars : {2u, 3u, 7u}) {
        Plot plot{"erases", "x", "blocks", {}};
        for (std::size_t i = 0; i < bars; ++i) plot.series.push_back({fmt::format("s{}", i), {{1, 10.0 + static_cast<double>(i)}}, {}});
        const std::string svg = to_svg(plot);
        double height = 0, last = 0, thick = 0;
        REQUIRE(std::sscanf(svg.c_str() + svg.find(" height='"), " height='%lf'", &height) == 1);
        REQUIRE(std::sscanf(svg.c_str() + svg.rfind("<rect"), "<rect x='%*f' y='%lf' width='%*f' height='%lf'", &last, &thick) == 2);
        CHECK(last + thick <= height);
        CHECK(height - (last + thick) < 2 * thick);
    }
}

TEST_CASE("labels of the x axis leave each other room, and all but those have their line", "[tools][html]") {
    const std::string svg = to_svg({"t", "words", "y", {{"s", {{2, 1}, {5, 1}, {200, 1}, {256, 2}, {257, 3}}, {}}}});
    CHECK(occurrences(svg, ">256<") + occurrences(svg, ">257<") == 1); // they would stand on one another
    CHECK(occurrences(svg, ">200<") == 1);
    CHECK(occurrences(svg, ">2<") >= 1);
}

TEST_CASE("long names stand below the curves, whole", "[tools][html]") {
    const std::string name = "cache 1024 KiB: random write, hFTL-FSMS over LBFTL-FSMS, as the file grows";
    const std::string svg = to_svg({"t", "x", "y", {{name, {{1, 1}, {2, 2}}, {}}, {"short", {{1, 2}, {2, 3}}, {}}}});
    double x = 0, y = 0;
    const std::size_t at = svg.rfind("<text", svg.find(">" + name + "<"));
    REQUIRE(std::sscanf(svg.c_str() + at, "<text x='%lf' y='%lf'", &x, &y) == 2);
    CHECK(x < 200);
    CHECK(y > 380);
}

TEST_CASE("a point among lines is a square, a line under others is wider, and no two of a dozen are drawn alike", "[tools][html]") {
    Plot plot{"t", "x", "y", {{"static", {{0, 1}, {1, 2}}, {}}, {"other", {{0, 1}, {1, 2}}, {}}, {"adaptive", {{0.5, 1}}, {}}}};
    const std::string svg = to_svg(plot);
    CHECK(occurrences(svg, "class='alone'") == 2);      // in the plot and in the legend
    CHECK(occurrences(svg, "stroke-width='2.6'") == 2); // the first, which the second hides: in the plot and in the legend
    Plot many{"t", "x", "y", {}};
    for (int i = 0; i < 12; ++i) many.series.push_back({std::to_string(i), {{0, 1.0 + i}, {1, 2.0 + i}}, {}});
    const std::string lines = to_svg(many);
    std::set<std::string> seen;
    for (std::size_t at = lines.find("<polyline"); at != std::string::npos; at = lines.find("<polyline", at + 1)) {
        const std::size_t colour = lines.find("stroke='", at), dashes = lines.find("stroke-dasharray", at), end = lines.find("/>", at);
        seen.insert(lines.substr(colour, 15) + (dashes < end ? lines.substr(dashes, end - dashes) : ""));
    }
    CHECK(seen.size() == 12);
}

TEST_CASE("time is never drawn on a logarithmic axis", "[tools][html]") {
    Plot plot{"t", "period", "y", {{"s", {{1, 10}, {20, 20}, {39, 40}}, {}}}};
    plot.is_time = true;
    const std::string svg = to_svg(plot);
    const std::size_t at = svg.find("points='") + 8;
    double x[3], y[3];
    REQUIRE(std::sscanf(svg.c_str() + at, "%lf,%lf %lf,%lf %lf,%lf", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]) == 6);
    CHECK(x[1] - x[0] == Approx(x[2] - x[1]).margin(0.2));
}

TEST_CASE("a line that is computed has dashes and no points, and makes no other line wider", "[tools][html]") {
    const std::string svg = to_svg({"t", "x", "y", {{"measured", {{1, 10}, {2, 20}}, {}}, {"mean", {{1, 15}, {2, 15}}, {}, true}}});
    CHECK(occurrences(svg, "<circle") == 2);
    CHECK(occurrences(svg, "stroke-dasharray") == 2);   // in the plot and in the legend
    CHECK(occurrences(svg, "stroke-width='1.6'") == 4); // both, there and there
}

TEST_CASE("an axis reaches from 0, from the smallest value, or over powers of ten, as it was asked", "[tools][html]") {
    Plot plot{"t", "x", "y", {{"s", {{1, 100}, {2, 104}, {3, 110}}, {}}}};
    CHECK(occurrences(to_svg(plot), ">0<") == 1);
    plot.height = PlotHeight::near;
    const std::string near = to_svg(plot);
    CHECK(occurrences(near, ">0<") == 0);
    CHECK(occurrences(near, ">105<") == 1);
    plot.series.front().points.back().y = 1000; // ten times the first: not logarithmic by itself
    plot.height = PlotHeight::usual;
    CHECK(occurrences(to_svg(plot), ">200<") == 0);
    plot.height = PlotHeight::logarithmic;
    const std::string powers = to_svg(plot);
    CHECK(occurrences(powers, ">0<") == 0);
    CHECK(occurrences(powers, ">200<") == 1); // of one power of ten, its steps as well
    CHECK(occurrences(powers, ">100<") == 1);
    CHECK(occurrences(powers, ">1000<") == 1);
    plot.series.front().points.front().y = 0; // no power of ten is 0
    CHECK(occurrences(to_svg(plot), ">0<") == 1);
    for (const PlotHeight flat : {PlotHeight::near, PlotHeight::logarithmic}) {
        const std::string svg = to_svg({.title = "t", .x_label = "x", .y_label = "y", .series = {{"s", {{1, 5}, {2, 5}}, {}}}, .height = flat});
        CHECK(svg.find("nan") == std::string::npos);
        CHECK(svg.find("inf") == std::string::npos);
    }
}
