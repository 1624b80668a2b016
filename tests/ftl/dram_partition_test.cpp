/// One DRAM for buffer and maps, on whole drives: shares, ghost hits of a trace followed by hand, soundness under any load and cut.
#include "ftl/cache/dram_partition.h"
#include "ftl/forwarding_ftl.h"
#include "ftl/maps/lru_entries.h"
#include "ftl/schemes/coftl.h"
#include "ftl/schemes/demand_scheme.h"
#include "ftl/schemes/fast.h"
#include "ftl/schemes/merge_plan.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

/// Pages of 512 bytes, one plane: command 100, transfer 512, read 60 us, program 700 us, erase 3 ms.
SsdConfig partitioned(const char* scheme, std::uint64_t bytes, const char* how) {
    SsdConfig shape = tiny_config();
    shape.nand.geometry.planes_per_die = 1;
    shape.nand.geometry.blocks_per_plane = 80;
    if (scheme == std::string_view{"fast"}) shape.ftl.options.set(merge_option::log_blocks, 8);
    if (scheme == std::string_view{"coftl"}) shape.ftl.reserved_permille = 150;
    SsdConfig config = *shape_for(scheme, shape);
    config.nand.timing = test::round_timing;
    config.ftl.options.set(demand_option::mapping_cache_bytes, bytes);
    config.dram.size_bytes = bytes;
    config.dram.partition = how;
    config.dram.ghost_bitmap_bytes = 8;
    return config;
}

void read(CutRig& rig, std::uint32_t unit) {
    std::vector<std::byte> to(rig.unit_bytes());
    rig.now = *rig.ssd().read(rig.sector(unit), rig.unit_bytes() / sector_bytes, to, rig.now);
}

} // namespace

TEST_CASE("a static partition gives the maps their share and the buffer the rest", "[ssd][partition]") {
    SsdConfig config = partitioned("dftl", 4096, "static");
    config.dram.map_share_permille = 250;
    CutRig rig{config};
    const DramPartition& dram = *rig.ssd().partition();
    CHECK(dram.map_bytes() == 1024);
    CHECK(rig.ssd().buffer()->capacity() == 6);
    CHECK(dram.ghost_metadata_bytes() == 0);
    const auto& dftl = demand_table_of<LruEntries>(rig.ftl());
    CHECK(dftl.cache().capacity() == (1024 - dftl.map_shape().fixed_bytes) / CachedEntries{}.bytes_each);
    rig.require_sound();
}

TEST_CASE("all to the maps: nothing is buffered; all to the buffer: the maps keep their least", "[ssd][partition]") {
    SsdConfig config = partitioned("dftl", 4096, "static");
    config.dram.map_share_permille = 1000;
    CutRig maps{config};
    CHECK(maps.ssd().buffer()->capacity() == 0);
    maps.now = maps.write(3, 1);
    CHECK(maps.ssd().buffer()->buffered_pages() == 0);
    CHECK(maps.ftl().is_mapped(Lpn{3}));
    maps.check_all();
    config.dram.map_share_permille = 0;
    CutRig buffer{config};
    CHECK(buffer.ssd().partition()->map_bytes() == demand_table_of<LruEntries>(buffer.ftl()).map_shape().least_bytes);
    CHECK(buffer.ssd().buffer()->capacity() == 7); // 8 pages, less the least
}

TEST_CASE("a scheme whose maps lie elsewhere buffers with all of it", "[ssd][partition]") {
    CutRig rig{partitioned("hftl", 4096, "curve")};
    CHECK(rig.ssd().buffer()->capacity() == 8);
    CHECK(rig.ssd().partition()->map_bytes() == 0);
    for (std::uint32_t i = 0; i < 3000; ++i) rig.now = rig.write(i % 16, 1);
    CHECK(rig.ssd().partition()->counters().decisions == 0);
    rig.check_all();
}

TEST_CASE("FAST's log blocks follow its share: what is too much is reclaimed", "[ssd][partition]") {
    CutRig rig{partitioned("fast", 2048, "static")};
    auto& fast = dynamic_cast<FastFtl&>(rig.ftl());
    const auto shape = fast.map_shape();
    const auto own = [&] { return (fast.map_bytes_used() - shape.fixed_bytes) / shape.unit_bytes; };
    CHECK(shape.unit_bytes == 8 * 4);
    REQUIRE(fast.set_map_bytes(shape.fixed_bytes + 6 * shape.unit_bytes, rig.now));
    for (std::uint32_t u = 1; u < 200; u += 2) rig.now = rig.write(u, 1); // odd pages: none begins a block
    rig.now = rig.flush();
    CHECK(own() == 5); // one is kept for the sequential one, which nothing has opened
    REQUIRE(fast.set_map_bytes(shape.fixed_bytes + 3 * shape.unit_bytes, rig.now));
    CHECK(own() <= 3);
    rig.check_all();
}

TEST_CASE("a DRAM that does not hold what must lie there is refused", "[ssd][partition]") {
    CutRig rig{partitioned("fast", 4096, "static")};
    auto& fast = dynamic_cast<FastFtl&>(rig.ftl());
    DramConfig dram;
    dram.partition = "static";
    dram.size_bytes = fast.map_shape().least_bytes;
    CHECK_FALSE(DramPartition::refusal(dram, fast));
    dram.size_bytes -= 1;
    CHECK(DramPartition::refusal(dram, fast)->find("too small") != std::string::npos);
    dram.partition = "ghost"; // its ghosts' records come on top
    dram.size_bytes += 1;
    CHECK(DramPartition::refusal(dram, fast));
    dram.size_bytes = 1u << 20;
    dram.ghost_bitmap_bytes = 100;
    CHECK(DramPartition::refusal(dram, fast)->find("power of two") != std::string::npos);
}

TEST_CASE("maps that cannot share have their cache and directory out of the DRAM, the buffer has the rest, and too little is refused",
          "[ssd][partition]") {
    struct Alone final : ForwardingFtl {
        using ForwardingFtl::ForwardingFtl;
        MappingSpace* mapping_space() override { return nullptr; }
    };
    SsdConfig config = partitioned("dftl", 64 << 10, "curve");
    config.ftl.options.set(demand_option::mapping_cache_bytes, 4096);
    CutRig rig{config};
    Alone alone{rig.ftl()};
    const std::uint64_t maps = alone.map_cache_bytes();
    CHECK(maps >= 4096);
    NullEventSink events;
    BufferedFtl buffer{alone, 64 << 10};
    DramPartition partition{config.dram, alone, buffer, events};
    REQUIRE(partition.begin(rig.now));
    CHECK(partition.map_bytes() == maps);
    CHECK(partition.buffer_bytes() == ((64u << 10) - maps) / 512 * 512);
    DramConfig dram = config.dram;
    dram.size_bytes = maps + 512;
    CHECK_FALSE(DramPartition::refusal(dram, alone));
    dram.size_bytes = maps + 511;
    CHECK(DramPartition::refusal(dram, alone)->find("ftl.mapping_cache_bytes") != std::string::npos);
}

TEST_CASE("sftl and leaftl give back what a smaller share does not hold, and one that comes back is a hit in the ghost", "[ssd][partition]") {
    for (const char* scheme : {"sftl", "leaftl"}) {
        CAPTURE(scheme);
        SsdConfig config = partitioned(scheme, 64 << 10, "static");
        config.dram.map_share_permille = 1000;
        CutRig rig{config};
        MappingSpace& maps = *rig.ftl().mapping_space();
        const auto shape = maps.map_shape();
        CHECK(shape.most_bytes > 8 * shape.unit_bytes);
        for (std::uint32_t u = 0; u < rig.units(); ++u) rig.now = rig.write(u * 37 % rig.units(), 1, WriteDurability::fua);
        rig.now = rig.flush();
        REQUIRE(maps.set_map_bytes(shape.least_bytes, rig.now));
        GhostBitmap ghost{1024, 1};
        ghost.set_capacity(1000);
        maps.watch(ghost);
        REQUIRE(maps.set_map_bytes(shape.most_bytes, rig.now));
        const std::uint32_t each = config.nand.geometry.page_bytes / 4; // logical pages of a translation page at most
        for (std::uint32_t u = 0; u < rig.units(); u += each / 4) read(rig, u);
        const std::uint64_t all = maps.map_bytes_used();
        CHECK(all > shape.fixed_bytes + 2 * shape.unit_bytes / 4);
        CHECK(ghost.hits().reads == 0);
        for (const std::uint64_t bytes : {all / 2, shape.least_bytes}) {
            REQUIRE(maps.set_map_bytes(bytes, rig.now));
            CHECK(maps.map_bytes_used() <= std::max(bytes, shape.least_bytes));
        }
        CHECK(ghost.size() > 0);
        for (std::uint32_t u = 0; u < rig.units(); u += each / 4) read(rig, u);
        CHECK(ghost.hits().reads > 0);
        const ProfitFactors f = maps.profit_factors();
        CHECK(f.map_read >= 60'612);
        CHECK(f.map_write > 0);
        CHECK(f.buffer_write > 700'612);
        rig.check_all();
    }
}

TEST_CASE("ghost hits, profits and the decision of ten requests on DFTL are those reckoned by hand", "[ssd][partition]") {
    SsdConfig config = partitioned("dftl", 4096, "ghost");
    config.dram.tune_interval = 10;
    config.dram.ghost_reach_permille = 1000;
    CutRig rig{config};
    // 8 pages of DRAM; half are maps, 8 + 8 x 12 bytes the ghosts' records: three pages of buffer.
    REQUIRE(rig.ssd().buffer()->capacity() == 3);
    for (const std::uint32_t u : {0u, 1u, 2u}) rig.now = rig.write(u, 1);
    rig.now = rig.write(3, 1); // 0 leaves
    rig.now = rig.write(4, 1); // 1 leaves
    rig.now = rig.write(0, 1); // found in the ghost; 2 leaves
    rig.now = rig.write(1, 1); // found in the ghost; 3 leaves
    read(rig, 9);              // nobody knows it
    read(rig, 2);              // found in the ghost
    CHECK(rig.ssd().partition()->counters().decisions == 0);
    rig.now = rig.write(5, 1); // 4 leaves
    const PartitionEvent& d = rig.ssd().partition()->last_decision();
    REQUIRE(rig.ssd().partition()->counters().decisions == 1);
    CHECK(d.buffer_ghost_writes == 2);
    CHECK(d.buffer_ghost_reads == 1);
    CHECK(d.buffer_ghost_bytes == 3 * 512); // 2, 3, 4
    CHECK(d.map_ghost_reads + d.map_ghost_writes == 0);
    // The mapping cache missed all five writes and one of two reads, for which no translation page was read: there is none yet. No block was
    // collected, no batch was written.
    const double r = 60'612;
    const double w = 700'612;
    const double overhead = 3'000'000 / 8.0;
    const double flush = r + w + overhead;
    CHECK(d.buffer_benefit == Approx((1 * r + 2 * (w + overhead + flush)) / (3 * 512)));
    CHECK(d.map_benefit == Approx(0.5 * flush / 4096)); // no hit: half a one over the whole DRAM
    const double ratio = d.buffer_benefit / d.map_benefit;
    CHECK(d.map_bytes_before == 2048);
    CHECK(d.map_bytes == 2048 - std::min<std::uint64_t>(2048, static_cast<std::uint64_t>(8 * ratio)));
    CHECK(rig.ssd().partition()->counters().to_buffer == 1);
    rig.check_all();
}

TEST_CASE("a page written costs DFTL the reclaiming of data blocks, an entry that of translation blocks", "[ssd][partition]") {
    SsdConfig config = partitioned("dftl", 4096, "static");
    CutRig rig{config, Payload::none, UndoPolicy::none};
    MappingSpace& dftl = *rig.ftl().mapping_space();
    const double r = 60'612;
    const double w = 700'612;
    const double erase = 3'000'000;
    const ProfitFactors fresh = dftl.profit_factors();
    CHECK(fresh.map_write == Approx(r + w + erase / 8)); // nothing was reclaimed yet: an eighth of an erase a page, no copies
    CHECK(fresh.buffer_write == Approx(w + erase / 8));
    Random random{3};
    for (int i = 0; i < 4000; ++i) rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1, WriteDurability::fua);
    REQUIRE(rig.ftl().counters().gc_page_copies > 1000);
    const ProfitFactors used = dftl.profit_factors();
    // All of the map fits in DRAM and nobody flushes it: only data blocks are reclaimed, and every entry hits.
    CHECK(used.map_write <= fresh.map_write);
    CHECK(used.buffer_write > fresh.buffer_write + (r + w) / 2);
}

TEST_CASE("a page that leaves the buffer costs FAST its part of all merges, those of the sequential log block too", "[ssd][partition]") {
    SsdConfig config = partitioned("fast", 4096, "ghost");
    config.dram.tune_interval = 1'000'000;
    CutRig rig{config};
    auto& fast = dynamic_cast<FastFtl&>(rig.ftl());
    for (std::uint32_t u = 0; u < 64; ++u) rig.now = rig.write(u, 1, WriteDurability::fua);
    fast.measure(std::vector{fast.map_shape().least_bytes}, 1024); // from now on
    (void)fast.profit_factors();
    const std::uint64_t copies = fast.counters().gc_page_copies, partial = fast.merge_counters().partial;
    for (std::uint32_t home = 0; home < 8; ++home) rig.now = rig.write(home * 8, 1, WriteDurability::fua); // each opens the sequential log block anew
    REQUIRE(fast.merge_counters().partial - partial == 7);                                                 // the last one waits
    CHECK(fast.counters().gc_page_copies - copies == 7 * 7);
    CHECK(fast.profit_factors().buffer_write == Approx(700'612 + (49 * (60'612.0 + 700'612) + 7 * 3'000'000.0) / 8));
}

TEST_CASE("COFTL keeps as many page tables as its share holds, and a table that comes back is a hit in the ghost", "[ssd][partition]") {
    SsdConfig config = partitioned("coftl", 4096, "static");
    CutRig rig{config};
    auto& coftl = dynamic_cast<Coftl&>(rig.ftl());
    const auto shape = coftl.map_shape();
    CHECK(shape.unit_bytes == 6 * 4); // blocks of eight pages, less the summary and the pointers
    GhostBitmap ghost{64, 1};
    ghost.set_capacity(64);
    coftl.watch(ghost);
    REQUIRE(coftl.set_map_bytes(shape.fixed_bytes + 2 * shape.unit_bytes, rig.now));
    const auto write = [&](std::uint32_t vb) { rig.now = rig.write(vb * 6, 1, WriteDurability::fua); };
    write(0);
    write(1);
    CHECK(coftl.map_bytes_used() == shape.fixed_bytes + 2 * shape.unit_bytes);
    CHECK(ghost.size() == 0);
    write(2); // the table of 0 leaves
    CHECK(coftl.map_bytes_used() == shape.fixed_bytes + 2 * shape.unit_bytes);
    CHECK(ghost.size() == 1);
    write(0); // and comes back; 1 leaves
    CHECK(ghost.hits().writes == 1);
    CHECK(ghost.hits().reads == 0);
    read(rig, 6);
    CHECK(ghost.hits().reads == 1);
    REQUIRE(coftl.set_map_bytes(shape.fixed_bytes + shape.unit_bytes, rig.now)); // one table leaves at once
    CHECK(coftl.map_bytes_used() == shape.fixed_bytes + shape.unit_bytes);
    const ProfitFactors f = coftl.profit_factors();
    CHECK(f.map_read >= 60'612);
    CHECK(f.map_write > f.map_read);
    CHECK(f.buffer_write > 700'612);
    rig.check_all();
}

TEST_CASE("a ghost stands for no more than its reach: what left its cache longer ago is no hit", "[ssd][partition]") {
    SsdConfig config = partitioned("dftl", 4096, "ghost");
    config.dram.tune_interval = 6;
    config.dram.ghost_reach_permille = 250; // two pages of eight
    CutRig rig{config};
    REQUIRE(rig.ssd().buffer()->capacity() == 3);
    for (const std::uint32_t u : {0u, 1u, 2u, 3u, 4u}) rig.now = rig.write(u, 1); // 0 and 1 leave
    rig.now = rig.write(5, 1);                                                    // 2 leaves, and takes the place of 0
    const PartitionEvent& d = rig.ssd().partition()->last_decision();
    REQUIRE(rig.ssd().partition()->counters().decisions == 1);
    CHECK(d.buffer_ghost_bytes == 2 * 512);
    CHECK(d.buffer_ghost_writes == 0);
    for (const std::uint32_t u : {0u, 0u, 0u, 0u, 0u, 0u}) rig.now = rig.write(u, 1); // forgotten
    REQUIRE(rig.ssd().partition()->counters().decisions == 2);
    CHECK(d.buffer_ghost_writes == 0);
    rig.check_all();
}

TEST_CASE("the ghost of the maps has the same reach; it is the scheme's where none is given, and a page at least", "[ssd][partition]") {
    struct Expected {
        std::uint32_t permille;
        std::uint64_t bytes;
    };
    for (const Expected& reach : {Expected{1000, 4096 - 1024}, Expected{250, 1024}, Expected{0, 512}}) {
        SsdConfig config = partitioned("coftl", 4096, "ghost");
        config.dram.map_share_permille = 250;
        config.dram.ghost_reach_permille = reach.permille;
        config.dram.tune_interval = 1'000'000;
        CutRig rig{config};
        CAPTURE(reach.permille);
        const auto shape = dynamic_cast<const Coftl&>(rig.ftl()).map_shape();
        CHECK(shape.ghost_reach_permille == 30); // 122 bytes: less than a page
        CHECK(rig.ssd().partition()->map_ghost_capacity_bytes() == reach.bytes / shape.unit_bytes * shape.unit_bytes);
    }
}

TEST_CASE("the partition follows the load: buffered rewrites shrink the maps, reads of many pages grow them", "[ssd][partition]") {
    SsdConfig config = partitioned("dftl", 8192, "ghost");
    config.dram.tune_interval = 50;
    config.dram.tune_units = 4;
    config.dram.ghost_reach_permille = 1000; // 3 % of so small a DRAM is one page, and a ghost of one page has forgotten the last but one
    CutRig rig{config, Payload::none, UndoPolicy::none};
    const DramPartition& dram = *rig.ssd().partition();
    Random random{5};
    for (int i = 0; i < 4000; ++i) rig.now = rig.write(static_cast<std::uint32_t>(random.below(14)), 1);
    CHECK(dram.map_share() < 0.3);
    const double before = dram.map_share();
    for (std::uint32_t u = 0; u < rig.units(); ++u) rig.now = rig.write(u, 1);
    for (int i = 0; i < 20'000; ++i) read(rig, static_cast<std::uint32_t>(random.below(rig.units())));
    CHECK(dram.map_share() > before + 0.1);
    rig.require_sound();
}

TEST_CASE("any load leaves a partitioned drive sound, and it reads as if there were no cache", "[ssd][partition]") {
    for (const char* scheme : {"dftl", "tpftl", "sftl", "leaftl", "learnedftl", "fast", "coftl", "hftl"}) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            SsdConfig config = partitioned(scheme, 2048 + 512 * seed, seed % 2 == 0 ? "ghost" : "curve");
            config.dram.tune_interval = 7;
            config.dram.tune_units = static_cast<std::uint32_t>(seed * 3);
            CutRig rig{config, Payload::keep, UndoPolicy::none};
            Random random{seed};
            CAPTURE(scheme, seed);
            for (int i = 0; i < 500; ++i) {
                rig.step(random);
                if (i % 25 == 0) rig.require_sound();
            }
            rig.check_all();
            rig.remount_clean();
            rig.check_all();
        }
    }
}

TEST_CASE("after a cut at any instant a partitioned drive keeps its promises", "[ssd][partition][cut]") {
    for (const char* scheme : {"dftl", "tpftl", "sftl", "leaftl", "learnedftl", "fast", "coftl"}) {
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            const std::uint64_t least = scheme == std::string_view{"learnedftl"} ? 4096 : 2048; // it has a table of all superblocks
            SsdConfig config = partitioned(scheme, least + 512 * (seed % 5), seed % 3 == 0 ? "static" : seed % 3 == 1 ? "curve" : "ghost");
            config.dram.tune_interval = 5;
            config.dram.tune_units = 6;
            config.dram.is_protected = seed % 4 == 0;
            CutRig rig{config};
            Random random{seed};
            CAPTURE(scheme, seed);
            for (int round = 0; round < 3; ++round) {
                rig.settle();
                const SimTime from = rig.now;
                for (int i = 0; i < 60; ++i) rig.step(random);
                rig.cut(rig.random_moment(random, from), random.next());
            }
            rig.check_all();
        }
    }
}
