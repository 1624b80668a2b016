/// The drive at its edge: sectors that are not whole pages, answers and their times, refusals, events.
#include <numeric>

#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

SsdConfig big_pages() {
    SsdConfig c = tiny_config();
    c.nand.geometry.page_bytes = 2048;
    return c;
}

} // namespace

TEST_CASE("writes, reads and trims of any sectors behave as a flat array of bytes", "[ssd]") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        SsdConfig config = big_pages();
        config.ftl.mapping_unit_pages = seed % 2 == 0 ? 2 : 1;
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        Random random{seed};
        const std::uint64_t sectors = rig.ssd().identify().sectors;
        std::vector<std::byte> model(sectors * sector_bytes);
        for (int i = 0; i < 1500; ++i) {
            CAPTURE(seed, i);
            const std::uint64_t first = random.below(sectors);
            const std::uint64_t count = 1 + random.below(std::min<std::uint64_t>(sectors - first, 24));
            const auto at = model.begin() + static_cast<std::ptrdiff_t>(first * sector_bytes);
            const std::uint64_t what = random.below(8);
            if (what < 4) {
                std::vector<std::byte> data(count * sector_bytes);
                for (auto& b : data) b = static_cast<std::byte>(random.next());
                const auto done = rig.ssd().write(Sector{first}, static_cast<std::uint32_t>(count), data, WriteDurability::volatile_ok, rig.now);
                REQUIRE(done.has_value());
                std::ranges::copy(data, at);
                rig.now = random.chance(1, 2) ? *done : rig.now;
            } else if (what < 5) {
                REQUIRE(rig.ssd().trim(Sector{first}, count, rig.now).has_value());
                std::fill_n(at, count * sector_bytes, std::byte{0});
            } else {
                std::vector<std::byte> got(count * sector_bytes, std::byte{1});
                REQUIRE(rig.ssd().read(Sector{first}, static_cast<std::uint32_t>(count), got, rig.now).has_value());
                REQUIRE(std::equal(got.begin(), got.end(), at));
            }
        }
        rig.require_sound();
    }
}

TEST_CASE("the mapped ranges cover what was asked and follow writes and trims", "[ssd]") {
    CutRig rig{big_pages()};
    rig.now = rig.write(1, 2);
    const auto ranges = rig.ssd().lba_status(Sector{2}, 14);
    REQUIRE(ranges.size() == 3);
    CHECK(ranges[0].first == Sector{2});
    CHECK(ranges[0].sectors == 2);
    CHECK_FALSE(ranges[0].mapped);
    CHECK(ranges[1].sectors == 8);
    CHECK(ranges[1].mapped);
    CHECK(ranges[2].sectors == 4);
    CHECK_FALSE(ranges[2].mapped);
}

TEST_CASE("a read counts the logical pages it asks for, and those of them that hold nothing, whatever the translation layer", "[ssd]") {
    for (const std::string& scheme : all_schemes()) {
        CAPTURE(scheme);
        CutRig rig{*shape_for(scheme, big_pages())};
        const auto expect = [&](std::uint64_t pages, std::uint64_t unmapped) {
            CHECK(rig.ssd().counters().read_pages == pages);
            CHECK(rig.ssd().counters().unmapped_reads == unmapped);
        };
        const auto read = [&](Sector first, std::uint32_t sectors) { REQUIRE(rig.ssd().read(first, sectors, {}, rig.now).has_value()); };
        const std::uint32_t a_page = static_cast<std::uint32_t>(rig.sector(1).value());
        rig.now = rig.write(1, 2);
        read(rig.sector(0), 4 * a_page); // pages 0 to 3: 1 and 2 hold something
        expect(4, 2);
        rig.now = rig.trim(2, 1);
        read(Sector{rig.sector(2).value() - 1}, 2); // the end of page 1, the beginning of page 2
        expect(6, 3);
        read(Sector{rig.sector(1).value()}, 1);
        expect(7, 3);
        CHECK_FALSE(rig.ssd().read(Sector{rig.ssd().identify().sectors}, 1, {}, rig.now).has_value()); // refused: nothing was read
        rig.now = rig.write_sectors(rig.sector(3), 1); // what completes a partial write is no read of the host
        expect(7, 3);
    }
}

TEST_CASE("a page that lies in the write buffer holds something", "[ssd]") {
    SsdConfig config = tiny_config();
    config.dram.write_buffer_bytes = 64 * config.nand.geometry.page_bytes;
    CutRig rig{config};
    rig.now = rig.write(1, 1);
    REQUIRE(rig.ssd().buffer()->buffered_pages() == 1);
    REQUIRE(rig.ssd().read(rig.sector(0), static_cast<std::uint32_t>(2 * rig.sector(1).value()), {}, rig.now).has_value());
    CHECK(rig.ssd().counters().unmapped_reads == 1);
}

TEST_CASE("requests beyond the end, and empty ones, are refused and change nothing", "[ssd]") {
    CutRig rig{tiny_config()};
    const std::uint64_t sectors = rig.ssd().identify().sectors;
    CHECK(rig.ssd().read(Sector{sectors}, 1, {}, rig.now).error().kind == DeviceErrorKind::out_of_range);
    CHECK(rig.ssd().write(Sector{sectors - 1}, 2, {}, WriteDurability::fua, rig.now).error().kind == DeviceErrorKind::out_of_range);
    CHECK(rig.ssd().trim(Sector{0}, sectors + 1, rig.now).error().kind == DeviceErrorKind::out_of_range);
    CHECK(rig.ssd().read(Sector{~std::uint64_t{0}}, 2, {}, rig.now).error().kind == DeviceErrorKind::out_of_range);
    CHECK(rig.ssd().read(Sector{0}, 0, {}, rig.now).error().kind == DeviceErrorKind::out_of_range);
    CHECK(rig.ssd().ftl().space().mapped_pages == 0);
}

TEST_CASE("a single read takes overhead, command, sensing and two transfers", "[ssd][time]") {
    SsdConfig config = tiny_config();
    config.nand.timing = test::round_timing;
    config.host_link = {.ps_per_byte = 250, .request_overhead = Duration{1000}};
    CutRig rig{config};
    const SimTime open_committed = rig.write(0, 1); // opens the superblock: later writes find it open
    rig.now = open_committed + Duration{1'000'000};
    const SimTime start = rig.now;
    const SimTime written = rig.write(1, 1);
    // link 1000 + 512 B x 0.25 ns; bus 100 + 512 x 1 ns; program 700 us
    CHECK((written - start).count() == 1000 + 128 + 100 + 512 + 700'000);
    rig.now = written;
    std::vector<std::byte> to(512);
    const auto read = rig.ssd().read(Sector{1}, 1, to, rig.now);
    // link 1000; PRAM lookup of one word 100; command 100; sensing 60 us; bus 512; link 128
    CHECK((*read - rig.now).count() == 1000 + 100 + 100 + 60'000 + 512 + 128);
}

TEST_CASE("a trim of pages that are not mapped costs no PRAM write", "[ssd]") {
    CutRig rig{tiny_config()};
    const std::uint64_t before = rig.ssd().pram()->counters().words_written[0];
    rig.now = rig.trim(0, rig.units());
    CHECK(rig.ssd().pram()->counters().words_written[0] == before);
}

TEST_CASE("a plan that cannot be is refused with its reason", "[ftl]") {
    const auto geometry = *Geometry::make(tiny_config().nand.geometry);
    SsdConfig config = tiny_config();
    config.ftl.scheme = "dream";
    CHECK(plan_ftl(config, geometry).error().find("hftl") != std::string::npos);
    config = tiny_config();
    config.ftl.striping = 2;
    CHECK(plan_ftl(config, geometry).error().find("striping") != std::string::npos);
    config = tiny_config();
    config.ftl.mapping_unit_pages = 3;
    CHECK_FALSE(plan_ftl(config, geometry).has_value());
    config = tiny_config();
    config.ftl.groups = 2;
    CHECK_FALSE(plan_ftl(config, geometry).has_value());
    config = tiny_config();
    config.nand.geometry.blocks_per_plane = 3;
    CHECK_FALSE(plan_ftl(config, *Geometry::make(config.nand.geometry)).has_value());
}

TEST_CASE("a trim that finds nothing mapped is answered no earlier than the trim that unmapped it", "[ssd]") {
    SsdConfig slow = tiny_config();
    slow.pram.word_write = Duration{10'000};
    slow.ftl.mapping_unit_pages = 4;
    slow.nand.geometry.pages_per_block = 16;
    CutRig rig{slow, Payload::keep, UndoPolicy::none};
    rig.now = rig.write(0, 1);
    const std::uint32_t sectors = rig.unit_bytes() / sector_bytes;
    const auto unmapped = rig.ssd().trim(rig.sector(0), sectors, rig.now);
    const auto again = rig.ssd().trim(rig.sector(0), 1, rig.now); // a power cut between the two answers would bring the page back
    REQUIRE(unmapped.has_value());
    REQUIRE(again.has_value());
    CHECK(*again >= *unmapped);
}

TEST_CASE("a request crosses the link in the next gap that is long enough, however many answers wait for it", "[ssd][time]") {
    SsdConfig config = tiny_config();
    config.nand.geometry.channels = 4;
    config.nand.timing.page_read = Duration{100'000};
    config.host_link.request_overhead = Duration{1000};
    config.host_link.ps_per_byte = 250; // 128 ns a sector: shorter than a request's overhead
    CutRig rig{config, Payload::none, UndoPolicy::none};
    for (std::uint32_t unit = 0; unit < rig.units(); ++unit) rig.now = rig.write(unit, 1);
    rig.settle();
    const SimTime begin = rig.now;
    Random random{3};
    for (int i = 0; i < 1000; ++i) REQUIRE(rig.ssd().read(Sector{random.below(rig.units())}, 1, {}, begin).has_value());
    // All have crossed the link; most of the answers wait for the flash, each with its 128 ns on the link to come.
    rig.now = begin + Duration{1'100'000};
    rig.settle();
    CHECK(*rig.ssd().flush(rig.now) <= rig.now + Duration{1000} + Duration{20 * 128});
}
