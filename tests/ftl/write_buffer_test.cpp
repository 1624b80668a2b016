/// The drive's DRAM: what is answered from it, what reaches the flash, and in which order; then cuts at random instants against the reference model.
#include "ftl/cache/write_buffer.h"
#include "tests/support/cut_rig.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::tiny_config;

namespace {

/// Pages of 512 bytes: link 1000 + 128 ns, command 100, transfer 512, program 700 us.
SsdConfig buffered(std::uint32_t pages) {
    SsdConfig config = tiny_config();
    config.nand.timing = test::round_timing;
    config.host_link = {.ps_per_byte = 250, .request_overhead = Duration{1000}};
    config.dram.write_buffer_bytes = std::uint64_t{pages} * 512;
    return config;
}

} // namespace

TEST_CASE("a buffered write is answered when it has crossed the link, a read of it takes nothing from the flash", "[ssd][buffer]") {
    CutRig rig{buffered(4)};
    const SimTime start = rig.now;
    rig.now = rig.write(3, 1);
    CHECK((rig.now - start).count() == 1000 + 128);
    CHECK(rig.programs() == 0);
    std::vector<std::byte> to(512);
    const auto read = rig.ssd().read(rig.sector(3), 1, to, rig.now);
    CHECK((*read - rig.now).count() == 1000 + 128);
    rig.check_all();
    const WriteBufferCounters& c = rig.ssd().buffer()->buffer_counters();
    CHECK(c.write_misses == 1);
    CHECK(c.read_hits == 2);
    CHECK(rig.ssd().identify().volatile_write_cache);
    CHECK(rig.ssd().lba_status(rig.sector(3), 1).front().mapped);
}

TEST_CASE("a full buffer programs its least recently used page, and the newcomer waits for the slot", "[ssd][buffer]") {
    CutRig rig{buffered(2)};
    rig.now = rig.write(0, 1);
    rig.now = rig.write(1, 1);
    std::vector<std::byte> to(512);
    REQUIRE(rig.ssd().read(rig.sector(0), 1, to, rig.now)); // now page 1 is the least recently used
    rig.now += Duration{1'000'000};
    const SimTime start = rig.now;
    const SimTime done = rig.write(2, 1);
    CHECK((done - start).count() >= 1000 + 128 + 100 + 512 + 700'000);
    CHECK(rig.programs() == 1);
    CHECK(rig.ftl().is_mapped(Lpn{1}));
    CHECK_FALSE(rig.ftl().is_mapped(Lpn{0}));
    rig.now = done;
    rig.check_all();
}

TEST_CASE("overwriting a buffered page costs the flash nothing", "[ssd][buffer]") {
    CutRig rig{buffered(2)};
    for (int i = 0; i < 100; ++i) rig.now = rig.write(5, 1);
    CHECK(rig.programs() == 0);
    CHECK(rig.ssd().buffer()->buffer_counters().write_hits == 99);
    rig.now = rig.flush();
    CHECK(rig.programs() == 1);
    rig.check_all();
}

TEST_CASE("a flush programs in the order of writing", "[ssd][buffer]") {
    CutRig rig{buffered(8)};
    for (const std::uint32_t unit : {6u, 2u, 9u, 6u}) rig.now = rig.write(unit, 1); // 6 is written last
    std::vector<std::byte> to(512);
    REQUIRE(rig.ssd().read(rig.sector(2), 1, to, rig.now)); // use does not matter here
    rig.now = rig.flush();
    CHECK(rig.ssd().buffer()->buffered_pages() == 0);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order; // by write sequence
    for (std::uint32_t p = 0; p < rig.geometry().pages(); ++p) {
        if (const auto stored = rig.array().inspect_oob(Ppn{p}); stored->oob)
            order.push_back({stored->oob->sequence.value(), stored->oob->lpn.value()});
    }
    std::ranges::sort(order);
    REQUIRE(order.size() == 3);
    CHECK(order[0].second == 2);
    CHECK(order[1].second == 9);
    CHECK(order[2].second == 6);
}

TEST_CASE("a full buffer fills a word line with its least recently used pages, and newcomers wait for the line", "[ssd][buffer][one-shot]") {
    const std::string scheme = GENERATE("page_map", "hftl");
    CAPTURE(scheme);
    SsdConfig config = buffered(12);
    config.ftl.scheme = scheme;
    config.nand.geometry.cell = CellType::tlc;
    config.nand.geometry.pages_per_block = 12;
    config.nand.options.one_shot = true;
    CutRig rig{config};
    const NandCounters& flash = rig.array().counters();
    const std::uint64_t at_mount = rig.programs();
    const auto programs = [&] { return rig.programs() - at_mount; };
    std::uint32_t unit = 0;
    const auto write = [&] { return rig.write(7 * unit++ % rig.units(), 1); }; // no two neighbours
    REQUIRE(rig.units() % 7 != 0);
    for (int i = 0; i < 12; ++i) rig.now = std::max(rig.now, write());
    CHECK(programs() == 0);
    const SimTime start = rig.now;
    for (int i = 0; i < 6; ++i)
        CHECK(write() - start >= config.nand.timing.page_program); // the line's slots, and none is free before the line is there
    CHECK(programs() == 6);
    CHECK(flash.multi_plane_programs == 1);
    CHECK(flash.programs_along == 4);
    rig.now = write();
    CHECK(programs() == 12);
    rig.now = rig.flush();
    CHECK(programs() == 6 + 13);
    CHECK(flash.programs_along >= 3 * 4);
    rig.check_all();
    rig.kill();
    rig.check_all();
}

TEST_CASE("a FUA write drops the older buffered version and is programmed when it is answered", "[ssd][buffer]") {
    CutRig rig{buffered(4)};
    rig.now = rig.write(7, 1);
    rig.now = rig.write(7, 1, WriteDurability::fua);
    CHECK(rig.ssd().buffer()->buffered_pages() == 0);
    CHECK(rig.ssd().buffer()->buffer_counters().dropped_pages == 1);
    CHECK(rig.programs() == 1);
    rig.check_all();
    rig.kill(); // the version that FUA promised is there
    rig.check_all();
}

TEST_CASE("a trim removes buffered pages, and they stay away", "[ssd][buffer]") {
    CutRig rig{buffered(4)};
    rig.now = rig.write(1, 3);
    rig.now = rig.trim(0, 3);
    CHECK(rig.ssd().buffer()->buffered_pages() == 1);
    CHECK(rig.is_zero(1));
    rig.now = rig.flush();
    CHECK(rig.programs() == 1);
    CHECK(rig.is_zero(2));
    rig.check_all();
}

TEST_CASE("a request larger than the buffer goes past it", "[ssd][buffer]") {
    CutRig rig{buffered(2)};
    rig.now = rig.write(1, 1);
    rig.now = rig.write(0, 5);
    CHECK(rig.ssd().buffer()->buffered_pages() == 0);
    CHECK(rig.programs() == 5);
    rig.check_all();
}

TEST_CASE("a request larger than the buffer does not overtake what is in it: a stream reaches the flash in its order", "[ssd][buffer]") {
    SsdConfig config = buffered(3);
    CutRig rig{config};
    rig.now = rig.write(8, 2);
    rig.now = rig.write(2, 1);
    rig.now = rig.write(10, 4); // goes on with what was written first; page 2 goes down as well
    CHECK(rig.ssd().buffer()->buffered_pages() == 0);
    const Ftl& ftl = rig.ftl();
    CHECK(ftl.is_mapped(Lpn{8}));
    CHECK(ftl.is_mapped(Lpn{2}));
    CHECK(rig.ssd().buffer()->buffer_counters().evicted_pages == 3);
    rig.now = rig.write(10, 2);
    rig.now = rig.write(9, 4); // 10 and 11 are worthless: not programmed for nothing
    CHECK(rig.ssd().buffer()->buffer_counters().evicted_pages == 3);
    CHECK(rig.ssd().buffer()->buffer_counters().dropped_pages == 2);
    CHECK(rig.ssd().buffer()->buffered_pages() == 0);
    rig.check_all();
}

TEST_CASE("any sequence of requests reads as if there were no buffer, and leaves it sound", "[ssd][buffer]") {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SsdConfig config = buffered(static_cast<std::uint32_t>(1 + seed * 3));
        config.nand.geometry.page_bytes = 1024;
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        Random random{seed};
        CAPTURE(seed);
        for (int i = 0; i < 600; ++i) rig.step(random);
        rig.check_all();
        rig.remount_clean();
        rig.check_all();
    }
}

TEST_CASE("after a cut at any instant flushed data are there and every page shows a version written to it", "[ssd][buffer][cut]") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SsdConfig config = buffered(static_cast<std::uint32_t>(1 + seed % 7));
        config.dram.is_protected = seed % 4 == 0;
        CutRig rig{config};
        Random random{seed};
        CAPTURE(seed);
        for (int round = 0; round < 3; ++round) {
            rig.settle();
            const SimTime from = rig.now;
            for (int i = 0; i < 60; ++i) rig.step(random);
            rig.cut(rig.random_moment(random, from), random.next());
        }
        rig.check_all();
    }
}

TEST_CASE("a protected buffer survives the power cut, a volatile one does not", "[ssd][buffer][cut]") {
    for (const bool is_protected : {false, true}) {
        SsdConfig config = buffered(4);
        config.dram.is_protected = is_protected;
        CutRig rig{config};
        rig.now = rig.write(2, 3);
        rig.now += Duration{1'000};
        rig.cut(rig.now, 1);
        CHECK(rig.is_zero(2) == !is_protected);
        CHECK(rig.is_zero(4) == !is_protected);
    }
}

TEST_CASE("the controller serves one request after the other", "[ssd][time]") {
    SsdConfig config = buffered(8);
    config.host_link.controller_request = Duration{5000};
    CutRig rig{config};
    const SimTime start = rig.now;
    CHECK((rig.write(0, 1) - start).count() == 1000 + 128 + 5000);
    CHECK((rig.write(1, 1) - start).count() == 1000 + 128 + 2 * 5000); // understood while the first is worked on
}
