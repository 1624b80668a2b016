// Goal: an exploration says that there is no other state only after it has drawn for others.
// Method: a program whose edges are one state, thousands of times, and which ends with a file of many unsynced pages.
#include <filesystem>

#include <stdlib.h>

#include "tests/apps/recorded_program.h"
#include "tests/support/catch.h"
#include "tools/explore/state_explorer.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

ExploreResult explore_with_true(const RecordedProgram& program, std::uint64_t states) {
    std::string work = (std::filesystem::temp_directory_path() / "flashlab-exhaustion.XXXXXX").string();
    REQUIRE(::mkdtemp(work.data()) != nullptr);
    const Past past{program.history()};
    const Persistence model = *find_persistence("posix");
    const ExploreResult result =
        StateExplorer{past, model, {.check = "true", .work = work, .limit = std::chrono::milliseconds{20'000}, .states = states}}.run();
    std::filesystem::remove_all(work);
    CHECK(result.broken.empty());
    CHECK(result.failing == 0);
    return result;
}

/// One state, over and over, then pages of which each may be lost.
RecordedProgram with_many_equal_edges(int equal, int pages) {
    RecordedProgram program;
    const auto file = program.create("f");
    program.append(file, "same");
    program.prepared();
    for (int i = 0; i < equal; ++i) {
        program.write(file, 0, "same");
        program.fsync(file);
    }
    for (int page = 0; page < pages; ++page) program.write(file, static_cast<std::uint64_t>(page) * page_bytes, std::string(page_bytes, 'x'));
    return program;
}

} // namespace

TEST_CASE("equal states among the edges do not end an exploration before it has drawn", "[apps][exhaustion]") {
    const ExploreResult result = explore_with_true(with_many_equal_edges(2'000, 12), 400);
    CHECK(result.states == 400);
    CHECK_FALSE(result.exhausted);
}

TEST_CASE("an exploration ends when drawing brings nothing new", "[apps][exhaustion]") {
    RecordedProgram program;
    program.prepared();
    program.append(program.create("f"), "a");
    const ExploreResult result = explore_with_true(program, 400);
    CHECK(result.exhausted);
    CHECK(result.edges_done);
    CHECK(result.states == 4); // nothing, an empty file, the letter, and its size without it
}
