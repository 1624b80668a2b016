// Every expected time is computed by hand from the fixture's round numbers: command 100, page transfer 1024, read 10'000, program 100'000, erase
// 1'000'000 ns.
#include "nand/presets.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

TEST_CASE("a page read takes command, sensing and data out", "[nand]") {
    Flash flash;
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)) == at(100 + 1024 + 100'000));
    CHECK(flash.read(flash.page(0, 0), at(200'000)) == at(200'000 + 100 + 10'000 + 1024));
}

TEST_CASE("a partial read pays command and sensing in full and the transfer in proportion", "[nand]") {
    Flash flash;
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)));
    CHECK(flash.array.read(PageRead{flash.page(0, 0), 512, 512, {}}, {at(200'000), {}}) == at(200'000 + 100 + 10'000 + 512));
    const auto oob = flash.array.read_oob(flash.page(0, 0), {at(300'000), {}});
    REQUIRE(oob);
    // 64 spare bytes take 64 ns; the bus hands out nothing shorter than a command.
    CHECK(oob->done == at(300'000 + 100 + 10'000 + 100));
    CHECK(oob->oob->lpn == Lpn{1});
}

TEST_CASE("an erase takes command and pulse", "[nand]") {
    Flash flash;
    CHECK(flash.array.erase(BlockId{0}, {at(50), {}}) == at(50 + 100 + 1'000'000));
}

TEST_CASE("a multi-plane program loads both planes, then programs them together", "[nand]") {
    Flash flash;
    const auto data = page_bytes_of(flash.geometry, 7);
    const PageProgram both[] = {{flash.page(flash.block_on(0), 0), data, {}}, {flash.page(flash.block_on(1), 0), data, {}}};
    CHECK(flash.array.program(both, {at(0), {}}) == at(2 * (100 + 1024) + 100'000));
    CHECK(flash.array.counters().multi_plane_programs == 1);
}

TEST_CASE("two chips of one channel program at once and share only the bus", "[nand]") {
    Flash flash;
    const std::uint32_t second_chip = flash.block_on(2); // planes 0, 1 are chip 0; 2, 3 chip 1; both on channel 0
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)) == at(101'124));
    CHECK(flash.program(flash.page(second_chip, 0), 2, at(0)) == at(1124 + 101'124));
    CHECK(flash.array.channel_busy(ChannelId{0}) == Duration{2 * 1124});
    CHECK(flash.array.channel_busy(ChannelId{1}) == Duration{0});
}

TEST_CASE("chips of different channels share nothing", "[nand]") {
    Flash flash;
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)) == at(101'124));
    CHECK(flash.program(flash.page(flash.block_on(4), 0), 2, at(0)) == at(101'124));
}

TEST_CASE("a read of another chip uses the bus while a chip programs, and a late arrival takes the gap before a waiting transfer", "[nand]") {
    Flash flash;
    const Ppn there = flash.page(flash.block_on(2), 0);
    REQUIRE(flash.program(there, 2, at(0)) == at(101'124));
    REQUIRE(flash.program(flash.page(0, 0), 1, at(500'000)) == at(601'124));
    // Issued later, placed earlier: the bus is free before 500'000.
    CHECK(flash.read(there, at(200'000)) == at(200'000 + 11'124));
    // During the program of chip 0 the bus is free as well.
    CHECK(flash.read(there, at(510'000)) == at(510'000 + 11'124));
}

TEST_CASE("the register keeps its plane until the data are out", "[nand]") {
    Flash flash;
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)));
    REQUIRE(flash.read(flash.page(0, 0), at(200'000)) == at(211'124));
    // A second read of the same plane: sensing follows its command at once, and the command needs the bus, which carries data until 211'124.
    CHECK(flash.read(flash.page(0, 0), at(200'000)) == at(211'124 + 11'124));
}

TEST_CASE("controller time overlaps with the bus through the second page buffer, not through one", "[nand]") {
    NandConfig config = round_config();
    config.timing.controller_page_read = Duration{2000};
    // Two planes of one die sense together (11'100 and 11'200 after their commands); data out 1024 each; controller 2000 each.
    const auto second_end = [&config](std::uint32_t buffers) {
        config.page_buffers_per_channel = buffers;
        Flash flash{config};
        REQUIRE(flash.program(flash.page(flash.block_on(0), 0), 1, at(0)));
        REQUIRE(flash.program(flash.page(flash.block_on(1), 0), 2, at(0)));
        REQUIRE(flash.read(flash.page(flash.block_on(0), 0), at(500'000)) == at(500'000 + 100 + 10'000 + 1024 + 2000));
        return *flash.read(flash.page(flash.block_on(1), 0), at(500'000));
    };
    CHECK(second_end(2) == at(500'000 + 100 + 10'000 + 1024 + 2000 + 2000));        // the controller is the bottleneck
    CHECK(second_end(1) == at(500'000 + 100 + 10'000 + 1024 + 2000 + 1024 + 2000)); // the buffer is
}

TEST_CASE("without page buffers the CPU moves pages one after the other, as in the hybrid paper", "[nand]") {
    const auto preset = find_nand_preset("k9g8g08u0m");
    REQUIRE(preset);
    NandConfig config = preset->nand;
    config.factory_bad_per_million = 0;
    Flash flash{config, Payload::none, UndoPolicy::none};
    // Both issued at once still take turns: 323 + 861 us a program, 121 + 362 us a read.
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)) == at(1'184'000));
    REQUIRE(flash.program(flash.page(1, 0), 2, at(0)) == at(2 * 1'184'000));
    REQUIRE(flash.read(flash.page(0, 0), at(3'000'000)) == at(3'000'000 + 483'000));
    CHECK(flash.read(flash.page(1, 0), at(3'000'000)) == at(3'000'000 + 2 * 483'000));
}

TEST_CASE("a read waits for the program of its page, not for a later program of its block", "[nand]") {
    Flash flash;
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)) == at(101'124));
    REQUIRE(flash.program(flash.page(0, 1), 2, at(500'000)) == at(601'124));
    CHECK(flash.read(flash.page(0, 0), at(50)) == at(101'124 + 11'124));
    CHECK(flash.read(flash.page(0, 1), at(50)) == at(601'124 + 11'124));
}

TEST_CASE("an erase waits for the reserved reads of its block", "[nand]") {
    Flash flash;
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)));
    REQUIRE(flash.read(flash.page(0, 0), at(900'000)) == at(911'124));
    CHECK(flash.array.erase(BlockId{0}, {at(200'000), {}}) == at(911'124 + 100 + 1'000'000));
}

namespace {

/// How long the cells of each page of block 0 are programmed.
std::vector<Duration> program_times_of(Flash& flash) {
    std::vector<Duration> times;
    for (std::uint32_t page = 0; page < flash.geometry.pages_per_block(); ++page) {
        const SimTime from = at(1'000'000 * (page + 1));
        const auto end = flash.program(flash.page(0, page), page, from);
        REQUIRE(end);
        times.push_back(*end - from - Duration{100 + 1024});
    }
    return times;
}

std::vector<Duration> us(std::initializer_list<std::int64_t> times) {
    std::vector<Duration> result;
    for (const std::int64_t time : times) result.push_back(Duration{time * 1000});
    return result;
}

} // namespace

TEST_CASE("a page of TLC takes the program time of its place in the word line, and one that fills no line that of a first page", "[nand]") {
    NandConfig config = round_config();
    config.geometry.cell = CellType::tlc;
    config.timing.lsb_program = Duration{40'000};
    config.timing.csb_program = Duration{90'000};
    config.timing.msb_program = Duration{170'000};
    Flash flash{config};
    CHECK(program_times_of(flash) == us({40, 40, 90, 90, 170, 170, 40, 40})); // L0 L1 C0 C1 M0 M1, and two pages over
}

TEST_CASE("a page type without a program time of its own takes the mean", "[nand]") {
    NandConfig config = round_config();
    config.geometry.cell = CellType::mlc;
    config.timing.msb_program = Duration{200'000};
    config.timing.csb_program = Duration{1}; // MLC has no such page
    Flash flash{config};
    CHECK(program_times_of(flash) == us({100, 100, 200, 100, 200, 100, 200, 200})); // L0 L1 M0 L2 M1 L3 M2 M3
}

TEST_CASE("the pages of a QLC word line between the first and the last have one program time, on all planes of a command", "[nand]") {
    NandConfig config = round_config();
    config.geometry.cell = CellType::qlc;
    config.geometry.pages_per_block = 4;
    config.timing.csb_program = Duration{60'000};
    config.timing.msb_program = Duration{300'000};
    Flash flash{config};
    std::vector<Duration> times;
    for (std::uint32_t page = 0; page < 4; ++page) {
        const auto data = page_bytes_of(flash.geometry, page);
        const PageProgram both[] = {{flash.page(flash.block_on(0), page), data, PageOob{Lpn{page}, WriteSequence{page + 1}, PageKind::data, 0}},
                                    {flash.page(flash.block_on(1), page), data, PageOob{Lpn{page + 9}, WriteSequence{page + 1}, PageKind::data, 0}}};
        const SimTime from = at(1'000'000 * (page + 1));
        const auto end = flash.array.program(both, {from, {}});
        REQUIRE(end);
        times.push_back(*end - from - Duration{2 * (100 + 1024)});
    }
    CHECK(times == us({100, 60, 60, 300}));
}
