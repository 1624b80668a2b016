/// What is read before it is asked for: the time that it saves, what it costs, and that it never shows anything else than the flash would.
#include "ftl/cache/read_ahead.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

/// Pages of 1,024 bytes; a piece of a run has so many.
SsdConfig reading_ahead(std::uint32_t pages_a_piece) {
    SsdConfig config = tiny_config();
    config.nand.geometry.page_bytes = 1024;
    config.dram.read_ahead_bytes = std::uint64_t{pages_a_piece} * ReadAhead::pieces_a_run * config.nand.geometry.page_bytes;
    return config;
}

std::uint64_t reads_of(CutRig& rig) {
    std::uint64_t all = 0;
    for (const std::uint64_t n : rig.array().counters().reads) all += n;
    return all;
}

/// Of one page; returns how long it took.
std::int64_t read_page(CutRig& rig, std::uint32_t page) {
    const SimTime begin = rig.now;
    const auto done = rig.ssd().read(rig.sector(page), 2, {}, begin);
    REQUIRE(done.has_value());
    rig.now = *done;
    return (*done - begin).count();
}

void fill(CutRig& rig, std::uint32_t pages) {
    rig.now = rig.write(0, pages);
    rig.now = rig.flush() + Duration{10'000'000};
}

} // namespace

TEST_CASE("the third read in order is in DRAM, or on its way there", "[ssd][read-ahead]") {
    CutRig rig{reading_ahead(4)};
    fill(rig, 32);
    const std::int64_t first = read_page(rig, 0);
    CHECK(rig.ssd().read_ahead()->pages == 0);
    read_page(rig, 1); // makes a run: pages 2 and 3 are read, up to the end of a piece
    CHECK(rig.ssd().read_ahead()->pages == 2);
    rig.now += Duration{5'000'000};
    CHECK(read_page(rig, 2) < first / 2);
    CHECK(rig.ssd().read_ahead()->hits == 1);
    rig.check_all();
}

TEST_CASE("a page that was read ahead is one hit, in however many parts it is asked for", "[ssd][read-ahead]") {
    CutRig rig{reading_ahead(4)};
    fill(rig, 32);
    for (std::uint32_t half = 0; half < 48; ++half) {
        const auto done = rig.ssd().read(Sector{rig.sector(half / 2).value() + half % 2}, 1, {}, rig.now);
        REQUIRE(done.has_value());
        rig.now = *done;
    }
    CHECK(rig.ssd().read_ahead()->hits <= 24);
    CHECK(rig.ssd().read_ahead()->hits >= 24 - 3);
}

TEST_CASE("a run has more pieces the longer the host waits for it, and none where it does not", "[ssd][read-ahead]") {
    CutRig rig{reading_ahead(1)};
    fill(rig, 64);
    for (std::uint32_t page = 0; page < 20; ++page) {
        read_page(rig, page);
        rig.now += Duration{50'000'000}; // a slow host: one page ahead is enough
    }
    CHECK(rig.ssd().read_ahead()->pages <= 20 + 2);
    for (std::uint32_t page = 20; page < 40; ++page) read_page(rig, page);
    CHECK(rig.ssd().read_ahead()->pages >= 40 - 2 + 2);
    CHECK(rig.ssd().read_ahead()->pages <= 40 - 2 + ReadAhead::pieces_a_run);
}

TEST_CASE("reads that follow no other begin nothing, and do not end what others read in order", "[ssd][read-ahead]") {
    CutRig rig{reading_ahead(2)};
    fill(rig, 64);
    for (std::uint32_t page = 32; page-- > 0;) read_page(rig, page);
    CHECK(rig.ssd().read_ahead()->pages == 0);
    for (std::uint32_t page = 32; page < 36; ++page) read_page(rig, page);
    for (std::uint32_t page = 31; page-- > 0;) read_page(rig, page); // more of them than ends are remembered
    const std::uint64_t hits = rig.ssd().read_ahead()->hits;
    read_page(rig, 36);
    CHECK(rig.ssd().read_ahead()->hits == hits + 1);
}

TEST_CASE("runs beside each other are kept apart, and the one asked for longest ago gives way", "[ssd][read-ahead]") {
    CutRig rig{reading_ahead(1)};
    fill(rig, 64);
    for (std::uint32_t step = 0; step < 4; ++step)
        for (std::uint32_t run = 0; run < ReadAhead::most_runs; ++run) read_page(rig, run * 7 + step);
    CHECK(rig.ssd().read_ahead()->hits == ReadAhead::most_runs * 2);
    for (std::uint32_t step = 0; step < 2; ++step) read_page(rig, 60 + step); // one more run: the first is gone
    const std::uint64_t hits = rig.ssd().read_ahead()->hits;
    read_page(rig, 4);
    CHECK(rig.ssd().read_ahead()->hits == hits);
    read_page(rig, 7 + 4);
    CHECK(rig.ssd().read_ahead()->hits == hits + 1);
    rig.require_sound();
}

TEST_CASE("small reads in order have a page of the chip sensed once", "[ssd][read-ahead][subpages]") {
    for (const bool ahead : {false, true}) {
        SsdConfig config = reading_ahead(8);
        if (!ahead) config.dram.read_ahead_bytes = 0;
        config.nand.options.subpages = 4;
        config.nand.geometry.blocks_per_plane = 40;
        config.dram.write_buffer_bytes = 16 * 1024; // neighbours lie in one page
        CutRig rig{config};
        fill(rig, 64);
        const std::uint64_t sensed = reads_of(rig) - rig.array().counters().reads_along;
        for (std::uint32_t page = 0; page < 32; ++page) read_page(rig, page);
        const std::uint64_t senses = reads_of(rig) - rig.array().counters().reads_along - sensed;
        CAPTURE(ahead);
        if (ahead)
            CHECK(senses <= 2 + 1 + rig.ssd().read_ahead()->pages / 4); // what was read ahead is sensed by fours
        else
            CHECK(senses == 32);
    }
}

TEST_CASE("nothing is read beyond the end of the drive", "[ssd][read-ahead]") {
    CutRig rig{reading_ahead(4)};
    for (std::uint32_t page = rig.units() - 6; page < rig.units(); ++page) read_page(rig, page);
    CHECK(rig.ssd().read_ahead()->pages == 4);
    rig.require_sound();
}

TEST_CASE("a write, a trim and a FUA write are seen by the next read, whatever was read ahead", "[ssd][read-ahead]") {
    for (const std::string& scheme : all_schemes()) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            SsdConfig config = *shape_for(scheme, reading_ahead(2));
            if (seed == 2) config.dram.write_buffer_bytes = 6 * config.nand.geometry.page_bytes;
            CutRig rig{config, Payload::keep, UndoPolicy::none};
            Random random{seed};
            CAPTURE(scheme, seed);
            std::vector<std::byte> model(rig.ssd().identify().sectors * sector_bytes);
            std::uint64_t reading = 0; // in order, from here
            for (int i = 0; i < 900; ++i) {
                const std::uint64_t sectors = rig.ssd().identify().sectors, what = random.below(10);
                if (random.chance(1, 20)) reading = random.below(sectors);
                const std::uint64_t count = 1 + random.below(9);
                const std::uint64_t near = (reading + random.below(40)) % sectors; // where something is read ahead
                const auto at = [&](std::uint64_t first) { return model.begin() + static_cast<std::ptrdiff_t>(first * sector_bytes); };
                if (what < 6) {
                    if (reading + count > sectors) reading = 0;
                    std::vector<std::byte> got(count * sector_bytes, std::byte{1});
                    const auto done = rig.ssd().read(Sector{reading}, static_cast<std::uint32_t>(count), got, rig.now);
                    REQUIRE(done.has_value());
                    REQUIRE(std::equal(got.begin(), got.end(), at(reading)));
                    reading += count;
                    if (random.chance(1, 2)) rig.now = *done;
                } else if (near + count > sectors) {
                    continue;
                } else if (what == 6) {
                    REQUIRE(rig.ssd().trim(Sector{near}, count, rig.now).has_value());
                    std::fill_n(at(near), count * sector_bytes, std::byte{0});
                } else {
                    std::vector<std::byte> data(count * sector_bytes);
                    for (auto& b : data) b = static_cast<std::byte>(random.next());
                    const auto durability = what == 7 ? WriteDurability::fua : WriteDurability::volatile_ok;
                    const auto done = rig.ssd().write(Sector{near}, static_cast<std::uint32_t>(count), data, durability, rig.now);
                    REQUIRE(done.has_value());
                    std::ranges::copy(data, at(near));
                    if (random.chance(1, 2)) rig.now = *done;
                }
            }
            rig.require_sound();
            CHECK(rig.ssd().read_ahead()->hits > 100);
        }
    }
}

TEST_CASE("a page that cannot be read is told by the request that asks for it, not by the one before", "[ssd][read-ahead]") {
    struct Unreadable : NandFaults {
        bool program_fails(Ppn) override { return false; }
        bool erase_fails(BlockId) override { return false; }
        bool read_fails(Ppn) override { return fails; }
        bool fails = false;
    } faults;
    CutRig rig{reading_ahead(4)};
    rig.set_faults(&faults);
    fill(rig, 32);
    read_page(rig, 0);
    read_page(rig, 1);
    for (std::uint32_t page = 2; page < 5; ++page) read_page(rig, page);
    faults.fails = true;
    CHECK(rig.ssd().read(rig.sector(5), 2, {}, rig.now).has_value()); // from DRAM; the piece behind it fails
    CHECK_FALSE(rig.ssd().read(rig.sector(20), 2, {}, rig.now).has_value());
    faults.fails = false;
    CHECK(rig.ssd().read(rig.sector(21), 2, {}, rig.now).has_value());
}
