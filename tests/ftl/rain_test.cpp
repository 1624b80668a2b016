// Goal: with parity over dies no scheme that maps pages loses anything to a dead die: not what was written, nor what is written then, nor at a cut or
// a start. Method: the body of tests of every scheme, a die taken away in the middle of drawn requests, each read held against the model.
#include "crash/dead_dies.h"
#include "ftl/blocks/scrubber.h"
#include "tests/support/catch.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// Two groups of three dies.
SsdConfig protected_drive() {
    SsdConfig c = tiny_config();
    c.nand.geometry.channels = 3;
    c.nand.geometry.chips_per_channel = 2;
    c.nand.geometry.blocks_per_plane = 20;
    c.nand.rain = 3;
    c.ftl.reserved_permille = 300;
    return c;
}

struct Rig : CutRig {
    explicit Rig(const SsdConfig& config, UndoPolicy undo = UndoPolicy::keep)
        : CutRig{config, Payload::keep, undo}, faults{*Geometry::make(config.nand.geometry)} {
        set_faults(&faults);
    }
    ~Rig() { set_faults(nullptr); }
    void run(Random& random, int steps) {
        for (int i = 0; i < steps; ++i) {
            CAPTURE(i);
            step(random);
            require_sound();
        }
    }
    /// What is to be done in the background is done.
    void rest() {
        settle();
        for (int wakes = 0; wakes < 10'000; ++wakes) {
            const SimTime next = ssd().tick(now);
            if (next == sim_never) return;
            now = std::max(now, next);
        }
        FAIL("no rest");
    }
    [[nodiscard]] std::uint64_t rebuilt() { return array().counters().rebuilt_pages; }
    DeadDies faults;
};

} // namespace

TEST_CASE("a die that dies loses nothing, writing goes on, and what lay on it is written anew", "[ftl][rain][scheme]") {
    on_every_scheme(protected_drive(), [](const SsdConfig& config) {
        for (std::uint32_t die = 0; die < 6; ++die) {
            CAPTURE(die);
            Random random{die + 1};
            Rig rig{config};
            rig.run(random, 300);
            rig.faults.dead = {die};
            rig.check_all();
            rig.run(random, 300);
            rig.check_all();
            CHECK(rig.rebuilt() > 0);
            rig.rest();
            CHECK(rig.ssd().scrubber()->scrubbed_blocks() > 0);
            const std::uint64_t before = rig.rebuilt();
            rig.check_all();
            CHECK(rig.rebuilt() == before);
            rig.remount_clean();
            rig.check_all();
            rig.run(random, 100);
            rig.check_all();
        }
    });
}

TEST_CASE("a die that dies between cuts, or beside one, loses nothing", "[ftl][rain][crash][scheme]") {
    on_every_scheme(protected_drive(), [](const SsdConfig& config) {
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            CAPTURE(seed);
            Random random{seed};
            Rig rig{config};
            for (int c = 0; c < 12; ++c) {
                CAPTURE(c);
                if (c == 4) rig.faults.dead = {static_cast<std::uint32_t>(seed - 1)};
                if (c == 8) rig.rest();
                const SimTime from = rig.now;
                rig.settle();
                for (std::uint64_t k = 1 + random.below(40); k > 0; --k) rig.step(random);
                rig.cut(rig.random_moment(random, from), random.next());
            }
            rig.remount_clean();
            rig.check_all();
        }
    });
}
