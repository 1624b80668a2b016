/// Interleaving as a key of the drive (MC4): neighbouring pages of block-mapped schemes go to different channels, and nothing else changes.
#include <algorithm>
#include <set>

#include "ftl/blocks/block_map.h"
#include "ftl/make_ftl.h"
#include "ftl/schemes/merge_plan.h"
#include "tests/support/cut_rig.h"

using namespace flashlab;
using flashlab::test::CutRig;

namespace {

SsdConfig interleaved(const char* scheme, std::uint32_t interleaving, std::uint32_t channels = 4) {
    SsdConfig config = test::tiny_config();
    config.nand.geometry.channels = channels;
    config.nand.geometry.planes_per_die = 1;
    config.nand.geometry.blocks_per_plane = 20;
    config.ftl.scheme = scheme;
    config.ftl.options.set(merge_option::interleaving, interleaving);
    return config;
}

} // namespace

TEST_CASE("every logical page has one place in one block, whatever the interleaving, and ranges are found by it", "[blocks][interleaving]") {
    const Geometry geometry = *Geometry::make(test::tiny_config().nand.geometry);
    for (const std::uint32_t interleaving : {1u, 2u, 3u, 4u, 7u}) {
        for (const std::uint32_t blocks : {1u, 6u, 7u, 12u}) {
            CAPTURE(interleaving, blocks);
            const BlockMap map{geometry, blocks, interleaving};
            std::set<std::pair<std::uint32_t, std::uint32_t>> places;
            for (std::uint32_t p = 0; p < map.logical_pages(); ++p) {
                const LogicalBlock block = map.block_of(Lpn{p});
                const std::uint32_t offset = map.offset_of(Lpn{p});
                REQUIRE(block.value() < blocks);
                REQUIRE(offset < map.pages_per_block());
                REQUIRE(places.insert({block.value(), offset}).second);
                REQUIRE(map.page_of(block, offset) == Lpn{p});
                for (std::uint32_t i = 0; i < map.run_from(Lpn{p}); ++i) REQUIRE(map.page_of(block, offset + i) == Lpn{p + i});
            }
            for (std::uint32_t first = 0; first < map.logical_pages(); first += 3) {
                for (const std::uint32_t pages : {1u, 2u, 5u, 40u}) {
                    const std::uint32_t end = std::min(map.logical_pages(), first + pages);
                    const auto homes = map.homes_of(first, end);
                    std::uint32_t found = 0;
                    for (std::uint32_t b = 0; b < blocks; ++b) {
                        const auto [from, to] = map.offsets_in(LogicalBlock{b}, first, end);
                        if (from < to) REQUIRE((homes.from <= LogicalBlock{b} && LogicalBlock{b} < homes.to));
                        for (std::uint32_t o = from; o < to; ++o) {
                            const std::uint32_t page = map.page_of(LogicalBlock{b}, o).value();
                            REQUIRE((first <= page && page < end));
                            ++found;
                        }
                    }
                    REQUIRE(found == end - first);
                }
            }
        }
    }
}

TEST_CASE("neighbouring pages are written on different channels in turn, and their OOBs name the host's pages", "[ftl][interleaving]") {
    const char* scheme = GENERATE("log_block", "block_map");
    const std::uint32_t interleaving = GENERATE(1u, 2u, 4u);
    CAPTURE(scheme, interleaving);
    CutRig rig{interleaved(scheme, interleaving), Payload::keep, UndoPolicy::none};
    const Geometry& g = rig.geometry();
    const std::uint32_t pages = 4 * g.pages_per_block();
    for (std::uint32_t p = 0; p < pages; ++p) rig.now = rig.write(p, 1);
    std::vector<std::uint32_t> channel_of(pages, ~0u);
    for (std::uint32_t p = 0; p < g.pages(); ++p) {
        const auto oob = rig.array().inspect_oob(Ppn{p});
        REQUIRE(oob);
        if (oob->oob && oob->oob->kind == PageKind::data && oob->oob->lpn.value() < pages)
            channel_of[oob->oob->lpn.value()] = g.plane_of(g.block_of(Ppn{p})).value(); // one plane a channel
    }
    for (std::uint32_t p = 0; p < g.pages_per_block(); ++p)
        for (std::uint32_t i = 1; i < interleaving; ++i) {
            CAPTURE(p, i);
            CHECK(channel_of[p] != channel_of[p / interleaving * interleaving + (p + i) % interleaving]);
        }
    if (interleaving == 1) CHECK(std::ranges::count(std::span{channel_of}.first(g.pages_per_block()), channel_of[0]) == g.pages_per_block());
    rig.check_all();
}

TEST_CASE("pages written one by one to interleaved channels are programmed side by side", "[ftl][interleaving]") {
    const auto time_of = [](std::uint32_t interleaving) {
        SsdConfig config = interleaved("log_block", interleaving);
        config.ftl.reserved_permille = 400;
        config.ftl.options.set(merge_option::log_blocks, 8); // none has to be merged for another
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        for (std::uint32_t p = 0; p < 4; ++p) rig.now = rig.write(p, 1); // the log blocks are open, and named
        const SimTime from = rig.now;
        SimTime done = from;
        for (std::uint32_t p = 4; p < 8; ++p) done = std::max(done, rig.write(p, 1)); // all asked for at once
        return done - from;
    };
    CHECK(time_of(4) * 3 < time_of(1));
    CHECK(time_of(2) < time_of(1));
}

TEST_CASE("an interleaved drive keeps every newest version, across trims, shutdowns and power cuts", "[ftl][interleaving][crash]") {
    const char* scheme = GENERATE("log_block", "block_map");
    const std::uint32_t interleaving = GENERATE(2u, 3u, 4u);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CutRig rig{interleaved(scheme, interleaving)};
        Random random{seed};
        for (int c = 0; c < 25; ++c) {
            CAPTURE(scheme, interleaving, seed, c);
            const SimTime from = rig.now;
            rig.settle();
            for (std::uint64_t k = 1 + random.below(60); k > 0; --k) rig.step(random);
            if (random.chance(1, 5)) rig.remount_clean();
            if (random.chance(1, 10)) rig.kill();
            const SimTime at = rig.random_moment(random, std::max(from, rig.now));
            rig.cut_once_or_twice(at, random);
        }
        rig.check_all();
    }
}

TEST_CASE("more interleaved channels than there are is refused with the reason; schemes without blocks to interleave ignore the key",
          "[ftl][interleaving]") {
    SsdConfig config = interleaved("log_block", 5);
    const Geometry geometry = *Geometry::make(config.nand.geometry);
    const auto refused = plan_ftl(config, geometry);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().find("ftl.interleaving is 5") != std::string::npos);
    config.nand.striping = 2; // two striped channels are left
    config.ftl.options.set(merge_option::interleaving, 3);
    CHECK_FALSE(plan_ftl(config, geometry));
    config.ftl.options.set(merge_option::interleaving, 2);
    CHECK(plan_ftl(config, geometry));
    config.ftl.options.set(merge_option::interleaving, 5);
    config.ftl.scheme = "fast";
    CHECK(plan_ftl(config, geometry));
}
