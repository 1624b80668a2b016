/// The page of `flashlab reproduce --html`: panels and names as in the papers, what a paper prints is marked, nothing is fetched.
#include "tools/reproduce/html_report.h"

#include <string>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/occurrences.h"

using namespace flashlab;

namespace {

ExperimentRun::Result nothing(RunLength) { return Reproduction{}; }

} // namespace

TEST_CASE("a unit of several loads is a panel for each, with one y axis, and the legends keep what differs", "[tools][html]") {
    const Experiment experiment{"hy-fig12", "A paper", "A figure", nothing};
    Reproduction result;
    for (const auto& [pattern, top] : {std::pair{"random read", 2.0}, std::pair{"random write", 40.0}})
        for (const double x : {512.0, 1024.0})
            for (const char* scheme : {"log_block", "hftl"})
                result.points.push_back({fmt::format("{} {}, MB/s", scheme, pattern), x, {{"pattern", pattern}, {"request_bytes", x}}, top});
    HtmlReport report{RunLength::quick};
    report.add(experiment, result);
    const std::string page = report.page();
    CHECK(occurrences(page, "<svg") == 2);
    CHECK(occurrences(page, "hy-fig12: random read, MB/s") == 1);
    CHECK(occurrences(page, ">LBFTL<") == 2);
    CHECK(occurrences(page, ">hFTL<") == 2);
    CHECK(occurrences(page, ">40<") >= 2); // the ticks of the y axis: in both panels
    CHECK(occurrences(page, ">request size, bytes<") == 2);
}

TEST_CASE("a load has its paper's name in a panel's title, and what varies is the label of the axis", "[tools][html]") {
    const Experiment experiment{"beyond-sensitivity", "A paper", "A figure", nothing};
    Reproduction result;
    for (const char* load : {"tpcc+sysmark", "pc"})
        for (const double x : {1.0, 2.0})
            result.points.push_back(
                {fmt::format("{} fast, time over the best static's (tune units)", load), x, {{"workload", load}, {"value", x}}, x});
    HtmlReport report{RunLength::quick};
    report.add(experiment, result);
    const std::string page = report.page();
    CHECK(occurrences(page, ">beyond-sensitivity: TPC-C/SYSmark, time") == 1);
    CHECK(occurrences(page, ">beyond-sensitivity: PC, time") == 1);
    CHECK(occurrences(page, ">tune units<") == 2);
    CHECK(occurrences(page, ">time over the best static&#39;s<") + occurrences(page, ">time over the best static's<") == 2);
}

TEST_CASE("the page has colours for a dark screen and for paper, and the hybrid's plots have its paper's names", "[tools][html]") {
    const Experiment experiment{"hy-fig13", "A paper", "A figure", nothing};
    Reproduction result;
    result.points = {{"log_block-FSMS, erases", 1, {}, 5}, {"hftl, erases", 1, {}, 3}};
    HtmlReport report{RunLength::quick};
    report.add(experiment, result);
    const std::string page = report.page();
    CHECK(occurrences(page, "prefers-color-scheme:dark") == 1);
    CHECK(occurrences(page, "@media print") == 1);
    CHECK(occurrences(page, ">LBFTL-FSMS<") == 1);
    CHECK(occurrences(page, ">hFTL<") == 1);
}

TEST_CASE("the page shows claims with tick or cross, loads, free parameters and the paper's numbers, and fetches nothing", "[tools][html]") {
    const Experiment experiment{"mc-fig11", "A paper <2007>", "A figure", nothing};
    Reproduction result;
    result.points = {{"read S4:I1 over S1:I1, times", 8192, {{"request_bytes", 8192}}, 1.8},
                     {"read S1:I1, MB/s", 512, {{"request_bytes", 512}}, 3.0}};
    result.claim("mc-fig11", "read: striping pays most when the sub-request is a page", "2 > 1", {{{2.0}, {1.0}}});
    result.claim("mc-fig11", "write: no gain while the sub-request is below a page", "2 > 1", {{{2.0}, {1.0}}});
    result.loads = {{"desktop", "generated: workload:desktop"}};
    result.free_parameters = {{"depth", "4", "not given", "Fig. 7 <grows>", "it was flat"}};
    HtmlReport report{RunLength::quick};
    report.add(experiment, result);
    const std::string page = report.page();
    CHECK(occurrences(page, "<svg") == 2); // one for each unit
    CHECK(occurrences(page, "<title>paper:") == 1);
    CHECK(occurrences(page, "&#10003;") == 1);
    CHECK(occurrences(page, "&#10007;") == 1);
    CHECK(occurrences(page, "results of the papers: 1 of 1 claims hold; fitted to the papers: 0 of 1 hold") == 2);
    CHECK(occurrences(page, "at most 1.1 times S1:I1 at each such size") == 1); // the bound of a claim
    CHECK(occurrences(page, "Fig. 7 &lt;grows&gt;") == 1);
    CHECK(occurrences(page, "it was flat") == 1);
    CHECK(occurrences(page, "A paper &lt;2007&gt;") == 1);
    CHECK(occurrences(page, "generated: workload:desktop") == 1);
    CHECK(occurrences(page, "not given") == 1);
    CHECK(occurrences(page, ">request size, bytes<") == 0); // one value a unit: bars, which have no axis
    CHECK(occurrences(page, ">1.8; paper: 1.73<") == 1);    // the paper's number beside ours, told apart
    CHECK(occurrences(page, "S: over how many channels") == 1);
    CHECK(occurrences(page, "Quick run") == 1);
    for (const char* fetched : {"src=", "<script", "<link", "url(", "@import"}) CHECK(occurrences(page, fetched) == 0);
    CHECK(occurrences(page, "http") == 2); // the SVGs' name space
}
