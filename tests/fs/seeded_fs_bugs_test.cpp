/// The tester of the whole stack is tested: every seeded bug is found, each judge is needed, and a forgotten flush is seen above every scheme.
#include "crash/fs/seeded_fs_bugs.h"

#include <algorithm>
#include <set>

#include "crash/seeded_bugs.h"
#include "ftl/make_ftl.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

const SeededFsBug& bug_named(std::string_view name) {
    const auto bug = std::ranges::find(seeded_fs_bugs(), name, &SeededFsBug::name);
    REQUIRE(bug != seeded_fs_bugs().end());
    return *bug;
}

class Harmless final : public FsSabotage {};

} // namespace

TEST_CASE("there are sixty seeded defects and more, of every level, under names of their own", "[fs][crash][bugs]") {
    std::set<std::string_view> names, levels;
    for (const SeededBug& bug : seeded_bugs()) names.insert(bug.name), levels.insert(bug.level);
    for (const SeededFsBug& bug : seeded_fs_bugs()) names.insert(bug.name), levels.insert(bug.level);
    CHECK(names.size() == seeded_bugs().size() + seeded_fs_bugs().size());
    CHECK(names.size() >= 60);
    CHECK(levels == std::set<std::string_view>{"scheme", "ordering", "map", "drive", "judge", "file system", "write-back", "journal", "fsck"});
}

TEST_CASE("every seeded bug of the whole stack is caught, and by the judge that is named for it", "[fs][crash][bugs]") {
    for (const SeededFsBug& bug : seeded_fs_bugs()) {
        CAPTURE(bug.name, bug.what);
        CHECK(hunt(bug, "", 600, 1).found.has_value());
        const auto seen = seen_by(bug, "", 600, 1);
        CHECK(std::ranges::find(seen, bug.judge) != seen.end());
    }
}

TEST_CASE("the hunt that catches the bugs of the whole stack catches nothing where there is none", "[fs][crash][bugs]") {
    using On = SeededFsBug::On;
    const On on = GENERATE(On::pram, On::journal, On::buffered, On::buffered_journal);
    const SeededFsBug none{"none", "no bug", [] { return std::make_unique<Harmless>(); }, "none", Judge::tree, on};
    const FsHunt hunted = hunt(none, "", 300, 1);
    if (hunted.found) FAIL(hunted.found->where.id() << ": " << hunted.found->what);
    CHECK(hunted.states >= 300);
}

TEST_CASE("each judge of a file system is the only one that sees some defect, and without it the self test is red", "[fs][crash][bugs][judges]") {
    const auto [judge, name] = GENERATE(table<Judge, std::string_view>({{Judge::running, "fails_syncs"},
                                                                        {Judge::recovery, "starts_seldom"},
                                                                        {Judge::tree, "lists_a_wrong_parent"},
                                                                        {Judge::names, "creates_answered_early"},
                                                                        {Judge::fsync, "fdatasync_forgets_size"},
                                                                        {Judge::file_contents, "sizes_before_data"},
                                                                        {Judge::fsck, "entry_too_many"},
                                                                        {Judge::free_pages, "forgets_trims"},
                                                                        {Judge::st_blocks, "blocks_mistaken"},
                                                                        {Judge::drive_check, "drive_disagrees"},
                                                                        {Judge::space, "counts_a_page_too_many"}}));
    DYNAMIC_SECTION(name_of(judge) << " and " << name) {
        const SeededFsBug& bug = bug_named(name);
        const FsHunt with_all = hunt(bug, "", 600, 1);
        REQUIRE(with_all.found.has_value());
        CHECK(with_all.found->judge == judge);
        CHECK_FALSE(hunt(bug, "", 600, 1, JudgeSet{}.without(judge)).found.has_value());
    }
}

TEST_CASE("what explores by default sees a forgotten flush above every scheme, and reaches every outcome of an erase", "[fs][crash][bugs]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    const bool journal = GENERATE(false, true);
    DYNAMIC_SECTION(scheme << (journal ? " journal" : " pram")) {
        const FsCrashCase first{.shape = {.scheme = scheme, .journal = journal, .cell = "slc", .variant = ""}};
        FsExploreLimits limits;
        limits.states = 480;
        limits.variants = variants_of(first.shape);
        CHECK(limits.variants == std::vector<std::string>{"", "buffer", "worn"});
        FsExploreReport sound;
        explore_file_system(first, limits, sound);
        CHECK(sound.violations.empty());
        for (std::size_t erase = OutcomeCounts::first_erase; erase < OutcomeCounts::first_word; ++erase) {
            CAPTURE(OutcomeCounts::names[erase]);
            CHECK(sound.outcomes.counts[erase] != 0);
        }
        CHECK(sound.distinct_states > sound.states / 2);
        const auto forgets = bug_named("drive_forgets_flushes").make();
        FsExploreReport found;
        limits.sabotage = forgets.get();
        limits.violations = 1;
        explore_file_system(first, limits, found);
        CHECK(found.violations.size() == 1);
    }
}
