// Goal: a finding names one cause, told once, with as few losses as it takes; and what it calls kept is there.
// Method: small programs with a known mistake, explored by shell checks.
#include <fmt/format.h>

#include "tests/apps/recorded_program.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tools/explore/state_explorer.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

ExploreResult explored(const RecordedProgram& program, const std::string& model, const std::string& check, std::uint64_t states = 200) {
    const TemporaryDirectory work;
    const Past past{program.history()};
    const Persistence persistence = *find_persistence(model);
    const ExploreResult result =
        StateExplorer{past, persistence, {.check = check, .work = work.path().string(), .limit = std::chrono::milliseconds{20'000}, .states = states}}
            .run();
    CHECK(result.broken.empty());
    CHECK(result.unsteady == 0);
    return result;
}

/// Of the state of all these lines in which `losses` are lost.
LossWords words_of(const RecordedProgram& program, const std::string& model, std::vector<Loss> losses) {
    const Past past{program.history()};
    const Persistence persistence = *find_persistence(model);
    return tell_losses(past, persistence, LeftState{past, persistence, {past.size(), std::move(losses)}});
}

/// What sed -i does: new content under another name, attributes, a rename over the old name, no sync.
RecordedProgram replacement_without_sync() {
    RecordedProgram program;
    program.append(program.create("f"), "old");
    program.prepared();
    const auto file = program.create("f.tmp");
    program.append(file, "new");
    program.chmod(file, 0600);
    program.chmod(file, 0644);
    program.rename("f.tmp", "f");
    program.promise("new");
    return program;
}

} // namespace

TEST_CASE("in one journal a missing sync is one finding, however many lines went with the one that was needed", "[apps][findings]") {
    const std::string model = GENERATE("ext4", "btrfs");
    const ExploreResult result = explored(replacement_without_sync(), model, "[ ! -s \"$FLASHLAB_ACKS\" ] || grep -q new f");
    std::string told;
    for (const LossFinding& finding : result.findings) told += finding.words.what + '\n';
    CAPTURE(model, told, result.failing);
    CHECK(result.failing > 1);
    CHECK_FALSE(told.contains("chmod"));
    CHECK_FALSE(told.contains("create f.tmp"));
    CHECK(told.contains("(rename f.tmp -> f) was lost"));
    CHECK(result.findings.size() == (model == "ext4" ? 1 : 2)); // btrfs may keep the rename without the bytes: another sync is missing
}

TEST_CASE("an append that one journal lost is one finding, whatever stood in the journal before it", "[apps][findings]") {
    const std::string model = GENERATE("ext4", "xfs", "btrfs");
    RecordedProgram program;
    const auto log = program.create("log");
    program.append(log, "HEAD");
    program.prepared();
    const auto other = program.create("scratch");
    program.truncate(other, 3);
    for (std::uint64_t page = 1; page <= 8; ++page) program.write(other, page * 4096 - 1, "x");
    program.append(log, "rec");
    program.promise("rec");
    const ExploreResult result = explored(program, model, "[ ! -s \"$FLASHLAB_ACKS\" ] || grep -q rec log", 400);
    std::string told;
    for (const LossFinding& finding : result.findings) told += finding.words.missing_call + '\n';
    CAPTURE(model, told, result.failing);
    CHECK(result.failing > 1);
    CHECK(result.findings.size() == 1);
    CHECK(told.contains("fsync(log)"));
}

TEST_CASE("no loss of a finding can be spared, although one could be only once another was given back", "[apps][findings]") {
    RecordedProgram program;
    program.prepared();
    for (const std::string name : {"f1", "f2", "f3"}) (void)program.create(name);
    program.promise("x");
    const ExploreResult result = explored(program, "posix", "[ ! -s \"$FLASHLAB_ACKS\" ] || [ -e f3 ] || { [ ! -e f2 ] && [ -e f1 ]; }");
    REQUIRE_FALSE(result.findings.empty());
    for (const LossFinding& finding : result.findings) CHECK(finding.state.losses.size() == 1);
}

TEST_CASE("the same mistake with temporary names that are drawn is one finding", "[apps][findings]") {
    RecordedProgram program;
    program.append(program.create("f"), "0");
    program.prepared();
    for (const std::string version : {"1", "2", "3"}) {
        const std::string name = version == "1" ? "sedYNjXiq" : version == "2" ? "sednNFfR" : "sedxmfpU";
        const auto file = program.create(name);
        program.append(file, version);
        program.chmod(file, 0640);
        program.rename(name, "f");
        program.promise(version);
    }
    const ExploreResult result = explored(program, "ext4", "[ \"$(cat f)\" -ge \"$(tail -n 1 \"$FLASHLAB_ACKS\" | grep . || echo 0)\" ]");
    std::string told;
    for (const LossFinding& finding : result.findings) told += finding.words.what + '\n';
    CAPTURE(told);
    CHECK(result.failing > 3);
    CHECK(result.findings.size() == 1);
}

TEST_CASE("a promise that is made before its sync fails, although the tree is one that was seen without the promise", "[apps][findings]") {
    RecordedProgram program;
    const auto file = program.create("log");
    program.prepared();
    for (const std::string record : {"a", "b", "c"}) {
        program.append(file, record);
        program.promise(record);
        program.fsync(file);
    }
    const auto check = R"(while read -r record; do grep -q "$record" log || exit 1; done < "$FLASHLAB_ACKS")";
    const ExploreResult result = explored(program, "strict", check);
    CAPTURE(result.states);
    CHECK(result.failing >= 3); // behind each promise; told apart by trees alone, none is left
    CHECK(result.findings.size() == 1);
}

TEST_CASE("a finding has no loss that can be given back while the check fails", "[apps][findings]") {
    RecordedProgram program;
    program.prepared();
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) program.append(program.create(name), "x");
    program.promise("d");
    const ExploreResult result = explored(program, "posix", "[ ! -s \"$FLASHLAB_ACKS\" ] || [ -e d ]");
    REQUIRE(result.findings.size() == 1);
    CHECK(result.findings.front().state.losses.size() == 1);
    CHECK(result.findings.front().words.what.contains("(create d) was lost"));
}

TEST_CASE("a second cause is found in a state that has lost by a known one, too", "[apps][findings]") {
    RecordedProgram program;
    program.prepared();
    program.mkdir("d");
    program.create("f");
    program.promise("both");
    const std::string check = "[ ! -s \"$FLASHLAB_ACKS\" ] || [ -e d -a -e f ]";
    for (std::uint64_t states = 1; states <= 12; ++states) {
        const ExploreResult result = explored(program, "posix", check, states);
        std::uint64_t told = result.untold;
        for (const LossFinding& finding : result.findings) told += finding.states;
        CHECK(told == result.failing);
        if (result.findings.size() < 2) continue;
        CHECK(result.findings[0].words.cause != result.findings[1].words.cause);
        return;
    }
    FAIL("one of the two causes stayed hidden");
}

TEST_CASE("a state that has lost by a known cause and by another tells the other", "[apps][findings]") {
    RecordedProgram program;
    program.prepared();
    program.mkdir("d");
    program.create("f");
    for (const char* promise : {"1", "2", "3"}) program.promise(promise);
    const std::string check = "[ ! -s \"$FLASHLAB_ACKS\" ] || [ -e d -a -e f ]";
    const ExploreResult result = explored(program, "posix", check);
    REQUIRE(result.findings.size() == 2);
    CHECK(result.findings[0].found_at == 4);
    CHECK(result.findings[1].found_at == 6); // both are lost there, too; of states that have lost one alone the twelfth is the first
}

TEST_CASE("what is called kept is there, and no line of a file whose making was lost", "[apps][findings]") {
    RecordedProgram program;
    const auto old = program.create("old");
    program.append(old, "old bytes");
    program.prepared();
    const auto packed = program.create("packed"); // line 4
    program.append(packed, "bytes");
    program.write(old, 0, "more"); // line 6
    const LossWords words = words_of(program, "ext4", {{.line = 3}});
    CAPTURE(words.what);
    CHECK_FALSE(words.what.contains("write packed"));
    CHECK(words.what.contains("line 6 (write old 0+4) can be there without line 4 (create packed)"));
}

TEST_CASE("of two writes to one file it is said which was kept, which was lost, and that no sync stands between", "[apps][findings]") {
    RecordedProgram program;
    const auto file = program.create("db");
    program.append(file, std::string(3 * page_bytes, 'o'));
    program.prepared();
    program.write(file, page_bytes, "recovery"); // line 4
    program.write(file, 0, "header");            // line 5
    const LossWords words = words_of(program, "ext4", {{.line = 3}});
    CHECK(words.what ==
          "after a power cut line 5 (write db 0+6) can be there without line 4 (write db 4096+8), which came before it: no fsync(db) or "
          "fdatasync(db) stands between the two");
    CHECK(words.missing_call == "fsync(db) or fdatasync(db) before line 5 (write db 0+6)");
}

TEST_CASE("of a file that is renamed before its data are on the disk the name is said, and the sync that is missing", "[apps][findings]") {
    RecordedProgram program;
    program.prepared();
    program.append(program.create("c.tmp"), "new"); // lines 2 and 3
    program.rename("c.tmp", "c");
    const LossWords words = words_of(program, "posix", {{.line = 2}});
    CHECK(words.what.starts_with("after a power cut c can lack its data: line 4 (rename c.tmp -> c) was kept, line 3 (write c.tmp 0+3"));
    CHECK(words.missing_call == "fsync(c.tmp) before line 4 (rename c.tmp -> c)");
}

TEST_CASE("a file that is replaced in place in many calls is one finding, from the call on that begins it", "[apps][findings]") {
    RecordedProgram program;
    const auto file = program.create("db");
    program.append(file, "whole");
    program.prepared();
    for (int round = 0; round < 3; ++round) {
        program.truncate(file, 0);
        for (const char* table : {"a", "b", "c"}) { // what a store makes anew, file by file
            const auto made = program.create(fmt::format("{}{}", table, round));
            program.append(made, "x");
            program.fsync(made);
        }
        program.append(file, "whole");
        program.fsync(file);
    }
    const ExploreResult result = explored(program, "strict", "grep -qx whole db");
    REQUIRE(result.findings.size() == 1);
    CHECK(result.findings[0].states > 5);
    CHECK(result.findings[0].words.what.contains("between line 4 (truncate db 5 -> 0) and line 5"));
}

TEST_CASE("what is promised before it is written is told as that, once, and not as an update that is half done", "[apps][findings]") {
    RecordedProgram program;
    const auto file = program.create("log");
    program.prepared();
    for (const std::string record : {"a", "b", "c"}) {
        program.promise(record); // the record waits in a buffer of the program
        program.promise("more of " + record);
        program.append(file, record);
        program.fsync(file);
    }
    const ExploreResult result =
        explored(program, "strict", R"(while read -r record; do grep -q "${record#more of }" log || exit 1; done < "$FLASHLAB_ACKS")");
    REQUIRE(result.findings.size() == 1);
    CHECK(result.findings[0].states == 6);
    CAPTURE(result.findings[0].words.what);
    CHECK(result.findings[0].words.what.contains("before it was written: nothing was lost"));
    CHECK(result.findings[0].words.missing_call.contains("fflush"));
}

TEST_CASE("an update that is half done behind a promise is not taken for a promise that came too early", "[apps][findings]") {
    RecordedProgram program;
    const auto file = program.create("f");
    program.prepared();
    for (const std::string version : {"1", "2", "3"}) {
        program.truncate(file, 0);
        program.append(file, version);
        program.fsync(file);
        program.promise(version);
    }
    const ExploreResult result = explored(program, "strict", "[ ! -s \"$FLASHLAB_ACKS\" ] || [ -s f ]");
    REQUIRE(result.findings.size() == 1);
    CAPTURE(result.findings[0].words.what);
    CHECK_FALSE(result.findings[0].words.what.contains("before it was written"));
}

TEST_CASE("a check that does not end is told as that, beside what is found wrong", "[apps][findings]") {
    const TemporaryDirectory work;
    RecordedProgram program;
    const auto file = program.create("f");
    program.append(file, "old");
    program.prepared();
    program.truncate(file, 0);
    program.append(file, "new");
    const Past past{program.history()};
    const ExploreResult result =
        StateExplorer{past,
                      *find_persistence("strict"),
                      {.check = "[ -s f ] || sleep 600", .work = work.path().string(), .limit = std::chrono::milliseconds{500}, .states = 50}}
            .run();
    REQUIRE(result.findings.size() == 1);
    const LossWords& words = result.findings[0].words;
    CAPTURE(words.what);
    CHECK(words.what.starts_with("the check did not end within 0.5 s, so it did not judge this: "));
    CHECK(words.missing_call.contains("--timeout"));
}
