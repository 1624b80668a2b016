/// Entry caches against models that search everything, and the hits of whole drives against stack distances.
#include <algorithm>
#include <map>

#include "base/random.h"
#include "ftl/maps/lru_entries.h"
#include "ftl/maps/node_entries.h"
#include "ftl/schemes/demand_scheme.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

constexpr std::uint32_t per_page = 16;
constexpr std::uint32_t pages = 12;
constexpr CachedEntries cached{.count = 40, .bytes_each = 6, .bytes_a_page = 12};

/// TPFTL's cache as the paper says it, without lists or heap.
struct NodeModel {
    struct Entry {
        std::uint32_t value;
        std::uint64_t time;
        bool is_dirty, is_deferred;
    };
    std::map<std::uint32_t, Entry> entries;
    std::uint64_t clock = 0;
    int trend = 0;
    bool is_selective = false;

    [[nodiscard]] std::uint32_t count(std::uint32_t page) const {
        return static_cast<std::uint32_t>(
            std::ranges::count_if(entries, [&](const auto& e) { return e.first / per_page == page && !e.second.is_deferred; }));
    }
    [[nodiscard]] std::uint32_t nodes() const {
        std::uint32_t n = 0;
        for (std::uint32_t p = 0; p < pages; ++p) n += count(p) != 0 ? 1 : 0;
        return n;
    }
    [[nodiscard]] std::uint32_t in_order() const {
        std::uint32_t n = 0;
        for (std::uint32_t p = 0; p < pages; ++p) n += count(p);
        return n;
    }
    [[nodiscard]] std::optional<std::uint32_t> coldest() const {
        std::optional<std::uint32_t> best;
        double least = 0;
        for (std::uint32_t p = 0; p < pages; ++p) {
            if (count(p) == 0) continue;
            double sum = 0;
            for (const auto& [lpn, e] : entries) sum += lpn / per_page == p && !e.is_deferred ? static_cast<double>(e.time) : 0;
            const double mean = sum / count(p);
            if (!best || mean < least - 1e-9) {
                best = p;
                least = mean;
            }
        }
        return best;
    }
    [[nodiscard]] std::optional<std::uint32_t> oldest(std::uint32_t page, bool dirty) const {
        std::optional<std::uint32_t> best;
        for (const auto& [lpn, e] : entries)
            if (lpn / per_page == page && !e.is_deferred && e.is_dirty == dirty && (!best || e.time < entries.at(*best).time)) best = lpn;
        return best;
    }
    template <class Change>
    void change(std::uint32_t lpn, const Change& make) {
        const std::uint32_t before = count(lpn / per_page);
        make();
        const std::uint32_t after = count(lpn / per_page);
        if (before == 0 && after != 0 && ++trend == 3) {
            is_selective = false;
            trend = 0;
        }
        if (before != 0 && after == 0 && --trend == -3) {
            is_selective = true;
            trend = 0;
        }
    }
    [[nodiscard]] std::uint32_t neighbours(std::uint32_t missed, std::uint32_t end) const {
        std::uint32_t wanted = end - missed - 1;
        std::uint32_t before = 0;
        while ((missed - before) % per_page != 0 && entries.contains(missed - before - 1)) ++before;
        if (is_selective) wanted = std::max(wanted, std::min(before, per_page - 1 - missed % per_page));
        return wanted;
    }
};

} // namespace

TEST_CASE("a write to a node's only entry is no node that left: prefetching does not change by it", "[ftl][tpftl]") {
    NodeEntries nodes{cached, per_page, pages};
    for (std::uint32_t page = 0; page < 3; ++page) nodes.insert(Lpn{page * per_page}, 1, false);
    for (std::uint32_t page = 0; page < 2; ++page) nodes.remove(Lpn{page * per_page}); // one more would be the third
    nodes.update(Lpn{2 * per_page}, 2);
    CHECK_FALSE(nodes.prefetches_selectively());
    CHECK(nodes.use(Lpn{2 * per_page}) == 2);
    nodes.remove(Lpn{2 * per_page});
    CHECK(nodes.prefetches_selectively());
}

TEST_CASE("the nodes of tpftl evict, prefetch and clean as a model that searches all entries does", "[ftl][tpftl]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
    CAPTURE(seed);
    Random random{seed};
    NodeEntries nodes{cached, per_page, pages};
    NodeModel model;
    int switches = 0, with_selective = 0;
    for (std::uint32_t step = 0; step < 4000; ++step) {
        // Now few pages, now many: nodes come and leave.
        const auto page = static_cast<std::uint32_t>(random.below(step / 500 % 2 == 0 ? pages : 3));
        const auto lpn = static_cast<std::uint32_t>(page * per_page + random.below(per_page));
        const auto value = static_cast<std::uint32_t>(random.below(1000)) + 1;
        const bool was_selective = model.is_selective;
        const auto known = model.entries.find(lpn);
        switch (random.below(10)) {
        case 0:
        case 1:
        case 2:
        case 3: { // a look-up; a miss brings it in
            const auto found = nodes.use(Lpn{lpn});
            REQUIRE(found.has_value() == (known != model.entries.end()));
            if (found) {
                REQUIRE(*found == known->second.value);
                model.change(lpn, [&] {
                    known->second.time = ++model.clock;
                    known->second.is_deferred = false;
                });
            } else {
                const bool is_dirty = random.chance(1, 2);
                nodes.insert(Lpn{lpn}, value, is_dirty);
                model.change(lpn, [&] { model.entries[lpn] = {value, ++model.clock, is_dirty, false}; });
            }
            break;
        }
        case 4: // a collection moved the page
            if (known != model.entries.end()) {
                nodes.update(Lpn{lpn}, value);
                known->second.value = value;
                known->second.is_dirty = true;
            } else {
                nodes.defer(Lpn{lpn}, value);
                model.entries[lpn] = {value, 0, true, true};
            }
            break;
        case 5:
            if (known == model.entries.end()) {
                nodes.insert_cold(Lpn{lpn}, value);
                model.change(lpn, [&] { model.entries[lpn] = {value, 0, true, false}; });
            }
            break;
        case 6: // a batch update, now and then with one entry of the page alone
            if (random.chance(1, 3)) {
                if (known == model.entries.end() || !known->second.is_dirty) break;
                nodes.clean(Lpn{lpn});
                known->second.is_dirty = false;
                if (known->second.is_deferred) model.entries.erase(known);
                break;
            }
            nodes.clean(page);
            for (auto e = model.entries.begin(); e != model.entries.end();) {
                if (e->first / per_page == page) e->second.is_dirty = false;
                e = e->first / per_page == page && e->second.is_deferred ? model.entries.erase(e) : std::next(e);
            }
            break;
        default: // room is made
            while (!nodes.has_room(1) || (random.chance(1, 4) && nodes.in_order() != 0)) {
                const auto victim = *nodes.victim();
                const std::uint32_t coldest = *model.coldest();
                REQUIRE(victim.lpn.value() / per_page == coldest);
                const auto clean = model.oldest(coldest, false);
                REQUIRE(victim.is_dirty == !clean.has_value());
                const std::uint32_t expected = clean ? *clean : *model.oldest(coldest, true);
                REQUIRE(model.entries.at(victim.lpn.value()).time == model.entries.at(expected).time); // of those without a time any
                nodes.remove(victim.lpn);
                model.change(victim.lpn.value(), [&] { model.entries.erase(victim.lpn.value()); });
            }
        }
        switches += model.is_selective != was_selective ? 1 : 0;
        with_selective += model.is_selective ? 1 : 0;
        REQUIRE(nodes.broken_invariant() == 0);
        REQUIRE(nodes.prefetches_selectively() == model.is_selective);
        REQUIRE(nodes.nodes() == model.nodes());
        REQUIRE(nodes.in_order() == model.in_order());
        REQUIRE(nodes.bytes_used() == nodes.size() * 6 + model.nodes() * 12);
        const std::uint32_t end = std::min((page + 1) * per_page, lpn + 1 + static_cast<std::uint32_t>(random.below(3)));
        REQUIRE(nodes.neighbours_of(Lpn{lpn}, end, (page + 1) * per_page) == model.neighbours(lpn, end));
        if (const auto victim = nodes.victim_for_neighbour(Lpn{lpn})) {
            REQUIRE(model.coldest() == victim->value() / per_page);
            if (victim->value() / per_page == page)
                REQUIRE(*victim < Lpn{lpn});
            else
                REQUIRE(model.count(victim->value() / per_page) > 1);
            REQUIRE_FALSE(model.entries.at(victim->value()).is_dirty);
        }
    }
    CHECK(switches >= 4);
    CHECK(with_selective > 100);
}

TEST_CASE("dftl's read misses are the reads whose stack distance is the cache's size or more", "[ftl][dftl]") {
    SsdConfig shape = tiny_config();
    shape.nand.geometry.planes_per_die = 1;
    shape.nand.geometry.blocks_per_plane = 80;
    constexpr std::size_t entries = 40;
    shape.ftl.options.set(demand_option::mapping_cache_bytes, entries * CachedEntries{}.bytes_each);
    CutRig rig{*shape_for("dftl", shape)};
    for (std::uint32_t u = 0; u < 400; ++u) rig.now = rig.write(u, 1);
    const std::uint64_t seed = 7;
    CAPTURE(seed);
    Random random{seed};
    std::vector<std::uint32_t> stack; // the last one used at the end
    std::vector<std::byte> to(rig.unit_bytes());
    std::uint64_t misses = 0, before = 0;
    for (int i = 0; i < 4000; ++i) {
        if (i == 400) { // what the writes left in the cache is gone
            before = demand_table_of<LruEntries>(rig.ftl()).counted().map_read_misses;
            misses = 0;
        }
        const auto u = static_cast<std::uint32_t>(random.below(random.chance(1, 2) ? 30 : 400));
        rig.now = *rig.ssd().read(rig.sector(u), rig.unit_bytes() / sector_bytes, to, rig.now);
        const auto at = std::ranges::find(stack, u);
        misses += at == stack.end() || stack.end() - at > static_cast<std::ptrdiff_t>(entries) ? 1 : 0;
        if (at != stack.end()) stack.erase(at);
        stack.push_back(u);
    }
    CHECK(demand_table_of<LruEntries>(rig.ftl()).counted().map_read_misses - before == misses);
    CHECK(misses > 1000);
    CHECK(misses < 3000);
}

TEST_CASE("a miss of tpftl brings the entries of its request, and none where that would cost a write; with both prefetches off it brings none",
          "[ftl][tpftl]") {
    const auto misses_of = [](bool prefetches) {
        SsdConfig shape = tiny_config();
        shape.nand.geometry.planes_per_die = 1;
        shape.nand.geometry.blocks_per_plane = 80;
        shape.ftl.options.set(demand_option::mapping_cache_bytes, 16 * 6 + 12);
        SsdConfig config = *shape_for("tpftl", shape);
        for (const char* key : {"tpftl.request_prefetch", "tpftl.selective_prefetch"})
            for (const Option* option : (*find_scheme("tpftl"))->options)
                if (option->key == key) config.ftl.options.put(*option, prefetches ? 1 : 0);
        CutRig rig{config};
        for (std::uint32_t u = 0; u < 256; ++u) rig.now = rig.write(u, 1);
        std::vector<std::byte> to(std::size_t{8} * rig.unit_bytes());
        for (std::uint32_t u = 0; u < 128; u += 8) rig.now = *rig.ssd().read(rig.sector(u), 8 * (rig.unit_bytes() / sector_bytes), to, rig.now);
        const DemandCounters c = demand_table_of<NodeEntries>(rig.ftl()).counted();
        CHECK(c.map_read_hits == (prefetches ? c.map_prefetches : 0));
        rig.check_all();
        return c.map_read_misses;
    };
    CHECK(misses_of(false) == 128);
    CHECK(misses_of(true) < 64);
}
