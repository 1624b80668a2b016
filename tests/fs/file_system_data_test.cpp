// Data: the page cache, write-back, sizes, holes, space.
#include "base/random.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("what is written is read back before and after it reaches the device", "[fs]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, "hello") == 0);
    CHECK(world.contents(ino) == "hello");
    CHECK(world.device.writes == 0);
    REQUIRE(world.sync(ino) == 0);
    CHECK(world.device.writes == 1);
    CHECK(world.contents(ino) == "hello");
    REQUIRE(world.write(ino, 2, "LLO, world") == 0);
    CHECK(world.contents(ino) == "heLLO, world");
    world.check();
    world.remount();
    CHECK(world.contents(world.find("a")) == "heLLO, world");
    world.check();
}

TEST_CASE("a synced file survives a crash, an unsynced append is lost and its space is back", "[fs][crash]") {
    FsWorld world;
    const std::uint64_t seed = 7;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(10'000, 'x')) == 0);
    REQUIRE(world.sync(ino) == 0);
    const std::uint64_t free = world.fs->usage().data_pages_free;
    REQUIRE(world.write(ino, 10'000, std::string(50'000, 'y')) == 0);
    CHECK(world.fs->usage().data_pages_free < free);
    world.crash(seed);
    CHECK(world.contents(world.find("a")) == std::string(10'000, 'x'));
    CHECK(world.fs->usage().data_pages_free == free);
    world.check();
}

TEST_CASE("data written to the device and not committed leave no page mapped after a crash", "[fs][crash]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(40'000, 'x')) == 0);
    auto sync = world.fs->begin_sync(world.call(), ino, SyncScope::data_and_metadata);
    REQUIRE(sync.has_value());
    REQUIRE(std::holds_alternative<ResumeAt>(*(*sync)->step(world.now)));
    REQUIRE(world.device.writes > 0);
    REQUIRE(world.device.flush(world.now).has_value());
    sync->reset();
    world.crash(1);
    CHECK(world.stat(world.find("a")).size == 0);
    world.check();
}

TEST_CASE("a truncate between the steps of a write-back cuts what the write-back commits", "[fs]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(40'000, 'x')) == 0);
    auto sync = world.fs->begin_sync(world.call(), ino, SyncScope::data_and_metadata);
    REQUIRE(sync.has_value());
    const auto first = (*sync)->step(world.now);
    REQUIRE(first.has_value());
    REQUIRE(world.truncate(ino, 5'000) == 0);
    REQUIRE(world.write(ino, 20'000, "tail") == 0);
    world.now = std::get<ResumeAt>(*first).at;
    REQUIRE((*sync)->step(world.now).has_value());
    sync->reset();
    const std::string expected = std::string(5'000, 'x') + std::string(15'000, '\0') + "tail";
    CHECK(world.contents(ino) == expected);
    world.settle();
    world.check();
    world.crash(3);
    CHECK(world.contents(world.find("a")) == expected);
    world.check();
}

TEST_CASE("an extended file reads zeros where it was cut off", "[fs]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(4096, 'x')) == 0);
    const bool synced = GENERATE(false, true);
    if (synced) REQUIRE(world.sync(ino) == 0);
    REQUIRE(world.truncate(ino, 100) == 0);
    const int way = GENERATE(0, 1, 2);
    if (way == 0) REQUIRE(world.truncate(ino, 9000) == 0);
    if (way == 1) REQUIRE(world.write(ino, 8999, "z") == 0);
    if (way == 2) REQUIRE(world.allocate(ino, FallocateMode::allocate, 0, 9000) == 0);
    std::string expected = std::string(100, 'x') + std::string(8900, '\0');
    if (way == 1) expected.back() = 'z';
    CHECK(world.contents(ino) == expected);
    REQUIRE(world.sync(ino) == 0);
    world.remount();
    CHECK(world.contents(world.find("a")) == expected);
    world.check();
}

TEST_CASE("a write of more than fits writes what fits, and is refused when that is nothing", "[fs][space]") {
    FsWorld world{64};
    const Ino ino = world.create("a");
    const std::uint64_t pages = world.fs->usage().data_pages_free;
    REQUIRE(world.write(ino, 0, std::string((pages - 4) * 4096, 'x')) == 0);
    const Ino other = world.create("b");
    const std::string piece(10 * 4096, 'y');
    SECTION("unless it comes from the kernel's cache, which looks at no count") {
        FsCall call = world.call();
        call.from_page_cache = true;
        CHECK(world.fs->write(call, other, 100, std::as_bytes(std::span{piece})).error() == FsError{ENOSPC});
        CHECK(world.stat(other).size == 0);
        CHECK(world.fs->usage().data_pages_free == 4);
    }
    const auto done = world.write_once(other, 100, piece);
    REQUIRE(done.has_value());
    CHECK(done->value == 4 * 4096 - 100);
    CHECK(world.stat(other).size == 4 * 4096);
    CHECK(world.write_once(other, 4 * 4096, piece).error() == FsError{ENOSPC});
    SECTION("what lies there already fits") {
        REQUIRE(world.sync(ino) == 0);
        const auto over = world.write_once(ino, (pages - 6) * 4096 + 1, piece);
        REQUIRE(over.has_value());
        CHECK(over->value == 2 * 4096 - 1);
    }
    SECTION("as much is copied as fits") {
        REQUIRE(world.truncate(other, 2 * 4096) == 0);
        const auto copied = world.patient([&](const FsCall& c) { return world.fs->copy_range(c, ino, 0, other, 2 * 4096, 20 * 4096); });
        REQUIRE(copied.has_value());
        CHECK(copied->value == 2 * 4096);
        CHECK(world.read(other, 2 * 4096, 4096) == std::string(4096, 'x'));
    }
    CHECK(world.sync(other) == 0);
    world.remount();
    CHECK(world.read(world.find("b"), 0, 2 * 4096) == std::string(100, '\0') + std::string(2 * 4096 - 100, 'y'));
    world.check();
}

TEST_CASE("a full device refuses the write, keeps everything else working, and gives the space back", "[fs][space]") {
    FsWorld world{64};
    const Ino ino = world.create("a");
    const std::uint64_t pages = world.fs->usage().data_pages_free;
    REQUIRE(world.write(ino, 0, std::string(pages * 4096, 'x')) == 0);
    const Ino other = world.create("b");
    CHECK(world.write(other, 0, "y") == ENOSPC);
    CHECK(world.stat(other).size == 0);
    REQUIRE(world.sync(ino) == 0);
    CHECK(world.write(other, 0, "y") == ENOSPC);
    CHECK(world.write(ino, 0, "over") == 0);
    REQUIRE(world.unlink("a") == 0);
    world.fs->forget(ino, 1, world.now);
    CHECK(world.fs->usage().data_pages_free == pages);
    REQUIRE(world.write(other, 0, std::string(pages * 4096, 'y')) == 0);
    REQUIRE(world.sync(other) == 0);
    CHECK(world.contents(other) == std::string(pages * 4096, 'y'));
    world.settle();
    world.check();
}

TEST_CASE("a cache smaller than the file writes back under pressure", "[fs]") {
    FsOptions options;
    options.cache_bytes = 64u << 10;
    FsWorld world{1024, 4u << 20, options};
    const Ino ino = world.create("a");
    std::string expected;
    for (int i = 0; i < 300; ++i) {
        const std::string piece(3000, static_cast<char>('a' + i % 26));
        REQUIRE(world.write(ino, expected.size(), piece) == 0);
        expected += piece;
    }
    CHECK(world.contents(ino) == expected);
    world.settle();
    world.remount();
    CHECK(world.contents(world.find("a")) == expected);
    world.check();
}

TEST_CASE("dirty data are written back by age", "[fs]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, "hello") == 0);
    CHECK(world.fs->unsynced().size() == 1);
    CHECK(world.fs->unsynced()[0].bytes == 5);
    world.settle();
    CHECK(world.fs->unsynced().empty());
    world.crash(1);
    CHECK(world.contents(world.find("a")) == "hello");
}

TEST_CASE("writethrough asks its driver to sync after each write, which makes it durable", "[fs]") {
    FsOptions options;
    options.host_cache = HostCache::writethrough;
    FsWorld world{1024, 4u << 20, options};
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, "hello") == 0);
    world.crash(1);
    CHECK(world.contents(world.find("a")) == "hello");
}

TEST_CASE("preallocation keeps space without data, a punch gives it back, seek tells them apart", "[fs]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.allocate(ino, FallocateMode::keep_size, 0, 40'960) == 0);
    CHECK(world.stat(ino).size == 0);
    CHECK(world.stat(ino).blocks_512 == 80);
    REQUIRE(world.allocate(ino, FallocateMode::allocate, 0, 40'960) == 0);
    CHECK(world.contents(ino) == std::string(40'960, '\0'));
    CHECK(world.fs->seek(world.call(), ino, 0, SeekWhat::data).error() == FsError{ENXIO});
    REQUIRE(world.write(ino, 8192, std::string(8192, 'x')) == 0);
    CHECK(world.fs->seek(world.call(), ino, 0, SeekWhat::data).value() == 8192);
    CHECK(world.fs->seek(world.call(), ino, 8192, SeekWhat::hole).value() == 16'384);
    REQUIRE(world.sync(ino) == 0);
    CHECK(world.stat(ino).blocks_512 == 80);
    CHECK(world.fs->seek(world.call(), ino, 9000, SeekWhat::data).value() == 9000);
    REQUIRE(world.allocate(ino, FallocateMode::punch_hole, 10'000, 20'000) == 0);
    CHECK(world.stat(ino).size == 40'960);
    CHECK(world.contents(ino) == std::string(8192, '\0') + std::string(1808, 'x') + std::string(30'960, '\0'));
    CHECK(world.stat(ino).blocks_512 < 80);
    REQUIRE(world.allocate(ino, FallocateMode::zero_range, 8192, 40'960) == 0);
    CHECK(world.contents(ino) == std::string(49'152, '\0'));
    world.settle();
    world.check();
    CHECK(world.allocate(ino, FallocateMode::allocate, 0, 1ull << 40) == ENOSPC);
}

TEST_CASE("a failed device write is told by the sync and the data stay", "[fs]") {
    FsWorld world;
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(9000, 'x')) == 0);
    world.device.fail_writes = true;
    CHECK(world.sync(ino) == EIO);
    CHECK(world.contents(ino) == std::string(9000, 'x'));
    world.device.fail_writes = false;
    CHECK(world.sync(ino) == 0);
    world.crash(1);
    CHECK(world.contents(world.find("a")) == std::string(9000, 'x'));
    world.check();
}

TEST_CASE("random writes, truncates, punches and syncs agree with a model", "[fs][model]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
    const std::uint32_t unit = seed % 2 == 0 ? 4096 : 16'384;
    CAPTURE(seed);
    Random random{seed};
    FsOptions options;
    options.cache_bytes = 256u << 10;
    FsWorld world{256, 4u << 20, options, unit};
    constexpr int files = 4;
    std::vector<std::string> model(files);
    std::vector<Ino> inos;
    for (int i = 0; i < files; ++i) inos.push_back(world.create(fmt::format("f{}", i)));
    for (int step = 0; step < 400; ++step) {
        const auto file = static_cast<std::size_t>(random.below(files));
        const Ino ino = inos[file];
        std::string& text = model[file];
        const std::uint64_t offset = random.below(150'000);
        const std::uint64_t length = 1 + random.below(random.chance(1, 4) ? 60'000 : 5'000);
        switch (random.below(8)) {
        case 0:
        case 1:
        case 2:
        case 3: {
            const std::string piece(length, static_cast<char>('a' + step % 26));
            const auto done = world.write_once(ino, offset, piece);
            if (!done && done.error() == FsError{ENOSPC}) break;
            REQUIRE(done.has_value());
            if (text.size() < offset + done->value) text.resize(offset + done->value);
            text.replace(offset, done->value, piece, 0, done->value);
            break;
        }
        case 4:
            REQUIRE(world.truncate(ino, offset) == 0);
            text.resize(offset);
            break;
        case 5: {
            REQUIRE(world.allocate(ino, FallocateMode::punch_hole, offset, length) == 0);
            for (std::uint64_t i = offset; i < std::min<std::uint64_t>(text.size(), offset + length); ++i) text[i] = '\0';
            break;
        }
        case 6:
            REQUIRE(world.sync(ino) == 0);
            break;
        case 7:
            world.now += Duration{2'000'000'000};
            (void)world.fs->tick(world.now);
            break;
        }
        CAPTURE(step);
        REQUIRE(world.contents(ino) == text);
        if (step % 10 == 0) world.check();
        if (step % 100 == 99) {
            world.remount();
            for (int i = 0; i < files; ++i) inos[static_cast<std::size_t>(i)] = world.find(fmt::format("f{}", i));
        }
    }
    world.settle();
    world.check();
}
