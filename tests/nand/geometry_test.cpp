#include "nand/geometry.h"
#include "nand/nand_config.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("an address goes to its parts and back, with counts that are no powers of two", "[nand]") {
    const auto geometry = Geometry::make({.channels = 3,
                                          .chips_per_channel = 2,
                                          .dies_per_chip = 2,
                                          .planes_per_die = 3,
                                          .blocks_per_plane = 5,
                                          .pages_per_block = 7,
                                          .page_bytes = 1536,
                                          .spare_bytes = 64,
                                          .cell = CellType::tlc});
    REQUIRE(geometry);
    CHECK(geometry->chips() == 6);
    CHECK(geometry->dies() == 12);
    CHECK(geometry->planes() == 36);
    CHECK(geometry->blocks() == 180);
    CHECK(geometry->pages() == 1260);
    for (std::uint32_t b = 0; b < geometry->blocks(); ++b) {
        for (std::uint32_t i = 0; i < geometry->pages_per_block(); ++i) {
            const Ppn page = geometry->page_of(BlockId{b}, i);
            REQUIRE(geometry->block_of(page) == BlockId{b});
            REQUIRE(geometry->page_in_block(page) == i);
        }
    }
    CHECK(geometry->channel_of(geometry->chip_of(geometry->die_of(geometry->plane_of(BlockId{179})))) == ChannelId{2});
}

TEST_CASE("an impossible geometry is refused with the count that is wrong", "[nand]") {
    const auto refused = [](auto change) {
        GeometryConfig config;
        change(config);
        const auto geometry = Geometry::make(config);
        return geometry ? std::string{} : geometry.error();
    };
    CHECK_THAT(refused([](auto& c) { c.planes_per_die = 0; }), ContainsSubstring("planes_per_die"));
    CHECK_THAT(refused([](auto& c) { c.page_bytes = 1000; }), ContainsSubstring("page_bytes = 1000"));
    CHECK_THAT(refused([](auto& c) { c.page_bytes = 0; }), ContainsSubstring("page_bytes"));
    CHECK_THAT(refused([](auto& c) { c.spare_bytes = 16; }), ContainsSubstring("spare_bytes"));
    CHECK_THAT(refused([](auto& c) { c.blocks_per_plane = 1u << 30; }), ContainsSubstring("32 bits"));
    CHECK_THAT(refused([](auto& c) {
                   c.channels = ~0u;
                   c.chips_per_channel = ~0u;
               }),
               ContainsSubstring("chips_per_channel"));
    CHECK(refused([](auto&) {}).empty());
}

TEST_CASE("an impossible time is refused by name", "[nand]") {
    NandTiming timing;
    CHECK(timing.validate());
    timing.page_read = Duration{0};
    CHECK_THAT(timing.validate().error(), ContainsSubstring("page_read_ns"));
    timing = {};
    timing.block_erase = Duration{-1};
    CHECK_THAT(timing.validate().error(), ContainsSubstring("block_erase_ns"));
}
