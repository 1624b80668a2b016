#include "tools/faults/fault_rule.h"

#include "tests/support/catch.h"

using namespace flashlab;

namespace {

std::string refusal(const char* text) {
    const auto rule = FaultRule::parse(fault_words(text));
    return rule ? "" : rule.error();
}

} // namespace

TEST_CASE("a rule says what it means in words that make the same rule again", "[tools][faults]") {
    for (const char* text : {"eio", "enospc", "eio:op=write:path=*.db:nth=2", "stall ms=20 op=fsync path=/a b", "die_dead die=3", "bit_rot sticky",
                             "program_fail block=7 times=3", "erase_fail nth=9", "host_eio", "host_enospc nth=4 sticky", "eio ino=12 op=writeback",
                             "read_eio path=x", "fsync_eio sticky", "lie_flush", "lie_order nth=2", "lie_tear times=3"}) {
        INFO(text);
        std::vector<std::string> words = fault_words(text);
        if (std::string_view{text}.ends_with("/a b")) words = {"stall", "ms=20", "op=fsync", "path=/a*b"};
        const auto rule = FaultRule::parse(words);
        REQUIRE(rule.has_value());
        const auto again = FaultRule::parse(fault_words(rule->text()));
        REQUIRE(again.has_value());
        CHECK(*again == *rule);
    }
    CHECK(FaultRule::parse(fault_words("eio"))->op == "fsync");
    CHECK(FaultRule::parse(fault_words("enospc"))->op == "write");
    CHECK(FaultRule::parse(fault_words("read_eio"))->op == "read");
    CHECK(FaultRule::parse(fault_words("die_dead die=0"))->times == 0);
    CHECK(FaultRule::parse(fault_words("lie_flush"))->times == 0);
}

TEST_CASE("quotes around a glob are not part of it", "[tools][faults]") {
    CHECK(FaultRule::parse(fault_words("eio op=fsync path='*.db'"))->path == "*.db");
    CHECK(FaultRule::parse(fault_words("eio path=\"a.db\""))->path == "a.db");
    CHECK_THAT(refusal("eio path='*.db"), ContainsSubstring("quote"));
    CHECK_THAT(refusal("eio path=''"), ContainsSubstring("quote"));
}

TEST_CASE("a rule strikes from its n-th match on, so many times, or for ever", "[tools][faults]") {
    const auto rule = FaultRule::parse(fault_words("eio nth=3 times=2"));
    REQUIRE(rule.has_value());
    CHECK_FALSE(rule->strikes(2));
    CHECK(rule->strikes(3));
    CHECK(rule->strikes(4));
    CHECK_FALSE(rule->strikes(5));
    CHECK(FaultRule::parse(fault_words("eio sticky"))->strikes(1'000'000));
}

TEST_CASE("words that mean nothing are refused with what is allowed", "[tools][faults]") {
    CHECK_THAT(refusal(""), ContainsSubstring("which fault"));
    CHECK_THAT(refusal("eioo"), ContainsSubstring("no fault is called 'eioo'") && ContainsSubstring("host_eio"));
    CHECK_THAT(refusal("eio nth=0"), ContainsSubstring("from 1"));
    CHECK_THAT(refusal("eio nth=-1"), ContainsSubstring("from 1"));
    CHECK_THAT(refusal("eio nth=99999999999999999999"), ContainsSubstring("whole number"));
    CHECK_THAT(refusal("eio nth"), ContainsSubstring("whole number"));
    CHECK_THAT(refusal("eio op=nothing"), ContainsSubstring("writeback"));
    CHECK_THAT(refusal("eio path="), ContainsSubstring("path=GLOB"));
    CHECK_THAT(refusal("eio ms=3"), ContainsSubstring("allowed beside eio"));
    CHECK_THAT(refusal("eio die=1"), ContainsSubstring("allowed beside eio"));
    CHECK_THAT(refusal("stall"), ContainsSubstring("ms=N"));
    CHECK_THAT(refusal("stall ms=5 op=writeback"), ContainsSubstring("no call"));
    CHECK_THAT(refusal("die_dead"), ContainsSubstring("die=N"));
    CHECK_THAT(refusal("die_dead die=5000000000"), ContainsSubstring("whole number"));
    CHECK_THAT(refusal("host_eio path=x"), ContainsSubstring("allowed beside host_eio"));
    CHECK_THAT(refusal("lie_flush die=1"), ContainsSubstring("allowed beside lie_flush: nth=N"));
}

TEST_CASE("a word that is said twice is refused, and so is one that says again what another means", "[tools][faults]") {
    for (const auto& [text, twice] : {std::pair{"eio nth=2 nth=3", "nth=3: nth=2"}, std::pair{"eio nth=2 nth=2", "nth=2: nth=2"},
                                      std::pair{"eio op=write op=fsync", "op=fsync: op=write"}, std::pair{"eio path=a path=b", "path=b: path=a"},
                                      std::pair{"eio ino=1 ino=2", "ino=2: ino=1"}, std::pair{"eio times=2 sticky", "sticky: times=2"},
                                      std::pair{"eio sticky sticky", "sticky: sticky"}, std::pair{"stall ms=1 ms=2", "ms=2: ms=1"},
                                      std::pair{"program_fail die=0 die=1", "die=1: die=0"}, std::pair{"bit_rot block=1 block=1", "block=1: block=1"},
                                      std::pair{"read_eio op=write", "op=write: read_eio"}, std::pair{"fsync_eio op=fsync", "op=fsync: fsync_eio"}}) {
        INFO(text);
        CHECK_THAT(refusal(text), ContainsSubstring(std::string{twice} + " said that already"));
    }
    CHECK(refusal("eio op=write nth=2 times=3 path=a ino=4").empty());
}

TEST_CASE("a plan is a rule a line; its errors name the line", "[tools][faults]") {
    const auto plan = parse_fault_plan("# faults\n\n  eio op=write nth=3 # the third\r\nhost_eio");
    REQUIRE(plan.has_value());
    REQUIRE(plan->size() == 2);
    CHECK((*plan)[0].nth == 3);
    CHECK((*plan)[1].kind == FaultKind::host_eio);
    CHECK(parse_fault_plan("")->empty());
    const auto wrong = parse_fault_plan("eio\n\nstall\n");
    REQUIRE_FALSE(wrong.has_value());
    CHECK_THAT(wrong.error(), ContainsSubstring("line 3"));
}
