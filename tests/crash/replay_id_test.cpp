/// Texts that people paste: workloads, replay ids, outcome digits.
#include "crash/crash_case.h"

#include <algorithm>

#include "crash/scripted_outcomes.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("a workload's text is read back as the same workload", "[crash][text]") {
    for (const char* text : {"w0x3.f.w1.t2", "w0x24.r1x48.z/w3+500.W4.p5x3.q7.i.f.z", "f", "w0/"}) {
        const auto workload = Workload::parse(text);
        REQUIRE(workload.has_value());
        CHECK(workload->text() == text);
    }
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
        const Workload drawn = Workload::random(seed, 20, 24);
        CAPTURE(drawn.text());
        CHECK(*Workload::parse(drawn.text()) == drawn);
    }
    for (const Workload& standard : standard_workloads(24)) CHECK(*Workload::parse(standard.text()) == standard);
}

TEST_CASE("a workload that means nothing is refused with the step that is wrong", "[crash][text]") {
    for (const char* text : {"x3", "w", "w3x", "w3x0", "f3", "w3.z.w4", "w3..w4", "w3+", "w99999999999"}) {
        CAPTURE(text);
        REQUIRE_FALSE(Workload::parse(text).has_value());
        CHECK_FALSE(Workload::parse(text).error().empty());
    }
}

TEST_CASE("a replay id is read back as the same case, and a damaged one refused", "[crash][text]") {
    CrashCase where{"hftl", "chip-slc", *Workload::parse("w0x3.f/w1+500.t2"), {{sim_time_from_ns(1234567), "02"}, {sim_time_from_ns(2345678), ""}}};
    CHECK(where.id() == "hftl:chip-slc:w0x3.f/w1+500.t2:1234567-02:2345678-");
    CHECK(*CrashCase::parse(where.id()) == where);
    for (const char* id :
         {"", "hftl", "hftl:chip-slc:w0:12", "hftl:chip-slc:w0:x-0", "hftl:chip-slc:w0:12-08", "hftl:chip-slc:y0:12-0", "hftl:chip-slc:w0:-5-0"}) {
        CAPTURE(id);
        CHECK_FALSE(CrashCase::parse(id).has_value());
    }
}

TEST_CASE("scripts count through every combination of outcomes once", "[crash][text]") {
    OutcomeCounts counts;
    ScriptedOutcomes outcomes{counts};
    std::vector<std::string> all;
    for (std::optional<std::string> script{std::in_place}; script; script = outcomes.next()) {
        outcomes.begin(sim_start, *script, nullptr);
        (void)outcomes.of_program(Ppn{0});
        (void)outcomes.of_erase(BlockId{0});
        (void)outcomes.of_word(PramAddress{0});
        all.push_back(outcomes.script());
    }
    CHECK(all.size() == 7 * 5 * 3);
    CHECK(outcomes.combinations(1000) == 105);
    CHECK(outcomes.combinations(20) == 20);
    std::ranges::sort(all);
    CHECK(std::ranges::adjacent_find(all) == all.end());
    CHECK(counts.counts[0] == 15);
    CHECK(counts.counts[2] == 30); // T2 in two ways
    CHECK(counts.counts[6] == 0);  // no pairs here
    CHECK(counts.counts[OutcomeCounts::first_erase + 4] == 21);
}
