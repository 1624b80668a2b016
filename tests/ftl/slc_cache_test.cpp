/// ftl.slc_blocks: a region of blocks in SLC mode takes what the host writes and is folded into the others. Goal: where pages lie and when they move,
/// by the programs themselves; then cuts and remounts against the reference model, with the invariants of regions (B7).
#include <map>

#include "ftl/schemes/page_plan.h"
#include "tests/support/every_scheme.h"
#include "tests/support/test_drive.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::TestDrive;

namespace {

constexpr std::uint32_t planes = 2, slc_a_plane = 4, slc_pages = 8; ///< a third of a block
constexpr std::uint32_t cache_pages = planes * slc_a_plane * slc_pages;
constexpr Duration slc_program{200'000};
constexpr Duration rest{50'000'000};

SsdConfig cached(std::uint32_t blocks_a_plane = 40) {
    SsdConfig c = test::one_die(planes, blocks_a_plane, 3 * slc_pages, 512, 32);
    c.nand.geometry.cell = CellType::tlc;
    c.nand.timing = test::round_timing;
    c.nand.modes[std::to_underlying(CellType::slc)].page_program = slc_program;
    c.ftl.scheme = "page_map";
    c.ftl.reserved_permille = 200;
    c.ftl.options.set(page_option::slc_blocks, planes * slc_a_plane);
    return c;
}

class Programs final : public EventSink {
public:
    Programs() : EventSink{EventLevel::all} {}
    using EventSink::on;
    void on(const NandOpEvent& e) override {
        if (e.op == NandOp::program) all.push_back(e);
    }
    void on(const GcJobEvent& e) override {
        if (e.cause == Cause::fold) folded.push_back(e.victim);
    }
    std::vector<NandOpEvent> all;
    std::vector<BlockId> folded;
};

struct Rig : TestDrive<Programs> {
    explicit Rig(const SsdConfig& made) : TestDrive{made} { recover(); }
    /// Page by page; each when the one before is there. How long the slowest took.
    Duration write(std::uint32_t first, std::uint32_t pages) {
        log.all.clear();
        Duration slowest{0};
        for (std::uint32_t page = first; page < first + pages; ++page) {
            const auto done = ssd.write(Sector{page}, 1, {}, WriteDurability::volatile_ok, now);
            REQUIRE(done);
            slowest = std::max(slowest, *done - now);
            now = *done;
        }
        return slowest;
    }
    void rest_for(Duration time) {
        const SimTime until = now + time;
        log.all.clear();
        for (SimTime next = now; next <= until; next = std::max(next + Duration{1}, ssd.tick(next))) ssd.settle(next);
        now = until;
    }
    [[nodiscard]] std::uint64_t programs(Cause cause) const { return array.counters().programs[std::to_underlying(cause)]; }
    /// Of the last programs: how many went to blocks in SLC mode.
    [[nodiscard]] std::size_t in_slc() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(log.all, [&](const NandOpEvent& e) { return array.mode_of(e.block) == CellType::slc; }));
    }
};

} // namespace

TEST_CASE("the host's pages go to the SLC cache at its speed while it has room, then past it", "[ftl][slc]") {
    Rig drive{cached()};
    CHECK(drive.write(0, cache_pages) < slc_program + Duration{10'000'000}); // erases are waited for
    CHECK(drive.in_slc() == cache_pages);
    for (const NandOpEvent& e : drive.log.all) CHECK(e.page < slc_pages);
    drive.write(cache_pages, 20);
    CHECK(drive.in_slc() == 0);
    CHECK(drive.log.all.size() == 20);
    CHECK(drive.programs(Cause::fold) == 0);
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("an idle drive folds what is in the cache, and the cache takes the host's pages again", "[ftl][slc]") {
    Rig drive{cached()};
    drive.write(0, cache_pages);
    std::map<BlockId, std::size_t> filled_as; // the how many-th superblock
    for (const NandOpEvent& e : drive.log.all) filled_as.try_emplace(e.block, filled_as.size() / planes);
    drive.rest_for(rest - Duration{1'000'000});
    CHECK(drive.programs(Cause::fold) == 0); // the host may come back
    drive.rest_for(std::chrono::seconds{5});
    const std::uint32_t last = planes * slc_pages; // the superblock that is full, and that no write has closed
    CHECK(drive.programs(Cause::fold) == cache_pages - last);
    REQUIRE(drive.log.folded.size() == planes * (slc_a_plane - 1));
    for (std::size_t i = 0; i < drive.log.folded.size(); ++i) {
        CAPTURE(i);
        CHECK(filled_as[drive.log.folded[i]] == i / planes); // the one filled first goes first
    }
    CHECK(drive.in_slc() == 0);
    CHECK(drive.write(200, cache_pages - last) < slc_program + Duration{100'000}); // erased by then
    CHECK(drive.in_slc() == cache_pages - last);
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("pages that are overwritten in the cache are not folded", "[ftl][slc]") {
    Rig drive{cached()};
    for (int i = 0; i < 50; ++i) {
        drive.write(0, 20);
        CHECK(drive.in_slc() == 20);
    }
    CHECK(drive.programs(Cause::fold) == 0);
    CHECK(drive.programs(Cause::gc) == 0);
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("a full cache folds under pressure only a block of which a quarter is valid at most", "[ftl][slc]") {
    Rig drive{cached()};
    drive.write(0, cache_pages);
    drive.write(0, 11); // past the cache: of the two blocks filled first five of eight pages are stale, and of one six
    CHECK(drive.in_slc() == 0);
    CHECK(drive.programs(Cause::fold) == 0);
    drive.write(11, 1);
    CHECK(drive.in_slc() == 1);
    CHECK(drive.programs(Cause::fold) == 2);
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("what is folded at rest leaves the free blocks that the host leaves", "[ftl][slc]") {
    constexpr std::uint64_t kept = 2;
    SsdConfig config = cached(16);
    config.ftl.reserved_permille = 100;
    Rig drive{*test::shape_for("page_map", config)};
    const std::uint32_t pages = drive.ftl.logical_pages();
    for (std::uint32_t at = 0; at < pages; ++at) drive.write(at, 1);
    Random random{3};
    int squeezed = 0;
    for (int round = 0; round < 200; ++round) {
        for (int i = 0; i < 30; ++i) drive.write(static_cast<std::uint32_t>(random.below(pages)), 1);
        const SimTime until = drive.now + 4 * rest;
        for (SimTime next = drive.now; next <= until;) {
            const std::uint64_t before = drive.ftl.space().free_blocks, folded = drive.programs(Cause::fold), collected = drive.programs(Cause::gc);
            drive.ssd.settle(next);
            next = std::max(next + Duration{1}, drive.ssd.tick(next));
            if (drive.programs(Cause::fold) == folded || drive.programs(Cause::gc) != collected) continue;
            CAPTURE(round, before);
            CHECK(drive.ftl.space().free_blocks >= std::min(before, kept));
            squeezed += before <= kept ? 1 : 0;
        }
        drive.now = until;
    }
    CHECK(squeezed > 0);
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("a cache under a full drive keeps every page through cuts and clean mounts", "[ftl][slc][crash]") {
    const bool one_shot = GENERATE(false, true);
    const std::string separation = GENERATE("none", "cause");
    SsdConfig config = cached(16);
    config.nand.options.one_shot = one_shot;
    config.ftl.separation = separation;
    config.ftl.options.set(page_option::fold_after_us, 0);
    config = *test::shape_for("page_map", config);
    std::uint64_t folded = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(one_shot, separation, seed);
        CutRig rig{config};
        Random random{seed};
        for (std::uint32_t unit = 0; unit < rig.units() && seed % 2 == 0; ++unit) rig.now = rig.write(unit, 1);
        for (int c = 0; c < 12; ++c) {
            CAPTURE(c);
            const SimTime from = rig.steps_and_pauses(random);
            folded += rig.array().counters().programs[std::to_underlying(Cause::fold)];
            rig.leave(from, random);
        }
        rig.check_all();
    }
    CHECK(folded > 1000);
}

TEST_CASE("an SLC cache is refused where the chips, the scheme or the size do not allow it", "[ftl][slc]") {
    const auto refusal = [](const SsdConfig& config) {
        const auto plan = plan_ftl(config, *Geometry::make(config.nand.geometry));
        return plan ? "" : plan.error();
    };
    SsdConfig config = cached();
    CHECK(refusal(config).empty());
    const std::uint32_t with = plan_ftl(config, *Geometry::make(config.nand.geometry))->logical_pages;
    config.ftl.options.set(page_option::slc_blocks, 0);
    CHECK(with == (72 - 14) * 24); // of what is left a fifth is spare
    CHECK(plan_ftl(config, *Geometry::make(config.nand.geometry))->logical_pages == (80 - 16) * 24);
    config.ftl.options.set(page_option::slc_blocks, 80);
    CHECK(refusal(config).find("ftl.slc_blocks leaves none of 40 blocks") == 0);
    config = cached();
    config.ftl.wear_threshold = 10;
    CHECK(refusal(config).find("ftl.slc_blocks and ftl.wear_threshold") == 0);
    config = cached();
    config.nand.modes = {};
    CHECK(refusal(config).find("nand.slc_page_program_ns") != std::string::npos);
    config = cached();
    config.nand.geometry.cell = CellType::slc;
    CHECK(refusal(config).find("nand.slc_page_program_ns") != std::string::npos);
}
