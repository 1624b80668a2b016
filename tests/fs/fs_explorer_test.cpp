/// The explorer of the whole stack: every scheme under both metadata stores, ids that repeat a run, refusals with a reason.
#include "crash/fs/fs_explorer.h"

#include "ftl/make_ftl.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("a file system over every scheme keeps its contract when the power fails, whichever store holds the metadata", "[fs][crash][explore]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    const bool journal = GENERATE(false, true);
    DYNAMIC_SECTION(scheme << (journal ? " journal" : " pram")) {
        FsCrashCase first{.shape = {.scheme = scheme, .journal = journal, .cell = "slc", .variant = ""}, .laps = 3, .steps = 40};
        if (const auto can = can_explore(first.shape); !can) {
            WARN(scheme << " skipped: " << can.error());
            return;
        }
        FsExploreReport report;
        explore_file_system(first, {.states = 24, .go_on = {}}, report);
        for (const FsViolation& v : report.violations) UNSCOPED_INFO(v.where.id() << "\n    " << v.what);
        CHECK(report.violations.empty());
        CHECK(report.states == 24);
        CHECK(report.programs == 8);
    }
}

TEST_CASE("the id of a file system's case reads back and runs the same again", "[fs][crash][explore]") {
    const auto where = FsCrashCase::parse("fs:dftl:journal-mlc:17:2x30:1");
    REQUIRE(where.has_value());
    CHECK(where->shape == FsShape{"dftl", true, "mlc", ""});
    CHECK(where->id() == "fs:dftl:journal-mlc:17:2x30:1");
    const auto worn = FsCrashCase::parse("fs:dftl:journal-mlc-worn:17:2x30:1");
    REQUIRE(worn.has_value());
    CHECK(worn->shape == FsShape{"dftl", true, "mlc", "worn"});
    CHECK(worn->id() == "fs:dftl:journal-mlc-worn:17:2x30:1");
    FsExploreReport first, second;
    CHECK_FALSE(replay_file_system(*where, first));
    CHECK_FALSE(replay_file_system(*where, second));
    CHECK(first.states == 2);
    CHECK(first.second_cuts == 0);
    CHECK(first.operations == second.operations);
    CHECK(first.outcomes.counts == second.outcomes.counts);
    CHECK(first.recovery.longest() == second.recovery.longest());
}

TEST_CASE("programs in a row find what each of them finds alone", "[fs][crash][explore]") {
    FsCrashCase program{.shape = {.scheme = "hftl", .journal = false, .cell = "slc", .variant = ""}, .seed = 5, .laps = 3, .steps = 40};
    FsExploreReport in_a_row, alone;
    explore_file_system(program, {.states = 15, .go_on = {}}, in_a_row);
    for (int i = 0; i < 5; ++i, ++program.seed) CHECK_FALSE(replay_file_system(program, alone));
    CHECK(in_a_row.violations.empty());
    CHECK(in_a_row.states == alone.states);
    CHECK(in_a_row.operations == alone.operations);
    CHECK(in_a_row.outcomes.counts == alone.outcomes.counts);
    CHECK(in_a_row.recovery.longest() == alone.recovery.longest());
    CHECK(in_a_row.recovery.percentile(0.5) == alone.recovery.percentile(0.5));
}

TEST_CASE("what is no id of a file system's case is refused", "[fs][crash][explore]") {
    for (const char* id : {"", "fs:", "fs:hftl:pram-slc:1:1x1", "fs:hftl:pram-slc:1:1x0:1", "fs:hftl:disk-slc:1:1x1:1", "fs:hftl:pram-slc:1:1x1:3",
                           "fs:hftl:pram-slc:x:1x1:1", "fs:hftl:pram-slc-old:1:1x1:1", "hftl:chip-slc:w0:1-0"}) {
        CAPTURE(id);
        CHECK_FALSE(FsCrashCase::parse(id).has_value());
    }
    CHECK_FALSE(can_explore({.scheme = "hftl", .journal = false, .cell = "paper", .variant = ""}).has_value());
    CHECK_FALSE(can_explore({.scheme = "nothing", .journal = false, .cell = "slc", .variant = ""}).has_value());
}
