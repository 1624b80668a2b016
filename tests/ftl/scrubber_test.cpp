// Goal: data that bit errors would reach are written anew in time, by every scheme. A drive that scrubs loses nothing to them, others do. Whatever
// relocations a scrub makes, a cut among them loses nothing.
#include "ftl/blocks/scrubber.h"

#include "tests/support/catch.h"
#include "tests/support/cut_rig.h"
#include "tests/support/every_scheme.h"
#include "tests/support/test_drive.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::chrono::hours day{24};

SsdConfig ageing_drive() {
    SsdConfig c = tiny_config();
    c.nand.geometry.blocks_per_plane = 16;
    c.nand.errors = {.cells = CellErrors::tlc_72, .cycles_before = 1000};
    return c;
}

std::uint64_t retries(CutRig& rig) { return rig.array().counters().read_retries; }

/// What is to be done in the background is done, and what could not be done at once some hours later.
void rest(CutRig& rig) {
    for (int hours = 0; hours < 4; ++hours, rig.now += std::chrono::hours{1})
        for (int wakes = 0;; ++wakes) {
            REQUIRE(wakes < 10'000);
            const SimTime next = rig.ssd().tick(rig.now);
            if (next == sim_never) break;
            rig.now = std::max(rig.now, next);
        }
}

void fill(CutRig& rig) {
    for (std::uint32_t unit = 0; unit < rig.units(); ++unit) rig.now = std::max(rig.now, rig.write(unit, 1));
    rig.now = rig.flush();
}

/// Of blocks with data of the host, in days.
double oldest(CutRig& rig) {
    double days = 0;
    for (const BlockId block : ids<BlockId>(rig.geometry().blocks()))
        if (rig.ftl().status_of(block).use == BlockUse::data && rig.ftl().status_of(block).valid_pages != 0)
            days = std::max(days, rig.array().days_since_program(block, rig.now));
    return days;
}

} // namespace

TEST_CASE("data older than ftl.scrub_days are written anew at rest, and read without retries", "[ftl][scrub]") {
    SsdConfig shape = ageing_drive();
    shape.ftl.scrub_days = 90;
    on_every_scheme(shape, [](const SsdConfig& config) {
        CutRig rig{config};
        fill(rig);
        REQUIRE(rig.ssd().grow_older(30 * Duration{day}));
        rest(rig);
        CHECK(rig.ssd().scrubber()->scrubbed_blocks() == 0);
        CHECK(oldest(rig) >= 30);
        REQUIRE(rig.ssd().grow_older(700 * Duration{day})); // 5.9e-3 + 1.4e-3: 60 wrong bits in the mean
        rest(rig);
        CHECK(rig.ssd().scrubber()->scrubbed_blocks() > 0);
        CHECK(rig.array().counters().programs[std::to_underlying(Cause::scrub)] > 0);
        CHECK(oldest(rig) < 90);
        const std::uint64_t before = retries(rig);
        rig.check_all();
        CHECK(retries(rig) - before <= rig.units() / 4);
        const std::uint64_t moved = rig.ssd().scrubber()->scrubbed_blocks();
        rest(rig);
        CHECK(rig.ssd().scrubber()->scrubbed_blocks() == moved); // S1
    });
}

TEST_CASE("a block whose reads take ftl.scrub_retries retries is written anew, beside the host's reads", "[ftl][scrub]") {
    for (const std::uint32_t at : {1u, 4u}) {
        SsdConfig config = ageing_drive();
        config.ftl.scheme = "page_map";
        config.ftl.scrub_retries = at;
        CutRig rig{config};
        fill(rig);
        REQUIRE(rig.ssd().grow_older(500 * Duration{day}));
        for (int round = 0; round < 3; ++round) rig.check_all();
        rest(rig);
        INFO("at " << at << " retries, " << retries(rig) << " were made");
        CHECK(retries(rig) > 0);
        CHECK((rig.ssd().scrubber()->scrubbed_blocks() > 0) == (at == 1)); // none needs four
        const std::uint64_t before = retries(rig);
        rig.check_all();
        CHECK((retries(rig) - before > rig.units()) == (at == 4));
    }
}

TEST_CASE("ten years on a shelf are lost data, ten years of scrubbing are not", "[ftl][scrub]") {
    for (const bool scrubs : {false, true}) {
        SsdConfig config = ageing_drive();
        config.nand.errors.cycles_before = 1500;
        config.ftl.scheme = "page_map";
        config.ftl.scrub_days = scrubs ? 180 : 0;
        CutRig rig{config};
        fill(rig);
        std::uint32_t lost = 0;
        for (int year = 0; year < 10; ++year) {
            for (int half = 0; half < 2; ++half) {
                REQUIRE(rig.ssd().grow_older(182 * Duration{day}));
                rest(rig);
            }
        }
        for (std::uint32_t unit = 0; unit < rig.units(); ++unit) {
            const auto read = rig.ssd().read(rig.sector(unit), 1, {}, rig.now);
            if (!read) CHECK(read.error().kind == DeviceErrorKind::uncorrectable);
            if (!read) ++lost;
        }
        CHECK((lost == 0) == scrubs);
    }
}

TEST_CASE("a cut while data are scrubbed loses nothing", "[ftl][scrub][cut]") {
    SsdConfig shape = ageing_drive();
    shape.nand.errors.cycles_before = 1000;
    shape.ftl.scrub_retries = 1;
    shape.ftl.scrub_days = 50;
    on_every_scheme(shape, [](const SsdConfig& config) {
        const std::uint64_t seed = 20261126;
        INFO("seed " << seed);
        Random random{seed};
        CutRig rig{config};
        std::uint64_t scrubbed = 0;
        for (int life = 0; life < 25; ++life) {
            const SimTime from = rig.steps_and_pauses(random);
            for (std::uint32_t unit = 0; unit < rig.units(); unit += 3) (void)rig.ssd().read(rig.sector(unit), 1, {}, rig.now);
            REQUIRE(rig.ssd().grow_older(20 * Duration{day}));
            (void)rig.ssd().tick(rig.now);
            scrubbed += rig.ssd().scrubber()->scrubbed_blocks();
            rig.leave(from, random);
        }
        CHECK(scrubbed > 0);
    });
}

TEST_CASE("scrubbing without bit errors, or of superpages, is refused with what to do", "[ftl][scrub]") {
    SsdConfig config = tiny_config();
    config.ftl.scheme = "page_map";
    config.ftl.scrub_days = 10;
    const auto why = [](const SsdConfig& c) { return plan_ftl(c, *Geometry::make(c.nand.geometry)).error(); };
    CHECK_THAT(why(config), ContainsSubstring("set nand.cell_errors"));
    config.nand.errors.cells = CellErrors::mlc_2y;
    config.nand.geometry.channels = 2;
    config.nand.striping = 2;
    CHECK_THAT(why(config), ContainsSubstring("set nand.striping to 1"));
}
