/// ftl.slc_blocks, ftl.slc_dynamic_permille: blocks in SLC mode, of their own or borrowed, take what the host writes and are folded into the others.
/// Goal: where pages lie and when they move, by the programs themselves; then cuts and remounts against the reference model, with the invariants of
/// regions (B7).
#include <map>

#include "ftl/make_ftl.h"
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

/// No blocks of its own: six of ten blocks may be lent.
SsdConfig dynamic(std::uint32_t blocks_a_plane = 40) {
    SsdConfig c = cached(blocks_a_plane);
    c.ftl.options.set(page_option::slc_blocks, 0);
    c.ftl.options.set(page_option::slc_dynamic_permille, 600);
    return c;
}
constexpr std::uint32_t dynamic_pages = planes * 24 * slc_pages; // of 40 blocks a plane

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
    /// Blocks in SLC mode that hold pages.
    [[nodiscard]] std::uint32_t slc_blocks() const {
        std::uint32_t count = 0;
        for (std::uint32_t b = 0; b < geometry.blocks(); ++b)
            count += array.mode_of(BlockId{b}) == CellType::slc && ftl.status_of(BlockId{b}).valid_pages != 0 ? 1 : 0;
        return count;
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

TEST_CASE("a host that reads on is not disturbed by folding until it rests", "[ftl][slc]") {
    Rig drive{cached()};
    drive.write(0, cache_pages);
    for (std::uint32_t i = 0; i < 200; ++i) { // as long as 20 rests
        REQUIRE(drive.ssd.read(Sector{i % cache_pages}, 1, {}, drive.now));
        drive.rest_for(rest / 10);
    }
    CHECK(drive.programs(Cause::fold) == 0);
    drive.rest_for(std::chrono::seconds{5});
    CHECK(drive.programs(Cause::fold) > 0);
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

TEST_CASE("a dynamic cache takes what it may borrow, then the host goes past it, then it is folded while the host writes", "[ftl][slc]") {
    Rig drive{dynamic()};
    const std::uint32_t pages = drive.ftl.logical_pages();
    drive.write(0, dynamic_pages);
    CHECK(drive.in_slc() == dynamic_pages);
    for (const NandOpEvent& e : drive.log.all) CHECK(e.page < slc_pages);
    drive.write(dynamic_pages, 200); // of 80 blocks 48 are lent
    CHECK(drive.in_slc() == 0);
    CHECK(drive.programs(Cause::fold) == 0);
    drive.write(dynamic_pages + 200, pages - dynamic_pages - 200);
    CHECK(drive.in_slc() == 0);
    CHECK(drive.programs(Cause::fold) > dynamic_pages / 2);
    CHECK(drive.programs(Cause::gc) == 0);
    CHECK(drive.ftl.space().mapped_pages == pages);
    CHECK(drive.ftl.check().empty());
    const auto counted = own_counters(drive.ftl);
    CHECK(counted["slc_pages"] == dynamic_pages);
    CHECK(counted["folded_pages"] <= drive.programs(Cause::fold)); // at the end of each block
    CHECK(counted["folded_pages"] + slc_pages > drive.programs(Cause::fold));
}

TEST_CASE("a full drive has nothing in the dynamic cache after a rest, and a trim gives the cache its room back", "[ftl][slc]") {
    Rig drive{dynamic()};
    const std::uint32_t pages = drive.ftl.logical_pages();
    drive.write(0, pages);
    drive.rest_for(std::chrono::seconds{20});
    CHECK(drive.slc_blocks() == 0);
    CHECK(drive.ftl.check().empty());
    const auto trimmed = drive.ssd.trim(Sector{0}, pages, drive.now);
    REQUIRE(trimmed);
    drive.now = *trimmed;
    const bool rests = GENERATE(true, false);
    if (rests) {
        const std::uint64_t before = drive.ftl.space().free_blocks;
        drive.rest_for(std::chrono::seconds{20});
        CHECK(drive.ftl.space().free_blocks > before + 40);
    }
    drive.write(0, dynamic_pages);
    CHECK(drive.in_slc() >= dynamic_pages - planes * slc_pages);
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("a dynamic cache that keeps its data until their space is needed is folded at rest only when it has no room", "[ftl][slc]") {
    SsdConfig config = dynamic();
    config.ftl.options.set(page_option::fold_at_rest, false);
    Rig drive{config};
    drive.write(0, dynamic_pages / 2);
    drive.rest_for(std::chrono::seconds{5});
    CHECK(drive.programs(Cause::fold) == 0);
    drive.write(dynamic_pages / 2, dynamic_pages / 2);
    drive.rest_for(std::chrono::seconds{5});
    CHECK(drive.programs(Cause::fold) > 0);
    CHECK(drive.programs(Cause::fold) <= 2 * planes * slc_pages);
    CHECK(drive.ftl.check().empty());
}

TEST_CASE("folding takes the controller's time for each page on a channel", "[ftl][slc]") {
    constexpr std::uint32_t each_ns = 3'000'000; // more than reading and programming it
    SsdConfig config = dynamic();
    config.ftl.options.set(page_option::fold_page_ns, each_ns);
    Rig drive{config};
    drive.write(0, drive.ftl.logical_pages());
    const auto folded = static_cast<std::int64_t>(drive.programs(Cause::fold));
    REQUIRE(folded > 100);
    CHECK(drive.now >= sim_start + folded * Duration{each_ns});
    CHECK(drive.now < sim_start + (folded + 2000) * Duration{each_ns});
}

TEST_CASE("a cache under a full drive keeps every page through cuts and clean mounts", "[ftl][slc][crash]") {
    const bool one_shot = GENERATE(false, true);
    const std::string separation = GENERATE("none", "cause");
    const std::uint32_t permille = GENERATE(0, 600);
    const bool has_own_blocks = permille == 0 || GENERATE(false, true);
    SsdConfig config = cached(permille == 0 ? 16 : 24);
    if (!has_own_blocks) config.ftl.options.set(page_option::slc_blocks, 0);
    config.nand.options.one_shot = one_shot;
    config.ftl.separation = separation;
    config.ftl.options.set(page_option::fold_after_us, 0);
    config.ftl.options.set(page_option::slc_dynamic_permille, permille);
    config = *test::shape_for("page_map", config);
    std::uint64_t folded = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(one_shot, separation, permille, has_own_blocks, seed);
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
    CHECK(refusal(config).find("ftl.slc_* and ftl.wear_threshold") == 0);
    config = dynamic();
    CHECK(plan_ftl(config, *Geometry::make(config.nand.geometry))->logical_pages == (80 - 16) * 24); // what is lent comes back
    config.nand.modes = {};
    CHECK(refusal(config).find("nand.slc_page_program_ns") != std::string::npos);
    config = cached();
    config.nand.modes = {};
    CHECK(refusal(config).find("nand.slc_page_program_ns") != std::string::npos);
    config = cached();
    config.nand.geometry.cell = CellType::slc;
    CHECK(refusal(config).find("nand.slc_page_program_ns") != std::string::npos);
}
