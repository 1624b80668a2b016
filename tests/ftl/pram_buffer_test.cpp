/// The write buffer in PRAM: what it answered survives every cut, what it gave to the flash is not forgotten too early, and never a half of a page.
#include <algorithm>
#include <array>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "ftl/cache/pram_slots.h"
#include "ftl/make_ftl.h"
#include "ftl/schemes/demand_scheme.h"
#include "pram/memory_pram_store.h"
#include "tests/support/cut_rig.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::on_every_scheme;
using flashlab::test::tiny_config;

namespace {

SsdConfig kept(SsdConfig config, std::uint32_t pages) {
    config.host_link = {.ps_per_byte = 250, .request_overhead = Duration{1000}};
    config.dram.pram_buffer_bytes = std::uint64_t{pages} * config.nand.geometry.page_bytes;
    config.nand.options.paired_pages = false;
    return config;
}

/// Four pages of 512 bytes in a PRAM of 8-byte words: five slots, heads in the first 4 KiB.
struct Cells {
    static constexpr std::uint32_t pages = 4, page_bytes = 512;
    PramConfig config{.bytes = 8192, .word_bytes = 8};
    MemoryPramStore store{config.bytes};
    NullEventSink nobody;
    Pram pram{config, store, nobody, PramUndo::keep};
    PramSlots slots{pram, {PramAddress{0}, PramSlots::bytes_for(pages, page_bytes)}, pages, page_bytes};
};

std::vector<std::byte> page_of(int value) { return std::vector<std::byte>(Cells::page_bytes, std::byte(value)); }

} // namespace

TEST_CASE("a page in PRAM is its data and a head of sixteen bytes", "[ftl][pram-buffer][format]") {
    Cells cells;
    REQUIRE(cells.slots.count() == 5);
    (void)cells.slots.keep(Lpn{0x0102}, page_of(0x5a), sim_start);
    const auto stored = cells.store.content();
    const auto head = stored.first(PramSlots::head_bytes);
    constexpr std::array<std::uint8_t, 12> fields{1, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x01, 0, 0};
    for (std::size_t i = 0; i < fields.size(); ++i) CHECK(head[i] == std::byte{fields[i]});
    std::array<std::byte, 24> place{};
    LittleEndianWriter writer{place};
    writer.u64(0);    // where the range begins
    writer.u64(8192); // how long it is
    writer.u32(5);
    writer.u32(512);
    constexpr std::array<std::byte, 4> first_slot{};
    CHECK(load_le<std::uint32_t>(head.subspan(12)) == crc32c(head.first(12), crc32c(first_slot, crc32c(place))));
    CHECK(std::ranges::all_of(stored.subspan(4096, 512), [](std::byte b) { return b == std::byte{0x5a}; }));
}

TEST_CASE("a head with any bit flipped names no page", "[ftl][pram-buffer][format]") {
    for (std::size_t bit = 0; bit < PramSlots::head_bytes * 8; ++bit) {
        Cells cells;
        const auto kept = cells.slots.keep(Lpn{7}, page_of(1), sim_start);
        REQUIRE(cells.slots.names(kept.slot, Lpn{7}));
        cells.store.cells()[bit / 8] ^= std::byte(1u << bit % 8);
        CHECK_FALSE(cells.slots.names(kept.slot, Lpn{7}));
        PramSlots again{cells.pram, {PramAddress{0}, PramSlots::bytes_for(Cells::pages, Cells::page_bytes)}, Cells::pages, Cells::page_bytes};
        CHECK(again.recover(100, sim_start).pages.empty());
    }
}

TEST_CASE("at every instant of an overwrite one whole version of the page is found", "[ftl][pram-buffer][cut]") {
    std::vector<SimTime> moments;
    {
        Cells cells;
        const auto first = cells.slots.keep(Lpn{3}, page_of(1), sim_start);
        const auto second = cells.slots.keep(Lpn{3}, page_of(2), first.done);
        (void)cells.slots.forget(first.slot, second.done);
        cells.pram.append_moments(moments);
    }
    for (const SimTime at : moments) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            Cells cells;
            const auto first = cells.slots.keep(Lpn{3}, page_of(1), sim_start);
            const auto second = cells.slots.keep(Lpn{3}, page_of(2), first.done);
            const SimTime gone = cells.slots.forget(first.slot, second.done);
            SeededPramCutOutcomes outcomes{seed};
            (void)cells.pram.cut(at, outcomes);
            Pram next{cells.config, cells.store, cells.nobody, PramUndo::none};
            PramSlots found{next, {PramAddress{0}, PramSlots::bytes_for(Cells::pages, Cells::page_bytes)}, Cells::pages, Cells::page_bytes};
            const auto pages = found.recover(100, gone).pages;
            CAPTURE(at, seed);
            REQUIRE(pages.size() <= 1);
            if (at >= first.done) REQUIRE(pages.size() == 1);
            if (pages.empty()) continue;
            const auto data = found.data(pages.front().slot);
            const std::byte value = data.front();
            CHECK(std::ranges::all_of(data, [value](std::byte b) { return b == value; }));
            if (at >= second.done) CHECK(value == std::byte{2});
            CHECK(found.broken_invariant() == 0);
        }
    }
}

TEST_CASE("what a buffer in PRAM answered is there after the power cut, and took nothing from the flash", "[ssd][buffer][pram-buffer][cut]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& shape) {
        CutRig rig{kept(shape, 6)};
        const std::uint64_t before = rig.programs();
        rig.now = rig.write(2, 3);
        CHECK(rig.programs() == before);
        rig.cut(rig.now, 1);
        for (const std::uint32_t unit : {2u, 3u, 4u}) CHECK_FALSE(rig.is_zero(unit));
        rig.check_all();
    });
}

TEST_CASE("a flush leaves the pages in PRAM: it is answered at once and programs nothing", "[ssd][buffer][pram-buffer]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& shape) {
        CutRig rig{kept(shape, 6)};
        rig.now = rig.write(1, 4);
        const std::uint64_t before = rig.programs();
        const SimTime start = rig.now;
        rig.now = rig.flush();
        CHECK((rig.now - start).count() == 1000);
        CHECK(rig.programs() == before);
        CHECK(rig.ssd().buffer()->buffered_pages() == 4);
        rig.cut(rig.now, 2);
        rig.check_all();
    });
}

TEST_CASE("a page that was trimmed and flushed does not come back from PRAM", "[ssd][buffer][pram-buffer][cut]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& shape) {
        CutRig rig{kept(shape, 4)};
        for (std::uint32_t unit = 0; unit < 8; ++unit) rig.now = rig.write(unit, 1); // half of them have left for the flash
        rig.now = rig.trim(0, 8);
        rig.now = rig.flush();
        rig.cut(rig.now, 3);
        for (std::uint32_t unit = 0; unit < 8; ++unit) CHECK(rig.is_zero(unit));
        rig.check_all();
    });
}

TEST_CASE("a flush that is answered before an earlier one promises no more than is durable", "[ssd][buffer][pram-buffer][cut]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& shape) {
        CutRig rig{kept(shape, 3)};
        rig.now = rig.write(5, 2);
        rig.now = rig.write(1, 2, WriteDurability::fua); // 5 leaves for the flash: its slot is retired
        rig.now = rig.trim(4, 2);
        (void)rig.flush(); // wipes the head of 5, and is not waited for
        rig.now += Duration{17'000};
        (void)rig.trim(0, 1);
        rig.now += Duration{2'000};
        const SimTime answered = rig.flush();
        rig.cut(answered, 1);
        CHECK(rig.is_zero(5));
    });
}

TEST_CASE("a clean shutdown leaves nothing in the PRAM of the buffer", "[ssd][buffer][pram-buffer]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& shape) {
        CutRig rig{kept(shape, 4)};
        for (std::uint32_t unit = 0; unit < 6; ++unit) rig.now = rig.write(unit, 1);
        rig.remount_clean();
        CHECK(rig.ssd().buffer()->buffered_pages() == 0);
        rig.check_all();
    });
}

TEST_CASE("with a buffer in PRAM any requests and any cuts, also of the recovery, leave what was promised", "[ssd][buffer][pram-buffer][cut]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& shape) {
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            SsdConfig config = kept(shape, static_cast<std::uint32_t>(1 + seed % 9));
            config.pram.word_bytes = seed % 3 == 0 ? 2 : 8;
            CutRig rig{config};
            Random random{seed};
            CAPTURE(seed);
            for (int round = 0; round < 4; ++round) {
                rig.settle();
                const SimTime from = rig.now;
                for (int i = 0; i < 50; ++i) rig.step(random);
                if (round % 2 == 0)
                    rig.cut(rig.random_moment(random, from), random.next());
                else
                    rig.cut_twice(rig.random_moment(random, from), random);
            }
            rig.check_all();
            rig.remount_clean();
            rig.check_all();
        }
    });
}

TEST_CASE("a partition whose buffer lies in PRAM keeps what it answered", "[ssd][buffer][pram-buffer][dram][cut]") {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        SsdConfig config = tiny_config();
        config.ftl.scheme = "dftl";
        config.ftl.options.set(demand_option::mapping_cache_bytes, 64 * 8);
        config = kept(config, 40);
        config.dram.size_bytes = 40 * 512;
        config.dram.ghost_bitmap_bytes = 64;
        config.dram.tune_interval = 10;
        config.dram.tune_units = 8;
        CutRig rig{config};
        Random random{seed};
        CAPTURE(seed);
        for (int round = 0; round < 3; ++round) {
            rig.settle();
            const SimTime from = rig.now;
            for (int i = 0; i < 80; ++i) rig.step(random);
            rig.cut(rig.random_moment(random, from), random.next());
        }
        rig.check_all();
    }
}

TEST_CASE("pages that share cells and a buffer in PRAM are refused together", "[ftl][pram-buffer]") {
    SsdConfig config = kept(tiny_config(), 4);
    config.nand.options.paired_pages = true;
    const auto plan = plan_ftl(config, *Geometry::make(config.nand.geometry));
    REQUIRE_FALSE(plan);
    CHECK(plan.error().contains("nand.paired_pages"));
}
