/// Goal: a drive that was aged quickly goes on like one on which every write was made.
/// Method: write amplification of one device's worth of random writes after both, on every scheme; the model by itself against a plain page map.
#include "tools/run/precondition.h"

#include <numeric>

#include <fmt/format.h>

#include "base/random.h"
#include "tests/tools/memory_device.h"
#include "tools/run/aged_history.h"
#include "tools/run/steady_state.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::uint64_t programs(const Device& device) {
    const auto& by_cause = device.array().counters().programs;
    return std::accumulate(std::begin(by_cause), std::end(by_cause), std::uint64_t{0});
}

struct Aged {
    double waf = 0;             ///< of what follows
    std::uint64_t programs = 0; ///< by preconditioning
};

Aged age(const std::string& ftl, Ageing ageing, std::uint64_t bytes, double writes_of_device) {
    MemoryDevice d{ftl, bytes};
    const RunSpace space{*d.device};
    const auto ready = precondition(space, {.fill_percent = 100, .random_fills = 2, .ageing = ageing}, 5, space.begin);
    INFO((ready ? "" : ready.error()));
    REQUIRE(ready.has_value());
    for (const auto& problem : d.device->ssd().check()) FAIL(problem.invariant << ": " << problem.where << ": " << problem.detail);
    Aged aged;
    aged.programs = programs(*d.device);
    const std::uint64_t unit = d.device->ssd().identify().atomic_unit_bytes, pages = d.bytes() / unit;
    const auto count = static_cast<std::uint64_t>(writes_of_device * static_cast<double>(pages));
    AddressFit fit{FitPolicy::as_is, d.bytes()};
    Random random{77};
    const auto next = [&, left = count](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        request = {0, random.below(pages) * unit, unit, 0, TraceOp::write};
        return left-- != 0;
    };
    const auto tally = replay(space, next, fit, {.depth = 32}, *ready);
    REQUIRE(tally.has_value());
    const double units = static_cast<double>(unit) / d.device->array().geometry().page_bytes();
    aged.waf = static_cast<double>(programs(*d.device) - aged.programs) / static_cast<double>(count) / units;
    for (const auto& problem : d.device->ssd().check()) FAIL(problem.invariant << ": " << problem.where << ": " << problem.detail);
    return aged;
}

} // namespace

TEST_CASE("a page map that was aged in one pass amplifies writes like one on which every write was made", "[precondition]") {
    for (const char* ftl : {"page_map", "hftl", "dftl"}) {
        const Aged written = age(ftl, Ageing::written, 64u << 20, 1), quick = age(ftl, Ageing::quick, 64u << 20, 1);
        CAPTURE(ftl, written.waf, quick.waf, written.programs, quick.programs);
        CHECK(quick.waf == Approx(written.waf).epsilon(0.05));
        CHECK(quick.programs * 2 < written.programs);
    }
}

TEST_CASE("a scheme with logs that was aged quickly amplifies writes like one on which every write was made", "[precondition]") {
    for (const char* ftl : {"log_block", "fast", "block_map", "coftl"}) {
        const Aged written = age(ftl, Ageing::written, 64u << 20, 0.25), quick = age(ftl, Ageing::quick, 64u << 20, 0.25);
        CAPTURE(ftl, written.waf, quick.waf, written.programs, quick.programs);
        CHECK(quick.waf == Approx(written.waf).epsilon(0.1));
        CHECK(quick.programs * 2 < written.programs);
    }
}

TEST_CASE("a fill of 100 percent leaves no page unwritten", "[precondition]") {
    MemoryDevice d{"page_map", 64u << 20};
    const RunSpace space{*d.device};
    REQUIRE(d.bytes() % 100 != 0); // so that a percent of the bytes is no whole number
    REQUIRE(precondition(space, {.fill_percent = 100}, 5, space.begin).has_value());
    CHECK(d.device->ftl().space().mapped_pages == d.bytes() / 4096);
}

TEST_CASE("what fits without collection is written as it is asked for", "[precondition]") {
    MemoryDevice d{"page_map", 64u << 20};
    const RunSpace space{*d.device};
    REQUIRE(precondition(space, {.fill_percent = 50, .random_fills = 0.5}, 5, space.begin).has_value());
    const std::uint64_t pages = d.bytes() / 4096 * 50 / 100;
    CHECK(d.device->ftl().counters().host_pages_written == Approx(static_cast<double>(pages) * 1.5).margin(2));
    CHECK(d.device->ftl().space().mapped_pages == Approx(static_cast<double>(pages)).margin(1));
}

TEST_CASE("a history writes each page for the last time once, and leaves in each segment as many as it says", "[precondition]") {
    const std::uint64_t span = 20'000, places = 24'000;
    const auto ages = page_map_ages(span, places, 40'000);
    REQUIRE_FALSE(ages.empty());
    std::uint64_t pages = 0, live = 0;
    for (const AgeSegment& segment : ages) {
        CHECK(segment.live <= segment.pages);
        pages += segment.pages;
        live += segment.live;
    }
    CHECK(pages == Approx(double{places}).epsilon(0.01));
    CHECK(live == span);
    CHECK(ages.front().live * 10 < ages.back().live * 9); // older means emptier
    std::vector<std::uint64_t> written_at(span, 0);
    AgedHistory history{span, ages, 9};
    std::uint64_t n = 0;
    while (const auto page = history.next()) {
        REQUIRE(*page < span);
        written_at[*page] = ++n;
    }
    CHECK(n == pages);
    CHECK(std::ranges::find(written_at, 0u) == written_at.end());
    std::uint64_t begin = 0;
    for (const AgeSegment& segment : ages) {
        std::uint64_t alive = 0;
        for (const std::uint64_t at : written_at) alive += at > begin && at <= begin + segment.pages ? 1 : 0;
        CHECK(alive == segment.live);
        begin += segment.pages;
    }
    CHECK(page_map_ages(span, places, 3000).empty());
}

TEST_CASE("a precondition that would do nothing, or says a part twice, is refused with what to write", "[precondition]") {
    for (const char* text : {"random:2x", "random", "written", "random:2x,written", "fill:0,random:2x", "age:30d", "fill:0,age:1y"}) {
        CAPTURE(text);
        CHECK_THAT(parse_precondition(text).error(), ContainsSubstring("for example fill:100,random:2x"));
    }
    for (const char* text : {"fill:50,fill:60", "fill:50,90", "fill:50,random,random:2x", "fill:50,written,written", "fill:50,age:1d,age:1d"}) {
        CAPTURE(text);
        CHECK_THAT(parse_precondition(text).error(), ContainsSubstring("given twice"));
    }
    CHECK(parse_precondition("fill:0")->fill_percent == 0);
    CHECK(parse_precondition("random:2x,fill:90")->random_fills == 2);
    CHECK(parse_precondition("0.9,random")->fill_percent == 90);
    CHECK(parse_precondition("fill:90,age:30d")->shelf == std::chrono::hours{24 * 30});
    CHECK_THAT(parse_precondition("fill:90,age:30").error(), ContainsSubstring("age:Nd, such as"));
}

TEST_CASE("spread and slope of windows are those of their definition", "[steady-state]") {
    const std::vector<double> rising{8, 9, 10, 11, 12};
    const auto line = SteadyState::spread_of(rising);
    CHECK(line.mean == Approx(10));
    CHECK(line.excursion == Approx(0.4));
    CHECK(line.slope == Approx(0.4));
    CHECK_FALSE(line.is_steady());
    const std::vector<double> wavy{10, 11, 10, 11, 10};
    const auto waves = SteadyState::spread_of(wavy);
    CHECK(waves.excursion == Approx(0.0962).epsilon(0.01));
    CHECK(waves.slope == Approx(0).margin(1e-9));
    CHECK(waves.is_steady());
}

namespace {

/// Random writes of a page each until `steady` is reached, or so many times the drive.
RunTally until_steady(const RunSpace& space, SteadyState& steady, std::uint64_t most_fills, SimTime begin) {
    const std::uint64_t pages = space.bytes() / 4096;
    AddressFit fit{FitPolicy::as_is, space.bytes()};
    const auto next = [=, random = Random{3}, requests = std::uint64_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        request = {0, random.below(pages) * 4096, 4096, 0, TraceOp::write};
        return requests++ < most_fills * pages;
    };
    const RunWatch watch{.every = 16, .look = [&](const RunTally& tally) {
                             (void)steady.look(tally.requests(), tally.end);
                             return steady.reached() ? RunStep::stop : RunStep::go_on;
                         }};
    auto tally = replay(space, next, fit, {.depth = 8}, begin, watch);
    REQUIRE(tally.has_value());
    return *tally;
}

} // namespace

TEST_CASE("a drive that was empty is steady when random writes fill it up no more, at the amplification that lasts", "[steady-state]") {
    MemoryDevice d{"page_map", 64u << 20}, aged{"page_map", 64u << 20};
    const RunSpace space{*d.device}, of_aged{*aged.device};
    SteadyState steady{*d.device, SteadyState::usual_window(*d.device), true, space.begin};
    const RunTally tally = until_steady(space, steady, 16, space.begin);
    REQUIRE(steady.reached());
    const std::uint64_t pages = d.bytes() / 4096;
    CHECK(tally.writes > 4 * pages); // until then the drive holds less than 99 % of its bytes
    CHECK(steady.to_json()["why_not"].is_null());
    CHECK(steady.to_json()["overwritten"].real() == Approx(static_cast<double>(tally.writes - pages) / static_cast<double>(pages)).epsilon(0.02));
    const auto ready = precondition(of_aged, *parse_precondition("fill:100,random:8x,written"), 1, of_aged.begin);
    REQUIRE(ready.has_value());
    SteadyState lasting{*aged.device, d.bytes() / 5, true, *ready, 8};
    (void)until_steady(of_aged, lasting, 2, *ready);
    REQUIRE(lasting.reached());
    // Most spare of so small a drive is held open: what is left is felt more.
    CHECK(steady.to_json()["waf"]["mean"].real() == Approx(lasting.to_json()["waf"]["mean"].real()).epsilon(0.08));
}

TEST_CASE("a drive that was filled in order is steady after two fills of overwrites, those of its preconditioning included", "[steady-state]") {
    for (const double before : {0.0, 1.0, 2.0}) {
        CAPTURE(before);
        MemoryDevice d{"page_map", 64u << 20};
        const RunSpace space{*d.device};
        const auto ready = precondition(space, {.fill_percent = 100, .random_fills = before}, 1, space.begin);
        REQUIRE(ready.has_value());
        SteadyState steady{*d.device, SteadyState::usual_window(*d.device), true, *ready, before};
        const double fills = static_cast<double>(until_steady(space, steady, 8, *ready).writes * 4096) / static_cast<double>(d.bytes());
        REQUIRE(steady.reached());
        CHECK(fills >= 2 - before);
        CHECK(fills < 3 - before);
    }
}

TEST_CASE("a run that is not steady says what is missing", "[steady-state]") {
    MemoryDevice d{"page_map", 64u << 20};
    const RunSpace space{*d.device};
    SteadyState steady{*d.device, SteadyState::usual_window(*d.device), true, space.begin};
    CHECK(steady.to_json()["why_not"].text() == "0 of 5 windows were written");
    (void)until_steady(space, steady, 1, space.begin);
    CHECK_FALSE(steady.reached());
    CHECK_THAT(steady.to_json()["why_not"].text(),
               ContainsSubstring("too little was overwritten") && ContainsSubstring("free space is being used up"));
}
