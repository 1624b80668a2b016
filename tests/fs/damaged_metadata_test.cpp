// Goal: metadata on PRAM that were damaged are refused or reported, and never crash who opens them; damage in the log of a closed file system is
// harmless.
// Method: random bytes of a file system that was closed are changed, wherever something lies; then it is opened read-only and checked. Fixed seeds.
#include "tests/fs/fs_world.h"

#include <algorithm>

#include "base/random.h"
#include "fs/format.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

void fill_and_close(FsWorld& world) {
    for (int i = 0; i < 100; ++i) {
        const Ino ino = world.create(fmt::format("file {}", i));
        REQUIRE(world.write(ino, 0, std::string(5000, 'x')) == 0);
        world.fs->forget(ino, 1, world.now);
    }
    REQUIRE(world.fs->shut_down(world.now).has_value());
    world.fs.reset();
}

auto open_read_only(FsWorld& world, Pram& pram) {
    FsOptions read_only;
    read_only.read_only = true;
    return FileSystem::open(pram, world.range(), world.device, world.events, read_only, world.now);
}

} // namespace

TEST_CASE("a damaged image is refused or reported, and never crashes who opens it", "[fs]") {
    FsWorld world{256, 1u << 20};
    fill_and_close(world);
    const std::vector<std::byte> good{world.cells.cells().begin(), world.cells.cells().end()};
    const auto identity = SuperblockIdentity::decode(std::span{good}.first<SuperblockIdentity::encoded_size>());
    REQUIRE(identity.has_value());
    // What lies in the log alone is harmless after a clean end: a test of its own, below.
    const auto is_in_log = [&](std::size_t at) { return at >= identity->log_offset && at < identity->log_offset + identity->log_bytes; };
    Random random{11};
    int refused = 0, reported = 0, harmless = 0;
    for (int round = 0; round < 400; ++round) {
        CAPTURE(round);
        std::vector<std::byte> bad = good;
        // Where something lies: half of the damage hits the superblock and the tree's upper nodes.
        std::size_t at = 0;
        do at = static_cast<std::size_t>(random.below(round % 4 == 0 ? 1024 : bad.size()));
        while (bad[at] == std::byte{0} || is_in_log(at));
        const std::size_t length = 1 + static_cast<std::size_t>(random.below(round % 3 == 0 ? 512 : 2));
        for (std::size_t i = at; i < std::min(at + length, bad.size()); ++i) bad[i] ^= static_cast<std::byte>(1 + random.below(255));
        MemoryPramStore cells{bad.size()};
        std::ranges::copy(bad, cells.cells().begin());
        Pram pram{world.config, cells, world.events, PramUndo::none};
        const auto opened = open_read_only(world, pram);
        if (!opened) {
            CHECK(!opened.error().empty());
            ++refused;
            continue;
        }
        const auto problems = (*opened)->check();
        ++(problems.empty() ? harmless : reported);
    }
    CAPTURE(refused, reported, harmless);
    CHECK(refused > 50);
    CHECK(reported > 50);
}

TEST_CASE("damage in the log of a file system that was closed is harmless, wherever it lies", "[fs]") {
    FsWorld world{256, 1u << 20};
    fill_and_close(world);
    const std::span<const std::byte> good = world.cells.cells();
    const auto identity = SuperblockIdentity::decode(good.first<SuperblockIdentity::encoded_size>());
    REQUIRE(identity.has_value());
    Random random{12};
    for (int round = 0; round < 200; ++round) {
        MemoryPramStore cells{good.size()};
        std::ranges::copy(good, cells.cells().begin());
        const std::uint64_t at = identity->log_offset + random.below(identity->log_bytes), bytes = 1 + random.below(round % 3 == 0 ? 512 : 8);
        for (std::uint64_t i = at; i < std::min(at + bytes, identity->log_offset + identity->log_bytes); ++i)
            cells.cells()[i] ^= static_cast<std::byte>(1 + random.below(255));
        CAPTURE(round, at, bytes);
        Pram pram{world.config, cells, world.events, PramUndo::none};
        const auto opened = open_read_only(world, pram);
        REQUIRE(opened.has_value());
        CHECK((*opened)->check().empty());
        CHECK((*opened)->lookup(world.call(), root_ino, "file 99").has_value());
    }
}
