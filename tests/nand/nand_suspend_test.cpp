// Erases and programs that let reads in: times by hand from the fixture's numbers (command 100, transfer 1024, read 10'000, program 100'000,
// erase 1'000'000) and suspend 20'000, resume 5'000. One suspension by a whole page takes 20'000 + 10'000 + 1024 + 5'000 = 36'024.
#include <algorithm>
#include <utility>
#include <vector>

#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

NandConfig suspending(std::uint32_t erase, std::uint32_t program) {
    NandConfig config = round_config();
    config.timing.suspend = Duration{20'000};
    config.timing.resume = Duration{5'000};
    config.options.erase_suspends = erase;
    config.options.program_suspends = program;
    return config;
}

/// A page to read in each of the first blocks of plane 0, programmed long ago.
void prepare(Flash& flash) {
    for (std::uint32_t block = 0; block < 3; ++block) REQUIRE(flash.program(flash.page(block, 0), block, at(0)));
}

} // namespace

TEST_CASE("a read waits for an erase unless it may suspend it", "[nand][suspend]") {
    Flash plain{suspending(0, 0)};
    prepare(plain);
    REQUIRE(plain.array.erase(BlockId{2}, {at(1'000'000), {Cause::gc, no_event}}) == at(2'000'100));
    CHECK(plain.read(plain.page(0, 0), at(1'500'000)) == at(2'000'100 + 11'024)); // its command goes over the bus before the erase ends
    CHECK(plain.array.suspensions() == 0);

    Flash flash{suspending(2, 0)};
    prepare(flash);
    const SimTime end = at(2'000'100); // which never moves
    REQUIRE(flash.array.erase(BlockId{2}, {at(1'000'000), {Cause::gc, no_event}}) == end);
    CHECK(flash.read(flash.page(0, 0), at(1'500'000)) == at(1'520'000 + 11'024));
    // Resumed at 1'536'024, suspended again.
    CHECK(flash.read(flash.page(1, 0), at(1'500'000)) == at(1'536'024 + 20'000 + 11'024));
    CHECK(flash.array.suspensions() == 2);
    // No third time; and the plane owes the erase the time of two.
    CHECK(flash.read(flash.page(0, 0), at(1'700'000)) == end + Duration{2 * 36'024 + 11'024});
    CHECK(flash.array.suspensions() == 2);
}

TEST_CASE("a suspension takes its time from the plane, behind what was reserved there before, and none where nobody reads", "[nand][suspend]") {
    const bool reads = GENERATE(false, true);
    CAPTURE(reads);
    Flash flash{suspending(1, 0)};
    prepare(flash);
    REQUIRE(flash.array.erase(BlockId{2}, {at(1'000'000), {Cause::gc, no_event}}) == at(2'000'100));
    REQUIRE(flash.array.erase(BlockId{1}, {at(1'100'000), {Cause::gc, no_event}}) == at(3'000'100));
    if (reads) REQUIRE(flash.read(flash.page(0, 0), at(1'500'000)) == at(1'531'024));
    CHECK(flash.array.erase(BlockId{3}, {at(1'600'000), {Cause::gc, no_event}}) == at(4'000'100 + (reads ? 36'024 : 0)));
}

TEST_CASE("a suspended operation that goes on beyond its reported end is suspended there, too", "[nand][suspend]") {
    Flash flash{suspending(3, 0)};
    prepare(flash);
    REQUIRE(flash.array.erase(BlockId{2}, {at(1'000'000), {Cause::gc, no_event}}) == at(2'000'100));
    REQUIRE(flash.read(flash.page(0, 0), at(1'900'000)) == at(1'931'024));
    CHECK(flash.read(flash.page(1, 0), at(1'990'000)) == at(1'990'000 + 31'024)); // the erase works until 2'036'124
    CHECK(flash.array.suspensions() == 2);
}

TEST_CASE("a read of the host waits for one read of a collection, not for those behind it", "[nand][suspend]") {
    const bool suspends = GENERATE(false, true);
    CAPTURE(suspends);
    Flash flash{suspending(0, suspends ? 4 : 0)};
    prepare(flash);
    // Command, tR, transfer: the bus is free for the next command when the data are out.
    for (std::uint32_t block = 0; block < 3; ++block)
        REQUIRE(flash.array.read(PageRead{flash.page(block, 0), 0, 1024, {}}, {at(1'000'000), {Cause::gc, no_event}}) ==
                at(1'000'000 + (block + 1) * 11'124));
    // The bus is still theirs: the command comes behind the second's, the data behind the second's data, the third's command, and room for one.
    const SimTime end = at(1'000'000 + 2 * 11'124 + 200 + 1024);
    const auto read = flash.read(flash.page(1, 0), at(1'005'000));
    REQUIRE(read);
    CHECK(ns_since_start(*read) == ns_since_start(suspends ? end : at(1'000'000 + 4 * 11'124)));
    // The second ends at 1'034'596 now: who comes before waits for it, and not for the third.
    const auto after_second = flash.read(flash.page(1, 0), at(1'034'000));
    if (suspends) CHECK(after_second == at(1'034'596 + 11'024));
    // Those that were made wait take the plane as long.
    const auto next = flash.array.read(PageRead{flash.page(1, 0), 0, 1024, {}}, {at(1'034'000), {Cause::gc, no_event}});
    REQUIRE(next);
    CHECK(*next - (suspends ? at(1'000'000 + 3 * 11'124) : at(1'000'000 + 4 * 11'124)) >= Duration{suspends ? 3 * 11'024 : 2 * 11'024});
}

TEST_CASE("background reads suspend nothing, nor do reads of the block itself", "[nand][suspend]") {
    Flash flash{suspending(4, 4)};
    prepare(flash);
    const SimTime end = *flash.array.erase(BlockId{2}, {at(1'000'000), {Cause::gc, no_event}});
    const auto copied = flash.array.read(PageRead{flash.page(0, 0), 0, 1024, {}}, {at(1'200'000), {Cause::gc, no_event}});
    CHECK(copied == end + Duration{11'024});
    const auto erased = flash.read(flash.page(2, 0), at(1'300'000));
    REQUIRE_FALSE(erased);
    CHECK(erased.error().done > end);
    CHECK(flash.array.suspensions() == 0);
}

TEST_CASE("a program that no host waits for is suspended, one of the host is not", "[nand][suspend]") {
    Flash flash{suspending(0, 1)};
    prepare(flash);
    // Read 11'124, then data in 1124, program 100'000.
    REQUIRE(flash.array.copy(flash.page(0, 0), flash.page(3, 0), {at(1'000'000), {Cause::gc, no_event}}) == at(1'000'000 + 11'124 + 101'124));
    CHECK(flash.read(flash.page(1, 0), at(1'050'000)) == at(1'070'000 + 11'024));
    CHECK(flash.array.suspensions() == 1);
    REQUIRE(flash.program(flash.page(3, 1), 9, at(2'000'000)) == at(2'101'124));
    CHECK(flash.read(flash.page(1, 0), at(2'050'000)) == at(2'101'124 + 11'024));
    CHECK(flash.array.suspensions() == 1);
}

TEST_CASE("a read that comes while data enter the register waits for the cells to begin, not to end", "[nand][suspend]") {
    Flash flash{suspending(0, 1)};
    prepare(flash);
    REQUIRE(flash.array.copy(flash.page(0, 0), flash.page(3, 0), {at(1'000'000), {Cause::gc, no_event}}));
    // The data are on the bus from 1'011'124 to 1'012'248.
    CHECK(flash.read(flash.page(1, 0), at(1'011'500)) == at(1'012'248 + 20'000 + 11'024));
    CHECK(flash.array.suspensions() == 1);
}

TEST_CASE("a read suspends the operation that it meets first, whatever was reserved behind it", "[nand][suspend]") {
    const bool later_first = GENERATE(false, true);
    CAPTURE(later_first);
    Flash flash{suspending(0, 1)};
    prepare(flash);
    for (const bool later : {later_first, !later_first})
        REQUIRE(flash.array.copy(flash.page(0, 0), later ? flash.page(2, 1) : flash.page(3, 0),
                                 {at(later ? 2'000'000 : 1'000'000), {Cause::gc, no_event}}));
    CHECK(flash.read(flash.page(1, 0), at(1'050'000)) == at(1'070'000 + 11'024));
    CHECK(flash.array.suspensions() == 1);
}

TEST_CASE("of the host's programs those that no request waits for are suspended", "[nand][suspend]") {
    Flash flash{suspending(0, 1)};
    prepare(flash);
    const auto data = page_bytes_of(flash.geometry, 9);
    const PageProgram page{flash.page(3, 0), data, PageOob{Lpn{9}, WriteSequence{9}, PageKind::data, 0}};
    REQUIRE(flash.array.program({&page, 1}, Io{at(1'000'000), {}}.behind()) == at(1'000'000 + 101'124));
    CHECK(flash.read(flash.page(1, 0), at(1'050'000)) == at(1'070'000 + 11'024));
    CHECK(flash.array.suspensions() == 1);
}

TEST_CASE("the event log shows a suspension: a read's cells within an erase's on one plane", "[nand][suspend]") {
    Flash flash{suspending(1, 0)};
    prepare(flash);
    REQUIRE(flash.array.erase(BlockId{2}, {at(1'000'000), {Cause::gc, no_event}}));
    REQUIRE(flash.read(flash.page(0, 0), at(1'500'000)));
    const NandOpEvent& erase = flash.sink.operations[3];
    const NandOpEvent& read = flash.sink.operations[4];
    CHECK(erase.op == NandOp::erase);
    CHECK(read.op == NandOp::read);
    CHECK(erase.plane == read.plane);
    CHECK(erase.phases.cells < read.phases.cells);
    CHECK(read.phases.cells_end < erase.phases.cells_end);
}

TEST_CASE("no two reads of the host are sensed on one plane at once, however many suspend or pass what is there", "[nand][suspend][property]") {
    const std::uint64_t seed = GENERATE(range<std::uint64_t>(1, 9));
    const bool independent = GENERATE(false, true), has_register = GENERATE(false, true);
    const std::uint32_t ps_per_byte = GENERATE(1000u, 0u); // data that take no time have no pieces
    CAPTURE(seed, independent, has_register, ps_per_byte);
    NandConfig config = suspending(2, 3);
    config.timing.bus_ps_per_byte = ps_per_byte;
    config.options.independent_planes = independent;
    config.options.cache_register = has_register;
    Flash flash{config};
    prepare(flash);
    Random random{seed};
    std::int64_t now = 10'000'000;
    const std::size_t first = flash.sink.operations.size();
    std::uint32_t written = 0;
    for (int i = 0; i < 400; ++i) {
        now += static_cast<std::int64_t>(random.below(9'000));
        flash.array.settle(at(now));
        const Io background{at(now), {Cause::gc, no_event}};
        const auto from = flash.page(static_cast<std::uint32_t>(random.below(2)), 0);
        if (const auto what = random.below(40); what == 0) {
            REQUIRE(flash.array.erase(BlockId{3}, background));
            written = 0;
        } else if (what <= 1 && written < 8)
            REQUIRE(flash.array.copy(from, flash.page(3, written++), background));
        else if (what < 12)
            REQUIRE(flash.array.read(PageRead{from, 0, 1024, {}}, background));
        else
            REQUIRE(flash.read(from, at(now + static_cast<std::int64_t>(random.below(20'000)))));
    }
    std::vector<std::pair<SimTime, SimTime>> sensed;
    for (const NandOpEvent& op : std::span{flash.sink.operations}.subspan(first))
        if (op.op == NandOp::read && op.origin.cause == Cause::user) sensed.emplace_back(op.phases.cells, op.phases.cells_end);
    REQUIRE(sensed.size() > 200);
    std::ranges::sort(sensed);
    for (std::size_t i = 1; i < sensed.size(); ++i) REQUIRE(sensed[i - 1].second <= sensed[i].first);
    CHECK(flash.array.suspensions() > 50);
}

TEST_CASE("reads that pass reads of a collection do not go on into the program behind them", "[nand][suspend]") {
    Flash flash{suspending(0, 2)};
    prepare(flash);
    // Two reads, 11'124 each, then a copy's read, and its program from 1'033'372 + 1124 on.
    const Io background{at(1'000'000), {Cause::gc, no_event}};
    for (std::uint32_t block = 0; block < 2; ++block) REQUIRE(flash.array.read(PageRead{flash.page(block, 0), 0, 1024, {}}, background));
    const auto programmed = flash.array.copy(flash.page(0, 0), flash.page(3, 0), background);
    REQUIRE(programmed);
    for (int i = 0; i < 12; ++i) REQUIRE(flash.read(flash.page(1, 0), at(1'005'000 + i * 4'000)));
    // Six pass the three reads, two suspend the program; the others come when it has ended, and what it owes is paid.
    std::vector<SimTime> sensed;
    for (const NandOpEvent& op : flash.sink.operations)
        if (op.op == NandOp::read && op.origin.cause == Cause::user) sensed.push_back(op.phases.cells);
    std::ranges::sort(sensed);
    CHECK(flash.array.suspensions() == 8);
    CHECK(std::ranges::count_if(sensed, [&](SimTime cells) { return cells < *programmed + 6 * Duration{11'024} + 2 * Duration{36'024}; }) == 8);
}

TEST_CASE("a program that goes on beyond its reported end is suspended there, not passed with a read that was reserved there since",
          "[nand][suspend]") {
    Flash flash{suspending(0, 2)};
    prepare(flash);
    // The cells program until 1'112'248. Up to the erase there is not the time that a suspension takes, so that the plane pays it behind that.
    REQUIRE(flash.array.copy(flash.page(0, 0), flash.page(3, 0), {at(1'000'000), {Cause::gc, no_event}}) == at(1'112'248));
    REQUIRE(flash.array.erase(BlockId{2}, {at(1'132'148), {Cause::gc, no_event}}) == at(2'132'248));
    REQUIRE(flash.read(flash.page(1, 0), at(1'050'000)) == at(1'081'024));
    // The program really ends 36'024 later.
    REQUIRE(flash.array.read(PageRead{flash.page(0, 0), 0, 1024, {}}, {at(1'112'148), {Cause::gc, no_event}}) == at(1'123'272));
    CHECK(flash.read(flash.page(1, 0), at(1'111'000)) == at(1'131'000 + 11'024));
    CHECK(flash.array.suspensions() == 2);
}

TEST_CASE("a cut during a suspension tears the erase that was suspended", "[nand][suspend]") {
    class Garbage final : public CutOutcomes {
    public:
        ProgramOutcome of_program(Ppn) override { return ProgramOutcome::complete; }
        EraseOutcome of_erase(BlockId) override { return EraseOutcome::garbage; }
        std::uint64_t random() override { return 12345; }
    };
    Flash flash{suspending(1, 0)};
    prepare(flash);
    REQUIRE(flash.array.erase(BlockId{2}, {at(1'000'000), {Cause::gc, no_event}}));
    REQUIRE(flash.read(flash.page(0, 0), at(1'500'000)) == at(1'531'024));
    Garbage outcomes;
    const auto report = flash.array.cut(at(1'525'000), outcomes);
    REQUIRE(report);
    CHECK(report->torn_erases == 1);
    CHECK(flash.store.read_record(flash.page(2, 0))->state == CellState::garbage);
    CHECK(flash.store.read_record(flash.page(0, 0))->state == CellState::programmed);
}
