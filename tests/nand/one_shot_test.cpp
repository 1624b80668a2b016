// Goal: the pages of a word line are one operation in time, in failure and at a cut; the lines of two planes are two. Times by hand from the
// fixture's round numbers: command 100, page transfer 1024, program 100'000 ns. A block has eight pages; planes 0 and 1 are one die of channel 0,
// planes 2 and 3 its next chip.
#include "base/contract.h"
#include "tests/nand/fixed_outcomes.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

NandConfig lines_of(CellType cell, bool one_shot = true) {
    NandConfig config = round_config();
    config.geometry.cell = cell;
    config.options.one_shot = one_shot;
    return config;
}

/// Pages `first` to `first` + `count` - 1 of each of these blocks. Page p of the n-th block holds the value 100 n + p + 1.
auto program_lines(Flash& flash, std::initializer_list<std::uint32_t> blocks, std::uint32_t first, std::uint32_t count, SimTime now) {
    std::vector<std::vector<std::byte>> data;
    std::vector<PageProgram> pages;
    for (std::uint32_t n = 0; const std::uint32_t block : blocks) {
        for (std::uint32_t page = first; page < first + count; ++page) {
            const std::uint32_t value = 100 * n + page + 1;
            data.push_back(page_bytes_of(flash.geometry, value));
            pages.push_back({flash.page(block, page), data.back(), PageOob{Lpn{value}, WriteSequence{value}, PageKind::data, 0}});
        }
        ++n;
    }
    return flash.array.program(pages, {now, {}});
}

CellState state_of(Flash& flash, std::uint32_t block, std::uint32_t page) { return flash.store.read_record(flash.page(block, page))->state; }

class FailOne final : public NandFaults {
public:
    explicit FailOne(Ppn page) : page_{page} {}
    bool program_fails(Ppn page) override { return page == page_; }
    bool erase_fails(BlockId) override { return false; }
    bool read_fails(Ppn) override { return false; }

private:
    Ppn page_;
};

/// What is programmed on even planes is garbage, on odd ones complete. Counts the questions.
class ByPlane final : public CutOutcomes {
public:
    explicit ByPlane(const Geometry& geometry) : geometry_{geometry} {}
    ProgramOutcome of_program(Ppn page) override {
        ++asked;
        return geometry_.plane_of(geometry_.block_of(page)).value() % 2 == 0 ? ProgramOutcome::garbage : ProgramOutcome::complete;
    }
    EraseOutcome of_erase(BlockId) override { return EraseOutcome::complete; }
    std::uint64_t random() override { return 1; }
    std::uint32_t asked = 0;

private:
    const Geometry& geometry_;
};

} // namespace

TEST_CASE("a word line pays commands and transfers one after the other, and its cells once", "[nand][one-shot]") {
    const auto [cell, pages] = GENERATE(std::pair{CellType::mlc, 2u}, std::pair{CellType::tlc, 3u}, std::pair{CellType::qlc, 4u});
    CAPTURE(pages);
    Flash flash{lines_of(cell)};
    const SimTime end = at(pages * 1124 + 100'000);
    CHECK(program_lines(flash, {0}, 0, pages, at(0)) == end);
    CHECK(flash.array.channel_busy(ChannelId{0}) == Duration{pages * 1124});
    CHECK(flash.array.plane_busy(PlaneId{0}) == Duration{pages * 1124 + 100'000});
    CHECK(flash.array.counters().programs[0] == pages);
    CHECK(flash.array.counters().programs_along == pages - 1);
    CHECK(flash.array.counters().multi_plane_programs == 0);
    CHECK(program_lines(flash, {0}, pages, pages, at(0)) == end + Duration{pages * 1124 + 100'000}); // the next line of the plane
    for (std::uint32_t page = 0; page < 2 * pages; ++page) {
        std::vector<std::byte> data(flash.geometry.page_bytes());
        REQUIRE(flash.array.read(PageRead{flash.page(0, page), 0, flash.geometry.page_bytes(), data}, {at(1'000'000), {}}));
        CHECK(data == page_bytes_of(flash.geometry, page + 1));
    }
}

TEST_CASE("word lines of both planes of a die are one operation, and the bus is free for the next chip while it works", "[nand][one-shot]") {
    Flash flash{lines_of(CellType::tlc)};
    const std::uint32_t a = flash.block_on(0), b = flash.block_on(1), other_chip = flash.block_on(2);
    CHECK(program_lines(flash, {a, b}, 0, 3, at(0)) == at(6 * 1124 + 100'000));
    CHECK(program_lines(flash, {other_chip}, 0, 3, at(0)) == at(6 * 1124 + 3 * 1124 + 100'000));
    CHECK(flash.array.counters().multi_plane_programs == 1);
    CHECK(flash.array.counters().programs_along == 6);
}

TEST_CASE("a word line that is given in parts pays for each of them", "[nand][one-shot]") {
    Flash flash{lines_of(CellType::tlc)};
    REQUIRE(program_lines(flash, {0}, 0, 1, at(0)) == at(1124 + 100'000));
    CHECK(program_lines(flash, {0}, 1, 2, at(0)) == at(3 * 1124 + 2 * 100'000));
    REQUIRE(program_lines(flash, {0}, 3, 3, at(1'000'000)) == at(1'000'000 + 3 * 1124 + 100'000));
    CHECK(program_lines(flash, {0}, 6, 2, at(2'000'000)) == at(2'000'000 + 2 * 1124 + 100'000)); // the two pages that fill no line
}

TEST_CASE("pages of two word lines, of two blocks, out of order, or on chips that program page by page are refused", "[nand][one-shot]") {
    const auto refused = [](const NandConfig& config, std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> places) {
        Flash flash{config};
        const auto data = page_bytes_of(flash.geometry, 1);
        std::vector<PageProgram> pages;
        for (const auto& [block, page] : places)
            pages.push_back({flash.page(block, page), data, PageOob{Lpn{page}, WriteSequence{1}, PageKind::data, 0}});
        CHECK_THROWS_AS(flash.array.program(pages, {at(0), {}}), ContractViolation);
        CHECK(flash.array.write_pointer(BlockId{0}) == 0);
    };
    const NandConfig tlc = lines_of(CellType::tlc);
    refused(lines_of(CellType::tlc, false), {{0, 0}, {0, 1}});
    refused(lines_of(CellType::slc), {{0, 0}, {0, 1}});
    refused(tlc, {{0, 2}, {0, 3}});
    refused(tlc, {{0, 0}, {1, 1}}); // blocks of one plane
    refused(tlc, {{0, 1}, {0, 0}});
    refused(tlc, {{0, 0}, {0, 2}});
    refused(tlc, {{0, 0}, {0, 1}, {4, 0}});         // the other plane has one page less
    refused(tlc, {{0, 0}, {4, 0}, {0, 1}, {4, 1}}); // the pages of a plane follow each other
}

TEST_CASE("the pages of a word line fail together, those of the other plane hold their data", "[nand][one-shot]") {
    Flash flash{lines_of(CellType::tlc)};
    const std::uint32_t a = flash.block_on(0), b = flash.block_on(1);
    FailOne faults{flash.page(a, 1)};
    flash.array.set_faults(&faults);
    const auto failed = program_lines(flash, {a, b}, 0, 3, at(0));
    flash.array.set_faults(nullptr);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == NandErrorKind::program_failed);
    CHECK(flash.geometry.block_of(failed.error().page) == BlockId{a});
    for (std::uint32_t page = 0; page < 3; ++page) {
        CHECK(state_of(flash, a, page) == CellState::garbage);
        CHECK(state_of(flash, b, page) == CellState::programmed);
    }
}

TEST_CASE("a cut in the middle leaves all pages of a word line in one state", "[nand][one-shot]") {
    const auto [outcome, state] =
        GENERATE(std::pair{ProgramOutcome::not_started, CellState::erased}, std::pair{ProgramOutcome::complete, CellState::programmed},
                 std::pair{ProgramOutcome::prefix_torn, CellState::torn}, std::pair{ProgramOutcome::garbage, CellState::garbage},
                 std::pair{ProgramOutcome::unstable, CellState::unstable}, std::pair{ProgramOutcome::looks_erased, CellState::weak});
    Flash flash{lines_of(CellType::tlc)};
    REQUIRE(program_lines(flash, {0}, 0, 3, at(0)));
    REQUIRE(program_lines(flash, {0}, 3, 3, at(0)) == at(2 * (3 * 1124 + 100'000)));
    test::FixedOutcomes outcomes{outcome, EraseOutcome::complete};
    REQUIRE(flash.array.cut(at(150'000), outcomes)); // the second line is under way
    for (std::uint32_t page = 0; page < 3; ++page) CHECK(state_of(flash, 0, page) == CellState::programmed);
    for (std::uint32_t page = 3; page < 6; ++page) CHECK(state_of(flash, 0, page) == state);
}

TEST_CASE("the word lines of two planes have an outcome each, and a cut before the cells work leaves nothing", "[nand][one-shot]") {
    const bool is_under_way = GENERATE(true, false);
    Flash flash{lines_of(CellType::tlc)};
    const std::uint32_t a = flash.block_on(0), b = flash.block_on(1);
    REQUIRE(program_lines(flash, {a, b}, 0, 3, at(0)));
    std::vector<NandFlight> flights;
    flash.array.append_flights(flights);
    CHECK(flights.size() == 2);
    ByPlane outcomes{flash.geometry};
    REQUIRE(flash.array.cut(at(is_under_way ? 6 * 1124 + 1 : 6 * 1124), outcomes));
    CHECK(outcomes.asked == (is_under_way ? 2 : 0));
    for (std::uint32_t page = 0; page < 3; ++page) {
        CHECK(state_of(flash, a, page) == (is_under_way ? CellState::garbage : CellState::erased));
        CHECK(state_of(flash, b, page) == (is_under_way ? CellState::programmed : CellState::erased));
    }
}

TEST_CASE("a striped page's members program their parts of a word line at once", "[nand][one-shot]") {
    NandConfig config = lines_of(CellType::tlc);
    config.striping = 2;
    Flash flash{config};
    const auto data = page_bytes_of(flash.array.geometry(), 1);
    std::vector<PageProgram> pages;
    for (std::uint32_t page = 0; page < 3; ++page) pages.push_back({Ppn{page}, data, PageOob{Lpn{page}, WriteSequence{page + 1}, PageKind::data, 0}});
    CHECK(flash.array.program(pages, {at(0), {}}) == at(3 * 1124 + 100'000)); // on two channels side by side
}
