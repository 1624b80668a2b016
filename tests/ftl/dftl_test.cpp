/// DFTL's counters on traces that can be followed by hand, and what is its own across mounts.
#include "ftl/maps/lru_entries.h"
#include "ftl/schemes/demand_scheme.h"
#include "ftl/schemes/page_plan.h"
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
    shape.ftl.options.set(demand_option::mapping_cache_bytes, 4 * CachedEntries{}.bytes_each);
    return *shape_for("dftl", shape);
}

std::uint64_t map_programs(CutRig& rig) { return rig.array().counters().programs[static_cast<std::size_t>(Cause::map)]; }

const LruEntries& cache_of(CutRig& rig) { return demand_table_of<LruEntries>(rig.ftl()).cache(); }

const DemandCounters& dftl_counted(CutRig& rig) { return demand_table_of<LruEntries>(rig.ftl()).counted(); }

void fill(CutRig& rig, std::uint32_t units) {
    for (std::uint32_t u = 0; u < units; ++u) rig.now = rig.write(u, 1);
}

/// Neighbours in a block are of four translation pages in turn.
void fill_across(CutRig& rig) {
    for (std::uint32_t i = 0; i < 4 * 100; ++i) rig.now = rig.write(i % 4 * 128 + i / 4, 1);
}

BlockId full_data_block(CutRig& rig) {
    for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b)
        if (const auto s = rig.ftl().status_of(BlockId{b}); s.use == BlockUse::data && s.valid_pages == 8) return BlockId{b};
    FAIL("no full data block");
    return BlockId{0};
}

} // namespace

TEST_CASE("write misses make dirty entries without flash operations; the fifth evicts by one batch update of all four", "[ftl][dftl]") {
    CutRig rig{four_entries()};
    const std::uint64_t programs = map_programs(rig);
    for (std::uint32_t u = 0; u < 4; ++u) rig.now = rig.write(u, 1);
    CHECK(dftl_counted(rig).map_write_misses == 4);
    CHECK(map_programs(rig) == programs);
    rig.now = rig.write(2, 1);
    CHECK(dftl_counted(rig).map_write_hits == 1);
    rig.now = rig.write(4, 1); // evicts page 0's entry: the four dirty entries of translation page 0 go together; nothing is read, it did not exist
    const DemandCounters c = dftl_counted(rig);
    CHECK(c.map_write_misses == 5);
    CHECK(c.batch_updates == 1);
    CHECK(c.batch_entries == 4);
    CHECK(c.map_dirty_evictions == 1);
    CHECK(c.map_evictions == 1);
    CHECK(c.translation_writes == 1);
    CHECK(c.translation_reads == 0);
    CHECK(map_programs(rig) == programs + 1);
}

TEST_CASE("a batch update leaves out entries whose data are programmed later than those of the entry that is evicted", "[ftl][dftl]") {
    SsdConfig config = four_entries();
    config.nand.geometry.channels = config.nand.geometry.chips_per_channel = 1;
    CutRig rig{config};
    const SimTime begin = rig.now;
    for (std::uint32_t u = 0; u < 4; ++u) (void)rig.write(u, 1); // one die programs them one after the other
    rig.now = begin;
    rig.now = rig.write(4, 1);
    CHECK(dftl_counted(rig).batch_updates == 1);
    CHECK(dftl_counted(rig).batch_entries == 1);
    CHECK(cache_of(rig).dirty() == 4);
    rig.now = rig.write(5, 1); // all are on flash
    CHECK(dftl_counted(rig).batch_updates == 2);
    CHECK(dftl_counted(rig).batch_entries == 5);
    rig.check_all();
}

TEST_CASE("with dftl.batch_update = 0 an evicted entry is written alone, and the others stay dirty", "[ftl][dftl]") {
    SsdConfig config = four_entries();
    config.ftl.options.set(demand_option::batch_update, false);
    CutRig rig{config};
    for (std::uint32_t u = 0; u < 6; ++u) rig.now = rig.write(u, 1); // pages 0 and 1 leave
    CHECK(dftl_counted(rig).map_dirty_evictions == 2);
    CHECK(dftl_counted(rig).batch_updates == 2);
    CHECK(dftl_counted(rig).batch_entries == 2);
    CHECK(dftl_counted(rig).translation_writes == 2);
    CHECK(cache_of(rig).dirty() == 4);
}

TEST_CASE("with dftl.batch_update = 0, too, every page shows its newest durable version or a later one after power cuts", "[ftl][dftl][crash]") {
    SsdConfig shape = tiny_config();
    shape.ftl.options.set(demand_option::mapping_cache_bytes, GENERATE(4u, 24u) * CachedEntries{}.bytes_each);
    shape.ftl.options.set(demand_option::batch_update, false);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        CutRig rig{*shape_for("dftl", shape)};
        Random random{seed};
        for (int c = 0; c < 25; ++c) {
            CAPTURE(seed, c);
            const SimTime from = rig.now;
            rig.settle();
            for (std::uint64_t k = 1 + random.below(60); k > 0; --k) rig.step(random);
            const SimTime at = rig.random_moment(random, from);
            if (random.chance(1, 2))
                rig.cut_twice(at, random);
            else
                rig.cut(at, random.next());
        }
        rig.check_all();
    }
}

TEST_CASE("with dftl.fetch_on_write_miss a write miss reads its translation page, where there is one; a hit and the default read none",
          "[ftl][dftl]") {
    for (const bool fetches : {false, true}) {
        CAPTURE(fetches);
        SsdConfig config = four_entries();
        config.ftl.options.set(demand_option::fetch_on_write_miss, fetches);
        CutRig rig{config};
        for (std::uint32_t u = 0; u < 4; ++u) rig.now = rig.write(u, 1);
        CHECK(dftl_counted(rig).translation_reads == 0); // nothing is there to read
        rig.now = rig.write(4, 1);                       // evicts page 0's entry; the others are clean now
        const std::uint64_t before = dftl_counted(rig).translation_reads;
        rig.now = rig.write(3, 1); // a hit
        CHECK(dftl_counted(rig).translation_reads == before);
        rig.now = rig.write(0, 1); // its entry left
        CHECK(dftl_counted(rig).translation_reads == before + (fetches ? 1 : 0));
        CHECK(dftl_counted(rig).map_write_misses == 6);
    }
}

TEST_CASE("with dftl.fetch_on_write_miss a request reads each of its translation pages once, however many rows it has, as a read does",
          "[ftl][dftl]") {
    const auto reads_of = [](bool fetches, std::uint32_t unit) {
        SsdConfig config = four_entries();
        config.ftl.options.set(demand_option::fetch_on_write_miss, fetches);
        CutRig rig{config};
        fill(rig, 140); // two translation pages are on flash, and the entries of the last pages are cached
        const std::uint64_t before = dftl_counted(rig).translation_reads;
        rig.now = rig.write(unit, 4); // a row is one page
        return dftl_counted(rig).translation_reads - before;
    };
    CHECK(reads_of(true, 0) == reads_of(false, 0) + 1);
    CHECK(reads_of(true, 126) == reads_of(false, 126) + 2); // across two translation pages
}

TEST_CASE("a read miss reads one translation page; clean entries leave without a write; a dirty one of a page that exists costs a read and a write",
          "[ftl][dftl]") {
    CutRig rig{four_entries()};
    for (std::uint32_t u = 0; u < 5; ++u) rig.now = rig.write(u, 1); // as above; cached: 1, 2, 3 (clean), 4 (dirty)
    const auto read = [&rig](std::uint32_t u) {
        std::vector<std::byte> to(rig.unit_bytes());
        rig.now = *rig.ssd().read(rig.sector(u), rig.unit_bytes() / sector_bytes, to, rig.now);
    };
    read(3);
    CHECK(dftl_counted(rig).map_read_hits == 1);
    CHECK(dftl_counted(rig).translation_reads == 0);
    read(0); // misses: 1 leaves, clean
    DemandCounters c = dftl_counted(rig);
    CHECK(c.map_read_misses == 1);
    CHECK(c.translation_reads == 1);
    CHECK(c.map_evictions == 2);
    CHECK(c.map_dirty_evictions == 1);
    rig.now = rig.write(5, 1); // 2 leaves, clean. Cached, coldest first: 4 (dirty), 3, 0, 5 (dirty)
    rig.now = rig.write(6, 1); // 4 leaves: 4 and 5 are written together, their page is read before
    c = dftl_counted(rig);
    CHECK(c.map_evictions == 4);
    CHECK(c.map_dirty_evictions == 2);
    CHECK(c.batch_updates == 2);
    CHECK(c.batch_entries == 6);
    CHECK(c.translation_reads == 2);
    CHECK(c.translation_writes == 2);
    read(200); // its translation page was never written: the directory says so
    c = dftl_counted(rig);
    CHECK(c.map_read_misses == 2);
    CHECK(c.translation_reads == 2);
    rig.check_all();
}

TEST_CASE(
    "a collection changes cached entries only; the others are deferred while its victim is erased, and are written together by the host's writes",
    "[ftl][dftl]") {
    CutRig rig{four_entries()};
    fill(rig, 16);
    const DemandCounters before = dftl_counted(rig);
    const std::uint64_t copies = rig.ftl().counters().gc_page_copies;
    const BlockId victim = full_data_block(rig);
    rig.now = *rig.ftl().relocate(victim, rig.now);
    CHECK(rig.ftl().status_of(victim).use == BlockUse::free);
    const DemandCounters after = dftl_counted(rig);
    CHECK(rig.ftl().counters().gc_page_copies - copies == 8);
    CHECK(after.batch_updates == before.batch_updates);
    CHECK(cache_of(rig).deferred() == 8);
    rig.now = rig.write(0, 1);
    CHECK(cache_of(rig).deferred() <= 4);
    CHECK(dftl_counted(rig).batch_updates - after.batch_updates == 1); // all lie in translation page 0
    rig.check_all();
}

TEST_CASE("what a collection moved and nobody has written to a translation page comes back when the victim holds other data, with a checkpoint since "
          "or none",
          "[ftl][dftl]") {
    SsdConfig config = four_entries();
    config.ftl.options.set(page_option::checkpoint_blocks, GENERATE(3u, 1u << 30));
    const bool is_clean = GENERATE(false, true);
    CAPTURE(config.ftl.options[page_option::checkpoint_blocks], is_clean);
    CutRig rig{config};
    fill_across(rig);
    const BlockId victim = full_data_block(rig);
    rig.now = *rig.ftl().relocate(victim, rig.now);
    const std::uint64_t erases = rig.array().erase_count(victim);
    REQUIRE(cache_of(rig).deferred() > 0);
    // A few places of another translation page are written again and again until the victim's turn has come once more, and four superblocks after it.
    for (std::uint32_t i = 0, since = 0; since < 40; ++i) {
        REQUIRE(i < 2000);
        rig.now = rig.write(512 + i % 3, 1);
        if (rig.ftl().status_of(victim).use != BlockUse::free || rig.array().erase_count(victim) != erases) ++since;
    }
    REQUIRE(cache_of(rig).deferred() > 0);
    if (is_clean)
        rig.remount_clean();
    else
        rig.kill();
    rig.check_all();
}

TEST_CASE("collections without a write of the host between them defer no more than a block's worth of entries a group, and leave the rest within "
          "the cache",
          "[ftl][dftl]") {
    CutRig rig{four_entries()};
    fill_across(rig);
    std::uint32_t most = 0;
    for (int i = 0; i < 60; ++i) {
        rig.now = *rig.ftl().relocate(full_data_block(rig), rig.now);
        most = std::max(most, cache_of(rig).deferred());
        REQUIRE(cache_of(rig).deferred() <= 8);
        REQUIRE(cache_of(rig).in_order() <= cache_of(rig).capacity());
    }
    CHECK(most == 8);
    rig.check_all();
    rig.kill();
    rig.check_all();
}

TEST_CASE("cached dirty entries survive a clean shutdown without being written to translation pages", "[ftl][dftl]") {
    CutRig rig{four_entries()};
    for (std::uint32_t u = 0; u < 3; ++u) rig.now = rig.write(u, 1);
    rig.remount_clean();
    CHECK(dftl_counted(rig).batch_updates == 0);
    rig.check_all();
}

TEST_CASE("a block of translation pages is one again after a clean shutdown and after a power cut, and none of data becomes one", "[ftl][dftl]") {
    CutRig rig{four_entries()};
    for (std::uint32_t i = 0; i < 5; ++i) rig.now = rig.write(i == 0 ? 256 : i, 1);
    for (std::uint32_t i = 0; i < 200; ++i) rig.now = rig.write(i % 2 * 128 + i / 2, 1); // the third translation page stays where it is
    rig.now = std::max(rig.flush(), rig.ssd().last_reserved_end());
    const auto translation_blocks = [&] {
        std::vector<std::uint32_t> blocks;
        for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b)
            if (const auto s = rig.ftl().status_of(BlockId{b}); s.use == BlockUse::translation && s.valid_pages != 0) blocks.push_back(b);
        return blocks;
    };
    const std::vector<std::uint32_t> before = translation_blocks();
    REQUIRE(!before.empty());
    rig.remount_clean();
    CHECK(translation_blocks() == before);
    rig.kill();
    CHECK(translation_blocks() == before);
    rig.check_all();
}

TEST_CASE("deferred entries are never the coldest, are written with their page, and go first once they are clean", "[ftl][dftl]") {
    LruEntries cache{CachedEntries{.count = 2}, 128, 2};
    cache.insert(Lpn{1}, 11, false);
    cache.defer(Lpn{2}, 12);
    cache.defer(Lpn{3}, 13);
    cache.defer(Lpn{130}, 14);
    CHECK(cache.size() == 4);
    CHECK(cache.in_order() == 1);
    CHECK(cache.victim()->lpn == Lpn{1});
    CHECK(cache.dirty_of(0) == 2);
    std::uint32_t dirty = 0;
    cache.for_each_dirty([&](Lpn, std::uint32_t) { ++dirty; });
    CHECK(dirty == 3);
    CHECK(cache.use(Lpn{2}) == 12); // asked for: an entry like any other
    CHECK(cache.in_order() == 2);
    cache.clean(0);
    CHECK(cache.dirty() == 1);
    CHECK(cache.deferred() == 1);
    CHECK(cache.victim()->lpn == Lpn{3});
    CHECK_FALSE(cache.victim()->is_dirty);
    cache.clean(Lpn{130}); // alone
    CHECK(cache.deferred() == 0);
    CHECK(cache.victim()->lpn == Lpn{130});
    CHECK_FALSE(cache.victim()->is_dirty);
    cache.remove(Lpn{130});
    CHECK(cache.deferred() == 0);
    CHECK(cache.dirty() == 0);
    CHECK(cache.size() == cache.in_order());
}
