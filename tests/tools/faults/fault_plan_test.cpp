#include "tools/faults/fault_plan.h"

#include <cerrno>

#include "tests/support/catch.h"

using namespace flashlab;

namespace {

struct PlanWorld {
    std::vector<FaultStrike> told;
    int paths_asked = 0;
    std::map<std::uint64_t, std::string> paths{{2, "/dir/a.db"}, {3, "/b.txt"}};
    FaultPlan plan{[this](const FaultStrike& strike) { told.push_back(strike); }};
    PlanWorld() {
        const auto chips = Geometry::make({.channels = 2, .chips_per_channel = 1, .dies_per_chip = 1, .planes_per_die = 1, .blocks_per_plane = 8});
        REQUIRE(chips.has_value());
        plan.set_surroundings({.chips = *chips,
                               .path_of =
                                   [this](Ino ino) {
                                       ++paths_asked;
                                       return paths[ino.value()];
                                   },
                               .drop_kernel_pages = {}});
    }
    std::uint64_t add(const char* text) {
        const auto rule = FaultRule::parse(fault_words(text));
        REQUIRE(rule.has_value());
        const auto number = plan.add(*rule);
        REQUIRE(number.has_value());
        return *number;
    }
    int ask(FsOp op, std::uint64_t ino) { return plan.on_request(op, Ino{ino}, sim_start).error; }
};

} // namespace

TEST_CASE("the n-th call of a file that matches fails; other files and calls do not count", "[tools][faults]") {
    for (const char* glob : {"*.db", "a.db", "dir/*", "/dir/a.db", "/dir/?.db"}) {
        PlanWorld world;
        const auto number = world.add(("eio op=write nth=2 path=" + std::string{glob}).c_str());
        CHECK(world.ask(FsOp::write, 3) == 0);
        CHECK(world.ask(FsOp::fsync, 2) == 0);
        CHECK(world.ask(FsOp::write, 2) == 0);
        CHECK(world.ask(FsOp::write, 2) == EIO);
        CHECK(world.ask(FsOp::write, 2) == 0);
        REQUIRE(world.told.size() == 1);
        CHECK(world.told[0].path == "/dir/a.db");
        const auto cleared = world.plan.clear(number);
        REQUIRE(cleared.has_value());
        CHECK(cleared->seen == 3);
        CHECK(cleared->struck == 1);
        CHECK(world.plan.entries().empty());
        CHECK_FALSE(world.plan.clear(number).has_value());
    }
}

TEST_CASE("a file's path is asked for once, and again when a name may have changed", "[tools][faults]") {
    PlanWorld world;
    (void)world.add("eio op=write sticky path=*.db");
    for (int i = 0; i < 5; ++i) CHECK(world.ask(FsOp::write, 3) == 0);
    CHECK(world.paths_asked == 1);
    world.paths[3] = "/b.db";
    CHECK(world.ask(FsOp::rename, 1) == 0);
    CHECK(world.ask(FsOp::write, 3) == EIO);
    CHECK(world.paths_asked == 2);
}

TEST_CASE("a sync that is to fail makes the write-back of its file fail, and no other", "[tools][faults]") {
    PlanWorld world;
    (void)world.add("enospc op=fsync");
    CHECK(world.ask(FsOp::fsync, 2) == ENOSPC);
    CHECK(world.plan.write_back_fails(Ino{3}) == 0);
    CHECK(world.plan.write_back_fails(Ino{2}) == ENOSPC);
    world.plan.sync_over();
    CHECK(world.plan.write_back_fails(Ino{2}) == 0);
}

TEST_CASE("rules about the flash know their die and block, and a die that the device has not is refused", "[tools][faults]") {
    PlanWorld world;
    const auto far = world.plan.add(*FaultRule::parse(fault_words("die_dead die=2")));
    REQUIRE_FALSE(far.has_value());
    CHECK_THAT(far.error(), ContainsSubstring("dies 0 to 1"));
    CHECK_FALSE(world.plan.add(*FaultRule::parse(fault_words("bit_rot block=16"))).has_value());
    (void)world.add("die_dead die=1");
    CHECK(world.plan.has_flash_rules());
    CHECK_FALSE(world.plan.has_image_rules());
    CHECK_FALSE(world.plan.erase_fails(BlockId{0}));
    CHECK(world.plan.erase_fails(BlockId{8}));
    CHECK(world.plan.erase_fails(BlockId{8}));
    (void)world.add("host_enospc nth=2");
    CHECK(world.plan.image_write_fails() == 0);
    CHECK(world.plan.image_write_fails() == ENOSPC);
    CHECK(world.plan.image_write_fails() == 0);
}
