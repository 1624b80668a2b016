// Goal: a page of the chip that holds several pages is sensed and programmed as a whole. Times by hand from the fixture's round numbers: command 100,
// page transfer 1024, read 10'000, program 100'000 ns. A block has eight pages; planes 0 and 1 are one die.
#include "base/contract.h"
#include "tests/nand/fixed_outcomes.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

NandConfig with_subpages(std::uint32_t subpages, CellType cell = CellType::slc, bool one_shot = false) {
    NandConfig config = round_config();
    config.geometry.cell = cell;
    config.options.subpages = subpages;
    config.options.one_shot = one_shot;
    return config;
}

auto program(Flash& flash, std::initializer_list<std::uint32_t> blocks, std::uint32_t first, std::uint32_t count, SimTime now) {
    const auto data = page_bytes_of(flash.geometry, 1);
    std::vector<PageProgram> pages;
    for (const std::uint32_t block : blocks)
        for (std::uint32_t page = first; page < first + count; ++page)
            pages.push_back({flash.page(block, page), data, PageOob{Lpn{page}, WriteSequence{page + 1}, PageKind::data, 0}});
    return flash.array.program(pages, {now, {}});
}

std::expected<SimTime, NandError> read(Flash& flash, std::initializer_list<Ppn> pages, SimTime now) {
    std::vector<PageRead> reads;
    for (const Ppn page : pages) reads.push_back({page, 0, flash.geometry.page_bytes(), {}});
    return flash.array.read(reads, {now, {}});
}

const Duration sensed = round_config().timing.page_read;

} // namespace

TEST_CASE("a page of the chip is programmed with one command and one tPROG, and pages of its planes together", "[nand][subpages]") {
    Flash flash{with_subpages(4)};
    const std::uint32_t a = flash.block_on(0), b = flash.block_on(1);
    CHECK(program(flash, {a}, 0, 4, at(0)) == at(100 + 4 * 1024 + 100'000));
    CHECK(flash.array.counters().programs_along == 3);
    CHECK(program(flash, {a}, 4, 4, at(0)) == at(2 * (100 + 4 * 1024 + 100'000)));
    CHECK(program(flash, {b}, 0, 4, at(1'000'000)) == at(1'000'000 + 100 + 4 * 1024 + 100'000));
    CHECK(flash.array.counters().programs[0] == 12);
}

TEST_CASE("with one_shot the pages of the chip of a word line are one program", "[nand][subpages][one-shot]") {
    Flash flash{with_subpages(2, CellType::tlc, true)};
    CHECK(program(flash, {0}, 0, 6, at(0)) == at(3 * (100 + 2 * 1024) + 100'000));
    CHECK(program(flash, {0}, 6, 2, at(1'000'000)) == at(1'000'000 + 100 + 2 * 1024 + 100'000));
}

TEST_CASE("a part of a page of the chip, and one that spans two, cannot be programmed", "[nand][subpages]") {
    const auto refused = [](std::uint32_t first, std::uint32_t count) {
        Flash flash{with_subpages(4)};
        CHECK_THROWS_AS(program(flash, {0}, first, count, at(0)), ContractViolation);
        CHECK(flash.array.write_pointer(BlockId{0}) == 0);
    };
    refused(0, 1);
    refused(0, 3);
    refused(2, 4);
    refused(0, 8);
}

TEST_CASE("reads of one page of the chip that follow each other are one sensing and one transfer", "[nand][subpages]") {
    Flash flash{with_subpages(4)};
    REQUIRE(program(flash, {0}, 0, 4, at(0)));
    REQUIRE(program(flash, {0}, 4, 4, at(0)));
    const SimTime now = at(1'000'000);
    const auto page = [&](std::uint32_t i) { return flash.page(0, i); };
    CHECK(read(flash, {page(0), page(1), page(2), page(3)}, now) == now + Duration{100 + 4 * 1024} + sensed);
    CHECK(flash.array.counters().reads_along == 3);
    CHECK(flash.array.counters().reads[0] == 4);
    CHECK(flash.array.plane_busy(PlaneId{0}) == 2 * Duration{100 + 4 * 1024 + 100'000} + Duration{4 * 1024} + sensed);
    const SimTime later = at(2'000'000);
    CHECK(*read(flash, {page(3), page(4)}, later) >= later + 2 * sensed); // of two pages of the chip
    const SimTime last = at(3'000'000);
    CHECK(*read(flash, {page(1), page(0)}, last) >= last + 2 * sensed); // a page that was passed is sensed anew
    CHECK(flash.array.counters().reads_along == 3);
    CHECK(read(flash, {page(1), page(3)}, at(4'000'000)) == at(4'000'000 + 100 + 2 * 1024) + sensed);
}

TEST_CASE("of pages that are read together each fails for itself", "[nand][subpages]") {
    class FailOneRead final : public NandFaults {
    public:
        explicit FailOneRead(Ppn page) : page_{page} {}
        bool program_fails(Ppn) override { return false; }
        bool erase_fails(BlockId) override { return false; }
        bool read_fails(Ppn page) override { return page == page_; }

    private:
        Ppn page_;
    };
    const std::uint32_t bad = GENERATE(0u, 1u, 3u);
    Flash flash{with_subpages(4)};
    REQUIRE(program(flash, {0}, 0, 4, at(0)));
    FailOneRead faults{flash.page(0, bad)};
    flash.array.set_faults(&faults);
    const auto failed = read(flash, {flash.page(0, 0), flash.page(0, 1), flash.page(0, 2), flash.page(0, 3)}, at(1'000'000));
    flash.array.set_faults(nullptr);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().page == flash.page(0, bad));
    CHECK(flash.array.counters().reads[0] == 4);
}

TEST_CASE("a cut leaves all pages of a page of the chip in one state", "[nand][subpages]") {
    const auto [outcome, state] =
        GENERATE(std::pair{ProgramOutcome::not_started, CellState::erased}, std::pair{ProgramOutcome::complete, CellState::programmed},
                 std::pair{ProgramOutcome::prefix_torn, CellState::torn}, std::pair{ProgramOutcome::garbage, CellState::garbage},
                 std::pair{ProgramOutcome::looks_erased, CellState::weak});
    Flash flash{with_subpages(4)};
    REQUIRE(program(flash, {0}, 0, 4, at(0)));
    std::vector<NandFlight> flights;
    flash.array.append_flights(flights);
    CHECK(flights.size() == 1);
    test::FixedOutcomes outcomes{outcome, EraseOutcome::complete};
    REQUIRE(flash.array.cut(at(50'000), outcomes));
    for (std::uint32_t page = 0; page < 4; ++page) CHECK(flash.store.read_record(flash.page(0, page))->state == state);
}

TEST_CASE("page types and the pages of a mode of fewer bits count pages of the chip", "[nand][subpages]") {
    NandConfig config = with_subpages(2, CellType::mlc);
    config.timing.lsb_program = Duration{40'000};
    config.timing.msb_program = Duration{160'000};
    config.modes[0].page_program = Duration{20'000};
    const Media media{config};
    for (std::uint32_t page = 0; page < config.geometry.pages_per_block; ++page)
        CHECK(media.own_medium().program_of(page) == media.own_medium().program_of(page / 2 * 2));
    CHECK(media.own_medium().program_of(0) == Duration{40'000});
    CHECK(media.of(CellType::slc).pages % 2 == 0);
    CHECK(media.of(CellType::slc).pages == 4);
}
