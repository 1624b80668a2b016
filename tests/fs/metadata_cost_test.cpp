// Goal: what an operation of the file system costs in PRAM words, and that a great many records come and go without a trace. The words are exact and
// repeat; times belong to the benchmark at the end, which runs only when asked for: fs_tests "[.bench]".
#include "tests/support/catch.h"

#include <chrono>
#include <cstdio>

#include "tests/fs/metadata_world.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::size_t inode_bytes = 130;

Value inode_value(std::uint64_t ino, std::uint64_t tick) {
    Value value(inode_bytes);
    for (std::size_t field = 0; field < 4; ++field) std::memcpy(value.data() + 8 * field, &ino, 8);
    std::memcpy(value.data() + 64, &tick, 8); // mtime
    std::memcpy(value.data() + 80, &tick, 8); // ctime
    std::memcpy(value.data() + 96, &tick, 8); // change counter
    return value;
}

RecordKey inode_key(std::uint64_t ino) { return {Ino{ino}, RecordKind::inode, 0}; }
RecordKey dirent_key(std::uint64_t ino) { return {Ino{1}, RecordKind::dirent, Random{ino}.next() & ~0xffull}; }

Value dirent_value(std::uint64_t ino) {
    Value value(28); // ino, type, name of 16 bytes
    std::memcpy(value.data(), &ino, 8);
    std::memset(value.data() + 12, 'n', 16);
    return value;
}

void create(PramMetadataStore& store, std::uint64_t ino) {
    store.begin();
    REQUIRE(store.put(inode_key(ino), inode_value(ino, ino)).has_value());
    REQUIRE(store.put(dirent_key(ino), dirent_value(ino)).has_value());
    REQUIRE(store.put(inode_key(1), inode_value(1, ino)).has_value());
    REQUIRE(store.commit(sim_start, no_event).has_value());
}

void remove(PramMetadataStore& store, std::uint64_t ino) {
    store.begin();
    REQUIRE(store.erase(dirent_key(ino)) == FsResult<bool>{true});
    REQUIRE(store.erase(inode_key(ino)) == FsResult<bool>{true});
    REQUIRE(store.put(inode_key(1), inode_value(1, ino + 1)).has_value());
    REQUIRE(store.commit(sim_start, no_event).has_value());
}

double per(std::uint64_t words, std::uint64_t operations) { return static_cast<double>(words) / static_cast<double>(operations); }

/// Creates and removes `files` files in one directory and tells the words of each half.
struct Cost {
    double create_words, remove_words;
    std::uint64_t bytes_used;
};
Cost come_and_go(MetadataWorld& world, std::uint64_t files) {
    const std::uint64_t empty = world.store->bytes_free(), start = world.words_written();
    for (std::uint64_t i = 0; i < files; ++i) create(*world.store, 2 + i);
    const std::uint64_t created = world.words_written(), full = world.store->bytes_free();
    REQUIRE(world.problems() == "");
    for (std::uint64_t i = 0; i < files; ++i) remove(*world.store, 2 + i);
    const std::uint64_t removed = world.words_written();
    REQUIRE(world.problems() == "");
    CHECK(empty - world.store->bytes_free() == 4096); // the directory's own inode
    return {per(created - start, files), per(removed - created, files), empty - full};
}

class WordCounter final : public EventSink {
public:
    WordCounter() : EventSink{EventLevel::all} {}
    using EventSink::on;
    void on(const PramWriteEvent& e) override {
        log_words += e.log_words;
        home_words += e.home_words;
    }
    std::uint64_t log_words = 0, home_words = 0;
};

} // namespace

TEST_CASE("of a create's words about forty lie in the log", "[metadata]") {
    PramConfig config;
    MemoryPramStore cells{config.bytes};
    WordCounter counter;
    Pram pram{config, cells, counter, PramUndo::none};
    const PramRange range{PramAddress{0}, config.bytes};
    REQUIRE(PramMetadataStore::format(pram, range, {1000, 4096, "", {}, 1}).has_value());
    auto store = PramMetadataStore::open(pram, range, sim_start);
    REQUIRE(store.has_value());
    constexpr std::uint64_t files = 5000;
    for (std::uint64_t i = 0; i < files; ++i) create(**store, 2 + i);
    std::printf("metadata store: %.1f words a create in the log, %.1f at home\n", per(counter.log_words, files), per(counter.home_words, files));
    CHECK(counter.log_words > counter.home_words); // addresses, sequence, CRC
    CHECK(counter.log_words < 60 * files);
}

TEST_CASE("a create costs about a hundred words, log and home together, and removing gives every node back", "[metadata]") {
    MetadataWorld world{32u << 20, 1000};
    const Cost cost = come_and_go(world, 20'000);
    std::printf("metadata store, 20,000 files in a directory: %.1f words a create, %.1f a remove (log and home), %.0f bytes a file\n",
                cost.create_words, cost.remove_words, per(cost.bytes_used, 20'000));
    CHECK(cost.create_words < 130);
    CHECK(cost.remove_words < 110);
    CHECK(cost.bytes_used < 20'000 * 230);
}

TEST_CASE("the same transactions write the same words, run after run", "[metadata]") {
    const auto run = [] {
        MetadataWorld world{4u << 20, 1000};
        const Cost cost = come_and_go(world, 2000);
        return std::pair{cost.create_words, Value{world.cells.cells().begin(), world.cells.cells().end()}};
    };
    const auto first = run(), second = run();
    CHECK(first.first == second.first);
    CHECK(same_bytes(first.second, second.second));
}

TEST_CASE("a million files: words, nanoseconds and bytes of each operation", "[.bench]") {
    constexpr std::uint64_t files = 1'000'000;
    MetadataWorld world{512u << 20, 1000};
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto ns = [](auto from, auto to, std::uint64_t n) { return per(static_cast<std::uint64_t>((to - from).count()), n); };
    const std::uint64_t words0 = world.words_written(), free0 = world.store->bytes_free();
    const auto t0 = now();
    for (std::uint64_t i = 0; i < files; ++i) create(*world.store, 2 + i);
    const auto t1 = now();
    const std::uint64_t words1 = world.words_written(), free1 = world.store->bytes_free();
    Random random{5};
    std::span<const std::byte> value;
    std::uint64_t hits = 0;
    std::vector<RecordKey> hot;
    for (std::uint64_t i = 0; i < 16; ++i) hot.push_back(dirent_key(2 + i));
    const auto t2 = now();
    for (std::uint64_t i = 0; i < files; ++i) hits += world.store->get(inode_key(2 + random.next() % files), value) ? 1 : 0;
    const auto t3 = now();
    for (std::uint64_t i = 0; i < files; ++i) hits += world.store->get(hot[i % hot.size()], value) ? 1 : 0;
    const auto t4 = now();
    for (std::uint64_t i = 0; i < files; ++i) hits += world.store->get(inode_key(2 + i), value) ? 1 : 0;
    const auto t5 = now();
    REQUIRE(hits == 3 * files);
    REQUIRE(world.problems() == "");
    const auto t6 = now();
    for (std::uint64_t i = 0; i < files; ++i) remove(*world.store, 2 + i);
    const auto t7 = now();
    REQUIRE(world.problems() == "");
    CHECK(free0 - world.store->bytes_free() == 4096);
    std::printf("create %.0f ns, %.1f words; random inode %.0f ns; hot dirent %.0f ns; inodes in order %.0f ns; remove %.0f ns, %.1f words; %.0f "
                "bytes a file\n",
                ns(t0, t1, files), per(words1 - words0, files), ns(t2, t3, files), ns(t3, t4, files), ns(t4, t5, files), ns(t6, t7, files),
                per(world.words_written() - words1, files), per(free0 - free1, files));
}
