/// The kernel's block trace: which write belongs to which sync, and which request of the drive it became.
#include "tools/live/block_trace.h"

#include "tests/support/catch.h"

using namespace flashlab;

namespace {

BlockTrace traced(std::initializer_list<std::string_view> lines) {
    BlockTrace trace{"7,0",
                     {.path_of = [](std::uint32_t pid, std::uint32_t fd) { return "/media/" + std::to_string(pid) + "." + std::to_string(fd); },
                      .is_of_kernel = [](std::uint32_t pid) { return pid < 100; },
                      .where = [](std::uint32_t, std::uint32_t fd) { return fd == 9   ? OnDisk::no
                                                                            : fd == 8 ? OnDisk::unknown
                                                                                      : OnDisk::yes; },
                      .synced_write = [](std::uint32_t pid) -> std::optional<SyncedWrite> {
                          if (pid != 700) return std::nullopt;
                          return SyncedWrite{"write O_DSYNC", "/media/db"};
                      }}};
    for (const std::string_view line : lines) trace.take(line);
    return trace;
}

bool same(const JoinedWrite& a, const JoinedWrite& b) { return a.write == b.write && a.request == b.request; }

} // namespace

TEST_CASE("a write belongs to its process's sync; what the kernel's threads write, to the oldest one under way", "[tools]") {
    const BlockTrace trace = traced({
        "          my-db 2-4711    [001] .....  12.000001: sys_fsync(fd: 1f)",
        "          my-db 2-4711    [001] .....  12.000002: block_bio_queue: 7,0 WS 2048 + 8 [my-db 2]",
        "             git-500     [000] .....  12.000003: sys_syncfs(fd: 3)",
        "     jbd2/loop0-8-77      [000] .....  12.000004: block_bio_queue: 7,0 WFS 4096 + 16 [jbd2/loop0-8]",
        "          my-db 2-4711    [001] .....  12.000005: sys_fsync -> 0x0",
        "     jbd2/loop0-8-77      [000] .....  12.000006: block_bio_queue: 7,0 WS 8192 + 8 [jbd2/loop0-8]",
        "             git-500     [000] .....  12.000007: sys_syncfs -> 0x0",
        "     kworker/u8:1-33      [000] .....  12.000008: block_bio_queue: 7,0 W 1 + 1 [kworker/u8:1]",
        "              dd-600     [000] .....  12.000009: block_bio_queue: 7,0 W 16 + 8 [dd]",
    });
    REQUIRE(trace.syncs().size() == 2);
    CHECK(trace.syncs()[0].command == "my-db 2");
    CHECK(trace.syncs()[0].call == "fsync");
    CHECK(trace.syncs()[0].path == "/media/4711.31"); // the kernel writes numbers in hexadecimal
    REQUIRE(trace.writes().size() == 5);
    CHECK(trace.writes()[0].sync == std::size_t{0});
    CHECK(trace.writes()[0].first_sector == 2048);
    CHECK(trace.writes()[0].sectors == 8);
    CHECK(trace.writes()[1].sync == std::size_t{0});
    CHECK(trace.writes()[1].flags == "WFS");
    CHECK(trace.writes()[2].sync == std::size_t{1});
    CHECK_FALSE(trace.writes()[3].sync.has_value());
    CHECK_FALSE(trace.writes()[4].sync.has_value());
    CHECK_FALSE(trace.has_gaps());
}

TEST_CASE("another process writes for nobody's sync; reads, flushes, other disks and broken lines are no writes", "[tools]") {
    const BlockTrace trace = traced({
        "a-200 [000] ..... 1.0: sys_fsync(fd: 5)",
        "b-300 [000] ..... 1.1: block_bio_queue: 7,0 W 0 + 8 [b]",
        "a-200 [000] ..... 1.2: block_bio_queue: 7,0 R 0 + 8 [a]",
        "a-200 [000] ..... 1.2: block_bio_queue: 7,0 FWS 0 + 0 [a]",
        "a-200 [000] ..... 1.2: block_bio_queue: 7,1 W 0 + 8 [a]",
        "a-200 [000] ..... 1.2: block_bio_queue: 7,0 D 0 + 8 [a]",
        "a-200 [000] ..... 1.2: block_bio_queue: 7,0 W x + 8 [a]",
        "a-200 [000] ..... 1.2: block_bio_queue: 7,0 W",
        "",
        "-",
        "[",
        "] ",
        "a-b [0] . 1: block_bio_queue: 7,0 W 0 + 8",
        "a-1 [0] . 1: ",
        "a [0] . 1: sys_fsync(",
        "a-9 [0] . 1: sys_fsync(fd: ",
    });
    REQUIRE(trace.writes().size() == 1);
    CHECK_FALSE(trace.writes()[0].sync.has_value());
    CHECK(trace.writes()[0].command == "b");
    CHECK(traced({"CPU:1 [LOST 17 EVENTS]"}).has_gaps());
}

TEST_CASE("a sync of another disk's file is none; a command may be called anything; what cannot be read is a gap", "[tools]") {
    const BlockTrace trace = traced({
        "journald-200 [000] ..... 1.0: sys_fsync(fd: 9)",
        "x] y [3] z-4 [000] -300 [002] d..1. 1.1: sys_fsync(fd: 5)",
        "x] y [3] z-4 [000] -300 [002] d..1. 1.2: block_bio_queue: 7,0 W 0 + 8 [x] y]",
        "jbd2-7 [000] ..... 1.3: block_bio_queue: 7,0 W 8 + 8 [jbd2]",
    });
    REQUIRE(trace.syncs().size() == 1);
    REQUIRE(trace.writes().size() == 2);
    CHECK(trace.writes()[0].command == "x] y [3] z-4 [000] ");
    CHECK(trace.writes()[1].sync == std::size_t{0});
    CHECK_FALSE(trace.has_gaps());
    CHECK(traced({"nobody ..... 1.2: block_bio_queue: 7,0 W 0 + 8 [x]"}).has_gaps());
    CHECK_FALSE(traced({"nobody ..... 1.2: block_bio_queue: 7,1 W 0 + 8 [x]"}).has_gaps());
}

TEST_CASE("what the kernel's threads write is nobody's while no sync is for sure of this disk", "[tools]") {
    const BlockTrace trace = traced({
        "gone-200 [000] ..... 1.0: sys_fsync(fd: 8)",
        "mapper-300 [000] ..... 1.1: sys_msync(start: 7f0000000000, len: 1000, flags: 4)",
        "jbd2-7 [000] ..... 1.2: block_bio_queue: 7,0 W 8 + 8 [jbd2]",
        "gone-200 [000] ..... 1.3: block_bio_queue: 7,0 WS 16 + 8 [gone]", // its own are
        "git-400 [000] ..... 1.4: sys_fsync(fd: 5)",
        "jbd2-7 [000] ..... 1.5: block_bio_queue: 7,0 W 24 + 8 [jbd2]",
    });
    REQUIRE(trace.writes().size() == 3);
    CHECK_FALSE(trace.writes()[0].sync.has_value());
    CHECK(trace.writes()[1].sync == std::size_t{0});
    REQUIRE(trace.writes()[2].sync.has_value());
    CHECK(trace.syncs()[*trace.writes()[2].sync].command == "git");
}

TEST_CASE("a synced write outside of a call that syncs is of the file that its process opened O_DSYNC, if there is one", "[tools]") {
    const BlockTrace trace = traced({
        "store-700 [000] ..... 1.0: block_bio_queue: 7,0 WS 0 + 8 [store]",
        "store-700 [000] ..... 1.1: block_bio_queue: 7,0 W 8 + 8 [store]",
        "other-701 [000] ..... 1.2: block_bio_queue: 7,0 WS 16 + 8 [other]",
        "store-700 [000] ..... 1.3: sys_fsync(fd: 5)",
        "store-700 [000] ..... 1.4: block_bio_queue: 7,0 WS 24 + 8 [store]",
    });
    REQUIRE(trace.syncs().size() == 2);
    CHECK(trace.syncs()[0].call == "write O_DSYNC");
    CHECK(trace.syncs()[0].path == "/media/db");
    REQUIRE(trace.writes().size() == 4);
    CHECK(trace.writes()[0].sync == std::size_t{0});
    CHECK_FALSE(trace.writes()[1].sync.has_value());
    CHECK_FALSE(trace.writes()[2].sync.has_value());
    CHECK(trace.writes()[3].sync == std::size_t{1});
}

TEST_CASE("the n-th write of a sector is the n-th in the drive's log, however writes were put together or split", "[tools]") {
    const auto write = [](std::uint64_t first, std::uint32_t sectors) { return TracedWrite{1, "a", "W", first, sectors, std::nullopt}; };
    const std::vector<TracedWrite> writes{write(0, 8), write(8, 8), write(0, 8), write(100, 16)};
    const std::vector<LoggedWrite> logged{{10, 0, 16}, {11, 0, 8}, {12, 0, 8}, {13, 100, 8}, {14, 108, 8}, {15, 500, 8}};
    const auto joined = join_writes(writes, logged);
    const std::vector<JoinedWrite> expected{{0, 10}, {1, 10}, {2, 11}, {3, 13}, {3, 14}}; // 12: a write that nobody traced
    CHECK(std::ranges::equal(joined, expected, same));
}
