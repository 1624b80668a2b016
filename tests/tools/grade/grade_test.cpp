/// A grade is worth what its checks see: a defect for each check, defects of the process, points and weights.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <unistd.h>

#include "ftl/admit_scheme.h"
#include "ftl/make_ftl.h"
#include "tests/support/catch.h"
#include "tests/tools/grade/bad_schemes.h"
#include "tools/grade/grade.h"
#include "tools/grade/grade_checks.h"
#include "tools/grade/isolated.h"
#include "tools/grade/scheme_file.h"

using namespace flashlab;
using flashlab::test::bad_schemes;
using flashlab::test::BadScheme;

namespace {

constexpr IsolationLimits quick{.cpu_seconds = 3};

/// What the check finds, as grade() asks it: in a process of its own.
std::string finding(std::string_view name, const std::string& scheme) {
    const auto checks = grade_checks();
    const auto check = std::ranges::find(checks, name, &GradeCheck::name);
    REQUIRE(check != checks.end());
    const auto said = isolated(
        [&] {
            const auto found = check->ask({.scheme = scheme, .seed = 1, .states = 3'000});
            return found ? found->what : std::string{};
        },
        quick);
    return said ? *said : said.error();
}

} // namespace

TEST_CASE("each check sees a translation layer with its defect", "[grade]") {
    for (const BadScheme& bad : bad_schemes()) {
        CAPTURE(bad.scheme->name, bad.check);
        const std::string found = finding(bad.check, std::string{bad.scheme->name});
        CHECK_THAT(found, ContainsSubstring(std::string{bad.words}));
    }
}

TEST_CASE("every check has a defect that it must see", "[grade]") {
    for (const GradeCheck& check : grade_checks()) {
        CAPTURE(check.name);
        CHECK(std::ranges::any_of(bad_schemes(), [&](const BadScheme& bad) { return bad.check == check.name; }));
    }
}

TEST_CASE("a scheme without defects passes what the defects fail", "[grade]") {
    for (const GradeCheck& check : grade_checks()) {
        CAPTURE(check.name);
        if (check.name == "cuts") continue; // tests/crash has it
        CHECK(finding(check.name, "page_map").empty());
    }
}

TEST_CASE("every scheme says what is so of its space, blocks, counters and recovery, also while programs and erases fail", "[grade]") {
    for (const Scheme* scheme : schemes())
        for (const char* check : {"plan", "truth", "kill", "lists", "same", "failures"}) {
            CAPTURE(scheme->name, check);
            CHECK(finding(check, std::string{scheme->name}).empty());
        }
}

TEST_CASE("a scheme that fails a check has the grade F and no points, whatever its figures are", "[grade]") {
    (void)bad_schemes();
    const auto bad = grade({.what = "bad_moment", .seed = 1, .states = 100, .cpu_seconds = 20, .weights = {}}, [](std::string_view) { return true; });
    REQUIRE(bad.has_value());
    CHECK(bad->mark == "F");
    CHECK_FALSE(bad->passed());
    CHECK(bad->score == 0);
    CHECK(bad->to_json()["points"].is_null());
    CHECK(bad->to_json()["figures"]["loads"].items().size() == 4); // measured all the same
}

TEST_CASE("figures that were bought with lost pages, or with a smaller drive, are none", "[grade]") {
    using namespace flashlab::test;
    for (const auto& [scheme, words] : {std::pair{&loses_high_pages(), "load mixed"}, std::pair{&trims_low_pages(), "mapped pages"},
                                        std::pair{&gives_half_the_drive(), "gives the host 14336 pages"}}) {
        REQUIRE(admit_scheme(*scheme).has_value());
        const auto bad = grade({.what = std::string{scheme->name}, .seed = 1, .states = 1, .cpu_seconds = 20, .weights = {}},
                               [](std::string_view) { return true; });
        REQUIRE(bad.has_value());
        CHECK(bad->mark == "F");
        CHECK(bad->checks.back().name == "figures");
        CHECK_THAT(bad->checks.back().found, ContainsSubstring(words));
    }
}

TEST_CASE("a grade that was ended early is none", "[grade]") {
    const auto ended = grade({.what = "page_map", .seed = 1, .states = 100, .cpu_seconds = 20, .weights = {}},
                             [](std::string_view next) { return next != "requests"; });
    REQUIRE(ended.has_value());
    CHECK(ended->is_partial);
    CHECK_FALSE(ended->passed());
    CHECK(ended->mark == "F");
}

TEST_CASE("points say how often a cost was halved or doubled", "[grade]") {
    CHECK(points_of(2, 2) == 50);
    CHECK(points_of(1, 2) == 75);
    CHECK(points_of(4, 2) == 25);
    CHECK(points_of(100, 2) == 0);
    CHECK(points_of(0.01, 2) == 100);
    CHECK(points_of(0, 2) == 100);
    CHECK(points_of(2, 0) == 0);
    CHECK(mark_of(60) == "A");
    CHECK(mark_of(59.9) == "B");
    CHECK(mark_of(0) == "E");
}

TEST_CASE("weights are names with numbers, and not all nothing", "[grade]") {
    CHECK(GradeWeights::parse("waf=1,speed=3").value().of == std::array<std::uint32_t, 4>{1, 0, 0, 3});
    for (const char* wrong : {"", "waf", "waf=", "waf=-1", "waf=1,", "colour=3", "waf=0", "waf=1x", "=1", "waf=99999"}) {
        CAPTURE(wrong);
        CHECK_FALSE(GradeWeights::parse(wrong).has_value());
    }
}

TEST_CASE("what happens in a process of its own stays there", "[grade]") {
    CHECK(isolated([] { return std::string(200'000, 'x'); }, quick).value().size() == 200'000);
    const auto said = [](auto work) {
        return isolated(
                   [&]() -> std::string {
                       work();
                       return "done";
                   },
                   quick)
            .error();
    };
    CHECK_THAT(said([] { throw std::runtime_error{"a reason"}; }), ContainsSubstring("a reason"));
    CHECK_THAT(said([] { throw 7; }), ContainsSubstring("no known type"));
    CHECK_THAT(said([] { ensure(false, "a promise"); }), ContainsSubstring("a promise"));
    CHECK_THAT(said([] { ::raise(SIGKILL); }), ContainsSubstring("signal 9"));
    CHECK_THAT(said([] { ::raise(SIGFPE); }), ContainsSubstring("signal 8"));
    CHECK_THAT(said([] { std::_Exit(7); }), ContainsSubstring("exit code 7"));
    const IsolationLimits impatient{.cpu_seconds = 3, .idle_seconds = 1};
    const auto waits = isolated([] { return ::pause() == 0 ? "" : "woken"; }, impatient); // as for a lock that nobody opens
    CHECK_THAT(waits.error(), ContainsSubstring("had waited for 1 seconds"));
    const IsolationLimits short_of_paper{.cpu_seconds = 3, .file_bytes = 1 << 20};
    CHECK(isolated(
              [] {
                  const std::string line(4096, 'x');
                  bool written = true;
                  for (int i = 0; i < 512; ++i) written = std::fputs(line.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 && written;
                  return std::string{written ? "endless" : "limited"};
              },
              short_of_paper)
              .value() == "limited");
    CHECK_THAT(said([] {
                   std::puts("the last words");
                   std::fflush(nullptr);
                   std::_Exit(3);
               }),
               ContainsSubstring("the last words"));
}

TEST_CASE("a scheme is admitted once, and under a name that a configuration can hold", "[grade]") {
    Scheme scheme = **find_scheme("page_map");
    for (const char* wrong : {"page_map", "", "My Scheme", "a/b", "bad-name"}) {
        CAPTURE(wrong);
        scheme.name = wrong;
        CHECK_FALSE(admit_scheme(scheme).has_value());
    }
    scheme.name = "without_make";
    scheme.make = nullptr;
    CHECK_FALSE(admit_scheme(scheme).has_value());
}

TEST_CASE("a scheme whose options or counters cannot be shown is refused, and told which", "[grade]") {
    static const OptionOf<std::uint32_t> good{{.key = "mine.n", .help = "a number", .initial = 1, .min = 1, .max = 9}};
    static const OptionOf<std::uint32_t> no_section{{.key = "n", .help = "a number", .max = 9}};
    static const OptionOf<std::uint32_t> no_word{{.key = "mine.The N", .help = "a number", .max = 9}};
    static const OptionOf<std::uint32_t> no_help{{.key = "mine.n", .help = {}, .max = 9}};
    static const OptionOf<std::uint32_t> no_range{{.key = "mine.n", .help = "a number", .initial = 5, .min = 9, .max = 1}};
    static const OptionOf<std::uint32_t> no_default{{.key = "mine.n", .help = "a number", .initial = 0, .min = 1, .max = 9}};
    static const OptionOf<std::uint32_t> taken{{.key = "coftl.cache_bytes", .help = "another meaning", .max = 9}};
    const auto one = [](const Ftl&) { return std::uint64_t{1}; };
    static const Counter counts{"mine", "pages", "pages", one};
    static const Counter nameless{"My Pages", "pages", "pages", one};
    static const Counter unread{"mine", "pages", "pages", nullptr};
    static const Counter placed{"mine", "pages", "pages", one, true};
    const auto refusal = [](std::vector<const Option*> options, std::vector<Counter> counters) {
        Scheme scheme = **find_scheme("page_map");
        scheme.name = "refused";
        scheme.options = options;
        scheme.counters = counters;
        const auto admitted = admit_scheme(scheme);
        return admitted ? std::string{} : admitted.error();
    };
    CHECK_THAT(refusal({&no_section}, {}), ContainsSubstring("section.name"));
    CHECK_THAT(refusal({&no_word}, {}), ContainsSubstring("section.name"));
    CHECK_THAT(refusal({&no_help}, {}), ContainsSubstring("has no help"));
    CHECK_THAT(refusal({&no_range}, {}), ContainsSubstring("begins above its end"));
    CHECK_THAT(refusal({&no_default}, {}), ContainsSubstring("outside of its range"));
    CHECK_THAT(refusal({&taken}, {}), ContainsSubstring("another scheme's key"));
    CHECK_THAT(refusal({&good, &good}, {}), ContainsSubstring("declared twice"));
    CHECK_THAT(refusal({nullptr}, {}), ContainsSubstring("null pointer"));
    CHECK_THAT(refusal({}, {counts, counts}), ContainsSubstring("declared twice"));
    CHECK_THAT(refusal({}, {nameless}), ContainsSubstring("has no name"));
    CHECK_THAT(refusal({}, {unread}), ContainsSubstring("no function that reads it"));
    CHECK_THAT(refusal({}, {placed}), ContainsSubstring("where nobody asks"));
}

TEST_CASE("what was admitted can be named, and changes no list of schemes", "[grade]") {
    CHECK(find_scheme(bad_schemes().front().scheme->name).has_value());
    CHECK(std::ranges::none_of(all_schemes(), [](const std::string& name) { return name.starts_with("bad_"); }));
    CHECK_THAT(find_scheme("nosuch").error(), !ContainsSubstring("bad_"));
}

TEST_CASE("a file that is no scheme is refused with what to do", "[grade]") {
    CHECK_THAT(load_scheme("/nowhere/x.so").error(), ContainsSubstring("no such file"));
    CHECK_THAT(load_scheme("/etc/passwd").error(), ContainsSubstring("build_scheme.sh"));
    CHECK_THAT(load_scheme("nosuch").error(), ContainsSubstring("there are: "));
}
