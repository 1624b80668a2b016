// Goal: an exploration says the same with any number of workers.
// Method: a program with several mistakes, and a check that takes long on some states, so that later ones are judged first.
#include <filesystem>

#include <stdlib.h>

#include "tests/apps/recorded_program.h"
#include "tests/support/catch.h"
#include "tools/explore/state_explorer.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

ExploreResult explore_with(unsigned workers) {
    RecordedProgram program;
    program.prepared();
    for (const char* name : {"a", "b", "c", "d"}) {
        program.append(program.create(name), name);
        program.append(program.create(name + std::string{".done"}), "done");
    }
    std::string work = (std::filesystem::temp_directory_path() / "flashlab-workers.XXXXXX").string();
    REQUIRE(::mkdtemp(work.data()) != nullptr);
    const Past past{program.history()};
    const Persistence model = *find_persistence("posix");
    const std::string check = "sleep 0.0$(($(ls | wc -l) * 7 % 4)); for f in *.done; do [ ! -e \"$f\" ] || [ -s \"${f%.done}\" ] || exit 1; done";
    ExploreResult result =
        StateExplorer{past, model, {.check = check, .work = work, .limit = std::chrono::milliseconds{20'000}, .states = 60, .workers = workers}}
            .run();
    std::filesystem::remove_all(work);
    CHECK(result.broken.empty());
    return result;
}

} // namespace

TEST_CASE("any number of workers finds the same, in the same states", "[apps][workers]") {
    const ExploreResult one = explore_with(1);
    REQUIRE(one.findings.size() > 1);
    for (int again = 0; again < 3; ++again) {
        const ExploreResult many = explore_with(5);
        CHECK(many.states == one.states);
        CHECK(many.failing == one.failing);
        CHECK(many.checks == one.checks);
        REQUIRE(many.findings.size() == one.findings.size());
        for (std::size_t i = 0; i < one.findings.size(); ++i) {
            CHECK(many.findings[i].found_at == one.findings[i].found_at);
            CHECK(many.findings[i].states == one.findings[i].states);
            CHECK(many.findings[i].words.cause == one.findings[i].words.cause);
            CHECK(many.findings[i].words.what == one.findings[i].words.what);
        }
    }
}
