/// LearnedFTL's models: against a model of what must be known, striped over dies, within their bytes, across collections and power cuts.
#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "base/random.h"
#include "tests/support/every_scheme.h"
#include "tests/support/modelled_table.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::modelled_table_of;
using flashlab::test::ModelledTable;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

struct Modelled {
    std::uint32_t channels = 1, planes = 1, train_pages = 8, intervals = 64;
    std::uint64_t bytes = 1 << 14;
    std::uint32_t blocks = 60;
};

SsdConfig modelled_drive(const Modelled& of) {
    SsdConfig shape = tiny_config();
    shape.nand.geometry.channels = of.channels;
    shape.nand.geometry.planes_per_die = of.planes;
    shape.nand.geometry.blocks_per_plane = of.blocks;
    shape.nand.geometry.pages_per_block = 32;
    shape.ftl.scheme = "learnedftl";
    shape.ftl.options.set(learnedftl_option::train_pages, of.train_pages);
    shape.ftl.options.set(learnedftl_option::intervals, of.intervals);
    shape.ftl.options.set(demand_option::mapping_cache_bytes, of.bytes);
    return *shape_for("learnedftl", shape);
}

std::uint32_t known_pages(CutRig& rig) {
    std::uint32_t known = 0;
    for (std::uint32_t l = 0; l < rig.ftl().logical_pages(); ++l) known += modelled_table_of(rig).models().knows(Lpn{l}) ? 1 : 0;
    return known;
}

/// What the models must know of a drive of one plane with room for all: runs of so many pages and more, until a page is written anew. Of a
/// translation page in which a part of a run is trained on for the first time four pages at least: an interval takes the room of as many entries.
struct KnownPages {
    std::uint32_t train_pages, per_page;
    std::set<std::uint32_t> known{};
    std::vector<std::uint32_t> run{}; ///< since it was last trained on
    std::uint32_t next = 0, in_run = 0;

    void write(std::uint32_t page) {
        known.erase(page);
        if (in_run != 0 && page != next) end();
        next = page + 1;
        run.push_back(page);
        if (++in_run % train_pages == 0) learn();
    }
    void end() {
        if (in_run >= train_pages) learn();
        run.clear();
        in_run = 0;
    }
    void learn() {
        const std::uint32_t begins = next - in_run;
        for (std::size_t i = 0; i < run.size();) {
            std::size_t end = i;
            while (end < run.size() && run[end] / per_page == run[i] / per_page) ++end;
            const bool goes_on = run[i] > begins && run[i] % per_page != 0 && known.contains(run[i] - 1);
            if (goes_on || end - i >= 4) known.insert(run.begin() + static_cast<std::ptrdiff_t>(i), run.begin() + static_cast<std::ptrdiff_t>(end));
            i = end;
        }
        run.clear();
    }
};

} // namespace

TEST_CASE("learnedftl knows what a model says that remembers runs, and counts its predicted and its double reads as that model does",
          "[ftl][learnedftl]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u);
    CAPTURE(seed);
    Random random{seed};
    SsdConfig config = modelled_drive({.train_pages = 8, .bytes = 3500, .blocks = 240});
    config.ftl.options.set(learnedftl_option::model_permille, 900);
    CutRig rig{config};
    const ModelledTable& table = modelled_table_of(rig);
    KnownPages model{.train_pages = 8, .per_page = TranslationPages::entries_in(UnitGeometry{rig.geometry(), 1})};
    std::uint64_t predicted = 0, doubled = 0;
    const std::uint32_t units = 1200; // of 7,000: no collection moves anything
    std::vector<std::uint32_t> order(units);
    std::iota(order.begin(), order.end(), 0u);
    for (std::uint32_t i = units - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (const std::uint32_t u : order) { // out of order, so that each translation page is there
        rig.now = rig.write(u, 1);
        model.write(u);
    }
    for (std::uint32_t written = 0; written < units;) {
        const auto first = static_cast<std::uint32_t>(random.below(units));
        const std::uint32_t count = std::min(units - first, static_cast<std::uint32_t>(1 + random.below(random.chance(1, 2) ? 3 : 40)));
        for (std::uint32_t u = first; u < first + count;) { // in requests of up to 6 pages
            const std::uint32_t now = std::min(first + count - u, static_cast<std::uint32_t>(1 + random.below(6)));
            rig.now = rig.write(u, now);
            for (const std::uint32_t end = u + now; u < end; ++u) model.write(u);
        }
        written += count;
        for (int i = 0; i < 20; ++i) {
            const auto u = static_cast<std::uint32_t>(random.below(units));
            if (!table.cache().peek(Lpn{u})) ++(model.known.contains(u) ? predicted : doubled);
            rig.check_unit(u);
            REQUIRE(table.models().counted().predicted_reads == predicted);
            REQUIRE(table.counted().read_for_host == doubled);
        }
        for (std::uint32_t u = 0; u < units; ++u) {
            CAPTURE(u);
            REQUIRE(table.models().knows(Lpn{u}) == model.known.contains(u));
        }
    }
    CHECK(rig.ftl().counters().gc_page_copies == 0);
    CHECK(predicted > 100);
    CHECK(doubled > 100);
    rig.check_all();
}

TEST_CASE("pages striped over planes and dies are one interval of learnedftl, whatever the size of the requests", "[ftl][learnedftl]") {
    for (const std::uint32_t pages : {1u, 2u, 4u, 8u, 16u, 32u}) {
        CAPTURE(pages);
        // All entries fit: no translation page is written meanwhile, for which a die would be passed over.
        CutRig rig{modelled_drive({.channels = 4, .planes = 2, .train_pages = 32, .bytes = 1 << 18})};
        for (std::uint32_t u = 0; u + pages <= rig.units(); u += pages) rig.now = rig.write(u, pages);
        const PageModels& models = modelled_table_of(rig).models();
        CHECK(known_pages(rig) >= rig.units() / 32 * 31); // but for the last ones
        const std::uint32_t per_page = TranslationPages::entries_in(UnitGeometry{rig.geometry(), 1});
        for (std::uint32_t page = 0; page < rig.units() / per_page; ++page) CHECK(models.intervals_of(page) <= 2);
        rig.check_all();
    }
}

TEST_CASE("the models of learnedftl, and what waits to be trained on, take no more than their share, and with entries no more than the mapping cache",
          "[ftl][learnedftl]") {
    const std::uint64_t bytes = 600;
    CutRig rig{modelled_drive({.train_pages = 4, .intervals = 4, .bytes = bytes, .blocks = 120})};
    const ModelledTable& table = modelled_table_of(rig);
    Random random{5};
    for (int i = 0; i < 600; ++i) {
        const auto unit = static_cast<std::uint32_t>(random.below(rig.units() - 16));
        rig.now = rig.write(unit, static_cast<std::uint32_t>(1 + random.below(16)));
        for (int k = 0; k < 4; ++k) rig.check_unit(static_cast<std::uint32_t>(random.below(rig.units())));
        CHECK(table.models().bytes_used() <= bytes / 2);
        CHECK(table.models().bytes_used() + 6ull * (table.cache().size() - table.cache().deferred()) <= bytes + 6 * 20);
        const std::uint32_t per_page = TranslationPages::entries_in(UnitGeometry{rig.geometry(), 1});
        CHECK(table.models().waiting_pages() <= bytes / 2 / 4 / 8);
        std::uint64_t charged = 8 * table.models().waiting_pages();
        for (std::uint32_t page = 0; page * per_page < rig.units(); ++page)
            if (const std::uint32_t intervals = table.models().intervals_of(page)) charged += 8 + per_page / 8 + 16 * intervals;
        REQUIRE(table.models().bytes_used() == charged);
    }
    CHECK(table.models().counted().pages_forgotten > 100);
    CHECK(table.models().counted().predicted_reads > 5);
    rig.check_all();
}

TEST_CASE("pages that wait to be trained on are charged to learnedftl's mapping cache, those of the host and those that collections move",
          "[ftl][learnedftl]") {
    CutRig host{modelled_drive({.train_pages = 8})};
    const PageModels& models = modelled_table_of(host).models();
    for (std::uint32_t u = 0; u < 20; ++u) {
        CHECK(models.waiting_pages() == u % 8);
        const std::uint64_t learned = models.intervals_of(0) == 0 ? 0 : 8 + TranslationPages::entries_in(UnitGeometry{host.geometry(), 1}) / 8 + 16;
        CHECK(models.bytes_used() == learned + 8 * (u % 8));
        host.now = host.write(u, 1);
    }
    host.now = host.write(40, 1); // the run has ended
    CHECK(models.waiting_pages() == 1);

    // A collection keeps pace with the host: between its writes what was moved waits.
    SsdConfig config = modelled_drive({.channels = 2, .train_pages = 1000, .blocks = 60});
    config.ftl.reserved_permille = 250;
    CutRig moved{config, Payload::none, UndoPolicy::none};
    const PageModels& of_moved = modelled_table_of(moved).models();
    Random random{3};
    std::uint64_t most = 0;
    for (std::uint32_t u = 0; u < moved.units(); ++u) moved.now = moved.write(u, 1);
    for (std::uint32_t i = 0; i < 2 * moved.units(); ++i) {
        moved.now = moved.write(static_cast<std::uint32_t>(random.below(moved.units())), 1);
        most = std::max(most, of_moved.waiting_pages());
        REQUIRE(of_moved.bytes_used() >= 8 * of_moved.waiting_pages());
    }
    CHECK(most > 4);
    moved.require_sound();
}

TEST_CASE("what a collection moves together learnedftl learns anew", "[ftl][learnedftl]") {
    CutRig rig{modelled_drive({.blocks = 40})};
    for (std::uint32_t u = 0; u < rig.units(); ++u) rig.now = rig.write(u, 1);
    Random random{3};
    for (std::uint32_t i = 0; i < 3 * rig.units(); ++i) rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units() / 16)) * 16, 1);
    CHECK(rig.ftl().counters().gc_page_copies > 500);
    // Each sixteenth page was written at random. The others were moved again and again, and are known for all that.
    CHECK(known_pages(rig) > rig.units() / 2);
    rig.check_all();
}

TEST_CASE("learnedftl answers right across shutdowns and power cuts, and predicts nothing of before them", "[ftl][learnedftl]") {
    for (const std::uint32_t channels : {1u, 2u}) {
        CAPTURE(channels);
        SsdConfig config = modelled_drive({.channels = channels, .planes = 2, .train_pages = 2, .bytes = 400, .blocks = 24});
        config.nand.geometry.pages_per_block = 8;
        CutRig rig{*shape_for("learnedftl", config)};
        Random random{channels};
        std::uint64_t predicted = 0;
        for (std::uint32_t turn = 0; turn < 60; ++turn) {
            const SimTime from = rig.steps_and_pauses(random);
            const auto first = static_cast<std::uint32_t>(random.below(rig.units() / 2));
            for (std::uint32_t u = first; u < first + rig.units() / 3; ++u) rig.now = rig.write(u, 1);
            rig.require_sound();
            for (std::uint32_t u = 0; u < rig.units(); ++u) rig.check_unit(u);
            predicted += modelled_table_of(rig).models().counted().predicted_reads;
            rig.leave(from, random);
            REQUIRE(modelled_table_of(rig).models().counted().trainings == 0);
        }
        CHECK(predicted > 1000);
    }
}
