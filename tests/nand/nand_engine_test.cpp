// The engine's options, each with times computed by hand from the fixture's round numbers: command 100, page transfer 1024, read 10'000, program
// 100'000, erase 1'000'000 ns; where the host interface counts, 200 ns a command and 2 ns a byte (a page 2048). Two channels of two chips of two
// planes: planes 0, 1 are chip 0, 2, 3 chip 1, both on channel 0; planes 4 to 7 are channel 1's.
#include <map>

#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

NandConfig with_host_interface(std::uint32_t buffers = 2) {
    NandConfig config = round_config();
    config.timing.host_interface_command = Duration{200};
    config.timing.host_interface_ps_per_byte = 2000;
    config.page_buffers_per_channel = buffers;
    return config;
}

} // namespace

TEST_CASE("single: a page crosses the host interface before its program and after its read", "[nand][engine]") {
    Flash flash{with_host_interface()};
    CHECK(flash.program(flash.page(0, 0), 1, at(0)) == at(200 + 2048 + 100 + 1024 + 100'000));
    CHECK(flash.read(flash.page(0, 0), at(200'000)) == at(200'000 + 200 + 100 + 10'000 + 1024 + 2048));
    // Part of a page crosses in proportion: 512 bytes are 512 on the bus, 1024 on the interface.
    CHECK(flash.array.read(PageRead{flash.page(0, 0), 0, 512, {}}, {at(300'000), {}}) == at(300'000 + 200 + 100 + 10'000 + 512 + 1024));
}

TEST_CASE("striped: two channels work at once, the host interface serves one after the other", "[nand][engine]") {
    Flash flash{with_host_interface()};
    CHECK(flash.program(flash.page(flash.block_on(0), 0), 1, at(0)) == at(2248 + 1124 + 100'000));
    CHECK(flash.program(flash.page(flash.block_on(4), 0), 2, at(0)) == at(2248 + 2248 + 1124 + 100'000));
    // Requests 0-200 and 200-400; data in the buffers at 11'324 and 11'524; out over the interface one after the other.
    CHECK(flash.read(flash.page(flash.block_on(0), 0), at(200'000)) == at(200'000 + 11'324 + 2048));
    CHECK(flash.read(flash.page(flash.block_on(4), 0), at(200'000)) == at(200'000 + 11'324 + 2048 + 2048));
    CHECK(flash.array.front_busy() == Duration{2 * 2248 + 2 * (200 + 2048)});
}

TEST_CASE("pipelined: with two page buffers the host fills one while the bus empties the other", "[nand][engine]") {
    const auto second_end = [](std::uint32_t buffers) {
        Flash flash{with_host_interface(buffers)};
        REQUIRE(flash.program(flash.page(flash.block_on(0), 0), 1, at(0)) == at(2248 + 1124 + 100'000));
        return *flash.program(flash.page(flash.block_on(2), 0), 2, at(0)); // the other chip of the channel
    };
    CHECK(second_end(2) == at(2248 + 2248 + 1124 + 100'000));
    CHECK(second_end(1) == at(2248 + 1124 + 2248 + 1124 + 100'000));
}

TEST_CASE("pipelined: the next page of a block comes from the host while this one is programmed", "[nand][engine]") {
    Flash flash{with_host_interface()};
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)) == at(103'372));
    CHECK(flash.program(flash.page(0, 1), 2, at(0)) == at(103'372 + 1124 + 100'000));
}

TEST_CASE("a page written is confirmed on the host interface in addition, a page read or copied is not", "[nand][engine]") {
    NandConfig config = with_host_interface();
    config.timing.host_interface_confirm = Duration{300};
    Flash flash{config};
    CHECK(flash.program(flash.page(0, 0), 1, at(0)) == at(200 + 300 + 2048 + 100 + 1024 + 100'000));
    CHECK(flash.read(flash.page(0, 0), at(200'000)) == at(200'000 + 200 + 100 + 10'000 + 1024 + 2048));
    CHECK(flash.array.copy(flash.page(0, 0), flash.page(1, 0), {at(300'000), {Cause::gc, no_event}}) == at(300'000 + 11'124 + 101'124));
    config.timing.host_interface_confirm = Duration{-1};
    CHECK(config.timing.validate().error().starts_with("host_interface_confirm_ns"));
}

TEST_CASE("a copy does not cross the host interface", "[nand][engine]") {
    Flash flash{with_host_interface()};
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)));
    CHECK(flash.array.copy(flash.page(0, 0), flash.page(1, 0), {at(200'000), {Cause::gc, no_event}}) == at(200'000 + 11'124 + 101'124));
}

TEST_CASE("interleaved: chips of one channel sense while the other's data cross the bus, unless the manager polls", "[nand][engine]") {
    const auto second_end = [](bool polls) {
        NandConfig config = round_config();
        config.options.bus_held_while_sensing = polls;
        Flash flash{config};
        for (const std::uint32_t plane : {0u, 2u}) REQUIRE(flash.program(flash.page(flash.block_on(plane), 0), plane, at(0)));
        REQUIRE(flash.read(flash.page(flash.block_on(0), 0), at(500'000)) == at(500'000 + 11'124));
        return *flash.read(flash.page(flash.block_on(2), 0), at(500'000));
    };
    CHECK(second_end(false) == at(500'000 + 11'124 + 1024)); // sensed at 10'200, waits for the bus
    CHECK(second_end(true) == at(500'000 + 11'124 + 11'124));
}

TEST_CASE("planes that depend on each other take turns, and program together by a multi-plane command", "[nand][engine]") {
    NandConfig config = round_config();
    config.options.independent_planes = false;
    Flash flash{config, Payload::none};
    REQUIRE(flash.program(flash.page(flash.block_on(0), 0), 1, at(0)) == at(101'124));
    CHECK(flash.program(flash.page(flash.block_on(1), 0), 2, at(0)) == at(2 * 101'124));
    const PageProgram both[] = {{flash.page(flash.block_on(0), 1), {}, {}}, {flash.page(flash.block_on(1), 1), {}, {}}};
    CHECK(flash.array.program(both, {at(300'000), {}}) == at(300'000 + 2 * 1124 + 100'000));
}

TEST_CASE("a cache register takes the next page while the cells program, and one page only", "[nand][engine]") {
    NandConfig config = round_config();
    config.options.cache_register = true;
    Flash flash{config};
    CHECK(flash.program(flash.page(0, 0), 1, at(0)) == at(1124 + 100'000));
    CHECK(flash.program(flash.page(0, 1), 2, at(0)) == at(1124 + 2 * 100'000));
    // The second page waits in the register until 101'124; only then the third crosses the bus.
    CHECK(flash.program(flash.page(0, 2), 3, at(0)) == at(1124 + 3 * 100'000));
    CHECK(flash.sink.operations[2].phases.bus_in == at(101'124));
    // Sensing of the second read begins when the first is in the register.
    REQUIRE(flash.read(flash.page(0, 0), at(500'000)) == at(500'000 + 11'124));
    CHECK(flash.read(flash.page(0, 1), at(500'000)) == at(500'000 + 10'100 + 10'000 + 1024));
}

TEST_CASE("a partial program pays command and programming in full and the transfer in proportion", "[nand][engine]") {
    Flash flash{round_config(), Payload::none};
    const PageProgram part{flash.page(0, 0), {}, {}, 512};
    CHECK(flash.array.program({&part, 1}, {at(0), {}}) == at(100 + 512 + 100'000));
    const PageProgram too_much{flash.page(0, 1), {}, {}, 1025};
    CHECK_THROWS_AS(flash.array.program({&too_much, 1}, {at(0), {}}), ContractViolation);
}

TEST_CASE("an event tells when the operation had the bus and the cells", "[nand][engine]") {
    Flash flash{with_host_interface()};
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)));
    REQUIRE(flash.read(flash.page(0, 0), at(200'000)));
    REQUIRE(flash.array.erase(BlockId{0}, {at(300'000), {}}));
    REQUIRE(flash.sink.operations.size() == 3);
    const NandPhases& p = flash.sink.operations[0].phases;
    CHECK(flash.sink.operations[0].start == at(0)); // on the host interface until 2248
    CHECK((p.bus_in == at(2248) && p.bus_in_end == at(3372) && p.cells == at(3372) && p.cells_end == at(103'372) && p.bus_out == p.bus_out_end));
    const NandPhases& r = flash.sink.operations[1].phases;
    CHECK((r.bus_in == at(200'200) && r.bus_in_end == at(200'300) && r.cells == at(200'300) && r.cells_end == at(210'300)));
    CHECK((r.bus_out == at(210'300) && r.bus_out_end == at(211'324)));
    CHECK(flash.sink.operations[1].end == at(213'372));
    const NandPhases& e = flash.sink.operations[2].phases;
    CHECK((e.bus_in == at(300'000) && e.cells == at(300'100) && e.cells_end == at(1'300'100) && e.bus_out == e.bus_out_end));
}

TEST_CASE("what events say of programs of several pages adds up to what bus and planes did", "[nand][engine]") {
    const bool one_shot = GENERATE(false, true);
    NandConfig config = round_config();
    config.geometry.cell = CellType::mlc;
    config.options.one_shot = one_shot;
    Flash flash{config, Payload::none};
    std::vector<PageProgram> pages;
    for (std::uint32_t plane = 0; plane < 2; ++plane)
        for (std::uint32_t p = 0; p < (one_shot ? 2u : 1u); ++p) pages.push_back({flash.page(flash.block_on(plane), p), {}, {}});
    REQUIRE(flash.array.program(pages, {at(0), {}}));
    REQUIRE(flash.sink.operations.size() == pages.size());
    Duration on_bus{0};
    std::map<std::uint32_t, Duration> in_cells;
    for (const NandOpEvent& e : flash.sink.operations) {
        on_bus += e.phases.bus_in_end - e.phases.bus_in;
        in_cells[e.plane.value()] += e.phases.cells_end - e.phases.cells;
        CHECK(e.start == at(0));
        CHECK(e.end == flash.array.last_reserved_end());
    }
    CHECK(on_bus == flash.array.channel_busy(ChannelId{0}));
    REQUIRE(in_cells.size() == 2);
    for (const auto& [plane, time] : in_cells) CHECK(time == config.timing.page_program);
}

// Every option alone and all together, under a load that piles up: buses and cells serve one operation at a time, so nothing is busier than the
// clock.
TEST_CASE("no resource serves two operations at once, whatever the options", "[nand][engine]") {
    const unsigned options = GENERATE(range(0u, 32u));
    NandConfig config = round_config();
    config.options.independent_planes = (options & 1) == 0;
    config.options.cache_register = (options & 2) != 0;
    config.options.bus_held_while_sensing = (options & 4) != 0;
    config.page_buffers_per_channel = 1 + (options & 1);
    if ((options & 8) != 0) config.timing.host_interface_ps_per_byte = 700;
    if ((options & 16) != 0) config.timing.controller_page_read = config.timing.controller_page_program = Duration{900};
    CAPTURE(options);
    Flash flash{config, Payload::none, UndoPolicy::none};
    Random random{options + 1};
    SimTime now = sim_start;
    std::vector<std::uint32_t> next(flash.geometry.blocks());
    for (int i = 0; i < 3000; ++i) {
        now += Duration{static_cast<std::int64_t>(random.below(20'000))};
        flash.array.settle(now);
        const auto block = static_cast<std::uint32_t>(random.below(flash.geometry.blocks()));
        const Origin origin{random.chance(1, 3) ? Cause::gc : Cause::user, no_event};
        if (next[block] == flash.geometry.pages_per_block()) {
            REQUIRE(flash.array.erase(BlockId{block}, {now, origin}));
            next[block] = 0;
        } else if (next[block] == 0 || random.chance(1, 2)) {
            const PageProgram one{flash.page(block, next[block]++), {}, {}, random.chance(1, 4) ? 512u : 0u};
            REQUIRE(flash.array.program({&one, 1}, {now, origin}));
        } else {
            const auto page = static_cast<std::uint32_t>(random.below(next[block]));
            REQUIRE(flash.array.read(PageRead{flash.page(block, page), 0, random.chance(1, 4) ? 512u : 1024u, {}}, {now, origin}));
        }
    }
    using Intervals = std::vector<std::pair<SimTime, SimTime>>;
    std::map<std::uint32_t, Intervals> buses, cells;
    std::map<std::uint32_t, Duration> on_bus;
    // Where nothing but the bus decides, a read of the host goes between others: the calendar says that its pieces had the bus for themselves.
    const auto interleaves = [&](const NandOpEvent& e) { return options < 4 && e.op == NandOp::read && e.origin.cause == Cause::user; };
    for (const NandOpEvent& e : flash.sink.operations) {
        const NandPhases& p = e.phases;
        CHECK((e.start <= p.bus_in && p.bus_in_end <= p.cells && p.cells_end <= p.bus_out && p.bus_out_end <= e.end));
        if (!interleaves(e)) {
            buses[e.channel.value()].push_back({p.bus_in, p.bus_in_end});
            buses[e.channel.value()].push_back({p.bus_out, p.bus_out_end});
        }
        on_bus[e.channel.value()] += (p.bus_in_end - p.bus_in) + (p.bus_out_end - p.bus_out);
        cells[config.options.independent_planes ? e.plane.value() : e.die.value()].push_back({p.cells, p.cells_end});
    }
    std::size_t overlaps = 0;
    for (auto* resources : {&buses, &cells}) {
        for (auto& [id, intervals] : *resources) {
            std::erase_if(intervals, [](const auto& i) { return i.first == i.second; });
            std::ranges::sort(intervals);
            for (std::size_t i = 1; i < intervals.size(); ++i) overlaps += intervals[i].first < intervals[i - 1].second ? 1 : 0;
        }
    }
    CHECK(overlaps == 0);
    const Duration all = flash.array.last_reserved_end() - sim_start;
    for (std::uint32_t c = 0; c < flash.geometry.channels(); ++c) {
        CHECK(flash.array.channel_busy(ChannelId{c}) <= all);
        if (options < 4) CHECK(flash.array.channel_busy(ChannelId{c}) == on_bus[c]); // what events tell adds up to it
    }
    for (std::uint32_t p = 0; p < flash.geometry.planes(); ++p) CHECK(flash.array.plane_busy(PlaneId{p}) <= all);
    CHECK(flash.array.front_busy() <= all);
}
