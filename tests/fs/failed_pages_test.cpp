// Goal: after a failed write-back the pages are what FailedPages says, whatever the file looked like, and the file goes on rightly.
// Method: write-backs that fail on demand; the model is the file's bytes as the drive must have them. fs's own check() after each case.
#include "base/random.h"
#include "fs/write_back_faults.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using flashlab::test::FsWorld;

namespace {

struct FailingWriteBacks final : WriteBackFaults {
    int error = 0;
    std::vector<std::uint64_t> reverted;
    int write_back_fails(Ino) override { return error; }
    void page_reverted(Ino, std::uint64_t offset, std::uint64_t) override { reverted.push_back(offset); }
};

FsOptions with(FailedPages pages, FailingWriteBacks& faults) {
    FsOptions options;
    options.failed_pages = pages;
    options.write_back_faults = &faults;
    return options;
}

int failing_sync(FsWorld& world, FailingWriteBacks& faults, Ino ino, int error = EIO) {
    faults.error = error;
    const int got = world.sync(ino);
    faults.error = 0;
    return got;
}

} // namespace

TEST_CASE("retry: the pages of a failed sync stay dirty, and the next sync makes them durable", "[fs][failed-pages]") {
    FailingWriteBacks faults;
    FsWorld world{1024, 4u << 20, with(FailedPages::retry, faults)};
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(10'000, 'x')) == 0);
    CHECK(failing_sync(world, faults, ino) == EIO);
    CHECK(world.contents(ino) == std::string(10'000, 'x'));
    CHECK(world.sync(ino) == 0);
    world.crash(1);
    CHECK(world.contents(world.find("a")) == std::string(10'000, 'x'));
    world.check();
}

TEST_CASE("clean and reverted: the sync after the failed one returns 0 and nothing is durable", "[fs][failed-pages]") {
    const auto pages = GENERATE(FailedPages::clean, FailedPages::reverted);
    const std::uint64_t pram = GENERATE(std::uint64_t{4u << 20}, FsWorld::in_journal);
    FailingWriteBacks faults;
    FsWorld world{2048, pram, with(pages, faults)};
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(10'000, 'o')) == 0);
    REQUIRE(world.sync(ino) == 0);
    const std::uint64_t free = world.fs->usage().data_pages_free;
    SECTION("bytes overwritten in place") {
        REQUIRE(world.write(ino, 0, std::string(9000, 'n')) == 0);
        CHECK(failing_sync(world, faults, ino) == EIO);
        CHECK(world.sync(ino) == 0);
        CHECK(world.contents(ino) == std::string(10'000, 'o'));
    }
    SECTION("bytes appended to the last page") {
        REQUIRE(world.write(ino, 10'000, std::string(500, 'n')) == 0);
        CHECK(failing_sync(world, faults, ino, ENOSPC) == ENOSPC);
        CHECK(world.sync(ino) == 0);
        CHECK(world.contents(ino).starts_with(std::string(10'000, 'o')));
        CHECK(world.contents(ino).find('n') == std::string::npos);
    }
    SECTION("pages appended behind it") {
        REQUIRE(world.write(ino, 10'000, std::string(50'000, 'n')) == 0);
        CHECK(failing_sync(world, faults, ino) == EIO);
        CHECK(world.sync(ino) == 0);
        CHECK(world.contents(ino).find('n') == std::string::npos);
        CHECK(world.fs->usage().data_pages_free == free);
    }
    if (pages == FailedPages::reverted) {
        CHECK(world.stat(ino).size == 10'000);
        CHECK(!faults.reverted.empty());
    }
    world.crash(1);
    const std::string left = world.contents(world.find("a"));
    CHECK(left.starts_with(std::string(10'000, 'o')));
    CHECK(left.find('n') == std::string::npos);
    world.check();
}

TEST_CASE("bytes written to a page after its write-back began are newer than the failure, and stay", "[fs][failed-pages]") {
    FailingWriteBacks faults;
    FsWorld world{1024, 4u << 20, with(FailedPages::clean, faults)};
    const Ino ino = world.create("a");
    REQUIRE(world.write(ino, 0, std::string(4096, 'o')) == 0);
    {
        const auto sync = world.fs->begin_sync(world.call(), ino, SyncScope::data_only);
        REQUIRE(sync.has_value());
        REQUIRE(std::holds_alternative<ResumeAt>((*sync)->step(world.now).value()));
        REQUIRE(world.write(ino, 0, "new") == 0);
        world.device.fail_flushes = true;
        world.now += std::chrono::milliseconds{100};
        CHECK_FALSE((*sync)->step(world.now).has_value());
        world.device.fail_flushes = false;
    }
    CHECK(world.sync(ino) == 0);
    world.crash(1);
    CHECK(world.contents(world.find("a")).substr(0, 4) == "newo");
    world.check();
}

TEST_CASE("whatever fails in between, a file holds at each byte what was written there at some time, or zero", "[fs][failed-pages]") {
    const auto pages = GENERATE(FailedPages::retry, FailedPages::clean, FailedPages::reverted);
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u);
    CAPTURE(seed, static_cast<int>(pages));
    Random random{seed};
    FailingWriteBacks faults;
    FsWorld world{4096, 4u << 20, with(pages, faults)};
    const Ino ino = world.create("a");
    // The byte at x is one of a to z, which tells the round, or zero; a byte of another place would have the other case.
    const auto text = [](std::uint64_t at, std::size_t bytes, char round) {
        std::string out(bytes, round);
        for (std::size_t i = 0; i < bytes; ++i)
            if ((at + i) / 512 % 2 != 0) out[i] = static_cast<char>(out[i] - 'a' + 'A');
        return out;
    };
    for (int round = 0; round < 60; ++round) {
        const std::uint64_t at = random.below(40'000);
        const std::size_t bytes = 1 + random.below(9000);
        REQUIRE(world.write(ino, at, text(at, bytes, static_cast<char>('a' + round % 26))) == 0);
        if (random.chance(1, 6)) {
            AttributeChange shorter;
            shorter.which = AttributeChange::size;
            shorter.new_size = random.below(30'000);
            REQUIRE(world.patient([&](const FsCall& call) { return world.fs->change_attributes(call, ino, shorter); }).has_value());
        }
        if (random.chance(1, 2)) {
            if (random.chance(1, 2))
                (void)failing_sync(world, faults, ino);
            else
                CHECK(world.sync(ino) == 0);
        }
        const std::string now = world.contents(ino);
        for (std::size_t i = 0; i < now.size(); ++i) {
            const bool upper = i / 512 % 2 != 0;
            const bool is_right = now[i] == 0 || (upper ? now[i] >= 'A' && now[i] <= 'Z' : now[i] >= 'a' && now[i] <= 'z');
            if (!is_right) FAIL("byte " << i << " in round " << round);
        }
    }
    CHECK(world.sync(ino) == 0);
    const std::string last = world.contents(ino);
    world.crash(seed);
    CHECK(world.contents(world.find("a")) == last);
    world.check();
}
