// Goal: what fails costs nothing but itself: no space, no other file's data, not the reserve that removing needs.
// Method: a device that fails on demand, and too little room for metadata.
#include "tests/fs/fs_world.h"

using namespace flashlab;
using flashlab::test::FsWorld;
using flashlab::test::kib;

namespace {
constexpr std::uint64_t page = 4096;
} // namespace

TEST_CASE("a write that fails because the file's tail cannot be read keeps no space", "[fs][space]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(5000, 'x')) == 0);
    REQUIRE(world.sync(ino) == 0);
    const std::uint64_t free = world.fs->usage().data_pages_free;
    world.device.fail_reads = true;
    for (int attempt = 0; attempt < 10; ++attempt) CHECK(world.write(ino, 100'000, "far behind") == EIO);
    CHECK(world.fs->usage().data_pages_free == free);
    world.device.fail_reads = false;
    CHECK(world.write(ino, 100'000, "far behind") == 0);
    CHECK(world.sync(ino) == 0);
    world.check();
}

TEST_CASE("a clean shutdown that one file makes impossible brings the others home", "[fs]") {
    FsWorld world;
    for (const char* name : {"a", "b", "c"}) REQUIRE(world.write(world.create(name), 0, std::string(9000, name[0])) == 0);
    world.device.writes_to_fail = 1;
    CHECK(!world.fs->shut_down(world.now).has_value());
    world.crash(1);
    CHECK(world.contents(world.find("a")).empty());
    CHECK(world.contents(world.find("b")) == std::string(9000, 'b'));
    CHECK(world.contents(world.find("c")) == std::string(9000, 'c'));
    world.check();
}

TEST_CASE("punching and zeroing leave the reserve of the metadata to who removes and writes back", "[fs][space]") {
    const auto mode = GENERATE(FallocateMode::punch_hole, FallocateMode::zero_range);
    constexpr std::uint64_t pages = 6000;
    FsWorld world{2 * pages, 512 * kib};
    const Ino big = world.create("big");
    for (std::uint64_t at = 0; at < pages; at += 100) {
        REQUIRE(world.write(big, at * page, std::string(100 * page, 'b')) == 0);
        REQUIRE(world.sync(big) == 0);
    }
    const Ino removed = world.create("removed");
    REQUIRE(world.write(removed, 0, std::string(page, 'r')) == 0);
    const Ino waiting = world.create("waiting");
    for (std::uint64_t each = 0; each < 200; ++each) REQUIRE(world.write(waiting, each * 2 * page, "w") == 0);
    int names = 0;
    while (world.fs->make_node(world.call(), root_ino, fmt::format("name-{:06}", names), S_IFREG | 0644, 0)) ++names;
    CHECK(names > 100);
    int refused = 0;
    for (std::uint64_t each = 0; each < pages && refused == 0; each += 2) refused = world.allocate(big, mode, each * page, page);
    CHECK(refused == ENOSPC);
    CHECK(world.sync(waiting) == 0);
    CHECK(world.unlink("removed") == 0);
    CHECK(world.unlink("big") == 0);
    world.settle();
    world.check();
}

TEST_CASE("a device that takes no trim any more is still mounted after a cut, and read", "[fs][crash]") {
    FsWorld world;
    const Ino kept = world.create("kept");
    REQUIRE(world.write(kept, 0, std::string(9000, 'k')) == 0);
    REQUIRE(world.sync(kept) == 0);
    const Ino lost = world.create("lost");
    REQUIRE(world.write(lost, 0, std::string(9000, 'l')) == 0);
    {
        const auto sync = world.fs->begin_sync(world.call(), lost, SyncScope::data_only);
        REQUIRE(sync.has_value());
        REQUIRE(std::holds_alternative<ResumeAt>((*sync)->step(world.now).value())); // written, not committed: pages without owner
    }
    REQUIRE(world.device.flush(world.now).has_value());
    world.device.refuses_trims = true;
    world.crash(1);
    CHECK(world.device.trims != 0);
    CHECK(world.contents(world.find("kept")) == std::string(9000, 'k'));
}

TEST_CASE("a device that turns read-only under dirty data costs the metadata a record a run once, however often they are tried", "[fs][space]") {
    FsWorld world{16384, 512 * kib};
    const Ino ino = world.create("a");
    const std::string text(2000 * page, 'x');
    REQUIRE(world.write(ino, 0, text) == 0);
    const std::uint64_t room = world.fs->usage().metadata_bytes_free;
    SECTION("after a write that failed") {
        world.device.fail_writes = true; // the host's disk is full, so the drive ...
        CHECK(world.sync(ino) == EIO);
        world.device.is_read_only = true; // ... takes no more
        world.device.fail_writes = false;
    }
    SECTION("between two writes") { world.device.is_read_only = true; }
    SECTION("half-way through a write") { world.device.sectors_left = 300 * page / sector_bytes; }
    CHECK(world.sync(ino) == EROFS);
    const std::uint64_t free = world.fs->usage().data_pages_free;
    CHECK(world.fs->usage().metadata_bytes_free + 8192 > room);
    const std::uint64_t left = world.fs->usage().metadata_bytes_free;
    for (int attempt = 0; attempt < 50; ++attempt) CHECK(world.sync(ino) == EROFS);
    CHECK(world.fs->usage().metadata_bytes_free == left);
    CHECK(world.fs->usage().data_pages_free == free);
    world.check();
    world.device.is_read_only = false;
    world.device.sectors_left = UINT64_MAX;
    CHECK(world.sync(ino) == 0);
    CHECK(world.contents(ino) == text);
    world.settle();
    world.check();
}
