/// The contract C10 to C15 of the crash model on the whole stack: random programs, random instants, random outcomes, cuts in recovery.
/// A failure prints its seed; the same seed is the same run.
#include "crash/fs/crash_rig.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

struct Torture {
    std::uint64_t first_seed = 1;
    std::uint64_t seeds = 1;
    int cuts = 4;
    std::uint64_t steps = 60;
    bool twice = false;
};

void torture(const FsStackConfig& config, const Torture& t) {
    std::uint64_t recoveries_cut = 0;
    for (std::uint64_t seed = t.first_seed; seed < t.first_seed + t.seeds; ++seed) {
        CrashRig rig{config, seed};
        Random random{seed ^ 0xc0ffee};
        for (int c = 0; c < t.cuts; ++c) {
            CAPTURE(seed, c);
            if (const auto wrong = rig.run(1 + random.below(t.steps))) FAIL(*wrong);
            if (const auto wrong = rig.cut(t.twice)) FAIL(*wrong);
        }
        CAPTURE(seed);
        if (const auto wrong = rig.run(20)) FAIL(*wrong);
        if (const auto wrong = random.chance(1, 2) ? rig.kill() : rig.remount()) FAIL(*wrong);
        recoveries_cut += rig.recoveries_cut();
    }
    if (t.twice) CHECK(recoveries_cut > 0);
}

/// One program, run again for every instant at which it can be cut. `laps`: cuts before, so that the drive is not new.
void every_instant(const FsStackConfig& config, std::uint64_t seed, int laps, std::uint64_t steps) {
    const auto ready = [&] {
        auto rig = std::make_unique<CrashRig>(config, seed);
        for (int lap = 0; lap < laps; ++lap) {
            if (const auto wrong = rig->run(40)) FAIL(*wrong);
            if (const auto wrong = rig->cut(false)) FAIL(*wrong);
        }
        if (const auto wrong = rig->run(steps)) FAIL(*wrong);
        return rig;
    };
    CAPTURE(seed, laps, steps);
    const std::vector<SimTime> instants = ready()->instants();
    CHECK(instants.size() > steps);
    for (std::size_t i = 0; i < instants.size(); ++i) {
        CAPTURE(i, ns_since_start(instants[i]));
        if (const auto wrong = ready()->cut_at(instants[i], i % 4 == 3)) FAIL(*wrong);
    }
}

} // namespace

TEST_CASE("after a power cut names and attributes are a prefix of what was done, and files hold what was synced or newer", "[fs][crash]") {
    torture(tiny_stack(), {.first_seed = 1, .seeds = 300});
}

TEST_CASE("a power cut in the middle of recovery changes nothing of what a file system promises", "[fs][crash]") {
    torture(tiny_stack(), {.first_seed = 1001, .seeds = 150, .steps = 40, .twice = true});
}

TEST_CASE("a short program keeps the contract whichever reserved operation the power cut strikes", "[fs][crash]") {
    for (const std::uint64_t seed : {1u, 2u, 3u}) every_instant(tiny_stack(), seed, 1, 12);
}

TEST_CASE("files without a name leave nothing after a power cut, and with the name that they got they are as others", "[fs][crash][unnamed]") {
    FsStackConfig on_pram = tiny_stack();
    FsStackConfig in_journal = tiny_journal_stack();
    on_pram.unnamed = in_journal.unnamed = true;
    torture(on_pram, {.first_seed = 1, .seeds = 100, .twice = true});
    torture(in_journal, {.first_seed = 1, .seeds = 40, .twice = true});
    every_instant(on_pram, 1, 1, 12);
}

TEST_CASE("with metadata in a journal some prefix of what was done is there, at least what a sync covered", "[fs][crash][journal]") {
    torture(tiny_journal_stack(), {.first_seed = 1, .seeds = 60});
    torture(tiny_journal_stack(), {.first_seed = 1001, .seeds = 30, .steps = 40, .twice = true});
}

// ctest label long (tests/CMakeLists.txt); alone: build/release/tests/fs_tests "[crash-long]"
TEST_CASE("thousands of random programs keep the contract", "[.][crash-long]") {
    torture(tiny_stack(), {.first_seed = 10'001, .seeds = 15'000});
    torture(tiny_stack(), {.first_seed = 50'001, .seeds = 8'000, .steps = 40, .twice = true});
}

TEST_CASE("thousands of random programs with unnamed files keep the contract", "[.][crash-long]") {
    FsStackConfig on_pram = tiny_stack();
    FsStackConfig in_journal = tiny_journal_stack();
    on_pram.unnamed = in_journal.unnamed = true;
    torture(on_pram, {.first_seed = 10'001, .seeds = 3'000, .twice = true});
    torture(in_journal, {.first_seed = 10'001, .seeds = 500, .twice = true});
}

TEST_CASE("a longer program keeps the contract whichever reserved operation the power cut strikes", "[.][crash-long]") {
    for (std::uint64_t seed = 100; seed < 120; ++seed) every_instant(tiny_stack(), seed, 2, 60);
}
