/// Groups of pages (learnedftl.groups): where writes go, what is put in order and at what price, failing pages, power cuts, drives too small.
#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "base/random.h"
#include "tests/support/every_scheme.h"
#include "tests/support/modelled_table.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::modelled_table_of;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

SsdConfig grouped_drive(std::uint32_t groups, std::uint32_t blocks = 60) {
    SsdConfig c = tiny_config();
    c.nand.geometry.channels = 2;
    c.nand.geometry.planes_per_die = 2;
    c.nand.geometry.blocks_per_plane = blocks;
    c.nand.geometry.pages_per_block = 16;
    c.ftl.scheme = "learnedftl";
    c.ftl.reserved_permille = 350;
    c.ftl.options.set(learnedftl_option::groups, groups);
    c.ftl.options.set(learnedftl_option::train_pages, 8);
    c.ftl.options.set(demand_option::mapping_cache_bytes, 1 << 14);
    return c;
}

double known_share(CutRig& rig) {
    std::uint32_t known = 0;
    for (std::uint32_t l = 0; l < rig.units(); ++l) known += modelled_table_of(rig).models().knows(Lpn{l}) ? 1 : 0;
    return static_cast<double>(known) / rig.units();
}

std::uint32_t die_of(CutRig& rig, BlockId block) { return rig.geometry().die_of(rig.geometry().plane_of(block)).value(); }
BlockId block_of(CutRig& rig, std::uint32_t page) { return UnitGeometry{rig.geometry(), 1}.block_of(*modelled_table_of(rig).current(Lpn{page})); }

/// In order, then so many times at random.
void age(CutRig& rig, double fills, std::uint64_t seed) {
    for (std::uint32_t u = 0; u + 8 <= rig.units(); u += 8) rig.now = rig.write(u, 8);
    Random random{seed};
    for (auto left = static_cast<std::uint32_t>(fills * rig.units()); left > 0; --left)
        rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
}

struct Aged {
    double known = 0;   ///< share of all pages
    double written = 0; ///< by collections, for a page of the host
    std::uint64_t sorted = 0;
};

Aged aged(std::uint32_t groups) {
    CutRig rig{grouped_drive(groups)};
    age(rig, 1, 3);
    const auto made = [&] { return rig.ftl().counters().gc_page_copies; };
    const std::uint64_t before = made(), host = rig.ftl().counters().host_pages_written;
    Random random{4};
    for (std::uint32_t left = 2 * rig.units(); left > 0; --left) rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
    rig.check_all();
    rig.require_sound();
    return {known_share(rig), static_cast<double>(made() - before) / static_cast<double>(rig.ftl().counters().host_pages_written - host),
            modelled_table_of(rig).models().counted().pages_sorted};
}

} // namespace

TEST_CASE("pages that were overwritten at random are known where groups are put in order, and to nobody else", "[ftl][learnedftl][groups]") {
    const Aged without = aged(0), with = aged(4);
    CAPTURE(without.known, without.written, with.known, with.written);
    CHECK(without.known < 0.1);
    CHECK(without.sorted == 0);
    CHECK(with.known > 0.5);
    CHECK(with.written > without.written);
    CHECK(with.written < 3 * without.written + 1);
}

TEST_CASE("short writes of a group share a superblock of one die, and those of another group have another", "[ftl][learnedftl][groups]") {
    CutRig rig{grouped_drive(4)};
    const std::uint32_t a_group = rig.units() / 4;
    std::vector<std::set<std::uint32_t>> blocks(4);
    for (std::uint32_t i = 0; i < 6; ++i)
        for (std::uint32_t group = 0; group < 4; ++group) {
            const std::uint32_t page = group * a_group + 2 + 3 * i;
            rig.now = rig.write(page, 1);
            blocks[group].insert(block_of(rig, page).value());
        }
    std::set<std::uint32_t> all;
    std::vector<int> logs_on(2);
    for (const auto& of : blocks) {
        CHECK(of.size() == 2); // a column on each plane
        all.insert(of.begin(), of.end());
        std::set<std::uint32_t> dies;
        for (const std::uint32_t block : of) dies.insert(die_of(rig, BlockId{block}));
        REQUIRE(dies.size() == 1);
        ++logs_on[*dies.begin()];
    }
    CHECK(all.size() == 8);
    CHECK(logs_on == std::vector<int>{2, 2});
}

TEST_CASE("no die has more logs of groups than its share, however often they go on to another", "[ftl][learnedftl][groups]") {
    CutRig rig{grouped_drive(4)};
    Random random{9};
    const std::uint32_t a_group = rig.units() / 4;
    std::vector<std::optional<std::uint32_t>> die(4);
    std::uint32_t compared = 0;
    const auto sorted = [&] { return modelled_table_of(rig).models().counted().pages_sorted; };
    for (std::uint32_t i = 0; i < 2 * rig.units(); ++i) {
        const auto group = static_cast<std::uint32_t>(random.below(random.chance(1, 2) ? 1 : 4)); // one of them is full more often
        const auto page = static_cast<std::uint32_t>(group * a_group + 1 + random.below(a_group - 2));
        const std::uint64_t before = sorted();
        rig.now = rig.write(page, 1);
        die[group] = sorted() == before ? std::optional{die_of(rig, block_of(rig, page))} : std::nullopt; // it may have been put in order at once
        if (i < 100 || !std::ranges::all_of(die, [](const auto& d) { return d.has_value(); })) continue;  // each has one, and it is known
        ++compared;
        CAPTURE(i, group);
        REQUIRE(std::ranges::count(die, 0u) == 2);
    }
    CHECK(compared > rig.units());
}

TEST_CASE("what comes in order, in long requests or in short ones, is spread over all dies", "[ftl][learnedftl][groups]") {
    CutRig rig{grouped_drive(4)};
    const auto dies_of = [&](std::uint32_t first, std::uint32_t pages) {
        std::set<std::uint32_t> dies;
        for (std::uint32_t u = first; u < first + pages; ++u) dies.insert(die_of(rig, block_of(rig, u)));
        return dies.size();
    };
    rig.now = rig.write(0, 8);
    CHECK(dies_of(0, 8) == 2);
    for (std::uint32_t u = 100; u < 132; ++u) rig.now = rig.write(u, 1);
    CHECK(dies_of(100, 8) == 1);
    CHECK(dies_of(108, 24) == 2);
}

TEST_CASE("a page that cannot be read stays where it is, and its neighbours keep their data, when its group is put in order",
          "[ftl][learnedftl][groups][faults]") {
    CutRig rig{grouped_drive(2)};
    age(rig, 0, 1);
    struct Unreadable final : NandFaults {
        std::set<Ppn> pages{};
        bool program_fails(Ppn) override { return false; }
        bool erase_fails(BlockId) override { return false; }
        bool read_fails(Ppn page) override { return pages.contains(page); }
    } faults;
    const std::uint32_t lost = rig.units() / 2 + 5;
    const UnitId unit = *modelled_table_of(rig).current(Lpn{lost});
    faults.pages.insert(UnitGeometry{rig.geometry(), 1}.page_of(unit, 0));
    rig.set_faults(&faults);
    Random random{6};
    for (std::uint32_t left = 3 * rig.units(); left > 0; --left) {
        const auto page = static_cast<std::uint32_t>(random.below(rig.units()));
        if (page != lost) rig.now = rig.write(page, 1);
    }
    CHECK(modelled_table_of(rig).models().counted().pages_sorted > rig.units());
    CHECK(modelled_table_of(rig).current(Lpn{lost}) == unit);
    for (std::uint32_t u = 0; u < rig.units(); ++u)
        if (u != lost) rig.check_unit(u);
    rig.set_faults(nullptr);
    rig.check_unit(lost); // the cells are as they were
    rig.require_sound();
}

TEST_CASE("groups keep the contract across shutdowns, power cuts and failing programs while they are put in order",
          "[ftl][learnedftl][groups][crash]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
    CAPTURE(seed);
    SsdConfig config = grouped_drive(static_cast<std::uint32_t>(1 + seed % 2), 40);
    config.nand.geometry.pages_per_block = 8;
    config.ftl.reserved_permille = 400;
    config.ftl.options.set(demand_option::mapping_cache_bytes, 600);
    CutRig rig{*shape_for("learnedftl", config)};
    struct Failing final : NandFaults {
        explicit Failing(std::uint64_t of) : random{of} {}
        Random random;
        int left = 3;
        bool program_fails(Ppn) override { return left > 0 && random.chance(1, 4000) && left-- > 0; }
        bool erase_fails(BlockId) override { return false; }
    } faults{seed};
    rig.set_faults(&faults);
    Random random{seed};
    std::uint64_t sorted = 0;
    for (std::uint32_t turn = 0; turn < 40; ++turn) {
        const SimTime from = rig.steps_and_pauses(random);
        for (std::uint32_t i = 0; i < rig.units() / 2; ++i) rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
        rig.require_sound();
        sorted += modelled_table_of(rig).models().counted().pages_sorted;
        rig.leave(from, random);
        for (std::uint32_t u = 0; u < rig.units(); ++u) rig.check_unit(u);
    }
    CHECK(sorted > rig.units());
}

TEST_CASE("after a mount the logs of groups go on in the superblocks that are open", "[ftl][learnedftl][groups]") {
    CutRig rig{grouped_drive(4)};
    rig.now = rig.write(3, 1);
    const BlockId before = block_of(rig, 3);
    rig.now = rig.flush();
    rig.remount_clean();
    rig.now = rig.write(7, 1);
    CHECK(die_of(rig, block_of(rig, 7)) == die_of(rig, before));
    rig.now = rig.write(9, 1);
    CHECK((block_of(rig, 7) == before || block_of(rig, 9) == before));
}

TEST_CASE("a drive whose spare blocks the logs of groups would take up is refused, with what to set", "[ftl][learnedftl][groups]") {
    SsdConfig config = grouped_drive(16, 30);
    config.ftl.reserved_permille = 120;
    const auto plan = plan_ftl(config, *Geometry::make(config.nand.geometry));
    REQUIRE(!plan);
    CHECK(plan.error().find("learnedftl.groups = 16") != std::string::npos);
    CHECK(plan.error().find("set fewer groups") != std::string::npos);
    config.ftl.options.set(learnedftl_option::groups, 1);
    config.ftl.reserved_permille = 400;
    const auto fewer = plan_ftl(config, *Geometry::make(config.nand.geometry));
    CHECK((fewer ? "" : fewer.error()) == "");
}
