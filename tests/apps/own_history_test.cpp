// Goal: a program is judged by what it answers itself: small programs with a known mistake are found, right ones are not, in every model.
// Method: histories written call by call; the question is cat(1), or a start is a small shell script.
#include <filesystem>

#include <stdlib.h>

#include "tests/apps/recorded_program.h"
#include "tests/support/catch.h"
#include "tools/explore/own_history.h"
#include "tools/explore/state_explorer.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

struct Judged {
    ExploreResult result;
    std::string refused;
    [[nodiscard]] bool is_found() const { return !result.findings.empty(); }
};

Judged judge(const RecordedProgram& program, const char* model_name, const std::string& probe, bool is_question = true, unsigned workers = 1) {
    std::string work = (std::filesystem::temp_directory_path() / "flashlab-own.XXXXXX").string();
    REQUIRE(::mkdtemp(work.data()) != nullptr);
    const Past past{program.history()};
    const Persistence model = *find_persistence(model_name);
    ExploreConfig config{.check = "auto", .work = work, .limit = std::chrono::milliseconds{20'000}, .states = 150, .workers = workers};
    OwnHistory own_history{
        past,
        model,
        {.probe = probe, .is_question = is_question, .work = work, .limit = config.limit, .from = past.first_cut(), .contents = config.contents}};
    config.judge = [&](const auto&... state) { return own_history.judge(state...); };
    Judged judged;
    if (const auto learnt = own_history.learn(); !learnt)
        judged.refused = learnt.error();
    else
        judged.result = StateExplorer{past, model, std::move(config)}.run();
    std::filesystem::remove_all(work);
    CHECK(judged.result.broken.empty());
    CHECK(judged.result.unsteady == 0);
    return judged;
}

/// Replaces n three times and says so.
RecordedProgram replacing(bool syncs_data, bool syncs_name, bool promises = true) {
    RecordedProgram program;
    program.prepared();
    for (const char* text : {"one\n", "two\n", "three\n"}) {
        const auto file = program.create("n.new");
        program.append(file, text);
        if (syncs_data) program.fsync(file);
        program.close(file);
        program.rename("n.new", "n");
        if (syncs_name) program.fsync(RecordedProgram::root);
        if (promises) program.promise(text);
    }
    return program;
}

/// Appends records of which each names the one before.
RecordedProgram appending(bool syncs) {
    RecordedProgram program;
    const auto log = program.create("log");
    program.prepared();
    for (int i = 1; i <= 4; ++i) {
        program.append(log, "record\n");
        if (syncs) program.fdatasync(log);
        program.promise(std::to_string(i));
    }
    return program;
}

/// Two files that belong together, written in a fixed order.
RecordedProgram pair_of_files(bool keeps_order) {
    RecordedProgram program;
    const auto a = program.create("a"), b = program.create("b");
    program.append(a, "0\n");
    program.append(b, "0\n");
    program.prepared();
    for (const char* text : {"1\n", "2\n", "3\n"}) {
        program.write(a, 0, text);
        if (keeps_order) program.fdatasync(a);
        program.write(b, 0, text);
        if (keeps_order) program.fdatasync(b);
    }
    return program;
}

const std::string show_n = "if [ -e n ]; then cat n; fi";
const std::string whole_records =
    "grep -cx record log; :"; // a torn one at the end does not count, as for a log that is read to its last whole record

} // namespace

TEST_CASE("a replacement that lacks the sync of its data or of its name is found by a question", "[apps][own_history]") {
    for (const char* model : all_models) {
        INFO(model);
        CHECK_FALSE(judge(replacing(true, true), model, show_n).is_found());
        CHECK(judge(replacing(false, true), model, show_n).is_found()); // the first rename is to a free name
        CHECK(judge(replacing(true, false), model, show_n).is_found() == (std::string{model} != "strict"));
    }
}

TEST_CASE("an append that was promised and not synced is found by a question, and a synced one is not", "[apps][own_history]") {
    for (const char* model : all_models) {
        INFO(model);
        CHECK_FALSE(judge(appending(true), model, whole_records).is_found());
        CHECK(judge(appending(false), model, whole_records).is_found());
    }
}

TEST_CASE("two files that were updated without an order between them are found though nothing was promised", "[apps][own_history]") {
    for (const char* model : all_models) {
        INFO(model);
        CHECK_FALSE(judge(pair_of_files(true), model, "cat a b").is_found());
        CHECK(judge(pair_of_files(false), model, "cat a b").is_found());
    }
}

TEST_CASE("of a program that only writes its files are the answer", "[apps][own_history]") {
    const std::string writes = "echo three > n.new && mv n.new n";
    CHECK_FALSE(judge(replacing(true, true), "posix", writes, false).is_found());
    CHECK_FALSE(judge(replacing(true, true, false), "posix", writes, false).is_found());
    const Judged data = judge(replacing(false, true), "posix", writes, false), name = judge(replacing(true, false), "posix", writes, false);
    REQUIRE(data.is_found());
    CHECK(data.result.findings.front().said.find("n was put in its place by a rename, and has not the bytes") != std::string::npos);
    REQUIRE(name.is_found());
    CHECK(name.result.findings.front().said.find("had been promised") != std::string::npos);
}

TEST_CASE("a start that fails is found, unless it fails before the run as well", "[apps][own_history]") {
    const std::string wants_content = "if [ -e n ] && [ ! -s n ]; then echo n is empty >&2; exit 3; fi; echo three > n.new; mv n.new n";
    const Judged judged = judge(replacing(false, true), "posix", wants_content, false);
    REQUIRE(judged.is_found());
    CHECK(judge(replacing(true, true), "posix", wants_content, false).result.findings.empty());
    CHECK_FALSE(judge(replacing(true, true), "posix", "cat n", true).is_found()); // no such file at first
    CHECK(judge(replacing(false, true), "posix", "cat n && [ -s n ]", true).is_found());
}

TEST_CASE("an end that only a kill in the middle brings is found, though nothing was lost", "[apps][own_history]") {
    RecordedProgram program;
    const auto file = program.create("n");
    program.append(file, "old");
    program.prepared();
    program.truncate(file, 0);
    program.append(file, "new");
    program.fsync(file);
    CHECK(judge(program, "strict", "[ -s n ] || exit 3; cat n").is_found());
    CHECK_FALSE(judge(replacing(true, true), "strict", "if [ -e n ]; then [ -s n ] || exit 3; fi").is_found());
}

TEST_CASE("a question may fail in several ways until there is something to ask about", "[apps][own_history]") {
    RecordedProgram program;
    program.prepared();
    const auto folder = program.mkdir("d");
    program.fsync(RecordedProgram::root);
    const auto file = program.create("n", folder);
    program.append(file, "1\n");
    program.fsync(file);
    program.fsync(folder);
    program.promise("1");
    CHECK_FALSE(
        judge(program, "posix", "[ -d d ] || { echo no folder >&2; exit 1; }; [ -e d/n ] || { echo no file >&2; exit 1; }; cat d/n | grep -c .; :")
            .is_found());
}

TEST_CASE("a clean-up behind the sync may be lost, and a rename may not", "[apps][own_history]") {
    for (const bool is_clean_up : {true, false}) {
        RecordedProgram program;
        for (const char* name : {"j1", "j2"}) program.append(program.create(name), name);
        program.prepared();
        for (const std::string name : {"1", "2"}) {
            const auto file = program.create("n.new");
            program.append(file, name);
            program.fsync(file);
            program.rename("n.new", "n");
            program.fsync(RecordedProgram::root);
            is_clean_up ? program.unlink("j" + name) : program.rename("j" + name, "k" + name);
            program.promise(name);
        }
        const std::string reads_all = "for f in n j1 j2 k1 k2; do [ ! -e $f ] || cat $f >&2; done";
        CHECK(judge(program, "posix", reads_all, false).is_found() == !is_clean_up);
    }
}

TEST_CASE("what differs between two starts on the same files is not compared, and the rest is", "[apps][own_history]") {
    const std::string noisy = "echo process $$; date +%N; if [ -e n ]; then cat n; fi";
    CHECK_FALSE(judge(replacing(true, true), "posix", noisy).is_found());
    CHECK(judge(replacing(false, true), "posix", noisy).is_found());
    CHECK(judge(replacing(true, true), "posix", "false").refused.find("nothing can be learnt") != std::string::npos);
    CHECK(judge(replacing(true, true), "posix", "exit $(($(date +%N | cut -c9) % 2))").refused.empty() == false);
}

TEST_CASE("many judges say what one says", "[apps][own_history]") {
    const Judged one = judge(replacing(false, false), "posix", show_n), many = judge(replacing(false, false), "posix", show_n, true, 4);
    REQUIRE(one.result.findings.size() == many.result.findings.size());
    CHECK(one.result.failing == many.result.failing);
    for (std::size_t i = 0; i < one.result.findings.size(); ++i) {
        CHECK(one.result.findings[i].words.what == many.result.findings[i].words.what);
        CHECK(one.result.findings[i].said == many.result.findings[i].said);
    }
}

TEST_CASE("a moment that another judge asks about meanwhile counts for all", "[apps][own_history]") {
    for (int again = 0; again < 4; ++again) CHECK_FALSE(judge(pair_of_files(true), "btrfs", "sleep 0.01; cat a b", true, 6).is_found());
}

TEST_CASE("the earliest moment that counts is the last promise, or where all was synced", "[apps][own_history]") {
    RecordedProgram program;
    program.prepared();
    const auto a = program.create("a"); // line 1
    program.append(a, "x");             // 2
    program.fsync(a);                   // 3: all before is asked for
    const auto b = program.create("b"); // 4
    program.append(b, "x");             // 5
    program.append(a, "y");             // 6
    program.fsync(a);                   // 7: b is not
    program.promise("said");            // 8
    program.unlink("a");                // 9
    program.fsync(b);                   // 10: not the unlink
    program.fsync(RecordedProgram::root);
    const Past past{program.history()};
    const auto earliest = earliest_moments(past, past.first_cut());
    CHECK(earliest == std::vector<std::uint32_t>{1, 1, 1, 1, 4, 4, 4, 4, 4, 8, 8, 9, 12});
}

TEST_CASE("masks forget what differs, and no more", "[apps][own_history]") {
    const auto answer = [](std::vector<std::string> lines) { return Answer{{}, {{"standard output", std::move(lines)}}}; };
    AnswerMasks masks;
    masks.learn(answer({"took 0.12 s", "rows: 5"}), answer({"took 0.98 s", "rows: 5"}));
    CHECK(masks.shown(answer({"took 1.11 s", "rows: 5"})) == masks.shown(answer({"took 7.77 s", "rows: 5"})));
    CHECK(masks.shown(answer({"took 0.12 s", "rows: 4"})) != masks.shown(answer({"took 0.12 s", "rows: 5"})));
    CHECK(masks.shown(answer({"rows: 5", "took 0.12 s"})) != masks.shown(answer({"took 0.12 s", "rows: 5"})));
    masks.learn(answer({"x", "y"}), answer({"y", "x"}));
    CHECK(masks.shown(answer({"a", "b"})) == masks.shown(answer({"b", "a"})));
    CHECK(masks.shown(answer({"a", "b"})) != masks.shown(answer({"a"})));
    CHECK(AnswerMasks::from_json(masks.to_json()).shown(answer({"b", "took 3.33 s"})) == masks.shown(answer({"took 4.44 s", "b"})));
}
