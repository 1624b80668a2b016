/// The cache of sftl against a model that counts everything anew, and the misses of a whole drive against an LRU list of pages as long as their runs.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/random.h"
#include "ftl/maps/spatial_entries.h"
#include "ftl/schemes/demand_scheme.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

constexpr std::uint32_t per_page = 32, pages = 12;
constexpr CachedEntries cached{.count = 60, .bytes_each = 8};
constexpr SpatialShape shape{{{{1, 1}, {4, 2}, {8, 2}}}, 250, 2};

/// Of one translation page, as the paper draws it: where runs begin, and what they begin with.
std::uint32_t page_bytes(const std::vector<std::uint32_t>& entries, std::span<const RunShape> shapes, bool is_dirty) {
    std::size_t least = entries.size();
    for (const RunShape& s : shapes) {
        std::size_t runs = 0;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (i >= s.apart && entries[i - s.apart] == 0 && entries[i] == 0) continue;
            if (i >= s.apart && entries[i - s.apart] != 0 && entries[i] == entries[i - s.apart] + s.step) continue;
            ++runs;
        }
        least = std::min(least, runs);
    }
    const std::size_t bits = entries.size() / 8;
    return static_cast<std::uint32_t>(16 + std::min(4 * least + bits, 4 * entries.size()) + (is_dirty ? bits : 0));
}

struct SpatialModel {
    struct Dirty {
        std::uint32_t value;
        bool is_deferred;
    };
    std::vector<std::uint32_t> stored = std::vector<std::uint32_t>(std::size_t{per_page} * pages);
    std::map<std::uint32_t, Dirty> dirty;
    std::vector<std::uint32_t> order; ///< cached pages, the coldest first

    [[nodiscard]] bool holds(std::uint32_t page) const { return std::ranges::find(order, page) != order.end(); }
    [[nodiscard]] std::optional<std::uint32_t> peek(std::uint32_t lpn) const {
        if (const auto d = dirty.find(lpn); d != dirty.end()) return d->second.value;
        return holds(lpn / per_page) ? std::optional{stored[lpn]} : std::nullopt;
    }
    [[nodiscard]] std::uint32_t dirty_of(std::uint32_t page) const {
        return static_cast<std::uint32_t>(std::ranges::count_if(dirty, [&](const auto& d) { return d.first / per_page == page; }));
    }
    [[nodiscard]] std::uint32_t buffered_of(std::uint32_t page) const {
        return holds(page) ? 0 : static_cast<std::uint32_t>(std::ranges::count_if(dirty, [&](const auto& d) {
            return d.first / per_page == page && !d.second.is_deferred;
        }));
    }
    [[nodiscard]] std::uint32_t buffered() const {
        std::uint32_t n = 0;
        for (std::uint32_t p = 0; p < pages; ++p) n += buffered_of(p);
        return n;
    }
    [[nodiscard]] std::uint32_t not_deferred() const {
        return static_cast<std::uint32_t>(std::ranges::count_if(dirty, [](const auto& d) { return !d.second.is_deferred; }));
    }
    [[nodiscard]] std::uint64_t bytes() const {
        std::uint64_t sum = 8ull * buffered();
        for (const std::uint32_t page : order) {
            std::vector<std::uint32_t> entries;
            for (std::uint32_t l = page * per_page; l < (page + 1) * per_page; ++l) entries.push_back(*peek(l));
            sum += page_bytes(entries, shape.runs, dirty_of(page) != 0);
        }
        return sum;
    }
    void touch(std::uint32_t page) {
        std::erase(order, page);
        order.push_back(page);
    }
    void write_back(std::uint32_t page) {
        for (auto d = dirty.lower_bound(page * per_page); d != dirty.end() && d->first / per_page == page; d = dirty.erase(d))
            stored[d->first] = d->second.value;
    }
};

} // namespace

TEST_CASE("the cache of sftl keeps, charges and evicts as a model that counts all runs anew does", "[ftl][sftl]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
    CAPTURE(seed);
    Random random{seed};
    SpatialModel model;
    for (std::uint32_t l = 0; l < model.stored.size(); ++l) // some pages in order, one striped, others anyhow, some with holes
        model.stored[l] = l / per_page < 4    ? l + 1
                          : l / per_page == 4 ? 500 + l % 4 + l % per_page / 4 * 2
                                              : static_cast<std::uint32_t>(random.below(300));
    SpatialEntries entries{cached, per_page, pages, shape};
    entries.attend(model.stored);
    int written = 0, left = 0, sparse = 0, alone = 0;
    for (int step = 0; step < 6000; ++step) {
        const auto page = static_cast<std::uint32_t>(random.below(pages));
        const auto lpn = static_cast<std::uint32_t>(page * per_page + random.below(per_page));
        const std::uint32_t value =
            random.chance(1, 3) && lpn % per_page != 0 ? model.peek(lpn - 1).value_or(9) + 1 : static_cast<std::uint32_t>(random.below(1000));
        const auto known = model.peek(lpn);
        const bool was_held = model.holds(page);
        switch (random.below(8)) {
        case 0:
        case 1: { // a read; a miss brings the page
            REQUIRE(entries.use(Lpn{lpn}) == known);
            if (was_held) model.touch(page);
            if (known && !was_held) model.dirty.at(lpn).is_deferred = false;
            if (known) break;
            entries.insert_page(page);
            for (auto& [l, d] : model.dirty) d.is_deferred = d.is_deferred && l / per_page != page;
            model.touch(page);
            break;
        }
        case 2:
        case 3: // a write
            REQUIRE(entries.use(Lpn{lpn}) == known);
            if (was_held) model.touch(page);
            if (known)
                entries.update(Lpn{lpn}, value);
            else
                entries.insert(Lpn{lpn}, value, true);
            model.dirty[lpn] = {value, false};
            break;
        case 4: // a collection moved the page
            if (known) {
                entries.update(Lpn{lpn}, value);
                model.dirty[lpn] = {value, !was_held && model.dirty.at(lpn).is_deferred};
            } else {
                entries.defer(Lpn{lpn}, value);
                model.dirty[lpn] = {value, true};
            }
            break;
        case 5:
            if (random.chance(1, 8)) { // a trim of all that a translation page maps
                for (std::uint32_t l = page * per_page; l < (page + 1) * per_page; ++l)
                    if (entries.peek(Lpn{l})) entries.remove(Lpn{l});
                std::erase(model.order, page);
                model.write_back(page);
                std::fill_n(model.stored.begin() + page * per_page, per_page, 0u);
            } else if (random.chance(1, 2)) { // a batch update with one entry of the page alone
                const auto one = model.dirty.find(lpn);
                if (one == model.dirty.end()) break;
                model.stored[lpn] = one->second.value;
                model.dirty.erase(one);
                entries.clean(Lpn{lpn});
                ++alone;
            } else if (random.chance(1, 4)) { // a batch update
                model.write_back(page);
                entries.clean(page);
            }
            break;
        default: // room is made
            while (!entries.has_room(1) || (random.chance(1, 8) && entries.in_order() != 0)) {
                const auto victim = *entries.victim();
                const std::uint32_t of = victim.lpn.value() / per_page;
                const bool is_too_dirty = model.not_deferred() > cached.count;
                const auto coldest = std::ranges::find_if(model.order, [&](std::uint32_t p) { return !is_too_dirty || model.dirty_of(p) != 0; });
                if (model.buffered() != 0 && (coldest == model.order.end() || model.buffered() * 4 > cached.count)) {
                    for (std::uint32_t p = 0; p < pages; ++p) REQUIRE(model.buffered_of(p) <= model.buffered_of(of));
                    REQUIRE((victim.is_dirty && model.buffered_of(of) != 0));
                } else {
                    REQUIRE(of == *coldest);
                    REQUIRE(victim.is_dirty == (is_too_dirty || model.dirty_of(of) > 2));
                }
                if (victim.is_dirty) {
                    model.write_back(of);
                    entries.clean(of);
                    ++written;
                } else {
                    sparse += model.dirty_of(of) != 0 ? 1 : 0;
                    std::erase(model.order, of);
                    entries.evict_page(of);
                    ++left;
                }
            }
        }
        REQUIRE(entries.broken_invariant() == 0);
        REQUIRE(entries.bytes_in_order() == model.bytes());
        REQUIRE(entries.bytes_used() == model.bytes() + 8 * std::uint64_t{entries.deferred()});
        REQUIRE(entries.buffered() == model.buffered());
        REQUIRE(entries.cached_pages() == model.order.size());
        REQUIRE(entries.dirty() == model.dirty.size());
        REQUIRE(entries.has_room(1) == (model.bytes() + 8 <= 8 * cached.count && model.not_deferred() <= cached.count));
        for (std::uint32_t l = 0; l < model.stored.size(); ++l) REQUIRE(entries.peek(Lpn{l}) == model.peek(l));
        std::map<std::uint32_t, std::uint32_t> told;
        entries.for_each_dirty([&](Lpn l, std::uint32_t entry) { REQUIRE(told.emplace(l.value(), entry).second); });
        REQUIRE(std::ranges::equal(told, model.dirty, [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second.value; }));
    }
    CHECK(written > 100);
    CHECK(left > 100);
    CHECK(sparse > 20);
    CHECK(alone > 10);
}

TEST_CASE("sftl's read misses are those of an LRU list of translation pages, each as long as its runs", "[ftl][sftl]") {
    SsdConfig config = tiny_config();
    config.nand.geometry.planes_per_die = 2;
    config.nand.geometry.blocks_per_plane = 200;
    constexpr std::uint64_t cache_bytes = 2000;
    config.ftl.options.set(demand_option::mapping_cache_bytes, cache_bytes);
    config = *shape_for("sftl", config);
    config.ftl.options.set(sftl_option::buffer_permille, 0); // it has no entries once room was needed
    CutRig rig{config};
    const std::uint32_t mapped = rig.unit_bytes() / 4, count = rig.ftl().logical_pages() / mapped, units = count * mapped;
    REQUIRE(count >= 10);
    const std::uint64_t seed = 7;
    CAPTURE(seed);
    Random random{seed};
    for (std::uint32_t u = 0; u < units; u += 4) rig.now = rig.write(u, 4);
    for (std::uint32_t i = 0; i < units / 4; ++i) rig.now = rig.write(static_cast<std::uint32_t>(random.below(units / 2)), 1);
    const auto& table = demand_table_of<SpatialEntries>(rig.ftl().undecorated());
    const std::array<RunShape, 2> shapes{{{1, 1}, {2, 1}}}; // two planes of one die
    std::vector<std::byte> to(rig.unit_bytes());
    for (std::uint32_t u = 0; u < units; ++u) rig.now = *rig.ssd().read(rig.sector(u), rig.unit_bytes() / sector_bytes, to, rig.now);
    REQUIRE(table.cache().buffered() == 0);
    const std::uint64_t before = table.counted().map_read_misses;
    std::vector<std::uint32_t> bytes;
    for (std::uint32_t page = 0; page < count; ++page) {
        std::vector<std::uint32_t> entries;
        for (std::uint32_t l = page * mapped; l < (page + 1) * mapped; ++l) {
            const auto unit = table.current(Lpn{l});
            entries.push_back(unit ? map_entry::of(*unit) : 0);
        }
        bytes.push_back(page_bytes(entries, shapes, false));
    }
    CHECK(std::ranges::min(bytes) * 3 < std::ranges::max(bytes));
    std::vector<std::uint32_t> order; // the coldest first
    std::uint64_t misses = 0;
    const auto make_room = [&](std::uint64_t more) {
        const auto used = [&] { return std::transform_reduce(order.begin(), order.end(), more, std::plus{}, [&](auto p) { return bytes[p]; }); };
        while (used() > cache_bytes) order.erase(order.begin());
    };
    for (std::uint32_t page = 0; page < count; ++page) {
        if (page != 0) make_room(CachedEntries{}.bytes_each);
        order.push_back(page);
        make_room(0);
    }
    for (int i = 0; i < 4000; ++i) {
        const auto u = static_cast<std::uint32_t>(random.below(random.chance(1, 2) ? units / 3 : units)), page = u / mapped;
        rig.now = *rig.ssd().read(rig.sector(u), rig.unit_bytes() / sector_bytes, to, rig.now);
        if (std::erase(order, page) == 0) {
            ++misses;
            make_room(CachedEntries{}.bytes_each);
        }
        order.push_back(page);
        make_room(0);
    }
    CHECK(table.counted().map_read_misses - before == misses);
    CHECK(misses > 400);
    CHECK(misses < 3600);
    CHECK(table.cache().bytes_used() <= cache_bytes);
}
