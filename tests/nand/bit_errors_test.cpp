// Goal: raw bit errors follow the published formula; what they cost is paid in sensings; a page only gets worse; an erase makes all good, and the
// power cut of one does not. Times by hand from the fixture's round numbers: command 100, read 10'000, page transfer 1024 ns.
#include "nand/bit_errors.h"

#include <filesystem>

#include "nand/image_page_store.h"
#include "tests/nand/fixed_outcomes.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace flashlab;
using namespace flashlab::testing;
using flashlab::test::FixedOutcomes;
using flashlab::test::TemporaryDirectory;

namespace {

constexpr std::chrono::hours day{24};
constexpr std::int64_t one_read = 100 + 10'000 + 1024;

NandConfig with_errors(std::uint32_t cycles_before) {
    NandConfig config = round_config();
    config.errors = {.cells = CellErrors::tlc_72, .cycles_before = cycles_before, .ecc_decode = Duration{500}};
    return config;
}

/// Block 0 is written, and lies for so long.
struct OldFlash : Flash {
    explicit OldFlash(const NandConfig& of, Duration shelf = {}) : Flash{of} {
        for (std::uint32_t p = 0; p < geometry.pages_per_block(); ++p) REQUIRE(program(page(0, p), p, at(0)));
        REQUIRE(array.grow_older(shelf));
    }
    [[nodiscard]] std::uint64_t retries() const { return array.counters().read_retries; }
};

} // namespace

TEST_CASE("raw bit errors are those of the published formula, with days and reads a page", "[nand][errors]") {
    const auto rate = [](double cycles, double days) { return raw_bit_error_rate(CellErrors::tlc_72, cycles, days, 0); };
    CHECK(rate(1000, 30) == Approx(3.067e-3).epsilon(1e-3));
    CHECK(rate(1000, 365) == Approx(6.027e-3).epsilon(1e-3));
    CHECK(rate(3000, 365) == Approx(1.138e-2).epsilon(1e-3));
    CHECK(rate(0, 0) == Approx(1.48e-3));
    CHECK(raw_bit_error_rate(CellErrors::tlc_72, 1000, 0, 100) > raw_bit_error_rate(CellErrors::tlc_72, 1000, 0, 10));
    CHECK(raw_bit_error_rate(CellErrors::mlc_2y, 0, 0, 0) == Approx(8.34e-5));
}

TEST_CASE("the wrong bits of pages scatter as the worst of their code words do", "[nand][errors]") {
    NandConfig config = with_errors(2000);
    config.geometry.page_bytes = 4096;
    config.geometry.pages_per_block = 4096;
    config.errors.read_retries = 0;
    const Geometry geometry = *Geometry::make(config.geometry);
    // 2000 cycles: 3.76e-3 of 8192 bits, 30.8; more than 40 are 1.66 deviations more: of one code word 4.8 %, of a page of four 18 %.
    BitErrors errors{geometry, config};
    std::uint32_t lost = 0;
    for (std::uint32_t p = 0; p < 4096; ++p) lost += errors.retries(Ppn{p}, BlockId{0}, {}, sim_start) ? 0u : 1u;
    CHECK(lost > 4096 * 15 / 100);
    CHECK(lost < 4096 * 21 / 100);
}

TEST_CASE("a page never needs fewer retries as time, reads and erases grow, and the same again for the same", "[nand][errors]") {
    const NandConfig config = with_errors(500);
    const Geometry geometry = *Geometry::make(config.geometry);
    BitErrors errors{geometry, config}, again{geometry, config};
    const auto needed = [](BitErrors& of, std::uint32_t page, std::uint32_t reads, std::int64_t days) {
        return of.retries(Ppn{page}, BlockId{0}, {.age = {.reads = reads}}, sim_start + days * Duration{day}).value_or(99);
    };
    std::uint32_t worst = 0;
    for (std::uint32_t page = 0; page < 8; ++page) {
        std::uint32_t before = 0;
        for (std::int64_t days = 0; days < 4000; days += 50) {
            const std::uint32_t now = needed(errors, page, 0, days);
            CHECK(now >= before);
            CHECK(now == needed(again, page, 0, days));
            CHECK(needed(errors, page, 1000, days) >= now);
            before = now;
        }
        worst = std::max(worst, before);
    }
    CHECK(worst > 0);
    CHECK(errors.retries(Ppn{0}, BlockId{0}, {.mode = CellType::slc}, sim_start + 4000 * Duration{day}) == 0u);
}

TEST_CASE("each retry is a sensing more, with its command, its transfer and its decoding", "[nand][errors]") {
    OldFlash fresh{with_errors(0)};
    CHECK(fresh.read(fresh.page(0, 0), at(2'000'000)) == at(2'000'000 + one_read + 500));
    CHECK(fresh.retries() == 0);
    OldFlash old{with_errors(2000), 365 * Duration{day}}; // 67 wrong bits in the mean; 40 are corrected, and 20 more with each retry
    const auto done = old.read(old.page(0, 1), at(2'000'000));
    REQUIRE(done);
    const auto again = static_cast<std::int64_t>(old.retries());
    CHECK(again >= 1);
    CHECK(*done == at(2'000'000 + (again + 1) * (one_read + 500)));
    CHECK(old.array.counters().reads[0] == old.retries() + 1);
    const auto reads = std::ranges::count(old.sink.operations, NandOp::read, &NandOpEvent::op);
    CHECK(reads == again + 1);
    const auto tired = old.array.take_tired();
    REQUIRE(tired);
    CHECK(tired->block == BlockId{0});
    CHECK(tired->retries == old.retries());
    CHECK_FALSE(old.array.take_tired());
    REQUIRE(old.read(old.page(0, 1), at(9'000'000)));
    REQUIRE(old.array.erase(BlockId{0}, {at(20'000'000), {}})); // moved meanwhile: what it holds now is not what was tired
    CHECK_FALSE(old.array.take_tired());
}

TEST_CASE("what no retry corrects is lost to reads and copies; its OOB is there, and an erased page is no error", "[nand][errors]") {
    OldFlash lost{with_errors(10'000), 3650 * Duration{day}};
    const auto read = lost.read(lost.page(0, 0), at(2'000'000));
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == NandErrorKind::uncorrectable);
    CHECK(read.error().done == at(2'000'000 + 4 * (one_read + 500)));
    CHECK(lost.array.counters().uncorrected_reads == 1);
    CHECK(lost.array.copy(lost.page(0, 0), lost.page(4, 0), {at(3'000'000), {Cause::gc, no_event}}).error().kind == NandErrorKind::uncorrectable);
    CHECK(lost.array.read_oob(lost.page(0, 0), {at(4'000'000), {}})->oob->lpn == Lpn{0});
    const std::uint64_t before = lost.retries();
    CHECK(lost.read(lost.page(1, 0), at(5'000'000)).error().kind == NandErrorKind::erased_page);
    CHECK(lost.retries() == before);
}

TEST_CASE("new data in an erased block are young, and a page that shares its reads shares its age", "[nand][errors]") {
    OldFlash flash{with_errors(3000), 365 * Duration{day}};
    CHECK(flash.array.days_since_program(BlockId{0}, at(0)) == Approx(365));
    REQUIRE(flash.array.erase(BlockId{0}, {at(2'000'000), {}}));
    REQUIRE(flash.program(flash.page(0, 0), 9, at(4'000'000)));
    CHECK(flash.array.days_since_program(BlockId{0}, at(4'000'000)) == 0);
    CHECK(flash.array.days_since_program(BlockId{0}, at(0) + 2 * Duration{day}) == Approx(2).margin(0.001));
}

TEST_CASE("reading disturbs a block: enough reads take retries, and an erase forgets them", "[nand][errors]") {
    NandConfig config = with_errors(1500);
    OldFlash flash{config};
    SimTime now = at(2'000'000);
    for (int i = 0; i < 60'000 && flash.retries() == 0; ++i) now = *flash.read(flash.page(0, static_cast<std::uint32_t>(i % 8)), now);
    CHECK(flash.retries() > 0);
}

TEST_CASE("a power cut that undoes an erase gives the old data their age back", "[nand][errors]") {
    OldFlash flash{with_errors(0), 100 * Duration{day}};
    const auto erased = flash.array.erase(BlockId{0}, {at(2'000'000), {}});
    REQUIRE(erased);
    REQUIRE(flash.program(flash.page(0, 0), 9, *erased));
    FixedOutcomes outcomes{ProgramOutcome::not_started, EraseOutcome::not_started};
    REQUIRE(flash.array.cut(at(1'999'000), outcomes));
    NandArray again{flash.geometry, flash.config, flash.store, flash.sink, UndoPolicy::keep};
    REQUIRE(again.open());
    CHECK(again.days_since_program(BlockId{0}, at(0)) == Approx(100));
}

TEST_CASE("ages and reads lie in the block's record: 24 bits each, and an image of before gets them when they are first written", "[nand][errors]") {
    std::array<std::byte, ImageLayout::block_record_bytes> raw{};
    encode_block_record({.erase_count = 7, .age = {.programmed = 0x801234, .reads = 0x0a0b0c}}, raw);
    const std::array<unsigned, 12> expected{7, 0, 0, 0, 0, 0, 0x34, 0x12, 0x80, 0x0c, 0x0b, 0x0a};
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::to_integer<unsigned>(raw[i]) == expected[i]);
    BlockRecord back;
    REQUIRE(decode_block_record(raw, back));
    CHECK(back.age.programmed == 0x801234);
    CHECK(back.age.reads == 0x0a0b0c);

    const TemporaryDirectory folder;
    const auto path = folder / "nand.img";
    const NandConfig config = with_errors(0);
    const Geometry geometry = *Geometry::make(config.geometry);
    {
        const auto store = ImagePageStore::create(path, geometry, Uuid{});
        REQUIRE(store);
        RecordingSink sink;
        NandArray array{geometry, config, **store, sink, UndoPolicy::none};
        REQUIRE(array.open());
        const auto data = page_bytes_of(geometry, 1);
        const PageProgram one{geometry.page_of(BlockId{3}, 0), data, PageOob{Lpn{1}, WriteSequence{1}, PageKind::data, 0}};
        REQUIRE(array.program({&one, 1}, {at(0), {}}));
        REQUIRE(array.grow_older(40 * Duration{day}));
    }
    const auto store = ImagePageStore::open(path, geometry);
    REQUIRE(store);
    RecordingSink sink;
    NandArray array{geometry, config, **store, sink, UndoPolicy::none};
    REQUIRE(array.open());
    CHECK(array.days_since_program(BlockId{3}, at(0)) == Approx(40));
}
