// Goal: after a cut at any instant each page is what the operations before it made of it. Method: a naive model that replays the list of operations
// up to T, on two tiny planes, at every instant at which something starts or ends and one nanosecond beside it, with every outcome.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/contract.h"
#include "tests/nand/fixed_outcomes.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;
using flashlab::test::FixedOutcomes;

namespace {

NandConfig tiny_config() {
    NandConfig config = round_config();
    config.geometry = {.channels = 1,
                       .chips_per_channel = 1,
                       .dies_per_chip = 1,
                       .planes_per_die = 2,
                       .blocks_per_plane = 2,
                       .pages_per_block = 3,
                       .page_bytes = 512,
                       .spare_bytes = 64,
                       .cell = CellType::slc};
    return config;
}

struct Operation {
    bool is_erase;
    std::uint32_t block;
    std::uint32_t page;
    std::uint64_t value;
    SimTime cells; // the cells change from here
    SimTime end;
};

/// Seeded programs and erases on all blocks, some issued ahead of the clock.
std::vector<Operation> run_workload(Flash& flash, std::uint64_t seed, SimTime& settled) {
    Random random{seed};
    std::vector<Operation> done;
    SimTime now = sim_start;
    for (std::uint64_t value = 1; value <= 24; ++value) {
        const auto block = static_cast<std::uint32_t>(random.below(flash.geometry.blocks()));
        const std::uint32_t next = flash.array.write_pointer(BlockId{block});
        Operation operation{next == flash.geometry.pages_per_block() || random.chance(1, 8), block, next, value, sim_start, sim_start};
        const auto end = operation.is_erase ? flash.array.erase(BlockId{block}, {now, {}}) : flash.program(flash.page(block, next), value, now);
        REQUIRE(end);
        operation.end = *end;
        operation.cells = *end - (operation.is_erase ? flash.config.timing.block_erase : flash.config.timing.page_program);
        done.push_back(operation);
        if (random.chance(1, 3)) now += Duration{static_cast<std::int64_t>(random.below(400'000))};
        if (value == 10 && random.chance(1, 2)) flash.array.settle(settled = now);
    }
    return done;
}

struct Expected {
    std::uint64_t value = 0; // 0: erased
    std::optional<CellState> broken;
};

/// The flash as the operations of `done`, in order of issue, leave it at `cut`.
std::map<std::uint32_t, Expected> model(const Flash& flash, const std::vector<Operation>& done, SimTime cut, ProgramOutcome program,
                                        EraseOutcome erase) {
    std::map<std::uint32_t, Expected> pages;
    for (const Operation& operation : done) {
        if (operation.cells >= cut) continue;
        const bool torn = operation.end > cut;
        if (!operation.is_erase) {
            Expected& page = pages[flash.page(operation.block, operation.page).value()];
            if (torn && program == ProgramOutcome::not_started) continue;
            page = {operation.value, std::nullopt};
            if (torn && program == ProgramOutcome::prefix_torn) page.broken = CellState::torn;
            if (torn && program == ProgramOutcome::garbage) page.broken = CellState::garbage;
            continue;
        }
        if (torn && erase == EraseOutcome::not_started) continue;
        for (std::uint32_t i = 0; i < flash.geometry.pages_per_block(); ++i) {
            pages[flash.page(operation.block, i).value()] = {0, torn && erase == EraseOutcome::garbage ? std::optional{CellState::garbage}
                                                                                                       : std::nullopt};
        }
    }
    return pages;
}

void compare(Flash& flash, std::map<std::uint32_t, Expected> expected) {
    RecordingSink sink;
    NandArray reopened{flash.geometry, flash.config, flash.store, sink, UndoPolicy::none};
    REQUIRE(reopened.open());
    std::vector<std::byte> data(flash.geometry.page_bytes());
    for (std::uint32_t page = 0; page < flash.geometry.pages(); ++page) {
        CAPTURE(page);
        const Expected& wanted = expected[page];
        const auto got = reopened.read(PageRead{Ppn{page}, 0, flash.geometry.page_bytes(), data}, {sim_start, {}});
        const auto oob = reopened.read_oob(Ppn{page}, {sim_start, {}});
        REQUIRE(oob);
        if (wanted.broken) {
            REQUIRE_FALSE(got);
            REQUIRE(got.error().kind == NandErrorKind::uncorrectable);
            REQUIRE(oob->state == *wanted.broken);
            if (*wanted.broken == CellState::garbage) REQUIRE_FALSE(oob->oob);
            if (oob->oob) REQUIRE(oob->oob->sequence == WriteSequence{wanted.value});
        } else if (wanted.value == 0) {
            REQUIRE_FALSE(got);
            REQUIRE(got.error().kind == NandErrorKind::erased_page);
            REQUIRE_FALSE(oob->oob);
        } else {
            REQUIRE(got);
            REQUIRE(data == page_bytes_of(flash.geometry, wanted.value));
            REQUIRE(oob->oob->sequence == WriteSequence{wanted.value});
        }
    }
}

} // namespace

TEST_CASE("a cut at any instant leaves what the operations before it made, whatever becomes of those in flight", "[nand]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
    const auto program = GENERATE(ProgramOutcome::not_started, ProgramOutcome::complete, ProgramOutcome::prefix_torn, ProgramOutcome::garbage);
    const auto erase = GENERATE(EraseOutcome::not_started, EraseOutcome::complete, EraseOutcome::garbage);
    std::set<SimTime> instants;
    SimTime settled = sim_start;
    {
        Flash probe{tiny_config()};
        for (const Operation& operation : run_workload(probe, seed, settled)) {
            for (const SimTime edge : {operation.cells, operation.end}) {
                for (const std::int64_t beside : {-1, 0, 1}) instants.insert(edge + Duration{beside});
            }
        }
    }
    for (const SimTime instant : instants) {
        if (instant < settled) continue;
        CAPTURE(seed, ns_since_start(instant), static_cast<int>(program), static_cast<int>(erase));
        Flash flash{tiny_config()};
        const auto done = run_workload(flash, seed, settled);
        FixedOutcomes outcomes{program, erase, seed};
        REQUIRE(flash.array.cut(instant, outcomes));
        const auto begun = [&](bool is_erase) {
            return std::ranges::count_if(done, [&](const Operation& each) { return each.is_erase == is_erase && each.cells < instant; });
        };
        const NandCounters& counters = flash.array.counters();
        REQUIRE(std::cmp_equal(std::accumulate(std::begin(counters.programs), std::end(counters.programs), std::uint64_t{0}), begun(false)));
        REQUIRE(std::cmp_equal(std::accumulate(std::begin(counters.erases), std::end(counters.erases), std::uint64_t{0}), begun(true)));
        compare(flash, model(flash, done, instant, program, erase));
    }
}

TEST_CASE("after a cut the object refuses every operation, and a cut before what has settled is refused", "[nand]") {
    Flash flash{tiny_config()};
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)));
    flash.array.settle(at(50'000));
    FixedOutcomes outcomes{ProgramOutcome::complete, EraseOutcome::complete, 1};
    CHECK_THROWS_AS(flash.array.cut(at(49'999), outcomes), ContractViolation);
    const auto report = flash.array.cut(at(50'000), outcomes);
    REQUIRE(report);
    CHECK(report->torn_programs == 1);
    CHECK(report->undone == 0);
    CHECK_THROWS_AS(flash.program(flash.page(0, 1), 2, at(200'000)), ContractViolation);
    CHECK_THROWS_AS(flash.array.cut(at(60'000), outcomes), ContractViolation);
}

TEST_CASE("an undone erase brings back the payload that a program had already overwritten, and its erase count", "[nand]") {
    Flash flash{tiny_config()};
    SimTime now = *flash.program(flash.page(0, 0), 1, at(0));
    const SimTime erase_issued = now;
    now = *flash.array.erase(BlockId{0}, {now, {}});
    REQUIRE(flash.program(flash.page(0, 0), 2, now));
    FixedOutcomes outcomes{ProgramOutcome::complete, EraseOutcome::not_started, 1};
    const auto report = flash.array.cut(erase_issued + Duration{500}, outcomes);
    REQUIRE(report);
    CHECK(report->torn_erases == 1);
    CHECK(report->undone == 1);
    compare(flash, {{flash.page(0, 0).value(), Expected{1, std::nullopt}}});
    BlockRecord record[1];
    REQUIRE(flash.store.read_blocks(BlockId{0}, record));
    CHECK(record[0].erase_count == 0);
}

TEST_CASE("a bad mark stands from its time on: a cut before takes it back, one at that very instant does not", "[nand]") {
    const std::int64_t beside = GENERATE(-1, 0, 1);
    Flash flash{tiny_config()};
    const SimTime copied = *flash.program(flash.page(1, 0), 2, at(500'000)); // elsewhere: what the mark depends on
    const auto stands = flash.array.mark_bad(BlockId{0}, copied);
    CHECK(stands == copied);
    CHECK(flash.array.is_bad(BlockId{0})); // for this array, at once
    CHECK_THROWS_AS(flash.array.erase(BlockId{0}, {copied, {}}), ContractViolation);
    FixedOutcomes outcomes{ProgramOutcome::not_started, EraseOutcome::not_started, 1};
    REQUIRE(flash.array.cut(copied + Duration{beside}, outcomes));
    NandArray reopened{flash.geometry, flash.config, flash.store, flash.sink, UndoPolicy::keep};
    REQUIRE(reopened.open());
    CHECK(reopened.is_bad(BlockId{0}) == (beside >= 0));
    CHECK((reopened.inspect(flash.page(1, 0))->state == CellState::programmed) == (beside >= 0));
    if (beside < 0) CHECK(reopened.erase(BlockId{0}, {at(2'000'000), {}}).has_value());
}

TEST_CASE("a bad mark waits for every operation of its block, and a second one changes nothing", "[nand]") {
    Flash flash{tiny_config()};
    const SimTime erased = *flash.array.erase(BlockId{0}, {at(0), {}});
    const SimTime programmed = *flash.program(flash.page(0, 0), 1, erased);
    const auto stands = flash.array.mark_bad(BlockId{0}, at(10));
    CHECK(stands == programmed);
    CHECK(flash.array.mark_bad(BlockId{0}, at(20)) == programmed);
    FixedOutcomes outcomes{ProgramOutcome::complete, EraseOutcome::not_started, 1};
    REQUIRE(flash.array.cut(at(500), outcomes)); // the erase never began, neither did the program, and the mark is gone with them
    BlockRecord record[1];
    REQUIRE(flash.store.read_blocks(BlockId{0}, record));
    CHECK_FALSE(record[0].grown_bad);
    CHECK(record[0].erase_count == 0);
}

TEST_CASE("a bad mark that was settled survives every cut", "[nand]") {
    Flash flash{tiny_config()};
    const auto stands = flash.array.mark_bad(BlockId{0}, at(100));
    REQUIRE(stands);
    flash.array.settle(*stands);
    FixedOutcomes outcomes{ProgramOutcome::not_started, EraseOutcome::not_started, 1};
    REQUIRE(flash.array.cut(*stands, outcomes));
    NandArray reopened{flash.geometry, flash.config, flash.store, flash.sink, UndoPolicy::keep};
    REQUIRE(reopened.open());
    CHECK(reopened.is_bad(BlockId{0}));
}
