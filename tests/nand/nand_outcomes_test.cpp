// What a cut leaves beyond torn and garbage: unstable and weak pages (T4, T5), weak and half erased blocks (E3, E4), damaged pairs (T6).
#include <set>

#include "nand/paired_pages.h"
#include "tests/nand/fixed_outcomes.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;
using flashlab::test::FixedOutcomes;

namespace {

/// The power fails at `cut` while the last operation of `run` is under way; `after` looks at the cells with a new array.
template <class Run, class After>
void after_cut(NandConfig config, CutOutcomes& outcomes, SimTime cut, Run&& run, After&& after) {
    Flash flash{config};
    run(flash);
    REQUIRE(flash.array.cut(cut, outcomes));
    RecordingSink sink;
    NandArray again{flash.geometry, flash.config, flash.store, sink, UndoPolicy::keep};
    REQUIRE(again.open());
    after(flash, again);
}

NandConfig of_cell(CellType cell, std::uint32_t pages) {
    NandConfig config = round_config();
    config.geometry.cell = cell;
    config.geometry.pages_per_block = pages;
    return config;
}

std::vector<std::vector<std::uint32_t>> pairs_of(CellType cell, std::uint32_t pages) {
    const PairedPages paired{of_cell(cell, pages).geometry};
    std::vector<std::vector<std::uint32_t>> all;
    for (std::uint32_t page = 0; page < pages; ++page) {
        const auto endangered = paired.endangered_by(page);
        all.emplace_back(endangered.begin(), endangered.end());
        for (const std::uint32_t earlier : endangered) CHECK(paired.safe_after(earlier) >= page);
    }
    return all;
}

auto read_page(Flash& flash, NandArray& array, Ppn page, std::vector<std::byte>& to) {
    to.assign(flash.geometry.page_bytes(), std::byte{0});
    return array.read(PageRead{page, 0, flash.geometry.page_bytes(), to}, {at(5'000'000), {}});
}

} // namespace

TEST_CASE("pages share cells in the staggered order of real chips, and a rest that fills no word line with nobody", "[nand][outcomes]") {
    using Pairs = std::vector<std::vector<std::uint32_t>>;
    CHECK(pairs_of(CellType::slc, 4) == Pairs{{}, {}, {}, {}});
    CHECK(pairs_of(CellType::mlc, 8) == Pairs{{}, {}, {0}, {}, {1}, {}, {3}, {5}});                // L0 L1 U0 L2 U1 L3 U2 U3
    CHECK(pairs_of(CellType::tlc, 9) == Pairs{{}, {}, {0}, {}, {1}, {0, 2}, {3}, {1, 4}, {3, 6}}); // L0 L1 M0 L2 M1 U0 M2 U1 U2
    CHECK(pairs_of(CellType::tlc, 4) == Pairs{{}, {0}, {0, 1}, {}});
    CHECK(PairedPages{of_cell(CellType::tlc, 9).geometry}.safe_after(0) == 5);
    CHECK(PairedPages{of_cell(CellType::tlc, 4).geometry}.safe_after(3) == 3);
}

TEST_CASE("T4: an unstable page tells so by its OOB, reads right once and then no more", "[nand][outcomes]") {
    FixedOutcomes outcomes{ProgramOutcome::unstable, EraseOutcome::complete};
    after_cut(
        round_config(), outcomes, at(50'000), [](Flash& flash) { REQUIRE(flash.program(flash.page(0, 0), 7, at(0))); },
        [](Flash& flash, NandArray& again) {
            const auto oob = again.read_oob(flash.page(0, 0), {at(1'000'000), {}});
            REQUIRE(oob);
            CHECK(oob->state == CellState::unstable);
            CHECK(oob->oob->sequence == WriteSequence{7});
            std::vector<std::byte> data;
            REQUIRE(read_page(flash, again, flash.page(0, 0), data));
            CHECK(data == page_bytes_of(flash.geometry, 7));
            const auto second = read_page(flash, again, flash.page(0, 0), data);
            REQUIRE_FALSE(second);
            CHECK(second.error().kind == NandErrorKind::uncorrectable);
        });
}

TEST_CASE("T4: an unstable page can be copied once, with its OOB", "[nand][outcomes]") {
    FixedOutcomes outcomes{ProgramOutcome::unstable, EraseOutcome::complete};
    after_cut(
        round_config(), outcomes, at(50'000), [](Flash& flash) { REQUIRE(flash.program(flash.page(0, 0), 7, at(0))); },
        [](Flash& flash, NandArray& again) {
            REQUIRE(again.copy(flash.page(0, 0), flash.page(1, 0), {at(1'000'000), {}}));
            std::vector<std::byte> data;
            REQUIRE(read_page(flash, again, flash.page(1, 0), data));
            CHECK(data == page_bytes_of(flash.geometry, 7));
            CHECK_FALSE(again.copy(flash.page(0, 0), flash.page(1, 1), {at(2'000'000), {}}));
        });
}

TEST_CASE("T5: a page that looks erased takes a program, says it is done, and holds garbage", "[nand][outcomes]") {
    FixedOutcomes outcomes{ProgramOutcome::looks_erased, EraseOutcome::complete};
    after_cut(
        round_config(), outcomes, at(50'000), [](Flash& flash) { REQUIRE(flash.program(flash.page(0, 0), 7, at(0))); },
        [](Flash& flash, NandArray& again) {
            CHECK(again.read_oob(flash.page(0, 0), {at(1'000'000), {}})->state == CellState::erased);
            CHECK(again.write_pointer(BlockId{0}) == 0);
            const auto data = page_bytes_of(flash.geometry, 8);
            const PageProgram one{flash.page(0, 0), data, PageOob{Lpn{1}, WriteSequence{8}, PageKind::data, 0}};
            REQUIRE(again.program({&one, 1}, {at(2'000'000), {}}));
            std::vector<std::byte> got;
            CHECK_FALSE(read_page(flash, again, flash.page(0, 0), got));
            // A page that was not touched is as good as ever, and an erase heals the weak one.
            const PageProgram next{flash.page(0, 1), data, PageOob{Lpn{1}, WriteSequence{9}, PageKind::data, 0}};
            REQUIRE(again.program({&next, 1}, {at(3'000'000), {}}));
            CHECK(read_page(flash, again, flash.page(0, 1), got));
            REQUIRE(again.erase(BlockId{0}, {at(6'000'000), {}}));
            REQUIRE(again.program({&one, 1}, {at(8'000'000), {}}));
            REQUIRE(again.read(PageRead{flash.page(0, 0), 0, flash.geometry.page_bytes(), got}, {at(9'000'000), {}}));
            CHECK(got == data);
        });
}

TEST_CASE("T5: undoing a program over weak cells leaves them weak", "[nand][outcomes]") {
    FixedOutcomes outcomes{ProgramOutcome::looks_erased, EraseOutcome::complete};
    after_cut(
        round_config(), outcomes, at(50'000), [](Flash& flash) { REQUIRE(flash.program(flash.page(0, 0), 7, at(0))); },
        [](Flash& flash, NandArray& again) {
            const auto data = page_bytes_of(flash.geometry, 8);
            const PageProgram one{flash.page(0, 0), data, PageOob{Lpn{1}, WriteSequence{8}, PageKind::data, 0}};
            REQUIRE(again.program({&one, 1}, {at(2'000'000), {}}));
            FixedOutcomes none{ProgramOutcome::not_started, EraseOutcome::not_started};
            REQUIRE(again.cut(at(2'000'010), none));
            CHECK(flash.store.read_record(flash.page(0, 0))->state == CellState::weak);
        });
}

TEST_CASE("E3: a weak block reads erased and spoils what is programmed, until it is erased again", "[nand][outcomes]") {
    FixedOutcomes outcomes{ProgramOutcome::complete, EraseOutcome::weak};
    after_cut(
        round_config(), outcomes, at(500'000),
        [](Flash& flash) {
            REQUIRE(flash.program(flash.page(0, 0), 7, at(0)));
            REQUIRE(flash.array.erase(BlockId{0}, {at(200'000), {}}));
        },
        [](Flash& flash, NandArray& again) {
            CHECK(again.write_pointer(BlockId{0}) == 0);
            const auto data = page_bytes_of(flash.geometry, 8);
            std::vector<std::byte> got;
            for (std::uint32_t page = 0; page < flash.geometry.pages_per_block(); ++page) {
                CHECK(again.read_oob(flash.page(0, page), {at(1'500'000), {}})->state == CellState::erased);
            }
            const PageProgram one{flash.page(0, 0), data, PageOob{Lpn{1}, WriteSequence{8}, PageKind::data, 0}};
            REQUIRE(again.program({&one, 1}, {at(2'000'000), {}}));
            CHECK_FALSE(read_page(flash, again, flash.page(0, 0), got));
            REQUIRE(again.erase(BlockId{0}, {at(3'000'000), {}}));
            REQUIRE(again.program({&one, 1}, {at(4'500'000), {}}));
            CHECK(read_page(flash, again, flash.page(0, 0), got));
        });
}

TEST_CASE("E4: of a half erased block some pages still read, with valid OOB, and others are gone", "[nand][outcomes]") {
    std::set<CellState> seen;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        FixedOutcomes outcomes{ProgramOutcome::complete, EraseOutcome::mixed, seed};
        after_cut(
            round_config(), outcomes, at(1'500'000),
            [](Flash& flash) {
                for (std::uint32_t page = 0; page < 8; ++page) REQUIRE(flash.program(flash.page(0, page), 10 + page, at(0)));
                REQUIRE(flash.array.erase(BlockId{0}, {at(1'000'000), {}}));
            },
            [&](Flash& flash, NandArray& again) {
                for (std::uint32_t page = 0; page < 8; ++page) {
                    seen.insert(flash.store.read_record(flash.page(0, page))->state);
                    const auto oob = again.read_oob(flash.page(0, page), {at(4'000'000), {}});
                    std::vector<std::byte> data;
                    const auto got = read_page(flash, again, flash.page(0, page), data);
                    CHECK(got.has_value() == (oob->state == CellState::programmed));
                    if (!got) continue;
                    CHECK(oob->oob->sequence == WriteSequence{10 + page});
                    CHECK(data == page_bytes_of(flash.geometry, 10 + page));
                }
            });
    }
    CHECK(seen == std::set{CellState::programmed, CellState::garbage, CellState::weak});
}

TEST_CASE("T6: the earlier pages of the word line are lost with the program that was cut, the others are not", "[nand][outcomes]") {
    FixedOutcomes outcomes{ProgramOutcome::pair_damaged, EraseOutcome::complete};
    after_cut(
        of_cell(CellType::tlc, 9), outcomes, at(550'000),
        [](Flash& flash) {
            for (std::uint32_t page = 0; page < 6; ++page) REQUIRE(flash.program(flash.page(0, page), 10 + page, at(0)));
        },
        [](Flash& flash, NandArray& again) {
            std::vector<std::byte> data;
            for (std::uint32_t page = 0; page < 6; ++page) {
                CAPTURE(page);
                const bool lost = page == 0 || page == 2 || page == 5; // U0 is page 5, its line L0 and M0
                CHECK(read_page(flash, again, flash.page(0, page), data).has_value() == !lost);
            }
        });
}

TEST_CASE("T6: a page of the word line that was passed over is as erased after the cut as before", "[nand][outcomes]") {
    FixedOutcomes outcomes{ProgramOutcome::pair_damaged, EraseOutcome::complete};
    after_cut(
        of_cell(CellType::tlc, 9), outcomes, at(350'000),
        [](Flash& flash) {
            for (const std::uint32_t page : {1u, 3u, 4u, 5u}) REQUIRE(flash.program(flash.page(0, page), 10 + page, at(0))); // not 0 and 2
        },
        [](Flash& flash, NandArray& again) {
            for (const std::uint32_t page : {0u, 2u}) CHECK(again.read_oob(flash.page(0, page), {at(1'000'000), {}})->state == CellState::erased);
            CHECK(again.read_oob(flash.page(0, 5), {at(2'000'000), {}})->state == CellState::garbage);
        });
}
