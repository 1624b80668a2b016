/// How much of a bus reads use that wait for nothing else.
#include <cstdio>
#include <queue>

#include "tests/support/catch.h"

#include "base/random.h"
#include "nand/memory_page_store.h"
#include "nand/nand_array.h"
#include "nand/scheduler.h"

using namespace flashlab;

namespace {

enum class Order : std::uint8_t { random, in_turn };

struct ReadLoad {
    std::uint32_t planes;
    std::uint32_t depth; ///< reads under way
    Order order;
    std::uint32_t ps_per_byte = NandTiming{}.bus_ps_per_byte;
};

/// The share of one channel's time that its bus works.
double bus_share(const ReadLoad& load, Duration command) {
    NandConfig config;
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = load.planes / config.geometry.planes_per_die;
    config.geometry.blocks_per_plane = 1;
    config.timing.command = command;
    config.timing.bus_ps_per_byte = load.ps_per_byte;
    const std::uint32_t depth = load.depth;
    config.factory_bad_per_million = 0;
    const Geometry geometry = *Geometry::make(config.geometry);
    MemoryPageStore store{geometry, Payload::none};
    NullEventSink sink;
    NandArray array{geometry, config, store, sink, UndoPolicy::none};
    REQUIRE(array.open());
    SimTime written = sim_start;
    for (std::uint32_t plane = 0; plane < geometry.planes(); ++plane) {
        const PageProgram page{geometry.page_of(BlockId{plane}, 0), {}, {Lpn{plane}, WriteSequence{1}, PageKind::data, 0}};
        written = std::max(written, *array.program({&page, 1}, {sim_start, {}}));
    }
    array.settle(written);
    std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>> under_way;
    for (std::uint32_t i = 0; i < depth; ++i) under_way.push(written);
    Random random{5};
    const Duration before = array.channel_busy(ChannelId{0});
    SimTime end = written;
    for (std::uint32_t i = 0; i < 50 * depth; ++i) {
        const SimTime now = under_way.top();
        under_way.pop();
        array.settle(now);
        const BlockId block{load.order == Order::in_turn ? i % geometry.blocks() : static_cast<std::uint32_t>(random.below(geometry.blocks()))};
        const SimTime done = *array.read(PageRead{geometry.page_of(block, 0), 0, geometry.page_bytes(), {}}, {now, {}});
        under_way.push(done);
        end = std::max(end, done);
    }
    return static_cast<double>((array.channel_busy(ChannelId{0}) - before).count()) / static_cast<double>((end - written).count());
}

/// One whole page of an idle array read.
Duration read_of_a_page(bool spare_on_bus, std::uint32_t bytes) {
    NandConfig config;
    config.geometry.blocks_per_plane = 1;
    config.options.spare_on_bus = spare_on_bus;
    config.factory_bad_per_million = 0;
    const Geometry geometry = *Geometry::make(config.geometry);
    MemoryPageStore store{geometry, Payload::none};
    NullEventSink sink;
    NandArray array{geometry, config, store, sink, UndoPolicy::none};
    REQUIRE(array.open());
    const PageProgram page{geometry.page_of(BlockId{0}, 0), {}, {Lpn{0}, WriteSequence{1}, PageKind::data, 0}};
    const SimTime written = *array.program({&page, 1}, {sim_start, {}});
    array.settle(written);
    return *array.read(PageRead{geometry.page_of(BlockId{0}, 0), 0, bytes, {}}, {written, {}}) - written;
}

} // namespace

TEST_CASE("spare bytes that cross the bus lengthen a read by their transfer, a part of a page in proportion", "[nand][bus]") {
    const NandConfig config;
    const std::uint32_t page = config.geometry.page_bytes, spare = config.geometry.spare_bytes;
    const auto on_bus = [&](std::uint32_t bytes) { return static_cast<double>(bytes) * config.timing.bus_ps_per_byte / 1000; };
    REQUIRE(spare != 0);
    const auto longer = [](std::uint32_t bytes) { return static_cast<double>((read_of_a_page(true, bytes) - read_of_a_page(false, bytes)).count()); };
    CHECK(longer(page) == Approx(on_bus(spare)).margin(2));
    CHECK(longer(page / 4) == Approx(on_bus(spare / 4)).margin(2));
}

TEST_CASE("reads in turn of as many planes as a bus can serve keep it busy, their commands slipped in between transfers", "[nand][bus]") {
    const auto load = GENERATE(values<ReadLoad>({{2, 2, Order::in_turn, 20'000},
                                                 {2, 8, Order::in_turn, 20'000},
                                                 {4, 4, Order::in_turn, 5'000},
                                                 {20, 20, Order::in_turn}, // 60 us of sensing are 17.1 transfers and their commands
                                                 {32, 32, Order::in_turn},
                                                 {64, 128, Order::in_turn}}));
    CAPTURE(load.planes, load.depth, load.ps_per_byte);
    CHECK(bus_share(load, Duration{100}) > 0.98);
    CHECK(bus_share(load, Duration{100}) <= 1);
}

TEST_CASE("reads of more planes than a bus can serve keep it busy but for gaps that no page fits in", "[nand][bus]") {
    for (const std::uint32_t depth : {64u, 256u, 1024u}) {
        const ReadLoad load{64, depth, Order::random};
        const double with_commands = bus_share(load, Duration{100}), without = bus_share(load, Duration{0});
        std::printf("bus of 64 planes, %4u reads under way: busy %.1f %% of the time, %.1f %% without commands\n", depth, 100 * with_commands,
                    100 * without);
        CHECK(with_commands > 0.98);
        CHECK(with_commands <= 1);
        CHECK(without > 0.96);
        CHECK(without <= 1);
    }
}

TEST_CASE("data leave a chip a command's time behind the transfer before them, and at once where the bus was idle that long", "[nand][bus]") {
    NandConfig config;
    config.geometry.channels = 1;
    config.factory_bad_per_million = 0;
    const Duration command = config.timing.command, sensing = config.timing.page_read;
    const Media media{config};
    Scheduler scheduler{*Geometry::make(config.geometry), config, media};
    const std::uint32_t page = config.geometry.page_bytes;
    const Duration transfer = scheduler.transfer(page);
    REQUIRE(command > Duration{0});
    const auto first = scheduler.read(PlaneId{0}, media.own_medium(), page, sim_start, true);
    CHECK(first.bus_out == sim_start + command + sensing);
    const auto second = scheduler.read(PlaneId{1}, media.own_medium(), page, sim_start, true); // its command goes behind the first's
    CHECK(second.bus_out == first.bus_out_end + command);
    const auto third = scheduler.read(PlaneId{0}, media.own_medium(), page, first.end, true); // its command takes just that gap
    CHECK(third.bus_in == first.bus_out_end);
    CHECK(third.bus_in_end == second.bus_out);
    CHECK(third.bus_out == third.cells_end);
    const auto fourth = scheduler.read(PlaneId{1}, media.own_medium(), page, second.end, true); // sensed when just so much is free behind the third
    CHECK(fourth.bus_out == fourth.cells_end);
    CHECK(fourth.bus_out == third.end + command);
    CHECK(scheduler.channel_busy(ChannelId{0}) == 4 * (command + transfer));
}
