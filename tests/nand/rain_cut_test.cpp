// Goal: neither a cut nor a damaged image nor another setting leaves parity that lies. Method: a model of what each page holds; every moment of drawn
// programs and erases, each outcome, and then each die taken away in turn.
#include <map>

#include "tests/nand/fixed_outcomes.h"
#include "tests/nand/rain_rig.h"

using namespace flashlab;
using namespace flashlab::testing;
using flashlab::test::FixedOutcomes;

TEST_CASE("where pages lie is no matter of whether word lines are programmed at once", "[nand][rain]") {
    NandConfig config = rain_config();
    config.geometry.cell = CellType::tlc;
    config.geometry.pages_per_block = GENERATE(6u, 4u); // whole lines, or not
    RainRig rig{config};
    rig.fill(0, rig.seen().pages_per_block(), 1);
    CHECK(rig.array->counters().programs[static_cast<std::size_t>(Cause::parity)] == config.geometry.pages_per_block);
    rig.config.options.one_shot = true;
    rig.power_on();
    for (std::uint32_t die = 0; die < 4; ++die) {
        rig.faults.dead = {die};
        for (std::uint32_t at_page = 0; at_page < rig.seen().pages_per_block(); ++at_page) rig.check(rig.page(0, at_page), 1 + at_page);
    }
}

TEST_CASE("a page whose data changed behind the array's back is not given for a good one, nor summed up in its row", "[nand][rain]") {
    RainRig rig;
    rig.fill(0, 1, 1);
    const Ppn first = rig.chips.page_of(rig.sink.operations.back().block, 0);
    auto rotten = page_bytes_of(rig.chips, 1);
    rotten[9] ^= std::byte{1};
    REQUIRE(rig.store.write_data(first, rotten));
    std::vector<std::byte> to(1024);
    CHECK(rig.array->read(PageRead{rig.page(0, 0), 0, 1024, to}, {rig.now, {}}).error().kind == NandErrorKind::uncorrectable);
    rig.fill(0, 2, 1);
    CHECK(rig.array->counters().programs[static_cast<std::size_t>(Cause::parity)] == 0);
    CHECK(rig.array->read(PageRead{rig.page(0, 0), 0, 1024, to}, {rig.now, {}}).error().kind == NandErrorKind::uncorrectable);
}

TEST_CASE("a cut leaves no parity that lies, no hole that reads erased, and what was promised, whichever die dies then", "[nand][rain]") {
    const std::uint64_t seed = GENERATE(range(1u, 5u));
    struct Done {
        std::uint32_t block;
        std::uint32_t page; ///< of a program
        std::uint64_t value;
        SimTime end;
    };
    const auto run = [&](RainRig& rig, std::vector<Done>& done) {
        Random random{seed};
        std::uint64_t value = 0;
        for (std::uint32_t block = 0; block < 3; ++block) rig.fill(block, 4, 1000 * (block + 1));
        rig.array->settle(rig.now);
        for (int i = 0; i < 40; ++i) {
            const auto block = static_cast<std::uint32_t>(random.below(3));
            const std::uint32_t next = rig.array->write_pointer(BlockId{block});
            if (next == rig.seen().pages_per_block() || random.chance(1, 12)) {
                REQUIRE(rig.array->erase(BlockId{block}, {rig.now, {}}));
                std::erase_if(done, [&](const Done& one) { return one.block == block; });
                continue;
            }
            const auto end = rig.program(rig.page(block, next), ++value);
            REQUIRE(end);
            done.push_back({block, next, value, *end});
            if (random.chance(1, 4)) rig.now += Duration{static_cast<std::int64_t>(random.below(150'000))};
        }
    };
    std::vector<SimTime> moments;
    {
        RainRig rig;
        std::vector<Done> done;
        run(rig, done);
        rig.array->append_moments(moments);
    }
    std::ranges::sort(moments);
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    std::uint64_t promised = 0, rebuilt = 0;
    for (const ProgramOutcome outcome : {ProgramOutcome::not_started, ProgramOutcome::prefix_torn, ProgramOutcome::garbage,
                                         ProgramOutcome::looks_erased, ProgramOutcome::unstable, ProgramOutcome::complete}) {
        for (const SimTime moment : moments) {
            RainRig rig;
            std::vector<Done> done;
            run(rig, done);
            if (moment < rig.now - Duration{2'000'000}) continue;
            FixedOutcomes outcomes{outcome, EraseOutcome::mixed, seed};
            if (!rig.array->cut(moment, outcomes)) FAIL("no cut");
            rig.power_on();
            rig.now = moment + Duration{100'000'000};
            CAPTURE(seed, static_cast<int>(outcome), (moment - sim_start).count());
            for (const std::uint32_t dead : {0u, 1u, 2u, 3u, 99u}) {
                rig.faults.dead = {dead};
                for (const Done& one : done) {
                    const Ppn page = rig.page(one.block, one.page);
                    const auto oob = rig.array->read_oob(page, {rig.now, {}});
                    REQUIRE(oob);
                    if (dead == 99) REQUIRE(rig.array->inspect(page)->state == oob->state);
                    if (oob->oob && oob->state == CellState::programmed && oob->oob->sequence == RainRig::oob_of(one.value).sequence) {
                        REQUIRE(*oob->oob == RainRig::oob_of(one.value));
                        std::vector<std::byte> to(1024);
                        if (rig.array->read(PageRead{page, 0, 1024, to}, {rig.now, {}})) REQUIRE(to == page_bytes_of(rig.seen(), one.value));
                    } else if (oob->oob) { // an older life of the block: its own data, or none
                        REQUIRE(oob->oob->lpn.value() % 7 == 0);
                        REQUIRE(oob->oob->sequence.value() % 1000 == 0);
                    }
                    REQUIRE(oob->state != CellState::unstable); // a second start would find less than the first
                    if (oob->state == CellState::erased) REQUIRE(one.page >= rig.array->write_pointer(BlockId{one.block}));
                    if (one.end > moment) continue;
                    ++promised;
                    rig.check(page, one.value);
                }
            }
            rebuilt += rig.array->counters().rebuilt_pages;
        }
    }
    CHECK(promised > 1000);
    CHECK(rebuilt > 1000);
}
