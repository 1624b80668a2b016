/// How much of a bus reads use that wait for nothing else.
#include <algorithm>
#include <cstdio>
#include <queue>
#include <tuple>

#include "tests/support/catch.h"

#include "base/random.h"
#include "nand/memory_page_store.h"
#include "nand/nand_array.h"
#include "nand/scheduler.h"

using namespace flashlab;

namespace {

enum class Order : std::uint8_t { random, in_turn, first_plane };

struct ReadLoad {
    std::uint32_t planes;
    std::uint32_t depth; ///< reads under way
    Order order;
    std::uint32_t ps_per_byte = NandTiming{}.bus_ps_per_byte;
    Duration link{0}; ///< between an answer and the next read
};

Duration page_on_bus(const ReadLoad& load) { return Duration{(std::int64_t{GeometryConfig{}.page_bytes} * load.ps_per_byte + 999) / 1000}; }

std::uint32_t reads_of(const ReadLoad& load) { return std::max(12'000u, 50 * load.depth); }

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
    std::vector<SimTime> ends;
    for (std::uint32_t i = 0; i < reads_of(load); ++i) {
        const SimTime now = under_way.top();
        under_way.pop();
        array.settle(now);
        const auto drawn = static_cast<std::uint32_t>(random.below(geometry.blocks()));
        const BlockId block{load.order == Order::in_turn ? i % geometry.blocks() : load.order == Order::random ? drawn : 0};
        const SimTime done = *array.read(PageRead{geometry.page_of(block, 0), 0, geometry.page_bytes(), {}}, {now, {}});
        under_way.push(done + load.link);
        ends.push_back(done);
    }
    const SimTime end = under_way.top(), begin = written + (end - written) / 10; // the first tenth fills the queues
    const auto served = std::ranges::count_if(ends, [=](SimTime done) { return done > begin && done <= end; });
    return static_cast<double>(served * (command + page_on_bus(load)).count()) / static_cast<double>((end - begin).count());
}

/// The same, of a controller that decides when the bus falls idle: commands first, then the page that was sensed first. A plane has one read a time.
double share_of_queues(const ReadLoad& load, Duration command) {
    enum class Step : std::uint8_t { asked, sensed, moved };
    struct Event {
        SimTime at;
        std::uint64_t number;
        Step what;
        std::uint32_t plane;
        bool operator>(const Event& other) const { return std::tie(at, number) > std::tie(other.at, other.number); }
    };
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    std::vector<std::uint32_t> waiting(load.planes, 0);
    std::vector<bool> serves(load.planes, false);
    std::queue<std::uint32_t> commands, pages;
    Random random{5};
    SimTime now = sim_start, begin = sim_start;
    std::uint64_t number = 0;
    std::uint32_t served = 0;
    const std::uint32_t reads = reads_of(load), skipped = reads / 10;
    const auto begins = [&](std::uint32_t plane) {
        if (serves[plane] || waiting[plane] == 0) return;
        serves[plane] = true;
        --waiting[plane];
        commands.push(plane);
    };
    const auto arrives = [&] {
        const auto plane = static_cast<std::uint32_t>(random.below(load.planes));
        ++waiting[plane];
        begins(plane);
    };
    for (std::uint32_t i = 0; i < load.depth; ++i) arrives();
    for (bool idle = true; served < reads;) {
        if (idle && !(commands.empty() && pages.empty())) {
            const bool is_command = !commands.empty();
            auto& next = is_command ? commands : pages;
            events.push({now + (is_command ? command : page_on_bus(load)), ++number, is_command ? Step::asked : Step::moved, next.front()});
            next.pop();
            idle = false;
        }
        const Event event = events.top();
        events.pop();
        now = event.at;
        idle = idle || event.what != Step::sensed;
        if (event.what == Step::asked) events.push({now + NandTiming{}.page_read, ++number, Step::sensed, event.plane});
        if (event.what == Step::sensed) pages.push(event.plane);
        if (event.what != Step::moved) continue;
        serves[event.plane] = false;
        begins(event.plane);
        arrives();
        if (++served == skipped) begin = now;
    }
    return static_cast<double>((served - skipped) * (command + page_on_bus(load)).count()) / static_cast<double>((now - begin).count());
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
                                                 {2, 2, Order::in_turn, 20'000, Duration{3}},
                                                 {2, 2, Order::in_turn, 20'000, Duration{1500}},
                                                 {4, 4, Order::in_turn, 5'000, Duration{3}},
                                                 {4, 5, Order::in_turn, 5'000, Duration{1500}},
                                                 {16, 17, Order::in_turn, 1'000, Duration{3}},
                                                 {2, 8, Order::in_turn, 20'000},
                                                 {4, 4, Order::in_turn, 5'000},
                                                 {20, 20, Order::in_turn}, // 60 us of sensing are 17.1 transfers and their commands
                                                 {32, 32, Order::in_turn},
                                                 {64, 128, Order::in_turn}}));
    CAPTURE(load.planes, load.depth, load.ps_per_byte, load.link.count());
    for (const std::int64_t command : {0, 1, 10, 100, 300}) {
        CAPTURE(command);
        CHECK(bus_share(load, Duration{command}) > 0.98);
        CHECK(bus_share(load, Duration{command}) < 1.001); // a read at the edge of the span counts whole
    }
}

TEST_CASE("random reads keep a bus busy wherever a controller that decides when the bus falls idle would", "[nand][bus]") {
    for (const std::uint32_t planes : {16u, 20u, 24u, 32u, 64u}) { // 17.1 transfers and their commands take as long as a page is sensed
        for (const std::uint32_t each : {1u, 2u, 4u, 8u}) {
            const ReadLoad load{planes, planes * each, Order::random};
            const double ours = bus_share(load, Duration{100}), queues = share_of_queues(load, Duration{100});
            std::printf("bus of %2u planes, %u reads under way for each: busy %.1f %%, by queues %.1f %%; without commands %.1f %%\n", planes, each,
                        100 * ours, 100 * queues, 100 * bus_share(load, Duration{0}));
            CAPTURE(planes, each, ours, queues);
            CHECK(ours == Approx(queues).margin(0.015));
            CHECK((ours >= 0.98 || queues < 0.995));
        }
    }
}

TEST_CASE("random reads of a few planes that just suffice use as much of a bus as a controller that decides when it falls idle", "[nand][bus]") {
    const auto load = GENERATE(values<ReadLoad>({{2, 8, Order::random, 20'000},
                                                 {2, 32, Order::random, 20'000},
                                                 {4, 32, Order::random, 5'000},
                                                 {8, 32, Order::random, 2'500},
                                                 {8, 64, Order::random, 2'500},
                                                 {8, 64, Order::random, 2'500, Duration{3}},
                                                 {18, 144, Order::random, 833}}));
    for (const std::int64_t command : {0, 100, 1000}) {
        const double ours = bus_share(load, Duration{command}), queues = share_of_queues(load, Duration{command});
        std::printf("bus of %2u planes, %u ps a byte, %u reads under way, commands of %d ns: busy %.1f %%, by queues %.1f %%\n", load.planes,
                    load.ps_per_byte, load.depth, static_cast<int>(command), 100 * ours, 100 * queues);
        CAPTURE(load.planes, load.depth, load.ps_per_byte, command, ours, queues);
        CHECK(ours == Approx(queues).margin(load.planes < 8 ? 0.06 : 0.015));
    }
}

TEST_CASE("random reads of many planes keep a bus busy, whatever a transfer's time is", "[nand][bus]") {
    for (const std::uint32_t ps_per_byte : {600u, 650u, 700u, 750u, 800u, 833u, 850u, 900u, 950u, 1000u, 1250u, 2500u, 5000u}) {
        for (const std::uint32_t command : {0u, 100u}) {
            CAPTURE(ps_per_byte, command);
            CHECK(bus_share({32, 256, Order::random, ps_per_byte}, Duration{command}) > 0.98);
        }
    }
}

TEST_CASE("where data take no time on the bus, reads end, and it carries their commands alone", "[nand][bus]") {
    const Duration command{GENERATE(0, 100)};
    const double share = bus_share({64, 256, Order::random, 0}, command);
    CHECK(share <= 1);
    CHECK((share > 0) == (command > Duration{0}));
}

TEST_CASE("one plane's pages follow each other at once, however much of the bus they take", "[nand][bus]") {
    const ReadLoad load{2, 8, Order::first_plane, 40'000}; // a page is sensed in 0.4 of its transfer
    const double each = static_cast<double>(page_on_bus(load).count());
    CHECK(bus_share(load, Duration{0}) == Approx(each / (each + static_cast<double>(NandTiming{}.page_read.count()))).epsilon(0.001));
}

TEST_CASE("a read's command goes between the data of others at once, and its data go out wherever the bus is free", "[nand][bus]") {
    NandConfig config;
    config.geometry.channels = 1;
    config.geometry.planes_per_die = 4;
    config.factory_bad_per_million = 0;
    const Duration command = config.timing.command, sensing = config.timing.page_read;
    const Media media{config};
    Scheduler scheduler{*Geometry::make(config.geometry), config, media};
    const std::uint32_t page = config.geometry.page_bytes;
    const Duration transfer = scheduler.transfer(page);
    REQUIRE(command > Duration{0});
    const auto read = [&](std::uint32_t plane, SimTime from) { return scheduler.read(PlaneId{plane}, media.own_medium(), page, from, true); };
    const auto first = read(0, sim_start);
    CHECK(first.bus_out == sim_start + command + sensing);
    const auto second = read(1, sim_start); // its command goes behind the first's, its data behind the first's data
    CHECK(second.bus_in == first.bus_in_end);
    CHECK(second.bus_out == first.bus_out_end);
    const SimTime amid = first.bus_out + transfer / 2;
    const auto third = read(2, amid); // while the first's data cross the bus
    CHECK(third.bus_in == amid);
    CHECK(third.cells == amid + command);
    CHECK(third.bus_out_end == third.cells_end + command + transfer); // its command's time is with its data
    // A gap that is shorter than the transfer is used, too.
    const auto fourth = read(3, third.end - transfer * 3 / 2 - sensing - command); // sensed half a transfer before the third's data
    CHECK(fourth.cells_end < third.bus_out_end - transfer - command);
    CHECK(fourth.end < third.end + transfer);
    CHECK(fourth.bus_out_end - fourth.bus_out == transfer);
    CHECK(scheduler.channel_busy(ChannelId{0}) == 4 * (command + transfer));
}
