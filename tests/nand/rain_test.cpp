// Goal: whichever die cannot be read, what was written is read. Method: times by hand from the fixture's round numbers (command 100, page 1024, read
// 10'000, program 100'000, erase 1'000'000 ns); a model of what each page holds; each die taken away in turn.
#include <map>
#include <set>

#include "base/contract.h"
#include "tests/nand/rain_rig.h"

using namespace flashlab;
using namespace flashlab::testing;

TEST_CASE("dies that share parity are one die with the pages of all but one of them", "[nand][rain]") {
    const auto chips = *Geometry::make(rain_config().geometry);
    const auto all = chips.with_parity(4), two = chips.with_parity(2);
    REQUIRE((all && two));
    CHECK((all->dies() == 1 && all->pages_per_block() == 12 && all->blocks() == 4));
    CHECK((two->dies() == 2 && two->pages_per_block() == 4 && two->blocks() == 8));
    for (const std::uint32_t refused : {0u, 1u, 3u, 8u}) {
        CAPTURE(refused);
        const auto why = chips.with_parity(refused);
        REQUIRE_FALSE(why.has_value());
        CHECK(why.error().find("nand.rain = " + std::to_string(refused)) != std::string::npos);
    }
    GeometryConfig deep = chips.config();
    deep.dies_per_chip = 2; // 2 channels of 2 chips of 2 dies
    CHECK(Geometry::make(deep)->with_parity(4)->dies() == 2);
    CHECK(Geometry::make(deep)->with_parity(8)->dies() == 1);
}

TEST_CASE("each page of each block, and each parity page, has a page of the chips of its own", "[nand][rain]") {
    const std::uint32_t width = GENERATE(2u, 4u);
    RainRig rig{rain_config(width), GENERATE(Payload::keep, Payload::none)};
    for (std::uint32_t block = 0; block < rig.seen().blocks(); ++block) rig.fill(block, rig.seen().pages_per_block(), 1);
    std::set<std::pair<std::uint32_t, std::uint32_t>> places;
    std::map<std::uint32_t, std::uint32_t> parity_of_die;
    for (const NandOpEvent& event : rig.sink.operations) {
        CHECK(places.emplace(event.block.value(), event.page).second);
        if (event.origin.cause == Cause::parity) ++parity_of_die[event.die.value()];
    }
    CHECK(places.size() == rig.chips.pages());
    CHECK(rig.array->counters().programs[static_cast<std::size_t>(Cause::parity)] == rig.chips.pages() / width);
    for (const auto& [die, pages] : parity_of_die) CHECK(pages == rig.chips.pages() / width / rig.chips.dies()); // they take turns
}

TEST_CASE("parity is programmed beside the last page of its row, and nobody waits for it", "[nand][rain]") {
    RainRig rig;
    for (const std::uint32_t at_page : {0u, 1u, 2u}) { // on three dies at once; dies 1 and 3 are on the other bus
        const auto done = rig.program(rig.page(0, at_page), at_page + 1);
        CHECK(done == at(100 + 1024 + 100'000 + (at_page == 2 ? 1124 : 0)));
    }
    REQUIRE(rig.sink.operations.size() == 4);
    const NandOpEvent& parity = rig.sink.operations.back();
    CHECK(parity.origin.cause == Cause::parity);
    CHECK(parity.start == at(1124)); // the data are in the controller; the bus is free behind those of page 1
}

TEST_CASE("an end that is reported is not before those of the block's earlier programs", "[nand][rain]") {
    NandConfig config = rain_config();
    config.options.independent_planes = false;
    RainRig busy{config};
    const auto before = busy.program(busy.page(2, 0), 1); // plane 1 of the die of page (0, 0)
    const auto first = busy.program(busy.page(0, 0), 2);
    const auto second = busy.program(busy.page(0, 1), 3); // on an idle die
    REQUIRE((before && first && second));
    CHECK(*first > *before);
    CHECK(*second == *first);
}

TEST_CASE("whichever die is dead, all pages are read, those of a row that is not full, too", "[nand][rain]") {
    const auto payload = GENERATE(Payload::keep, Payload::none);
    const std::uint32_t width = GENERATE(2u, 4u), pages = GENERATE(3u, 4u), die = GENERATE(0u, 1u, 2u, 3u);
    CAPTURE(width, pages, die);
    RainRig rig{rain_config(width), payload};
    for (std::uint32_t block = 0; block < rig.seen().blocks(); ++block) rig.fill(block, pages, 100 * block + 1);
    rig.faults.dead = {die};
    for (std::uint32_t block = 0; block < rig.seen().blocks(); ++block)
        for (std::uint32_t at_page = 0; at_page < pages; ++at_page) rig.check(rig.page(block, at_page), 100 * block + 1 + at_page);
    if (die != 0) CHECK(rig.array->counters().rebuilt_pages != 0); // it has the parity of the first rows
    if (width == 2) return;
    rig.faults.dead.insert((die + 1) % 4); // and a second one
    std::uint32_t lost = 0;
    for (std::uint32_t at_page = 0; at_page < pages; ++at_page) {
        const auto read = rig.array->read(PageRead{rig.page(0, at_page), 0, 1024, {}}, {rig.now, {}});
        if (!read) CHECK(read.error().kind == NandErrorKind::uncorrectable);
        lost += read ? 0 : 1;
    }
    CHECK(lost > 0);
}

TEST_CASE("a rebuilt page costs the read that failed and then the others of its row, side by side", "[nand][rain]") {
    RainRig rig;
    rig.fill(0, 3, 1);
    rig.now = at(1'000'000);
    rig.faults.dead = {1};
    // Row 0: parity on die 0, data on 2, 1, 3: members go over the channels first. Dies 0 and 1 share a bus, and so do 2 and 3.
    const auto whole = [&](std::uint32_t at_page) { return rig.array->read(PageRead{rig.page(0, at_page), 0, 1024, {}}, {rig.now, {}}); };
    std::uint32_t rebuilt = 0;
    for (std::uint32_t at_page = 0; at_page < 3; ++at_page) {
        const auto done = whole(at_page);
        REQUIRE(done);
        const Duration took = *done - rig.now;
        if (took > Duration{11'124}) {
            ++rebuilt;
            CHECK(took == Duration{2 * 11'124 + 1024 + 100}); // of three, two share a bus, and a command has its place between them
        }
        rig.now += Duration{1'000'000};
    }
    CHECK(rebuilt == 1);
    CHECK(rig.array->counters().reads[static_cast<std::size_t>(Cause::parity)] == 3);
}

TEST_CASE("writing goes on without a die, in blocks that were empty and in those that are erased, and a start keeps to it", "[nand][rain]") {
    RainRig rig;
    rig.fill(1, 12, 500);
    rig.faults.dead = {2};
    rig.fill(0, 12, 1); // was empty
    rig.now = *rig.array->erase(BlockId{1}, {rig.now, {}});
    rig.fill(1, 12, 700);
    CHECK_FALSE(rig.array->is_bad(BlockId{0}));
    for (int start = 0; start < 2; ++start) {
        for (std::uint32_t at_page = 0; at_page < 12; ++at_page) {
            rig.check(rig.page(0, at_page), 1 + at_page);
            rig.check(rig.page(1, at_page), 700 + at_page);
        }
        CHECK(rig.array->write_pointer(BlockId{1}) == 12);
        rig.faults.dead.clear();
        rig.power_on();
        CHECK(rig.array->has_lost_parity());
    }
    CHECK(rig.array->counters().rebuilt_pages == 0);
    rig.faults.dead = {2, 3}; // no parity is left for a second one
    CHECK_FALSE(rig.array->erase(BlockId{0}, {rig.now, {}}));
    REQUIRE(rig.array->mark_bad(BlockId{0}, rig.now));
    CHECK(rig.array->is_bad(BlockId{0}));
}

TEST_CASE("a block that is being filled when a die dies is filled to its end, its rows by parity alone", "[nand][rain]") {
    const std::uint32_t die = GENERATE(0u, 1u, 2u, 3u);
    RainRig rig;
    rig.fill(0, 4, 1);
    rig.faults.dead = {die};
    rig.fill(0, 8, 1);
    for (int start = 0; start < 2; ++start) {
        for (std::uint32_t at_page = 0; at_page < 12; ++at_page) rig.check(rig.page(0, at_page), 1 + at_page);
        rig.power_on();
    }
    rig.fill(1, 4, 1);
    rig.faults.dead = {die, (die + 1) % 4};
    std::uint32_t failed = 0;
    for (std::uint32_t at_page = 4; at_page < 8; ++at_page) failed += rig.program(rig.page(1, at_page), 1) ? 0 : 1;
    CHECK(failed > 0);
}

TEST_CASE("blocks with data on a dead die are named once, and not again when they were written anew", "[nand][rain]") {
    RainRig rig{rain_config(2)};
    rig.fill(0, 4, 1);
    rig.fill(2, 1, 10);
    rig.fill(5, 4, 20);
    CHECK_FALSE(rig.array->take_degraded());
    CHECK_FALSE(rig.array->has_lost_parity());
    rig.faults.dead = {0};
    CHECK(rig.array->has_lost_parity());
    std::set<std::uint32_t> named;
    while (const auto block = rig.array->take_degraded()) CHECK(named.insert(block->value()).second);
    CHECK(named == std::set<std::uint32_t>{0, 2});
    rig.now = *rig.array->erase(BlockId{0}, {rig.now, {}});
    rig.fill(0, 4, 30);
    rig.faults.dead = {0, 1};
    named.clear();
    while (const auto block = rig.array->take_degraded()) named.insert(block->value());
    CHECK(named == std::set<std::uint32_t>{2, 5});
}

TEST_CASE("the parity so far of a row that is not full outlives a start", "[nand][rain]") {
    RainRig rig;
    for (const std::uint32_t pages : {2u, 1u, 1u}) {
        rig.fill(0, pages, 1);
        rig.power_on();
        for (std::uint32_t die = 0; die < 4; ++die) {
            rig.faults.dead = {die};
            for (std::uint32_t at_page = 0; at_page < rig.array->write_pointer(BlockId{0}); ++at_page) rig.check(rig.page(0, at_page), 1 + at_page);
        }
        rig.faults.dead.clear();
    }
    CHECK(rig.array->write_pointer(BlockId{0}) == 4);
}

TEST_CASE("a row with a page that failed gets no parity page, its other pages are read, and the one that failed is not made up", "[nand][rain]") {
    RainRig rig;
    rig.fill(0, 1, 1);
    rig.faults.dead = {1}; // that of page 1
    rig.faults.are_known = false;
    const auto failed = rig.program(rig.page(0, 1), 2);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == NandErrorKind::program_failed);
    CHECK(failed.error().page == rig.page(0, 1));
    rig.now = failed.error().done;
    rig.faults.dead.clear();
    rig.faults.are_known = true;
    const auto parity = [&] { return rig.array->counters().programs[static_cast<std::size_t>(Cause::parity)]; };
    rig.fill(0, 1, 1);
    CHECK(parity() == 0);
    rig.fill(0, 3, 1);
    CHECK(parity() == 1);
    rig.faults.dead = {2}; // that of page 0
    rig.check(rig.page(0, 0), 1);
    CHECK(rig.array->read(PageRead{rig.page(0, 1), 0, 1024, {}}, {rig.now, {}}).error().kind == NandErrorKind::uncorrectable);
    CHECK_FALSE(rig.array->read_oob(rig.page(0, 1), {rig.now, {}})->oob);
    rig.faults.dead = {1};
    for (std::uint32_t at_page = 3; at_page < 6; ++at_page) rig.check(rig.page(0, at_page), 1 + at_page);
    CHECK(rig.array->counters().rebuilt_pages != 0);
}

TEST_CASE("lines of a program stay together, and copies go from row to row", "[nand][rain]") {
    NandConfig config = rain_config();
    config.geometry.cell = CellType::tlc;
    config.geometry.pages_per_block = 6;
    config.options.one_shot = true;
    RainRig rig{config};
    CHECK(rig.seen().pages_per_block() == 18);
    for (std::uint32_t line = 0; line < 6; ++line) { // three pages on each of two planes
        std::vector<std::vector<std::byte>> data;
        for (std::uint64_t i = 0; i < 6; ++i) data.push_back(page_bytes_of(rig.seen(), 100 + line * 6 + i));
        std::vector<PageProgram> pages;
        for (std::uint32_t i = 0; i < 6; ++i) pages.push_back({rig.page(i / 3 * 2, line * 3 + i % 3), data[i], RainRig::oob_of(100 + line * 6 + i)});
        const auto done = rig.array->program(pages, {rig.now, {}});
        REQUIRE(done);
        rig.now = *done;
    }
    CHECK(rig.array->counters().programs[static_cast<std::size_t>(Cause::parity)] == 2 * 2 * 3);
    for (std::uint32_t die = 0; die < 4; ++die) {
        rig.faults.dead = {die};
        for (std::uint32_t line = 0; line < 6; ++line)
            for (std::uint32_t i = 0; i < 6; ++i) rig.check(rig.page(i / 3 * 2, line * 3 + i % 3), 100 + line * 6 + i);
    }
    rig.faults.dead = {1};
    const auto copied = rig.array->copy_run(rig.page(0, 0), rig.page(1, 0), 18, {rig.now, {Cause::gc, no_event}});
    REQUIRE(copied.pages == 18);
    rig.now = copied.done;
    rig.check(rig.page(1, 17), 100 + 5 * 6 + 2);
}
