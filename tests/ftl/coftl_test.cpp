/// COFTL alone: sets of several channels, caches and page tables too small for their load, and its own counters on traces made by hand.
#include "ftl/schemes/coftl.h"

#include <algorithm>
#include <utility>

#include "tests/support/coftl_shape.h"

using namespace flashlab;
using flashlab::test::coftl_config;
using flashlab::test::cut_often;
using flashlab::test::CutRig;
using flashlab::test::own;
using flashlab::test::Shape;
using flashlab::test::shapes;
using flashlab::test::two_wide;

TEST_CASE("coftl keeps every newest version whatever the width, with caches and tables far too small", "[ftl][coftl]") {
    for (const Shape& shape : shapes()) {
        CAPTURE(shape.channels, shape.width, shape.slots, shape.tables);
        CutRig rig{coftl_config(shape), Payload::keep, UndoPolicy::none};
        Random random{5};
        for (int i = 0; i < 1500; ++i) {
            CAPTURE(i);
            rig.step(random);
            if (i % 10 == 0) rig.require_sound();
            if (i % 64 == 0) rig.settle();
        }
        rig.check_all();
        CHECK(own(rig).merges > 0);
        CHECK(own(rig).commits > 0);
    }
}

TEST_CASE("merges in runs take the time and leave the records of merges page by page", "[ftl][coftl]") {
    for (const Shape& shape : shapes()) {
        CAPTURE(shape.channels, shape.width, shape.slots, shape.tables);
        CutRig by_page{coftl_config(shape), Payload::keep, UndoPolicy::none}, in_runs{coftl_config(shape), Payload::none, UndoPolicy::none};
        Random random{9};
        for (int i = 0; i < 1500; ++i) {
            const auto unit = static_cast<std::uint32_t>(random.below(by_page.units()));
            const std::uint32_t units = std::min<std::uint32_t>(1 + static_cast<std::uint32_t>(random.below(4)), by_page.units() - unit);
            for (CutRig* rig : {&by_page, &in_runs}) {
                rig->now = rig->write(unit, units, WriteDurability::volatile_ok);
                if (i % 64 == 0) rig->settle();
            }
            CAPTURE(i);
            REQUIRE(by_page.now == in_runs.now);
        }
        CHECK(own(by_page).merges > 0);
        CHECK(own(by_page).merges == own(in_runs).merges);
        CHECK(by_page.ftl().check().empty());
        CHECK(in_runs.ftl().check().empty());
        CHECK(std::ranges::equal(by_page.array().counters().programs, in_runs.array().counters().programs));
        CHECK(std::ranges::equal(by_page.array().counters().reads, in_runs.array().counters().reads));
        for (std::uint32_t page = 0; page < by_page.geometry().pages(); ++page) {
            const auto one = by_page.array().inspect_oob(Ppn{page}), other = in_runs.array().inspect_oob(Ppn{page});
            REQUIRE((one.has_value() && other.has_value()));
            REQUIRE(one->state == other->state);
            REQUIRE(one->oob == other->oob);
        }
    }
}

TEST_CASE("coftl keeps the contract across power cuts, also while it recovers, whatever the width", "[ftl][coftl][crash]") {
    for (const Shape& shape : shapes()) {
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            CAPTURE(shape.channels, shape.width, shape.slots, shape.tables);
            cut_often(coftl_config(shape), seed);
        }
    }
}

TEST_CASE("coftl keeps the contract across thousands of power cuts", "[.][long][coftl]") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        for (const Shape& shape : shapes()) {
            CutRig rig{coftl_config(shape)};
            Random random{seed * 1000};
            const std::uint64_t steps = seed % 3 == 0 ? 4 : seed % 3 == 1 ? 60 : 200;
            for (int c = 0; c < 25; ++c) {
                CAPTURE(shape.channels, shape.width, shape.slots, shape.tables, seed, c);
                const SimTime from = rig.now;
                rig.settle();
                for (std::uint64_t k = 1 + random.below(steps); k > 0; --k) rig.step(random);
                if (random.chance(1, 10)) rig.remount_clean();
                if (random.chance(1, 20)) rig.kill();
                const SimTime at = rig.random_moment(random, std::max(from, rig.now));
                rig.cut_once_or_twice(at, random);
            }
            rig.check_all();
        }
    }
}

namespace {

std::uint64_t sum(const std::uint64_t (&by_cause)[cause_count]) {
    std::uint64_t all = 0;
    for (const std::uint64_t n : by_cause) all += n;
    return all;
}

} // namespace

TEST_CASE("a chain fills its primary and two replacement sets, is committed at each, and merged when the last one is full", "[ftl][coftl]") {
    CutRig rig{coftl_config(two_wide()), Payload::keep, UndoPolicy::none};
    const auto programs = [&](Cause cause) { return rig.array().counters().programs[static_cast<std::size_t>(cause)]; };
    const auto erases = [&] { return rig.array().counters().erases[static_cast<std::size_t>(Cause::merge)]; };
    for (std::uint32_t p = 0; p < 5; ++p) rig.now = rig.write(p, 1);
    CHECK(own(rig).commits == 0);
    rig.now = rig.write(5, 1); // six page sets: the primary is full
    CHECK(own(rig).commits == 1);
    CHECK(own(rig).log_versions == 1);
    CHECK(programs(Cause::user) == 6 * 2);
    const std::uint64_t map_before = programs(Cause::map);
    for (std::uint32_t i = 0; i < 8; ++i) rig.now = rig.write(i % 5, 1); // first replacement set: all eight page sets hold data; page 5 stays
    CHECK(own(rig).commits == 2);
    CHECK(programs(Cause::map) - map_before == 2); // a replacement page and a summary page
    CHECK(own(rig).merges == 0);
    for (std::uint32_t i = 0; i < 7; ++i) rig.now = rig.write(i % 5, 1);
    CHECK(own(rig).commits == 2);
    CHECK(erases() == 0);
    rig.now = rig.write(0, 1); // the second, and last, is full: six valid pages go to a new primary, which is full and committed
    CHECK(own(rig).merges == 1);
    CHECK(own(rig).commits == 3);
    CHECK(programs(Cause::merge) == 6 * 2);
    CHECK(erases() == 3 * 2);
    CHECK(own(rig).skipped_page_sets == 0);
    rig.check_all();
}

TEST_CASE("a page table that leaves RAM is committed and gives up the rest of its set, unless there is a swap area", "[ftl][coftl]") {
    const bool swap = GENERATE(false, true);
    CAPTURE(swap);
    SsdConfig config = coftl_config(two_wide(0, 1));
    config.ftl.options.set(coftl_option::swap_sets, swap ? 2 : 0);
    CutRig rig{config, Payload::keep, UndoPolicy::none};
    rig.now = rig.write(0, 1);
    rig.now = rig.write(6, 1); // another virtual block: the only table is needed
    CHECK(own(rig).commits == (swap ? 0 : 1));
    CHECK(own(rig).swap_outs == (swap ? 1 : 0));
    CHECK(own(rig).skipped_page_sets == (swap ? 0 : 5));
    rig.now = rig.write(1, 1);
    CHECK(own(rig).swap_ins == (swap ? 1 : 0));
    CHECK(own(rig).commits == (swap ? 0 : 2));
    rig.check_all();
}

TEST_CASE("a swap area far too small for its load loses no page, also across power cuts", "[ftl][coftl][crash]") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SsdConfig config = coftl_config({2, 2, 3, 1});
        config.nand.geometry.blocks_per_plane = 24;
        config.ftl.options.set(coftl_option::swap_sets, 2);
        CutRig rig{config};
        Random random{seed};
        for (int c = 0; c < 12; ++c) {
            CAPTURE(seed, c);
            const SimTime from = rig.now;
            rig.settle();
            for (std::uint64_t k = 1 + random.below(120); k > 0; --k) rig.step(random);
            rig.require_sound();
            rig.cut_twice(rig.random_moment(random, from), random);
        }
        rig.check_all();
    }
}

TEST_CASE("small writes stay in the cache until it is full, then the least important slot goes to flash", "[ftl][coftl]") {
    CutRig rig{coftl_config(two_wide(2)), Payload::keep, UndoPolicy::none};
    rig.now = rig.write(0, 1);
    rig.now = rig.write(1, 1);
    rig.now += Duration{1'000'000};
    (void)rig.write(1, 1); // twice, and the later one: page 0 is the less important
    CHECK(sum(rig.array().counters().programs) == 0);
    CHECK(own(rig).cache_hits == 1);
    rig.now = rig.write(2, 1);
    CHECK(own(rig).dirty_evictions == 1);
    CHECK(rig.array().counters().programs[static_cast<std::size_t>(Cause::user)] == 2);
    rig.now = rig.write(3, 3); // larger than a virtual page: past the cache
    CHECK(own(rig).dirty_evictions == 1);
    CHECK(rig.array().counters().programs[static_cast<std::size_t>(Cause::user)] == 2 + 3 * 2);
    rig.check_all();
}

TEST_CASE("the clean root goes first unless it is worth alpha times the dirty one", "[ftl][coftl]") {
    const auto victim_is_dirty = [](int clean_references, int dirty_references) {
        CoftlCache cache{2, 0, Duration{400}, Duration{100}}; // alpha 4
        const SlotId clean = cache.insert(Lpn{0}, false, sim_start);
        const SlotId dirty = cache.insert(Lpn{1}, true, sim_start);
        for (int i = 1; i < clean_references; ++i) cache.touch(clean, sim_start);
        for (int i = 1; i < dirty_references; ++i) cache.touch(dirty, sim_start);
        return cache.victim(sim_time_from_ns(1000)) == dirty;
    };
    CHECK_FALSE(victim_is_dirty(39, 10));
    CHECK(victim_is_dirty(40, 10)); // not smaller
    CHECK(victim_is_dirty(41, 10));
}

TEST_CASE("a page referenced often but long ago is given up before one referenced once just now", "[ftl][coftl]") {
    CoftlCache cache{3, 0, Duration{400}, Duration{100}};
    const SlotId old = cache.insert(Lpn{0}, false, sim_start);
    for (int i = 0; i < 9; ++i) cache.touch(old, sim_start);
    const SlotId young = cache.insert(Lpn{1}, false, sim_time_from_ns(900));
    CHECK(cache.victim(sim_time_from_ns(1000)) == old);      // 10 / 1000 < 1 / 100
    CHECK(cache.victim(sim_time_from_ns(100'000)) == young); // 10 / 100000 > 1 / 99100: with time only the count is left
    CHECK(cache.is_sound());
}

TEST_CASE("the root of a heap is close to its exact minimum", "[ftl][coftl]") {
    CoftlCache cache{256, 0, Duration{950}, Duration{100}};
    Random random{4};
    SimTime now = sim_start;
    std::vector<SlotId> slots;
    for (std::uint32_t i = 0; i < 256; ++i) slots.push_back(cache.insert(Lpn{i}, i % 2 == 1, now += Duration{1000}));
    std::uint64_t ranks = 0;
    constexpr int evictions = 2000;
    for (int i = 0; i < evictions; ++i) {
        for (int k = 0; k < 8; ++k) cache.touch(slots[random.below(random.chance(1, 2) ? 256 : 32)], now += Duration{1000});
        const SlotId out = cache.victim(now += Duration{1000});
        ranks += cache.rank_of_root(cache.is_dirty(out), now);
        const Lpn lpn = cache.lpn(out);
        cache.remove(out, now);
        slots[lpn.value()] = cache.insert(lpn, random.chance(1, 2), now);
    }
    REQUIRE(cache.is_sound());
    const double mean_rank = static_cast<double>(ranks) / evictions;
    CAPTURE(mean_rank);
    CHECK(mean_rank < 12.8); // a tenth of a heap
    WARN("mean rank of the evicted root among about 128 nodes: " << mean_rank);
}

TEST_CASE("the mount after a power cut reads two page sets of each listed free set at most, and the first touch one set", "[ftl][coftl][crash]") {
    SsdConfig config = coftl_config({4, 4, 0, 64});
    config.nand.geometry.blocks_per_plane = 40;
    CutRig rig{config};
    Random random{9};
    for (int i = 0; i < 600; ++i) rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
    const auto plan = plan_ftl(config, rig.geometry());
    const std::uint64_t free_sets = std::max(3u, plan->spare_blocks / 4 / 2);
    rig.cut(rig.random_moment(random, rig.now), 5);
    const auto recovery_reads = [&] { return rig.array().counters().reads[static_cast<std::size_t>(Cause::recovery)]; };
    // cut() also reads every page: what was read at the first touches is in it, a set of 8 page sets and a pointer page for each virtual block.
    const std::uint64_t virtual_blocks = rig.units() / 6;
    const std::uint64_t log_pages = 2ull * plan->meta_blocks * 8;
    CHECK(recovery_reads() > 0);
    CHECK(recovery_reads() <= log_pages + free_sets * 2 * 4 + virtual_blocks * (8 * 4 + 1));
}

TEST_CASE("a virtual block that is trimmed as a whole gives its sets back at the flush, without a copy", "[ftl][coftl]") {
    CutRig rig{coftl_config(two_wide()), Payload::keep, UndoPolicy::none};
    const std::uint32_t free_before = rig.ftl().space().free_blocks;
    rig.now = rig.write(0, 6);
    rig.now = rig.write(0, 5);
    CHECK(rig.ftl().space().free_blocks == free_before - 4);
    rig.now = rig.trim(0, 6);
    CHECK(rig.ftl().space().free_blocks == free_before - 4);
    rig.now = rig.flush();
    CHECK(rig.ftl().space().free_blocks == free_before);
    CHECK(rig.ftl().counters().gc_page_copies == 0);
    rig.check_all();
}

TEST_CASE("a trim that was seen after a power cut is not taken back by the next one, whatever became of the summary that left the page out",
          "[ftl][coftl][crash]") {
    std::uint32_t gone = 0, kept = 0;
    for (std::uint64_t seed = 1; seed <= 64; ++seed) {
        CAPTURE(seed);
        CutRig rig{coftl_config({1, 1, 0, 1})};
        rig.now = rig.write(0, 5);
        rig.now = rig.flush();
        rig.now = rig.trim(0, 1);
        rig.now = rig.write(5, 1); // six page sets: the primary is full, its summary leaves page 0 out
        REQUIRE(own(rig).commits == 1);
        rig.cut(rig.ssd().last_reserved_end() - Duration{1}, seed);
        ++(rig.is_zero(0) ? gone : kept);
        rig.settle();
        rig.cut(rig.now, seed); // nothing is in flight: what was seen stays
        rig.now = rig.write(1, 1);
        rig.check_all();
    }
    CHECK(gone > 0);
    CHECK(kept > 0);
}

TEST_CASE("a page that only the summary knows as trimmed is unmapped after a restart, though it was asked about before the first touch",
          "[ftl][coftl][crash]") {
    const auto device = std::move(*CrashDevice::make(coftl_config(two_wide()), Payload::keep, UndoPolicy::none));
    const std::uint32_t sectors = device->plan().logical_page_bytes / sector_bytes;
    const std::vector<std::byte> page(device->plan().logical_page_bytes, std::byte{7});
    SimTime now = device->power_on(sim_start)->done;
    const auto write = [&](std::uint32_t unit, std::uint32_t count) {
        const auto data = std::span{page}.first(std::size_t{count} * sector_bytes);
        now = *device->ssd().write(Sector{std::uint64_t{unit} * sectors}, count, data, WriteDurability::volatile_ok, now);
    };
    for (std::uint32_t u = 0; u < 5; ++u) write(u, sectors);
    now = *device->ssd().trim(Sector{0}, sectors, now);
    write(5, sectors); // the primary is full and committed
    now = device->ssd().last_reserved_end();
    device->power_off();
    now = device->power_on(now)->done;
    write(1, 1); // a part of a page: is the rest of it mapped?
    CHECK_FALSE(device->ftl().is_mapped(Lpn{0}));
    const auto& counters = dynamic_cast<const Coftl&>(device->ftl()).coftl_counters();
    for (std::uint32_t i = 0; i < 20 && counters.merges == 0; ++i) write(2, sectors);
    CHECK(counters.merges == 1);
    CHECK(device->ftl().space().mapped_pages == 5);
    CHECK(device->ssd().check().empty());
}

TEST_CASE("a trim that only a summary tells of after a restart is stated by the next flush, and losing the summary later brings nothing back",
          "[ftl][coftl]") {
    struct Spoiler final : Sabotage {
        std::vector<Ppn> pages;
        std::unique_ptr<PageStore> around(PageStore& store) override {
            for (const Ppn page : pages) {
                PageRecord record = *store.read_record(page);
                record.state = CellState::garbage;
                REQUIRE(store.write_record(page, record).has_value());
            }
            return nullptr;
        }
    } spoiler;
    const auto device = std::move(*CrashDevice::make(coftl_config({1, 1, 0, 1}), Payload::keep, UndoPolicy::none));
    device->set_sabotage(&spoiler);
    const std::uint32_t sectors = device->plan().logical_page_bytes / sector_bytes;
    std::vector<std::byte> page(device->plan().logical_page_bytes, std::byte{7});
    SimTime now = device->power_on(sim_start)->done;
    for (std::uint32_t u = 0; u < 5; ++u)
        now = *device->ssd().write(Sector{std::uint64_t{u} * sectors}, sectors, page, WriteDurability::volatile_ok, now);
    now = *device->ssd().trim(Sector{0}, sectors, now);
    now = *device->ssd().write(Sector{std::uint64_t{5} * sectors}, sectors, page, WriteDurability::volatile_ok,
                               now); // full: its summary leaves page 0 out
    for (std::uint32_t p = 0; p < device->geometry().pages(); ++p) {
        const auto cell = device->array().inspect(Ppn{p});
        const auto oob = PageOob::decode(cell->oob);
        if (cell->state == CellState::programmed && oob && oob->kind == PageKind::summary) spoiler.pages.push_back(Ppn{p});
    }
    const std::vector<Ppn> summaries = std::exchange(spoiler.pages, {});
    REQUIRE(summaries.size() == 1);
    const auto shows = [&](std::byte value) {
        std::ranges::fill(page, std::byte{0xee});
        now = *device->ssd().read(Sector{0}, sectors, page, now);
        return std::ranges::all_of(page, [value](std::byte b) { return b == value; });
    };
    const auto restart = [&] {
        now = device->ssd().last_reserved_end();
        device->power_off();
        now = device->power_on(now)->done;
    };
    restart(); // the trim was not flushed; the summary knows
    REQUIRE(shows(std::byte{0}));
    now = *device->ssd().flush(now);
    spoiler.pages = summaries;
    restart();
    CHECK(shows(std::byte{0}));
    CHECK(device->ssd().check().empty());
}
