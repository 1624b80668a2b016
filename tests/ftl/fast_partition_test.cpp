/// FAST's log blocks in an adaptive partition: they grow where they are filled, and only there.
#include "ftl/cache/dram_partition.h"
#include "ftl/schemes/fast.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

/// Eight pages of 512 bytes a block. A tenth of the DRAM are the maps of a few log blocks; there may be `logs`.
SsdConfig fast_drive(std::uint32_t logs) {
    SsdConfig shape = tiny_config();
    shape.nand.geometry.planes_per_die = 1;
    shape.nand.geometry.blocks_per_plane = 80;
    shape.ftl.log_blocks = logs;
    SsdConfig config = *shape_for("fast", shape);
    config.nand.timing = test::round_timing;
    config.dram.size_bytes = 4096;
    config.ftl.mapping_cache_bytes = config.dram.size_bytes;
    config.dram.partition = "adaptive";
    config.dram.ghost_bitmap_bytes = 64;
    config.dram.ghost_reach_permille = 1000;
    config.dram.tune_interval = 10;
    config.dram.map_share_permille = 100;
    return config;
}

void read_page(CutRig& rig, std::uint32_t unit) {
    std::vector<std::byte> to(rig.unit_bytes());
    rig.now = *rig.ssd().read(rig.sector(unit), rig.unit_bytes() / sector_bytes, to, rig.now);
}

} // namespace

TEST_CASE("log blocks that are not filled get no more of the DRAM, whatever half a hit of a merge is worth", "[ssd][partition]") {
    CutRig rig{fast_drive(16)};
    auto& fast = dynamic_cast<FastFtl&>(rig.ftl());
    const DramPartition& dram = *rig.ssd().partition();
    const auto shape = fast.map_shape();
    const std::uint64_t begun = dram.map_bytes();
    REQUIRE(begun + 4 * shape.unit_bytes < shape.most_bytes); // there are log blocks to be had
    for (std::uint32_t n = 0; n < 8; ++n) rig.now = rig.write(8 * n + 1, 1);
    for (int i = 0; i < 200; ++i) read_page(rig, 1 + 8 * (i % 2)); // long gone from the buffer: its ghost has a few hits of little worth
    REQUIRE(dram.counters().decisions > 10);
    CHECK(dram.last_decision().map_benefit > dram.last_decision().buffer_benefit); // half a merge over the whole DRAM
    CHECK(fast.own_ghost().has_room);
    CHECK(dram.counters().to_map == 0);
    CHECK(dram.map_bytes() <= begun);
    rig.check_all();
}

TEST_CASE("log blocks that are filled, and whose pages are overwritten before a shorter log's end, grow", "[ssd][partition]") {
    CutRig rig{fast_drive(16)};
    const DramPartition& dram = *rig.ssd().partition();
    Random random{3};
    for (int i = 0; i < 4000; ++i) rig.now = rig.write(8 * static_cast<std::uint32_t>(random.below(24)) + 1, 1, WriteDurability::fua);
    CHECK(dram.counters().to_map > 0);
    rig.check_all();
}
