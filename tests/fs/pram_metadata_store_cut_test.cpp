// Goal: M2 and C11: after a power cut at any nanosecond the store holds a prefix of the committed transactions, at least all that were durable by
// then.
// Method: transactions issued faster than they become durable, a cut at a random time with random outcomes for the words in flight, recovery (itself
// cut now and then), comparison with the snapshots after each transaction.
#include "tests/support/catch.h"

#include <algorithm>

#include "tests/fs/metadata_world.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::uint64_t small_pram_bytes = 320 * 1024;
constexpr std::uint64_t small_pages = 300;

void change_something(MetadataWorld& world, MetadataModel& model, Random& random) {
    for (std::uint64_t i = 0, steps = 1 + random.next() % 6; i < steps; ++i) {
        const RecordKey key{Ino{random.next() % 200}, static_cast<RecordKind>(1 + random.next() % 3), random.next() % 3};
        if (random.next() % 3 != 0) {
            const Value value = random_value(random, random.next() % 160);
            REQUIRE(world.store->put(key, value).has_value());
            model.records[key] = value;
        } else {
            REQUIRE(world.store->erase(key).value() == (model.records.erase(key) == 1));
        }
    }
    const std::uint64_t page = random.next() % small_pages;
    world.store->set_data_pages({LogicalPage{page}, 1}, !model.pages[page]);
    model.pages[page] = !model.pages[page];
}

/// Power fails during recovery, too: recovery of a recovery must end the same.
void recover_with_cuts(MetadataWorld& world, Random& random) {
    for (std::uint64_t i = 0, cuts = random.next() % 3; i < cuts; ++i) {
        world.power_on();
        world.open();
        SeededOutcomes outcomes{random.next()};
        const auto end = static_cast<std::uint64_t>(ns_since_start(world.pram->last_reserved_end()));
        (void)world.pram->cut(sim_time_from_ns(static_cast<std::int64_t>(random.next() % (end + 1))), outcomes);
    }
    world.reopen();
}

} // namespace

TEST_CASE("after a power cut at any time the store holds a prefix of the transactions, all durable ones among them", "[metadata]") {
    std::uint64_t lost_some = 0;
    for (const std::uint64_t seed : metadata_seeds(60)) {
        CAPTURE(seed);
        Random random{seed};
        MetadataWorld world{small_pram_bytes, small_pages, PramUndo::keep};
        MetadataModel model;
        model.pages.assign(small_pages, false);
        std::vector<MetadataModel> states{model};
        for (int cut = 0; cut < 3; ++cut) {
            std::vector<SimTime> durable{sim_start};
            SimTime now = sim_start;
            for (std::uint64_t i = 0, n = 1 + random.next() % 60; i < n; ++i) {
                world.store->begin();
                change_something(world, model, random);
                const auto done = world.store->commit(now, no_event);
                REQUIRE(done.has_value());
                CHECK(*done >= durable.back());
                durable.push_back(*done);
                states.push_back(model);
                now += Duration{static_cast<std::int64_t>(random.next() % 20'000)};
            }
            const auto end = static_cast<std::uint64_t>(ns_since_start(world.pram->last_reserved_end()));
            const SimTime at = sim_time_from_ns(static_cast<std::int64_t>(random.next() % (end + 1)));
            SeededOutcomes outcomes{random.next()};
            (void)world.pram->cut(at, outcomes);
            recover_with_cuts(world, random);

            REQUIRE(world.problems() == "");
            const MetadataModel found = world.content();
            std::size_t least = 0;
            while (least + 1 < durable.size() && durable[least + 1] <= at) ++least;
            std::size_t is = least;
            while (is < states.size() && !(states[is] == found)) ++is;
            CAPTURE(cut, least, states.size());
            REQUIRE(is < states.size());
            lost_some += is + 1 < states.size() ? 1 : 0;
            model = found;
            states.assign(1, model);
        }
    }
    CHECK(lost_some > 0);
}

TEST_CASE("label and clean mark survive a cut, old or new", "[metadata]") {
    for (const std::uint64_t seed : metadata_seeds(40)) {
        CAPTURE(seed);
        Random random{seed};
        MetadataWorld world{small_pram_bytes, small_pages, PramUndo::keep};
        REQUIRE(world.store->mark_dirty(sim_start).has_value());
        REQUIRE(world.store->set_label("another label, longer than the first", sim_start).has_value());
        const auto end = static_cast<std::uint64_t>(ns_since_start(world.pram->last_reserved_end()));
        SeededOutcomes outcomes{random.next()};
        (void)world.pram->cut(sim_time_from_ns(static_cast<std::int64_t>(random.next() % (end + 1))), outcomes);
        recover_with_cuts(world, random);
        const std::string label = world.store->label();
        CHECK((label == "test" || label == "another label, longer than the first"));
        if (label != "test") CHECK_FALSE(world.store->was_clean());
        CHECK(world.problems() == "");
    }
}
