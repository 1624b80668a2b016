// Goal: a truncation of more extents than a transaction takes is finished after a cut between its parts.
// Method: PRAM that can be cut at any word; a file of 150 extents; cuts between the first part and the last.
#include "crash/seeded_outcomes.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using flashlab::test::FsWorld;

namespace {

constexpr std::uint64_t page_of_a_piece = 4096;
constexpr std::uint64_t pieces = 150;
constexpr int cuts = 24;

/// Cuts a truncation of `pieces` extents when so much of it has been written to PRAM. Returns whether it had begun and was not whole.
bool cut_and_recover(int part) {
    FsWorld world;
    REQUIRE(world.fs->shut_down(world.now).has_value());
    world.fs.reset();
    world.pram = std::make_unique<Pram>(world.config, world.cells, world.events, PramUndo::keep);
    world.open();
    const std::uint64_t free_pages = world.fs->usage().data_pages_free;
    const Ino ino = world.create("f");
    for (std::uint64_t n = 0; n < pieces; ++n) REQUIRE(world.write(ino, 2 * n * page_of_a_piece, "piece") == 0);
    REQUIRE(world.sync(ino) == 0);
    world.settle();
    world.now = std::max(world.now, world.pram->last_reserved_end());
    world.pram->settle(world.now);
    const SimTime begin = world.now;
    REQUIRE(world.truncate(ino, 0) == 0);
    const SimTime end = world.pram->last_reserved_end();
    REQUIRE(world.device.flush(world.now).has_value());
    const SimTime at = begin + (end - begin) * part / cuts;
    world.fs.reset();
    SeededPramCutOutcomes outcomes{static_cast<std::uint64_t>(part)};
    (void)world.pram->cut(at, outcomes);
    world.pram = std::make_unique<Pram>(world.config, world.cells, world.events, PramUndo::none);
    world.now = std::max(world.now, end);
    world.open();
    world.check();
    const bool was_cut = world.stat(world.find("f")).size == 0;
    CHECK(world.stat(world.find("f")).size == (was_cut ? 0 : (2 * pieces - 2) * page_of_a_piece + 5));
    world.settle();
    if (was_cut) CHECK(world.fs->usage().data_pages_free == free_pages);
    return was_cut;
}

} // namespace

TEST_CASE("a truncation of many extents is whole after a power cut between its parts", "[fs][crash]") {
    int whole = 0;
    for (int part = 0; part <= cuts; ++part) {
        CAPTURE(part);
        whole += cut_and_recover(part) ? 1 : 0;
    }
    CHECK(whole > cuts / 2); // of the cuts, these came between the first part and the end
}
