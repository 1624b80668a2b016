#include "tools/faults/fault_plan.h"

#include <cerrno>

#include "tests/support/catch.h"

using namespace flashlab;

namespace {

struct PlanWorld {
    std::vector<FaultStrike> told;
    int paths_asked = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> dropped;
    std::map<std::uint64_t, std::string> paths{{2, "/dir/a.db"}, {3, "/b.txt"}};
    FaultPlan plan{[this](const FaultStrike& strike) { told.push_back(strike); }};
    Geometry chips = *Geometry::make({.channels = 2, .chips_per_channel = 1, .dies_per_chip = 1, .planes_per_die = 1, .blocks_per_plane = 8});
    explicit PlanWorld(bool can_lie = false) {
        plan.set_surroundings({.chips = chips,
                               .can_lie = can_lie,
                               .path_of =
                                   [this](Ino ino) {
                                       ++paths_asked;
                                       return paths[ino.value()];
                                   },
                               .drop_kernel_pages = [this](Ino, std::uint64_t offset, std::uint64_t bytes) { dropped.emplace_back(offset, bytes); }});
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

TEST_CASE("a lie is told from its n-th match on, of its own kind alone; a drive with nothing to lie about refuses it", "[tools][faults]") {
    const auto refused = PlanWorld{}.plan.add(*FaultRule::parse(fault_words("lie_flush")));
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error(), ContainsSubstring("nothing to lie about") && ContainsSubstring("dram.protected=0"));
    for (const char* kind : {"lie_flush", "lie_order", "lie_tear"}) {
        INFO(kind);
        PlanWorld world{true};
        const auto ask = [&](const char* of) {
            const std::string_view what = of;
            return what == "lie_flush" ? world.plan.flush_lies() : what == "lie_order" ? world.plan.order_lies() : world.plan.tears();
        };
        (void)world.add((std::string{kind} + " nth=2").c_str());
        CHECK(world.plan.has_lies());
        CHECK_FALSE(world.plan.has_flash_rules());
        CHECK_FALSE(world.plan.has_image_rules());
        CHECK_FALSE(ask(kind));
        for (const char* other : {"lie_flush", "lie_order", "lie_tear"})
            for (int i = 0; i < 3; ++i) CHECK(ask(other) == (std::string_view{other} == kind));
        CHECK(world.told.size() == 3);
    }
}

TEST_CASE("a rule about the flash fails its own kind of operation and no other; a dead die fails all of its", "[tools][faults]") {
    struct Case {
        const char* rule;
        bool program, erase, read;
    };
    for (const Case& c : {Case{"program_fail sticky", true, false, false}, Case{"erase_fail sticky", false, true, false},
                          Case{"bit_rot sticky", false, false, true}, Case{"die_dead die=0", true, true, true}}) {
        INFO(c.rule);
        PlanWorld world;
        (void)world.add(c.rule);
        CHECK(world.plan.program_fails(Ppn{0}) == c.program);
        CHECK(world.plan.erase_fails(BlockId{0}) == c.erase);
        CHECK(world.plan.read_fails(Ppn{0}) == c.read);
        CHECK(world.plan.image_write_fails() == 0);
        CHECK(world.ask(FsOp::write, 2) == 0);
        CHECK(world.plan.write_back_fails(Ino{2}) == 0);
    }
}

TEST_CASE("every rule that matches counts, and the first that fails says with what", "[tools][faults]") {
    PlanWorld world;
    (void)world.add("enospc op=write");
    (void)world.add("eio op=write times=2");
    CHECK(world.ask(FsOp::write, 2) == ENOSPC);
    CHECK(world.plan.entries()[1].struck == 1);
    CHECK(world.ask(FsOp::write, 2) == EIO);
    CHECK(world.ask(FsOp::write, 2) == 0);
    (void)world.add("program_fail block=3");
    (void)world.add("program_fail nth=2");
    const Ppn page = world.chips.page_of(BlockId{3}, 0);
    CHECK(world.plan.program_fails(page));
    CHECK(world.plan.entries()[3].seen == 1);
    CHECK(world.plan.program_fails(Ppn{0}));
    CHECK_FALSE(world.plan.program_fails(page));
}

TEST_CASE("a stall delays the calls that match and fails none; stalls add up", "[tools][faults]") {
    PlanWorld world;
    (void)world.add("stall ms=20 op=fsync path=*.db");
    (void)world.add("stall ms=3 sticky");
    const auto first = world.plan.on_request(FsOp::fsync, Ino{2}, sim_start);
    CHECK(first.error == 0);
    CHECK(first.stall == std::chrono::milliseconds{23});
    CHECK(world.plan.on_request(FsOp::fsync, Ino{3}, sim_start).stall == std::chrono::milliseconds{3});
    REQUIRE(world.told.size() == 3);
    CHECK(world.told[0].error == 0);
}

TEST_CASE("a write-back fails by a rule of its own, which no call meets", "[tools][faults]") {
    PlanWorld world;
    (void)world.add("eio op=writeback path=/dir/* nth=2");
    CHECK(world.ask(FsOp::writeback, 2) == 0); // the mount's own work is no call
    CHECK(world.ask(FsOp::fsync, 2) == 0);
    CHECK(world.ask(FsOp::write, 2) == 0);
    CHECK(world.plan.write_back_fails(Ino{2}) == 0);
    CHECK(world.plan.write_back_fails(Ino{3}) == 0); // of another folder: not counted
    CHECK(world.plan.write_back_fails(Ino{2}) == EIO);
    CHECK(world.plan.write_back_fails(Ino{2}) == 0);
}

TEST_CASE("a rule with an inode number follows the file through its names, and strikes are told with their time", "[tools][faults]") {
    PlanWorld world;
    (void)world.add("eio op=read ino=3 sticky");
    world.paths[3] = "/moved";
    CHECK(world.plan.on_request(FsOp::read, Ino{3}, sim_start + Duration{5}).error == EIO);
    CHECK(world.ask(FsOp::read, 2) == 0);
    REQUIRE(world.told.size() == 1);
    CHECK(world.told[0].at == sim_start + Duration{5});
    CHECK(world.told[0].ino == Ino{3});
    CHECK(world.told[0].path == "/moved");
    CHECK_THAT(world.told[0].text, ContainsSubstring("eio op=read") && ContainsSubstring("ino=3"));
}

TEST_CASE("each call that can change a name makes the paths be asked for anew", "[tools][faults]") {
    for (const FsOp op : {FsOp::mknod, FsOp::mkdir, FsOp::symlink, FsOp::unlink, FsOp::rmdir, FsOp::rename, FsOp::link, FsOp::create}) {
        INFO(fs_op_names[static_cast<std::size_t>(op)]);
        PlanWorld world;
        (void)world.add("eio op=write sticky path=*.db");
        CHECK(world.ask(FsOp::write, 3) == 0);
        world.paths[3] = "/b.db";
        CHECK(world.ask(op, 1) == 0);
        CHECK(world.ask(FsOp::write, 3) == EIO);
    }
}

TEST_CASE("a sticky rule about the image strikes each write to it", "[tools][faults]") {
    PlanWorld world;
    (void)world.add("host_eio sticky nth=2");
    CHECK(world.plan.image_write_fails() == 0);
    for (int i = 0; i < 3; ++i) CHECK(world.plan.image_write_fails() == EIO);
}

TEST_CASE("the kernel drops its copy of a page that was given up", "[tools][faults]") {
    PlanWorld world;
    world.plan.page_reverted(Ino{2}, 8192, 4096);
    CHECK(world.dropped == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{8192, 4096}});
}
