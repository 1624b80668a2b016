/// The examples of docs/adding-a-scheme.md are known by the same lists as everything else, and do what their pages say.
#include <algorithm>
#include <array>

#include "base/random.h"
#include "ftl/blocks/full_blocks.h"
#include "ftl/blocks/victim_policies.h"
#include "ftl/make_ftl.h"
#include "ftl/schemes/demand_options.h"
#include "tests/examples/last.h"
#include "tests/examples/windowed_victim.h"
#include "tests/support/test_drive.h"

using namespace flashlab;
using flashlab::test::TestDrive;
using flashlab::test::tiny_config;

namespace {

SsdConfig last_drive() {
    SsdConfig config = tiny_config();
    config.nand.geometry.blocks_per_plane = 40;
    config.ftl.scheme = "last";
    return config;
}

} // namespace

TEST_CASE("the example map is dftl where each use moves an entry, and moves every n-th otherwise", "[example]") {
    const auto counted = [](std::string_view scheme, std::uint64_t every) {
        SsdConfig config = tiny_config();
        config.nand.geometry.blocks_per_plane = 60;
        config.ftl.scheme = scheme;
        config.ftl.options.set(demand_option::mapping_cache_bytes, 512);
        for (const Option* option : declared_options())
            if (option->key == "lazy.every") config.ftl.options.put(*option, every);
        TestDrive<> drive{config};
        drive.recover();
        Random random{7};
        for (int i = 0; i < 3000; ++i) {
            const Lpn lpn{static_cast<std::uint32_t>(random.below(random.chance(2, 3) ? 40 : drive.ftl.logical_pages()))};
            const Io io{drive.now, {Cause::user, no_event}};
            const auto done = random.chance(1, 2) ? drive.ftl.write(lpn, 1, {}, io) : drive.ftl.read(lpn, 1, {}, io);
            REQUIRE(done);
            drive.now = *done;
        }
        CHECK(drive.ftl.check().empty());
        return own_counters(drive.ftl);
    };
    const CounterValues dftl = counted("dftl", 8), each = counted("lazy", 1), lazy = counted("lazy", 8);
    for (const char* name : {"map_read_hits", "map_read_misses", "map_write_hits", "map_write_misses", "translation_reads", "translation_writes"}) {
        CAPTURE(name);
        CHECK(each[name] == dftl[name]);
    }
    CHECK(each["entries_moved"] >= each["map_read_hits"]);
    CHECK(lazy["entries_moved"] != 0);
    CHECK(lazy["entries_moved"] * 6 < each["entries_moved"]);
    CHECK(lazy["map_read_hits"] != dftl["map_read_hits"]);
}

TEST_CASE("the example scheme is one of the list, with a name, an idea and keys", "[example]") {
    const auto found = find_scheme("last");
    REQUIRE(found);
    CHECK((*found)->idea.ends_with("(LAST)"));
    CHECK(all_schemes().back() == "last");
}

TEST_CASE("LAST rewrites a block by one switch, and by none where the writes are short", "[example]") {
    const bool is_long = GENERATE(true, false);
    TestDrive<> drive{last_drive()};
    drive.recover();
    const std::uint32_t block = drive.geometry.pages_per_block();
    const std::uint32_t at_once = is_long ? block : 1;
    for (int fill = 0; fill < 20; ++fill)
        for (std::uint32_t page = 0; page < block; page += at_once) {
            const Lpn lpn{is_long ? page : (page * 5 + 3) % block}; // short ones in no order
            const auto done = drive.ftl.write(lpn, at_once, {}, {drive.now, {Cause::user, no_event}});
            REQUIRE(done);
            drive.now = *done;
        }
    CHECK((own_counters(drive.ftl)["switch_merges"] > 0) == is_long);
    CHECK((own_counters(drive.ftl)["own_logs_opened"] > 0) == is_long);
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("pages of a zone tell their zone, and lie in blocks of no other", "[example]") {
    SsdConfig config = tiny_config();
    config.nand.geometry.blocks_per_plane = 60;
    config.ftl.scheme = "page_map";
    config.ftl.separation = "zones";
    TestDrive<> drive{config};
    drive.recover();
    const std::uint32_t pages = drive.ftl.logical_pages();
    for (std::uint32_t i = 0; i < pages; ++i) { // of the two in turn
        const auto done = drive.ftl.write(Lpn{i % 2 * (pages / 2) + i / 2 % (pages / 2)}, 1, {}, {drive.now, {}});
        REQUIRE(done);
        drive.now = *done;
    }
    for (const BlockId block : ids<BlockId>(drive.geometry.blocks())) {
        std::array<std::uint32_t, 2> of{};
        for (std::uint32_t page = 0; page < drive.geometry.pages_per_block(); ++page)
            if (const auto known = drive.array.inspect_oob(drive.geometry.page_of(block, page)); known->oob && known->oob->kind == PageKind::data) {
                const std::uint32_t zone = known->oob->lpn.value() / (pages / 2 + 1);
                CHECK(known->oob->stream.value() == zone);
                ++of[zone];
            }
        CHECK((of[0] == 0 || of[1] == 0));
    }
}

TEST_CASE("an option of LAST says from which length on a write is a long one", "[example]") {
    for (const std::uint32_t long_pages : {1u, 8u}) {
        CAPTURE(long_pages);
        SsdConfig config = last_drive();
        config.ftl.options.set(last_option::long_pages, long_pages);
        TestDrive<> drive{config};
        drive.recover();
        for (std::uint32_t lpn = 0; lpn < 64; lpn += 4) {
            const auto done = drive.ftl.write(Lpn{lpn}, 4, {}, {drive.now, {Cause::user, no_event}});
            REQUIRE(done);
            drive.now = *done;
        }
        CHECK((own_counters(drive.ftl)["own_logs_opened"] > 0) == (long_pages == 1));
    }
}

TEST_CASE("the example policy is one of the list, and takes the fewest valid units among the oldest blocks", "[example]") {
    const auto all = victim_policies();
    CHECK(std::ranges::find(all, "windowed", &VictimPolicyEntry::name) != all.end());
    const UnitGeometry units{*Geometry::make(last_drive().nand.geometry), 1};
    FullBlocks full{units};
    OptionSet narrow;
    narrow.set(windowed_option::window, 8);
    const auto policy = make_victim_policy("windowed", {}, 1), nearsighted = make_victim_policy("windowed", narrow, 1);
    REQUIRE(policy != nullptr);
    for (std::uint32_t b = 0; b < 36; ++b) full.add(BlockId{b}, b < 34 ? 6 : 1); // the last two lie behind a window of 32
    full.update(BlockId{5}, 5);
    full.update(BlockId{20}, 4);
    CHECK(policy->choose(full, PlaneId{0})->block == BlockId{20});
    CHECK(nearsighted->choose(full, PlaneId{0})->block == BlockId{5}); // of eight
}
