// Goal: an erase chooses how many bits a block's cells hold; pages, times and endurance follow, and a cut leaves one mode or the other. Times by hand
// from the fixture's round numbers: command 100, page transfer 1024 ns; TLC reads 10'000, programs 100'000, erases 1'000'000; SLC 4'000, 20'000,
// 500'000. A block has eight pages of TLC, two of SLC.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/contract.h"
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

NandConfig with_slc() {
    NandConfig config = round_config();
    config.geometry.cell = CellType::tlc;
    config.modes[0] = {.page_program = Duration{20'000}, .page_read = Duration{4'000}, .block_erase = Duration{500'000}, .endurance_cycles = 30'000};
    return config;
}

void copy_cells(Flash& flash, PageStore& to) {
    std::vector<BlockRecord> blocks(flash.geometry.blocks());
    REQUIRE(flash.store.read_blocks(BlockId{0}, blocks));
    std::vector<std::byte> data(flash.geometry.page_bytes());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        REQUIRE(to.write_block(BlockId{b}, blocks[b]));
        for (std::uint32_t page = 0; page < flash.geometry.pages_per_block(); ++page) {
            const Ppn at = flash.page(b, page);
            REQUIRE(to.write_record(at, *flash.store.read_record(at)));
            REQUIRE(flash.store.read_data(at, 0, data));
            REQUIRE(to.write_data(at, data));
        }
    }
}

struct ReopenedModes {
    explicit ReopenedModes(Flash& flash) : array{flash.geometry, flash.config, flash.store, sink, UndoPolicy::keep} { REQUIRE(array.open()); }
    RecordingSink sink;
    NandArray array;
};

} // namespace

TEST_CASE("a mode has a share of the pages, and what it does not say is the cells' own", "[nand][modes]") {
    NandConfig config = with_slc();
    config.geometry.cell = CellType::qlc;
    config.geometry.pages_per_block = 1024;
    config.modes[2] = {.page_program = Duration{70'000}};
    const Media media{config};
    CHECK(media.of(CellType::slc).pages == 256);
    CHECK(media.of(CellType::slc).endurance_cycles == 30'000);
    CHECK(media.of(CellType::tlc).pages == 768);
    CHECK(media.of(CellType::tlc).page_read == Duration{10'000});
    CHECK(media.of(CellType::tlc).endurance_cycles == config.endurance_cycles);
    CHECK(media.of(CellType::qlc).pages == 1024);
    CHECK(media.has(CellType::slc));
    CHECK_FALSE(media.has(CellType::mlc));
    CHECK(media.has(CellType::qlc));
    CHECK(media.shortest() == Duration{4'000});
    CHECK(Media{round_config()}.is_single());
}

TEST_CASE("a block takes the times of the mode that its erase chose, and its own again with the next erase", "[nand][modes]") {
    Flash flash{with_slc()};
    CHECK(flash.array.pages_in(BlockId{0}) == 8);
    REQUIRE(flash.array.erase_as(BlockId{0}, CellType::slc, {at(0), {}}) == at(100 + 500'000));
    CHECK(flash.array.mode_of(BlockId{0}) == CellType::slc);
    CHECK(flash.array.pages_in(BlockId{0}) == 2);
    CHECK(flash.array.mode_of(BlockId{1}) == CellType::tlc);
    CHECK(flash.program(flash.page(0, 0), 7, at(600'000)) == at(600'000 + 1124 + 20'000));
    CHECK(flash.read(flash.page(0, 0), at(700'000)) == at(700'000 + 100 + 4'000 + 1024));
    CHECK(flash.program(flash.page(1, 0), 8, at(800'000)) == at(800'000 + 1124 + 100'000));
    REQUIRE(flash.array.erase(BlockId{0}, {at(1'000'000), {}}) == at(1'000'000 + 100 + 1'000'000));
    CHECK(flash.array.pages_in(BlockId{0}) == 8);
    CHECK(flash.program(flash.page(0, 0), 9, at(3'000'000)) == at(3'000'000 + 1124 + 100'000));
}

TEST_CASE("a page that the mode has not, a mode that the chips have not, and planes of two modes are refused", "[nand][modes]") {
    Flash flash{with_slc()};
    CHECK_THROWS_AS(flash.array.erase_as(BlockId{0}, CellType::mlc, {at(0), {}}), ContractViolation);
    CHECK_THROWS_AS(flash.array.erase_as(BlockId{0}, CellType::qlc, {at(0), {}}), ContractViolation);
    CHECK(flash.array.erase_count(BlockId{0}) == 0);
    REQUIRE(flash.array.erase_as(BlockId{0}, CellType::slc, {at(0), {}}));
    REQUIRE(flash.program(flash.page(0, 0), 1, at(1'000'000)));
    const auto data = page_bytes_of(flash.geometry, 1);
    const PageOob oob{Lpn{1}, WriteSequence{1}, PageKind::data, 0};
    const PageProgram both[] = {{flash.page(0, 1), data, oob}, {flash.page(flash.block_on(1), 1), data, oob}};
    CHECK_THROWS_AS(flash.array.program(both, {at(1'000'000), {}}), ContractViolation);
    REQUIRE(flash.program(flash.page(0, 1), 2, at(1'000'000)));
    CHECK_THROWS_AS(flash.program(flash.page(0, 2), 3, at(1'000'000)), ContractViolation);
    CHECK(flash.array.write_pointer(BlockId{0}) == 2);
}

TEST_CASE("a marked block keeps its mode, and a cut that takes the mark back gives it its pages again", "[nand][modes]") {
    Flash flash{with_slc()};
    const auto erased = flash.array.erase_as(BlockId{0}, CellType::slc, {at(0), {}});
    REQUIRE(erased);
    flash.array.settle(*erased);
    const auto marked = flash.array.mark_bad(BlockId{0}, at(2'000'000));
    REQUIRE(marked);
    CHECK(flash.array.is_bad(BlockId{0}));
    CHECK_THROWS_AS(flash.program(flash.page(0, 0), 1, at(2'000'000)), ContractViolation);
    FixedOutcomes outcomes{ProgramOutcome::complete, EraseOutcome::complete};
    REQUIRE(flash.array.cut(at(1'900'000), outcomes));
    ReopenedModes again{flash};
    CHECK_FALSE(again.array.is_bad(BlockId{0}));
    CHECK(again.array.pages_in(BlockId{0}) == 2);
}

TEST_CASE("every cut of erases that change the mode, with every outcome, leaves one of the two and a block that can be used",
          "[nand][modes][crash]") {
    const auto outcome = GENERATE(EraseOutcome::not_started, EraseOutcome::complete, EraseOutcome::garbage, EraseOutcome::weak, EraseOutcome::mixed);
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
    CAPTURE(outcome, seed);
    Flash flash{with_slc()};
    for (std::uint32_t page = 0; page < 8; ++page) REQUIRE(flash.program(flash.page(0, page), page + 1, at(0))); // TLC, full
    const auto to_slc = flash.array.erase_as(BlockId{0}, CellType::slc, {at(1'000'000), {}});
    for (std::uint32_t page = 0; page < 2; ++page) REQUIRE(flash.program(flash.page(0, page), page + 101, *to_slc));
    const auto to_tlc = flash.array.erase(BlockId{0}, {at(2'000'000), {}});
    REQUIRE(flash.program(flash.page(0, 5), 201, *to_tlc));
    std::vector<SimTime> moments;
    flash.array.append_moments(moments);
    std::ranges::sort(moments, std::greater{});
    bool seen[2][2] = {}; // by erase: of a torn block both modes are left by some seed
    for (const SimTime moment : moments) {
        for (const SimTime cut : {moment + Duration{1}, moment}) {
            REQUIRE(flash.array.rewind(cut));
            MemoryPageStore cells{flash.geometry, Payload::keep};
            copy_cells(flash, cells);
            FixedOutcomes outcomes{ProgramOutcome::garbage, outcome, seed};
            REQUIRE(flash.array.tear(cut, outcomes, cells));
            RecordingSink sink;
            NandArray again{flash.geometry, flash.config, cells, sink, UndoPolicy::none};
            REQUIRE(again.open());
            const bool in_first = cut > at(1'000'100) && cut<*to_slc, in_second = cut> at(2'000'100) && cut < *to_tlc;
            const bool is_slc = again.mode_of(BlockId{0}) == CellType::slc;
            CAPTURE(ns_since_start(cut));
            CHECK(again.pages_in(BlockId{0}) == (is_slc ? 2 : 8));
            if (in_first || in_second) {
                if (outcome == EraseOutcome::not_started || outcome == EraseOutcome::mixed) CHECK(is_slc == in_second);
                if (outcome == EraseOutcome::complete) CHECK(is_slc == in_first);
                seen[in_second][is_slc] = true;
            } else {
                CHECK(is_slc == (cut >= *to_slc && cut <= at(2'000'100)));
            }
            if (cut <= at(1'000'100) && cut > at(900'000)) // nothing of the erase has begun: all of TLC reads
                CHECK(again.read(PageRead{flash.page(0, 7), 0, flash.geometry.page_bytes(), {}}, {at(9'000'000), {}}));
            REQUIRE(again.erase_as(BlockId{0}, CellType::slc, {at(9'500'000), {}}));
            CHECK(again.write_pointer(BlockId{0}) == 0);
        }
    }
    CHECK((seen[0][0] || seen[0][1]));
    CHECK((seen[1][0] || seen[1][1]));
}

TEST_CASE("an image keeps the modes of its blocks, and one of version 3 becomes the newest with the first block in another mode", "[nand][modes]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const NandConfig config = with_slc();
    const auto geometry = *Geometry::make(config.geometry);
    REQUIRE(ImagePageStore::create(path, geometry, Uuid{}));
    std::array<std::byte, ImageHeader::encoded_size> raw{};
    ImageHeader{.uuid = Uuid{}, .geometry = config.geometry, .version = 3}.encode(raw);
    std::fstream{path, std::ios::binary | std::ios::in | std::ios::out}.write(reinterpret_cast<const char*>(raw.data()), raw.size());
    const auto version = [&] {
        std::ifstream in{path, std::ios::binary};
        in.seekg(8);
        return in.get();
    };
    RecordingSink sink;
    {
        auto store = ImagePageStore::open(path, geometry);
        REQUIRE(store);
        NandArray array{geometry, config, **store, sink, UndoPolicy::none};
        REQUIRE(array.open());
        REQUIRE(array.erase(BlockId{2}, {at(0), {}}));
        CHECK(version() == 3);
        REQUIRE(array.erase_as(BlockId{3}, CellType::slc, {at(0), {}}));
        CHECK(version() == ImageHeader::current_version);
    }
    auto store = ImagePageStore::open(path, geometry);
    REQUIRE(store);
    NandArray array{geometry, config, **store, sink, UndoPolicy::none};
    REQUIRE(array.open());
    CHECK(array.mode_of(BlockId{2}) == CellType::tlc);
    CHECK(array.mode_of(BlockId{3}) == CellType::slc);
    CHECK(array.pages_in(BlockId{3}) == 2);
}

TEST_CASE("a block record has its mode behind the bad mark", "[nand][modes]") {
    std::array<std::byte, ImageLayout::block_record_bytes> raw{};
    encode_block_record({.erase_count = 7, .mode = CellType::slc}, raw);
    CHECK(raw[0] == std::byte{7});
    CHECK(raw[5] == std::byte{1}); // 0 is the cells' own
    CHECK(std::ranges::equal(std::span{raw}.last<4>(), std::array{std::byte{0x58}, std::byte{0x00}, std::byte{0x56}, std::byte{0xfe}}));
    BlockRecord record;
    REQUIRE(decode_block_record(raw, record));
    CHECK(record == BlockRecord{.erase_count = 7, .mode = CellType::slc});
    encode_block_record({.erase_count = 7, .grown_bad = true, .mode = CellType::qlc}, raw);
    CHECK(raw[4] == std::byte{1});
    CHECK(raw[5] == std::byte{4});
    encode_block_record({.erase_count = 7}, raw);
    CHECK(raw[5] == std::byte{0});
}

TEST_CASE("a striped block is in the mode that its members have", "[nand][modes]") {
    NandConfig config = with_slc();
    config.striping = 2;
    Flash flash{config};
    REQUIRE(flash.array.erase_as(BlockId{0}, CellType::slc, {at(0), {}}) == at(100 + 500'000));
    CHECK(flash.array.mode_of(BlockId{0}) == CellType::slc);
    CHECK(flash.array.pages_in(BlockId{0}) == 2);
    CHECK(flash.array.pages_in(BlockId{1}) == 8);
}
