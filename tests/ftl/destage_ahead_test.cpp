/// A write buffer that is destaged before it is full: who waits, how many lines are under way, what goes together; then cuts at random instants.
#include "ftl/cache/destage_ahead.h"

#include <algorithm>
#include <map>
#include <vector>

#include "ftl/cache/pages_under_way.h"
#include "tests/support/cut_rig.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::tiny_config;

namespace {

SimTime moment(std::int64_t ns) { return sim_start + Duration{ns}; }

/// Pages of 512 bytes on one die of two planes: link 1000 + 128 ns, program 700 us.
SsdConfig ahead(std::uint32_t pages, std::uint32_t from_permille = 0, std::uint32_t lines = 1) {
    SsdConfig config = tiny_config();
    config.nand.timing = test::round_timing;
    config.host_link = {.ps_per_byte = 250, .request_overhead = Duration{1000}};
    config.dram.write_buffer_bytes = std::uint64_t{pages} * 512;
    config.dram.destage = "ahead";
    config.dram.destage_lines = lines;
    config.dram.destage_from_permille = from_permille;
    return config;
}

SsdConfig with_lines(SsdConfig config) {
    config.nand.geometry.cell = CellType::tlc;
    config.nand.geometry.pages_per_block = 12;
    config.nand.options.one_shot = true;
    return config;
}

constexpr std::int64_t answered_at_once = 1000 + 128;

} // namespace

TEST_CASE("of a long write the beginning is destaged while its end is on the link, in pieces of 128 KiB", "[ftl][buffer][destage]") {
    constexpr std::uint32_t page = 16384, pages = 24, piece = 128 * 1024 / page;
    constexpr std::int64_t crossing = page / 4; // ns a page
    const auto end_of = [&](bool pipelined, std::uint32_t first_sector) {
        SsdConfig config = ahead(64);
        config.nand.geometry.page_bytes = page;
        config.dram.write_buffer_bytes = 64ull * page;
        config.host_link.pipelined = pipelined;
        CutRig rig{config};
        const std::vector<std::byte> data(std::size_t{pages} * page, std::byte{7});
        const auto written = rig.ssd().write(Sector{first_sector}, pages * (page / sector_bytes), data, WriteDurability::volatile_ok, {rig.now});
        REQUIRE(written.has_value());
        CHECK(*written - rig.now == Duration{1000 + pages * crossing}); // the host's answer is the same
        const auto flushed = rig.ssd().flush({*written});
        REQUIRE(flushed.has_value());
        std::vector<std::byte> back(data.size());
        REQUIRE(rig.ssd().read(Sector{first_sector}, pages * (page / sector_bytes), back, {*flushed}).has_value());
        CHECK(back == data);
        return *flushed - rig.now;
    };
    const Duration gained = end_of(false, 0) - end_of(true, 0); // the bus to the chips is as slow as the link
    CHECK((gained > Duration{piece * crossing / 2} && gained <= Duration{(pages - piece) * crossing}));
    CHECK(end_of(true, 1) < end_of(false, 1)); // the first and the last page in part
}

TEST_CASE("with parity over dies as many lines are under way as there are dies, not rows", "[ftl][buffer][destage][rain]") {
    const auto took = [](std::uint32_t rain) {
        SsdConfig config = ahead(64, 0, 0);
        config.nand.geometry.channels = 4;
        config.nand.geometry.blocks_per_plane = 40;
        config.nand.rain = rain;
        config.ftl.scheme = "page_map";
        config.ftl.reserved_permille = 400;
        CutRig rig{config};
        const SimTime begin = rig.now;
        for (std::uint32_t page = 0; page < 240; page += 8) rig.now = rig.write(page, 8);
        return rig.flush() - begin;
    };
    const double ratio = static_cast<double>(took(4).count()) / static_cast<double>(took(0).count());
    CHECK(ratio < 1.8); // three dies of four hold data; one line at a time would take three times as long
}

TEST_CASE("a newcomer takes a free slot, else the first one that comes back, each slot once", "[ftl][buffer][destage]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u);
    CAPTURE(seed);
    Random random{seed};
    constexpr std::uint32_t slots = 20;
    DestageAhead tested{slots, {.lines = 3}};
    std::vector<SimTime> free(slots, sim_start); // each slot's time
    std::uint32_t held = 0;
    SimTime now = sim_start;
    for (int i = 0; i < 20'000; ++i) {
        now += Duration{static_cast<std::int64_t>(random.below(50))};
        if (random.chance(1, 2)) {
            const auto slot = std::ranges::min_element(free);
            const auto taken = tested.take(now);
            REQUIRE(taken.has_value() == (slot != free.end()));
            if (!taken) continue;
            REQUIRE(*taken == std::max(now, *slot));
            free.erase(slot);
            ++held;
        } else if (held != 0) {
            const auto back = static_cast<std::uint32_t>(1 + random.below(held));
            const SimTime end = now + Duration{static_cast<std::int64_t>(random.below(500))};
            tested.give_back(back, end);
            free.insert(free.end(), back, end);
            held -= back;
        }
    }
}

TEST_CASE("no more lines are under way than asked for", "[ftl][buffer][destage]") {
    DestageAhead tested{100, {.lines = 2}};
    CHECK(tested.next_begin(moment(0)) == moment(0));
    tested.begun(moment(500));
    CHECK(tested.next_begin(moment(0)) == moment(0));
    tested.begun(moment(300));
    CHECK(tested.next_begin(moment(0)) == moment(300));
    CHECK(tested.next_begin(moment(299)) == moment(300));
    CHECK(tested.next_begin(moment(300)) == moment(300));
    tested.begun(moment(900));
    CHECK(tested.next_begin(moment(301)) == moment(500));
}

TEST_CASE("a newcomer waits the longer the fuller the buffer is, and one that is overwritten in it does not", "[ftl][buffer][destage]") {
    DestageAhead tested{10, {.lines = 1, .throttle_from_permille = 500, .throttle = Duration{1000}}};
    std::vector<std::int64_t> waits;
    for (int i = 0; i < 10; ++i) {
        REQUIRE(tested.take(moment(0)));
        waits.push_back(tested.throttled().count());
    }
    CHECK(waits == std::vector<std::int64_t>{0, 0, 0, 0, 0, 200, 400, 600, 800, 1000});
    tested.give_back(4, moment(50)); // not free before
    CHECK(tested.take(moment(49)) == moment(50));
    CHECK(tested.throttled() == Duration{1000});
    REQUIRE(tested.take(moment(51)));
    CHECK(tested.throttled() == Duration{600});

    SsdConfig config = ahead(8, 1000);
    config.dram.throttle_from_permille = 250;
    config.dram.throttle = Duration{60'000};
    CutRig rig{config};
    const auto answered = [&](std::uint32_t unit) {
        const SimTime begin = std::exchange(rig.now, rig.write(unit, 1));
        return (rig.now - begin).count() - answered_at_once;
    };
    for (std::uint32_t unit = 0; unit < 5; ++unit) CHECK(answered(unit) == (unit < 2 ? 0 : 10'000 * (unit - 1)));
    CHECK(answered(3) == 0);
    rig.check_all();
}

TEST_CASE("lines under way give the bytes that a page was programmed with last, while memory of ended lines serves the next",
          "[ftl][buffer][destage]") {
    constexpr std::uint32_t pages = 12, bytes = 16;
    struct Programmed {
        std::byte value;
        SimTime end;
    };
    const auto seed = GENERATE(1u, 2u, 3u, 4u);
    CAPTURE(seed);
    Random random{seed};
    const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random.below(limit)); };
    PagesUnderWay under_way;
    std::map<std::uint32_t, Programmed> model;
    std::vector<std::byte> data;
    for (std::uint32_t step = 1, now = 0; step < 4000; ++step, now += below(3)) {
        if (below(3) == 0) {
            std::vector<Lpn> line;
            const SimTime end = moment(now + 1 + below(40)); // lines end in another order than they began
            for (std::uint32_t page = below(4); page < pages; page += 1 + below(6)) {
                line.push_back(Lpn{page});
                model[page] = {static_cast<std::byte>(step + page), end};
                data.insert(data.end(), bytes, model[page].value);
            }
            under_way.add(line, data, bytes, end);
            data.clear(); // as its owner does before the next line
        }
        if (below(8) == 0) {
            const std::uint32_t first = below(pages), count = 1 + below(2 * pages);
            under_way.drop(Lpn{first}, count);
            std::erase_if(model, [&](const auto& page) { return page.first >= first && page.first - first < count; });
        }
        if (below(2) == 0) under_way.settle(moment(now));
        for (std::uint32_t page = 0; page < pages; ++page) {
            const auto found = under_way.find(Lpn{page}, moment(now));
            const auto wanted = model.find(page);
            REQUIRE(found.has_value() == (wanted != model.end() && wanted->second.end > moment(now)));
            if (found) REQUIRE(std::ranges::all_of(*found, [&](std::byte b) { return b == wanted->second.value; }));
            if (found) REQUIRE(found->size() == bytes);
        }
    }
}

TEST_CASE("a load that the flash keeps up with is answered at once, for ever", "[ssd][buffer][destage]") {
    CutRig rig{ahead(8)};
    Random random{3};
    for (int i = 0; i < 400; ++i) {
        CHECK((rig.write(static_cast<std::uint32_t>(random.below(rig.units() / 2)), 1) - rig.now).count() == answered_at_once);
        rig.now += Duration{4'000'000}; // two collections' worth
        rig.settle();
    }
    CHECK(rig.programs() > 200);
    rig.check_all();
}

TEST_CASE("what the buffer keeps for overwrites stays, the rest goes while nobody asks", "[ssd][buffer][destage]") {
    CutRig rig{ahead(8, 500)};
    for (std::uint32_t unit = 0; unit < 7; ++unit) rig.now = rig.write(3 * unit, 1);
    CHECK(rig.programs() == 1); // one line is under way, and a line of this drive is a page
    SimTime wake = rig.now;
    for (int i = 0; i < 10 && wake != sim_never; ++i) {
        rig.now = std::max(wake, rig.now);
        wake = rig.ssd().tick(rig.now);
    }
    CHECK(rig.programs() == 3);
    CHECK(rig.ssd().buffer()->buffered_pages() == 4);
    rig.check_all();
}

TEST_CASE("a full buffer makes newcomers wait for the line that ends first, and the next line begins then", "[ssd][buffer][destage]") {
    CutRig rig{with_lines(ahead(12))};
    const std::uint64_t before = rig.programs();
    const SimTime start = rig.now;
    std::uint32_t unit = 0;
    const auto write = [&] { return rig.write(7 * unit++ % rig.units(), 1) - start; };
    REQUIRE(rig.units() % 7 != 0);
    for (int i = 0; i < 6; ++i) CHECK(write() < Duration{20'000});
    CHECK(rig.programs() - before == 6); // a line is six pages
    for (int i = 0; i < 6; ++i) CHECK(write() < Duration{20'000});
    CHECK(rig.programs() - before == 6); // one line at a time
    std::vector<Duration> waited;
    for (int i = 0; i < 12; ++i) waited.push_back(write());
    for (int i = 0; i < 6; ++i) CHECK((waited[i] > Duration{700'000} && waited[i] < Duration{1'400'000}));
    for (int i = 6; i < 12; ++i) CHECK((waited[i] > Duration{1'400'000} && waited[i] < Duration{2'200'000}));
    CHECK(rig.programs() - before == 18);
    rig.check_all();
}

TEST_CASE("pages of several queues share a line, those of several streams do not", "[ssd][buffer][destage]") {
    const bool streams = GENERATE(false, true);
    CAPTURE(streams);
    CutRig rig{with_lines(ahead(24))};
    std::vector<std::byte> page(512);
    for (std::uint32_t i = 0; i < 6; ++i) {
        const HostIo by{rig.now, StreamId{static_cast<std::uint16_t>(streams ? i % 2 : 0)}, QueueId{static_cast<std::uint16_t>(i % 3)}};
        REQUIRE(rig.ssd().write(rig.sector(5 * i), 1, page, WriteDurability::volatile_ok, by));
    }
    CHECK(rig.array().counters().programs_along == (streams ? 0 : 4)); // of six pages on two planes
}

TEST_CASE("reads suspend what is destaged ahead, and wait for what a host waits for", "[ssd][buffer][destage]") {
    const bool is_ahead = GENERATE(true, false);
    CAPTURE(is_ahead);
    SsdConfig config = ahead(2);
    if (!is_ahead) config.dram.destage = "full";
    config.nand.options.program_suspends = 4;
    CutRig rig{config};
    rig.now = rig.write(40, 2);
    rig.now = rig.flush() + Duration{1};
    for (std::uint32_t unit = 0; unit < (is_ahead ? 2u : 4u); ++unit) (void)rig.write(unit, 1);
    std::vector<std::byte> to(512);
    rig.now += Duration{300'000};
    for (std::uint32_t unit : {40u, 41u}) REQUIRE(rig.ssd().read(rig.sector(unit), 1, to, rig.now));
    CHECK((rig.array().suspensions() != 0) == is_ahead);
}

TEST_CASE("a page under way to the flash is read from DRAM until it is programmed, its newest version, and a trim takes it away",
          "[ssd][buffer][destage]") {
    CutRig rig{ahead(2)};
    const auto read = [&](std::uint32_t unit) {
        const std::uint64_t before = rig.array().counters().reads[0];
        rig.check_unit(unit);
        return rig.array().counters().reads[0] - before;
    };
    for (std::uint32_t unit = 0; unit < 3; ++unit) (void)rig.write(unit, 1); // the first is on its way, 700 us long
    CHECK(rig.programs() != 0);
    for (std::uint32_t unit = 0; unit < 3; ++unit) CHECK(read(unit) == 0);
    (void)rig.write(0, 1);
    CHECK(read(0) == 0);
    (void)rig.trim(0, 1);
    CHECK(read(0) == 0);
    rig.now += Duration{50'000'000};
    (void)rig.flush();
    rig.now += Duration{50'000'000};
    CHECK(read(1) == 1);
    CHECK(read(2) == 1);
}

TEST_CASE("a buffer that is destaged ahead loses nothing that it promised, whenever the power fails", "[ssd][buffer][destage][cut]") {
    const bool lines = GENERATE(false, true);
    const std::string scheme = GENERATE("page_map", "hftl", "dftl", "fast");
    if (lines && scheme == "fast") return;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        SsdConfig config = ahead(static_cast<std::uint32_t>(1 + seed % 13), seed % 3 == 0 ? 400 : 0, static_cast<std::uint32_t>(1 + seed % 4));
        if (lines) config = with_lines(config);
        config.ftl.scheme = scheme;
        config.dram.is_protected = seed % 4 == 0;
        CutRig rig{config};
        Random random{seed};
        CAPTURE(seed, lines, scheme);
        for (int round = 0; round < 3; ++round) {
            rig.settle();
            const SimTime from = rig.now;
            for (int i = 0; i < 60; ++i) rig.step(random);
            rig.require_sound();
            if (seed % 5 == 0)
                rig.remount_clean();
            else
                rig.cut(rig.random_moment(random, from), random.next());
        }
        rig.check_all();
    }
}
