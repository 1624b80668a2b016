// Goal: the store behaves as a std::map with transactions, whatever splits, merges, holes and compactions happen below, and says so itself by
// check().
// Method: random transactions on a PRAM of some dozen nodes, so that every path including ENOSPC is met; the model is compared and check() run after
// each.
#include "fs/btree_node.h"
#include "tests/support/catch.h"

#include <algorithm>

#include "base/contract.h"
#include "tests/fs/metadata_world.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::uint64_t small_pram = 256 * 1024;
constexpr std::uint64_t small_pages = 9000;

RecordKey random_key(Random& random) {
    const Ino ino{random.next() % 40 == 0 ? random.next() : random.next() % 60};
    const auto kind = static_cast<RecordKind>(1 + random.next() % 4);
    const std::uint64_t subkey = random.next() % 3 == 0 ? random.next() % 4 : (random.next() % 40) * 0x123456789abcdefull;
    return {ino, kind, subkey};
}

std::size_t random_size(Random& random) {
    switch (random.next() % 8) {
    case 0:
        return random.next() % (max_record_bytes + 1);
    case 1:
        return 0;
    default:
        return random.next() % 180;
    }
}

struct Operations {
    std::uint64_t no_space = 0, committed = 0, rolled_back = 0;
};

/// One step inside a transaction; false when the store is full.
bool random_step(MetadataWorld& world, MetadataModel& model, Random& random, std::uint64_t puts_of_ten) {
    if (random.next() % 12 == 0) {
        const std::uint64_t first = random.next() % small_pages, most = std::min<std::uint64_t>(small_pages - first, 1 + random.next() % 700);
        std::uint64_t pages = 1;
        while (pages < most && model.pages[first + pages] == model.pages[first]) ++pages;
        const bool value = !model.pages[first];
        world.store->set_data_pages({LogicalPage{first}, pages}, value);
        std::fill_n(model.pages.begin() + static_cast<std::ptrdiff_t>(first), pages, value);
        return true;
    }
    const RecordKey key = random_key(random);
    if (random.next() % 10 < puts_of_ten) {
        const Value value = random_value(random, random_size(random));
        const auto put = world.store->put(key, value);
        if (!put) {
            REQUIRE(put.error() == FsError{ENOSPC});
            return false;
        }
        model.records[key] = value;
        return true;
    }
    RecordKey victim = key; // half of the time one that exists
    if (random.next() % 2 == 0)
        if (const auto at = model.records.lower_bound(key); at != model.records.end()) victim = at->first;
    const auto erased = world.store->erase(victim);
    REQUIRE(erased.has_value());
    REQUIRE(*erased == (model.records.erase(victim) == 1));
    return true;
}

void compare_lookups(const MetadataWorld& world, const MetadataModel& model, Random& random) {
    for (int i = 0; i < 2; ++i) {
        const RecordKey key = random_key(random), floor = random_key(random);
        std::span<const std::byte> value;
        const auto expected = model.records.find(key);
        REQUIRE(world.store->get(key, value) == (expected != model.records.end()));
        if (expected != model.records.end()) REQUIRE(same_bytes(value, expected->second));
        RecordKey found;
        auto before = model.records.upper_bound(key);
        const bool any = before != model.records.begin() && !((--before)->first < floor);
        REQUIRE(world.store->find_at_or_before(key, floor, found, value) == any);
        if (any) {
            REQUIRE(found == before->first);
            REQUIRE(same_bytes(value, before->second));
        }
        const RecordKey from = std::min(key, floor), to = std::max(key, floor);
        auto expect = model.records.lower_bound(from);
        bool same = true; // one assertion a scan: Catch's are slow
        world.store->scan(from, to, [&](const RecordKey& k, std::span<const std::byte> v) {
            same = same && expect != model.records.end() && k == expect->first && same_bytes(v, expect->second);
            if (same) ++expect;
            return same;
        });
        REQUIRE(same);
        REQUIRE((expect == model.records.end() || !(expect->first < to)));
    }
}

void random_transaction(MetadataWorld& world, MetadataModel& model, Random& random, Operations& did, std::uint64_t puts_of_ten) {
    const MetadataModel before = model;
    world.store->begin();
    bool full = false;
    const std::uint64_t steps = 1 + random.next() % 12;
    for (std::uint64_t i = 0; i < steps && !full; ++i) full = !random_step(world, model, random, puts_of_ten);
    if (!full) compare_lookups(world, model, random);
    if (full || random.next() % 5 == 0) {
        did.no_space += full ? 1 : 0;
        ++did.rolled_back;
        world.store->roll_back();
        model = before;
        return;
    }
    const auto committed = world.store->commit(sim_start, no_event);
    REQUIRE(committed.has_value());
    ++did.committed;
}

} // namespace

TEST_CASE("random transactions leave what a map would hold, and check() finds nothing", "[metadata]") {
    Operations did;
    for (const std::uint64_t seed : metadata_seeds(8)) {
        CAPTURE(seed);
        Random random{seed};
        MetadataWorld world{small_pram, small_pages};
        MetadataModel model;
        model.pages.assign(small_pages, false);
        for (int i = 0; i < 500; ++i) {
            CAPTURE(i);
            random_transaction(world, model, random, did, i / 100 % 2 == 0 ? 8 : 2); // grows, shrinks, grows ...
            REQUIRE(world.problems() == "");
            if (i % 20 == 0) REQUIRE(world.content() == model);
            if (i % 97 == 0) world.reopen();
        }
        REQUIRE(world.content() == model);
    }
    CHECK(did.no_space > 0); // the paths named above were taken
    CHECK(did.rolled_back > did.no_space);
    CHECK(did.committed > 1000);
}

TEST_CASE("a full store refuses put() cleanly, and erase() gives the space back", "[metadata]") {
    MetadataWorld world{small_pram, 100};
    const Value value(150);
    std::uint64_t stored = 0;
    for (;; ++stored) {
        world.store->begin();
        if (const auto put = world.store->put({Ino{stored}, RecordKind::inode, 0}, value); !put) {
            CHECK(put.error() == FsError{ENOSPC});
            break;
        }
        REQUIRE(world.store->commit(sim_start, no_event).has_value());
    }
    world.store->roll_back();
    CHECK(world.problems() == "");
    CHECK(world.store->bytes_free() < 8 * 4096);

    world.store->begin();
    world.store->use_reserve();
    REQUIRE(world.store->put({Ino{0}, RecordKind::orphan, 7}, value).has_value()); // what an unlink of a full store needs
    REQUIRE(world.store->commit(sim_start, no_event).has_value());

    for (std::uint64_t ino = 0; ino < stored; ++ino) {
        world.store->begin();
        REQUIRE(world.store->erase({Ino{ino}, RecordKind::inode, 0}) == FsResult<bool>{true});
        REQUIRE(world.store->commit(sim_start, no_event).has_value());
    }
    world.store->begin();
    REQUIRE(world.store->erase({Ino{0}, RecordKind::orphan, 7}) == FsResult<bool>{true});
    REQUIRE(world.store->commit(sim_start, no_event).has_value());
    CHECK(world.problems() == "");
    MetadataWorld fresh{small_pram, 100};
    CHECK(world.store->bytes_free() == fresh.store->bytes_free());
}

TEST_CASE("a tree of three levels stays sound while whole subtrees go away at either end and come back", "[metadata]") {
    // Rising keys leave full interior nodes: none of them can be merged, so each is emptied down to its last child and then freed.
    MetadataWorld world{8u << 20, 100};
    const Value value(max_record_bytes, std::byte{3});
    constexpr std::uint64_t keys = 3000, step = 0x123456789abcull;
    MetadataModel model;
    model.pages.assign(100, false);
    const auto key = [](std::uint64_t i) { return RecordKey{Ino{7}, RecordKind::dirent, i * step}; };
    const auto change = [&](std::uint64_t i, bool present) {
        world.store->begin();
        if (present) {
            REQUIRE(world.store->put(key(i), value).has_value());
            model.records[key(i)] = value;
        } else {
            REQUIRE(world.store->erase(key(i)) == FsResult<bool>{true});
            model.records.erase(key(i));
        }
        REQUIRE(world.store->commit(sim_start, no_event).has_value());
        if (i % 50 == 0) REQUIRE(world.problems() == "");
    };
    for (std::uint64_t i = 1; i <= keys; ++i) change(i, true);
    for (std::uint64_t i = 1; i <= keys / 2; ++i) change(i, false); // the leftmost subtree goes
    for (std::uint64_t i = keys / 2; i > 0; --i) change(i, true);   // and its range is inherited
    REQUIRE(world.content() == model);
    for (std::uint64_t i = keys / 3; i <= keys / 2; ++i) change(i, false); // from the middle
    for (std::uint64_t i = keys / 2; i >= keys / 3; --i) change(i, true);
    REQUIRE(world.content() == model);
    for (std::uint64_t i = keys; i > 0; --i) change(i, false);
    REQUIRE(world.problems() == "");
    REQUIRE(world.content() == model);
}

TEST_CASE("rising keys fill their leaves, hashed keys fill them to two thirds", "[metadata]") {
    const auto bytes_used = [](bool hashed) {
        MetadataWorld world{8u << 20, 100};
        const std::uint64_t empty = world.store->bytes_free();
        const Value value(100);
        Random random{7};
        for (std::uint64_t i = 0; i < 10'000; ++i) {
            world.store->begin();
            const std::uint64_t subkey = hashed ? random.next() : i + (1ull << 62);
            REQUIRE(world.store->put({Ino{9}, RecordKind::dirent, subkey}, value).has_value());
            REQUIRE(world.store->commit(sim_start, no_event).has_value());
        }
        REQUIRE(world.problems() == "");
        return empty - world.store->bytes_free();
    };
    const std::uint64_t net = 10'000 * (4 + 1 + 8 + 100 + 2);
    CHECK(bytes_used(false) < net * 105 / 100);
    CHECK(bytes_used(true) < net * 160 / 100);
}

TEST_CASE("a transaction of its own sees its changes, others do not see them before commit", "[metadata]") {
    MetadataWorld world{small_pram, 100};
    const RecordKey key{Ino{5}, RecordKind::inode, 0};
    const Value value(40, std::byte{7});
    std::span<const std::byte> seen;
    world.store->begin();
    REQUIRE(world.store->put(key, value).has_value());
    world.store->set_data_pages({LogicalPage{10}, 5}, true);
    CHECK(world.store->get(key, seen));
    CHECK(world.store->find_free_run(LogicalPage{10}, 3).first == LogicalPage{15});
    world.store->roll_back();
    CHECK_FALSE(world.store->get(key, seen));
    CHECK(world.store->find_free_run(LogicalPage{10}, 3).first == LogicalPage{10});
    CHECK(world.store->data_pages_in_use() == 0);
}

TEST_CASE("breaking a promise of the store is a contract violation", "[metadata]") {
    MetadataWorld world{small_pram, 100};
    const RecordKey key{Ino{5}, RecordKind::inode, 0};
    CHECK_THROWS_AS(world.store->put(key, {}), ContractViolation);
    CHECK_THROWS_AS(world.store->roll_back(), ContractViolation);
    world.store->begin();
    CHECK_THROWS_AS(world.store->begin(), ContractViolation);
    CHECK_THROWS_AS(world.store->put(key, Value(max_record_bytes + 1)), ContractViolation);
    CHECK_THROWS_AS(world.store->set_data_pages({LogicalPage{0}, 1}, false), ContractViolation);
    CHECK_THROWS_AS(world.store->set_data_pages({LogicalPage{99}, 2}, true), ContractViolation);
    world.store->roll_back();
    CHECK(world.problems() == "");
}

TEST_CASE("a transaction that outgrows the log record is refused and rolled back, and says early that it is large", "[metadata]") {
    MetadataWorld world{4u << 20, 1u << 20};
    Random random{3};
    world.store->begin();
    bool was_large = false, refused = false;
    for (std::uint64_t i = 0; i < 2000 && !refused; ++i) {
        refused = !world.store->put({Ino{i}, RecordKind::symlink, 0}, random_value(random, 900)).has_value();
        if (!refused) was_large = world.store->transaction_is_large();
    }
    CHECK(was_large);
    CHECK(refused);
    world.store->roll_back();
    CHECK(world.problems() == "");
    world.store->begin();
    world.store->set_data_pages({LogicalPage{0}, world.store->max_run_in_transaction()}, true);
    CHECK_FALSE(world.store->transaction_is_large());
    CHECK(world.store->commit(sim_start, no_event).has_value());
}

TEST_CASE("check() names a key below or above the bounds of its leaf, in a leaf that is sound by itself", "[metadata]") {
    MetadataWorld world{small_pram, 100};
    Random random{11};
    for (std::uint64_t i = 0; i < 400; ++i) {
        world.store->begin();
        REQUIRE(world.store->put({Ino{1000 + i}, RecordKind::inode, 0}, random_value(random, 100)).has_value());
        REQUIRE(world.store->commit(sim_start, no_event).has_value());
    }
    const Value sound{world.cells.cells().begin(), world.cells.cells().end()};
    std::uint64_t below = 0, above = 0;
    for (std::uint64_t at = small_pram - world.store->bytes_total(); at + node_bytes <= small_pram; at += node_bytes) {
        std::byte* const bytes = world.cells.cells().data() + at;
        if (NodeEditor node{bytes}; node.magic() == node_magic && node.level() == 0 && node.count() > 2 && node.problem().empty()) {
            const RecordKey first = node.key(0), last = node.key(node.count() - 1);
            const auto with_key = [&](std::uint32_t index, const RecordKey& key) {
                const Value value{node.value(index).begin(), node.value(index).end()};
                node.remove(index);
                node.insert(index, key, value);
                REQUIRE(node.problem().empty());
                const std::string told = world.problems();
                std::ranges::copy(sound, world.cells.cells().begin());
                return told;
            };
            if (first.ino.value() > 1000) {
                ++below;
                CHECK(with_key(0, {Ino{1}, RecordKind::inode, 0}).find("lies below its bound") != std::string::npos);
            }
            if (last.ino.value() < 1399) {
                ++above;
                CHECK(with_key(node.count() - 1, {Ino{5000}, RecordKind::inode, 0}).find("lies above its bound") != std::string::npos);
            }
        }
    }
    CHECK(below > 2);
    CHECK(above > 2);
    CHECK(world.problems() == "");
}

TEST_CASE("a damaged node is reported by check() and never run over", "[metadata]") {
    MetadataWorld world{small_pram, 100};
    Random random{11};
    for (std::uint64_t i = 0; i < 400; ++i) {
        world.store->begin();
        REQUIRE(world.store->put({Ino{i}, RecordKind::inode, 0}, random_value(random, 100)).has_value());
        REQUIRE(world.store->commit(sim_start, no_event).has_value());
    }
    const Value sound{world.cells.cells().begin(), world.cells.cells().end()};
    std::uint64_t found = 0, thrown = 0;
    const std::uint64_t nodes_at = small_pram - world.store->bytes_total();
    for (int i = 0; i < 300; ++i) {
        const std::uint64_t at = nodes_at + random.next() % (13 * 4096);
        world.cells.cells()[at] ^= static_cast<std::byte>(1u << (random.next() % 8));
        found += world.store->check().empty() ? 0 : 1;
        try {
            (void)world.content();
        } catch (const ContractViolation&) {
            ++thrown;
        }
        std::ranges::copy(sound, world.cells.cells().begin());
    }
    CAPTURE(found, thrown);
    CHECK(found > 0); // bits inside values and free space are nobody's business here
    CHECK(world.problems() == "");
}

TEST_CASE("an extent of pages is found from the hint on, wraps, and stops where the next one begins", "[metadata]") {
    MetadataWorld world{small_pram, small_pages};
    world.store->begin();
    world.store->set_data_pages({LogicalPage{0}, 8999}, true);
    world.store->set_data_pages({LogicalPage{5000}, 100}, false);
    const auto wrapped = world.store->find_free_run(LogicalPage{8999}, 50);
    CHECK(wrapped.first == LogicalPage{8999});
    CHECK(wrapped.pages == 1);
    const auto inside = world.store->find_free_run(LogicalPage{5090}, 50);
    CHECK(inside.first == LogicalPage{5090});
    CHECK(inside.pages == 10);
    world.store->set_data_pages({LogicalPage{8999}, 1}, true);
    CHECK(world.store->find_free_run(LogicalPage{8999}, 1000).first == LogicalPage{5000});
    CHECK(world.store->find_free_run(LogicalPage{5100}, 1000).pages == 100);
    world.store->set_data_pages({LogicalPage{5000}, 100}, true);
    CHECK(world.store->find_free_run(LogicalPage{0}, 1).pages == 0);
    CHECK(world.store->data_pages_in_use() == small_pages);
    REQUIRE(world.store->commit(sim_start, no_event).has_value());
    CHECK(world.problems() == "");
}
