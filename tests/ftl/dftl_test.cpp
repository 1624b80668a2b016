/// DFTL's counters on traces that can be followed by hand, and what is its own across mounts.
#include "ftl/schemes/dftl.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

/// Pages of 512 bytes: a translation page holds the entries of 128 logical pages. Four entries fit the cache.
SsdConfig four_entries() {
    SsdConfig shape = tiny_config();
    shape.nand.geometry.planes_per_die = 1;
    shape.nand.geometry.blocks_per_plane = 80;
    shape.ftl.mapping_cache_bytes = 4 * MappingCache::device_bytes_per_entry;
    return *shape_for("dftl", shape);
}

std::uint64_t map_programs(CutRig& rig) { return rig.array().counters().programs[static_cast<std::size_t>(Cause::map)]; }

} // namespace

TEST_CASE("write misses make dirty entries without flash operations; the fifth evicts by one batch update of all four", "[ftl][dftl]") {
    CutRig rig{four_entries()};
    const std::uint64_t programs = map_programs(rig);
    for (std::uint32_t u = 0; u < 4; ++u) rig.now = rig.write(u, 1);
    CHECK(rig.ftl().counters().map_write_misses == 4);
    CHECK(map_programs(rig) == programs);
    rig.now = rig.write(2, 1);
    CHECK(rig.ftl().counters().map_write_hits == 1);
    rig.now = rig.write(4, 1); // evicts page 0's entry: the four dirty entries of translation page 0 go together; nothing is read, it did not exist
    const FtlCounters c = rig.ftl().counters();
    CHECK(c.map_write_misses == 5);
    CHECK(c.batch_updates == 1);
    CHECK(c.batch_entries == 4);
    CHECK(c.map_dirty_evictions == 1);
    CHECK(c.map_evictions == 1);
    CHECK(c.translation_writes == 1);
    CHECK(c.translation_reads == 0);
    CHECK(map_programs(rig) == programs + 1);
}

TEST_CASE("with dftl.fetch_on_write_miss a write miss reads its translation page, once for a row, where there is one; a hit and the default read none", "[ftl][dftl]") {
    for (const bool fetches : {false, true}) {
        CAPTURE(fetches);
        SsdConfig config = four_entries();
        config.ftl.fetch_on_write_miss = fetches;
        CutRig rig{config};
        for (std::uint32_t u = 0; u < 4; ++u) rig.now = rig.write(u, 1);
        CHECK(rig.ftl().counters().translation_reads == 0); // nothing is there to read
        rig.now = rig.write(4, 1);                          // evicts page 0's entry; the others are clean now
        const std::uint64_t before = rig.ftl().counters().translation_reads;
        rig.now = rig.write(3, 1); // a hit
        CHECK(rig.ftl().counters().translation_reads == before);
        rig.now = rig.write(0, 1); // its entry left
        CHECK(rig.ftl().counters().translation_reads == before + (fetches ? 1 : 0));
        CHECK(rig.ftl().counters().map_write_misses == 6);
    }
}

TEST_CASE("a read miss reads one translation page; clean entries leave without a write; a dirty one of a page that exists costs a read and a write", "[ftl][dftl]") {
    CutRig rig{four_entries()};
    for (std::uint32_t u = 0; u < 5; ++u) rig.now = rig.write(u, 1); // as above; cached: 1, 2, 3 (clean), 4 (dirty)
    const auto read = [&rig](std::uint32_t u) {
        std::vector<std::byte> to(rig.unit_bytes());
        rig.now = *rig.ssd().read(rig.sector(u), rig.unit_bytes() / sector_bytes, to, rig.now);
    };
    read(3);
    CHECK(rig.ftl().counters().map_read_hits == 1);
    CHECK(rig.ftl().counters().translation_reads == 0);
    read(0); // misses: 1 leaves, clean
    FtlCounters c = rig.ftl().counters();
    CHECK(c.map_read_misses == 1);
    CHECK(c.translation_reads == 1);
    CHECK(c.map_evictions == 2);
    CHECK(c.map_dirty_evictions == 1);
    rig.now = rig.write(5, 1); // 2 leaves, clean. Cached, coldest first: 4 (dirty), 3, 0, 5 (dirty)
    rig.now = rig.write(6, 1); // 4 leaves: 4 and 5 are written together, their page is read before
    c = rig.ftl().counters();
    CHECK(c.map_evictions == 4);
    CHECK(c.map_dirty_evictions == 2);
    CHECK(c.batch_updates == 2);
    CHECK(c.batch_entries == 6);
    CHECK(c.translation_reads == 2);
    CHECK(c.translation_writes == 2);
    read(200); // its translation page was never written: the directory says so
    c = rig.ftl().counters();
    CHECK(c.map_read_misses == 2);
    CHECK(c.translation_reads == 2);
    rig.check_all();
}

TEST_CASE("a collection changes cached entries only, and writes each translation page of the others once", "[ftl][dftl]") {
    CutRig rig{four_entries()};
    for (std::uint32_t u = 0; u < 8; ++u) rig.now = rig.write(u, 1); // fills block of 8; cached: 4 (clean) ... see below
    rig.now = rig.write(8, 1);
    const auto victim = [&rig] {
        for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b)
            if (const auto s = rig.ftl().status_of(BlockId{b}); s.use == BlockUse::data && s.valid_pages == 8) return BlockId{b};
        FAIL("no full data block");
        return BlockId{0};
    }();
    const FtlCounters before = rig.ftl().counters();
    rig.now = *rig.ftl().relocate(victim, rig.now);
    const FtlCounters after = rig.ftl().counters();
    CHECK(after.gc_page_copies - before.gc_page_copies == 8);
    CHECK(after.batch_updates - before.batch_updates == 1); // all eight lie in translation page 0
    rig.check_all();
}

TEST_CASE("cached dirty entries survive a clean shutdown without being written to translation pages", "[ftl][dftl]") {
    CutRig rig{four_entries()};
    for (std::uint32_t u = 0; u < 3; ++u) rig.now = rig.write(u, 1);
    rig.remount_clean();
    CHECK(rig.ftl().counters().batch_updates == 0);
    rig.check_all();
}

TEST_CASE("entries set aside are never the coldest, are written with their page, and go first once they are clean", "[ftl][dftl]") {
    MappingCache cache{2, 128, 2};
    cache.insert(Lpn{1}, 11, false);
    cache.set_aside(Lpn{2}, 12);
    cache.set_aside(Lpn{3}, 13);
    cache.set_aside(Lpn{130}, 14);
    CHECK(cache.size() == 4);
    CHECK(cache.in_order() == 1);
    CHECK(cache.coldest()->lpn == Lpn{1});
    CHECK(cache.dirty_of(0) == 2);
    std::uint32_t dirty = 0;
    cache.for_each_dirty([&](Lpn, std::uint32_t) { ++dirty; });
    CHECK(dirty == 3);
    CHECK(cache.use(Lpn{2}) == 12); // asked for: an entry like any other
    CHECK(cache.in_order() == 2);
    cache.clean(0);
    CHECK(cache.dirty() == 1);
    CHECK(cache.aside() == 1);
    CHECK(cache.coldest()->lpn == Lpn{3});
    CHECK_FALSE(cache.coldest()->is_dirty);
    cache.remove(Lpn{130});
    CHECK(cache.aside() == 0);
    CHECK(cache.dirty() == 0);
    CHECK(cache.size() == cache.in_order());
}
