// Goal: with metadata in a journal a commit is durable later than it is answered, and nobody acts as if it were sooner.
// Method: a device in memory; the daemon dies between the commit and the record that makes it durable.
#include "tests/fs/fs_world.h"

using namespace flashlab;
using flashlab::test::FsWorld;

namespace {
constexpr std::uint64_t pages = 4096;
constexpr std::uint64_t page = 4096;
} // namespace

TEST_CASE("bytes that a truncate took away stay on the device until it is durable, though the inode was forgotten meanwhile",
          "[fs][journal][crash]") {
    FsWorld world{pages, FsWorld::in_journal};
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(page, 'A')) == 0);
    REQUIRE(world.sync(ino) == 0);
    REQUIRE(world.truncate(ino, 100) == 0);
    world.fs->forget(ino, 1, world.now);
    SECTION("a truncate upward") { REQUIRE(world.truncate(world.find("a"), 2000) == 0); }
    SECTION("a write behind the end") { REQUIRE(world.write(world.find("a"), 3000, "behind") == 0); }
    SECTION("a write over the last page") {
        REQUIRE(world.write(world.find("a"), 90, std::string(10, 'A')) == 0);
        world.now += world.options.dirty_age;
        (void)world.fs->tick(world.now);
    }
    world.kill();
    const std::string left = world.contents(world.find("a"));
    CAPTURE(left.size());
    CHECK(left.substr(0, 100) == std::string(100, 'A'));
    if (left.size() == page) CHECK(left == std::string(page, 'A')); // as before the truncate
    world.check();
}

TEST_CASE("bytes written over what a truncate left reach the device only when the truncate is durable", "[fs][journal][crash]") {
    bool is_synced = false;
    for (int steps = 1; !is_synced; ++steps) {
        CAPTURE(steps);
        FsWorld world{pages, FsWorld::in_journal};
        const Ino ino = world.create("a");
        REQUIRE(world.write(ino, 0, std::string(2 * page, 'A')) == 0);
        REQUIRE(world.sync(ino) == 0);
        REQUIRE(world.truncate(ino, page) == 0);
        REQUIRE(world.write(ino, 0, std::string(page, 'B')) == 0);
        auto sync = world.fs->begin_sync(world.call(), ino, SyncScope::data_and_metadata);
        REQUIRE(sync.has_value());
        for (int step = 0; step < steps && !is_synced; ++step) {
            const auto taken = (*sync)->step(world.now);
            REQUIRE(taken.has_value());
            is_synced = std::holds_alternative<Done>(*taken);
            if (!is_synced) world.now = std::get<ResumeAt>(*taken).at;
        }
        sync->reset();
        world.kill();
        const std::string left = world.contents(world.find("a"));
        CHECK(left == (left.size() == page ? std::string(page, left.front()) : std::string(2 * page, 'A')));
        if (is_synced) CHECK(left == std::string(page, 'B'));
    }
}

TEST_CASE("what is no longer listed as unsynced after the age limit survives", "[fs][journal][crash]") {
    FsWorld world{pages, FsWorld::in_journal};
    const Ino ino = world.create("a");
    REQUIRE(world.sync(ino) == 0);
    const std::string text(3 * page, 'x');
    REQUIRE(world.write(ino, 0, text) == 0);
    const SimTime written = world.now;
    const auto tick = [&] { return std::max(world.now + Duration{1}, world.fs->tick(world.now)); };
    for (SimTime next = tick(); !world.fs->unsynced().empty(); next = tick()) world.now = next;
    CHECK(world.now - written < world.options.dirty_age + Duration{100'000'000});
    const SimTime a_moment_later = world.now + Duration{10'000'000}; // the record is on its way
    for (SimTime next = tick(); next < a_moment_later; next = tick()) world.now = next;
    world.kill();
    CHECK(world.contents(world.find("a")) == text);
    world.check();
}

TEST_CASE("what was appended to a page of the device is listed as unsynced until the size that covers it is durable", "[fs][journal][crash]") {
    FsOptions options;
    options.cache_bytes = 64 * page;
    FsWorld world{pages, FsWorld::in_journal, options};
    const Ino ino = world.create("a"), other = world.create("b");
    REQUIRE(world.write(ino, 0, std::string(100, 'A')) == 0);
    REQUIRE(world.sync(ino) == 0);
    REQUIRE(world.write(ino, 100, std::string(50, 'B')) == 0);
    for (std::uint64_t at = 0; at < 200; at += 20) REQUIRE(world.write(other, at * page, std::string(20 * page, 'x')) == 0);
    const auto listed = world.fs->unsynced();
    CHECK(std::ranges::any_of(listed, [&](const auto& range) { return range.ino == ino; }));
}

TEST_CASE("what a full cache pushed out is listed as unsynced until its commit is durable, as long as the file is there", "[fs][journal][crash]") {
    FsOptions options;
    options.cache_bytes = 64 * page;
    FsWorld world{pages, FsWorld::in_journal, options};
    const Ino ino = world.create("a");
    const std::string text(200 * page - 10, 'x');
    for (std::uint64_t at = 0; at < text.size(); at += 20 * page) REQUIRE(world.write(ino, at, text.substr(at, 20 * page)) == 0);
    const auto listed = world.fs->unsynced();
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].offset == 0);
    CHECK(listed[0].bytes == text.size());
    SECTION("synced") {
        REQUIRE(world.sync(ino) == 0);
        CHECK(world.fs->unsynced().empty());
        REQUIRE(world.write(ino, page, "over") == 0); // in place: needs no commit
        world.now += options.dirty_age;
        world.settle(Duration{1'000'000});
        CHECK(world.fs->unsynced().empty());
        world.kill();
        CHECK(world.contents(world.find("a")).substr(page, 5) == "overx");
    }
    SECTION("truncated and removed") {
        REQUIRE(world.truncate(ino, 1000) == 0);
        REQUIRE(world.fs->unsynced().size() == 1);
        CHECK(world.fs->unsynced()[0].bytes == 1000);
        REQUIRE(world.unlink("a") == 0);
        world.fs->forget(ino, 1, world.now);
        world.settle(Duration{1'000'000});
        CHECK(world.fs->unsynced().empty());
    }
    world.check();
}
