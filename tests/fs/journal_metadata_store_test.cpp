// Goal: the journal's part of fs/FORMAT.md is what the code writes, and what a sync covered is there after a cut, with a file system that had it all
// in memory.
// Method: golden bytes; damage at every place of a record; a device in memory that loses what was not flushed.
#include "tests/support/catch.h"

#include <array>
#include <cstring>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "fs/journal_format.h"
#include "fs/journal_metadata_store.h"
#include "fs/offset_device.h"
#include "tests/fs/metadata_world.h"
#include "tests/support/memory_block_device.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::uint64_t device_units = 4096; // 16 MiB

MetadataFormat wanted() { return {.data_pages = 0, .label = "test", .created = {}, .uuid_seed = 1}; }

std::unique_ptr<JournalMetadataStore> open_store(BlockDevice& device) {
    SimTime now = sim_start;
    auto opened = JournalMetadataStore::open(device, Duration{1'000'000'000}, now);
    INFO((opened ? std::string{} : opened.error()));
    REQUIRE(opened.has_value());
    return std::move(*opened);
}

std::string open_error(BlockDevice& device) {
    SimTime now = sim_start;
    const auto opened = JournalMetadataStore::open(device, Duration{0}, now);
    return opened ? "" : opened.error();
}

void commit(MetadataStore& store, std::uint64_t ino, std::span<const std::byte> value) {
    store.begin();
    REQUIRE(store.put({Ino{ino}, RecordKind::inode, 0}, value).has_value());
    REQUIRE(store.commit(sim_start, EventId{0}).has_value());
}

/// Returns when everything is durable.
SimTime sync(MetadataStore& store) {
    SimTime now = sim_start;
    for (auto done = store.make_durable(store.last_commit(), now); !done; done = store.make_durable(store.last_commit(), now)) {
        REQUIRE(done.error().is_again());
        REQUIRE(done.error().again > now);
        now = done.error().again;
    }
    return now;
}

bool has(const MetadataStore& store, std::uint64_t ino, std::span<const std::byte> value) {
    std::span<const std::byte> found;
    return store.get({Ino{ino}, RecordKind::inode, 0}, found) && same_bytes(found, value);
}

std::string problems(const MetadataStore& store) {
    std::string text;
    for (const CheckProblem& p : store.check()) text += p.invariant + " " + p.where + ": " + p.detail + "\n";
    return text;
}

} // namespace

TEST_CASE("the journal's superblock is, byte by byte, what the format says", "[metadata][journal]") {
    const JournalSuperblock made{
        .page_bytes = 0x4000, .ring_blocks = 0x102, .home_blocks = 0x0304, .data_pages = 0x0506070809, .first_sequence = 0x0a0b};
    std::array<std::byte, JournalSuperblock::encoded_size> raw{};
    made.encode(raw);
    const std::array<std::uint8_t, 60> golden{'F', 'L', 'A', 'T', 'J', 'N', 'L', '1', 1, 0, 0, 0, 0, 0x40, 0, 0, 2,    1,    0, 0, 0, 0, 0, 0,
                                              4,   3,   0,   0,   0,   0,   0,   0,   9, 8, 7, 6, 5, 0,    0, 0, 0x0b, 0x0a, 0, 0, 0, 0, 0, 0};
    CHECK(std::memcmp(raw.data(), golden.data(), golden.size()) == 0);
    CHECK(load_le<std::uint32_t>(std::span{raw}.subspan(60)) == crc32c(std::span{raw}.first(60)));
    CHECK(JournalSuperblock::decode(raw).value() == made);
    for (std::size_t at = 0; at < raw.size(); ++at) {
        auto damaged = raw;
        damaged[at] ^= std::byte{0x10};
        CHECK(!JournalSuperblock::decode(damaged).has_value());
    }
}

TEST_CASE("the journal's parts follow one another, each on a page", "[metadata][journal]") {
    const auto parts = JournalSuperblock::lay_out(std::uint64_t{1} << 30, 16384).value();
    CHECK(parts.home_blocks == (32u << 20) / journal_block_bytes);
    CHECK(parts.ring_blocks == parts.home_blocks / 16);
    CHECK(parts.ring_at() == 16384);
    CHECK(parts.home_at() == 16384 + (2u << 20));
    CHECK(parts.data_at() == parts.home_at() + (32u << 20));
    CHECK(parts.data_at() + parts.data_pages * 16384 <= std::uint64_t{1} << 30);
    CHECK(!JournalSuperblock::lay_out(4u << 20, 4096).has_value());
    CHECK(!JournalSuperblock::lay_out(std::uint64_t{1} << 30, 6144).has_value());
}

TEST_CASE("a journal record is, byte by byte, what the format says, and is valid as a whole or not at all", "[metadata][journal]") {
    const std::array<std::uint32_t, 2> blocks{3, 0x0708};
    std::vector<std::byte> images(2 * journal_block_bytes, std::byte{0x5a});
    images.back() = std::byte{0xa5};
    const auto record = encode_journal_record(0x1112, blocks, images);
    REQUIRE(record.size() == 3 * journal_block_bytes);
    const std::array<std::uint8_t, 16> golden{'J', 'R', 'E', 'C', 2, 0, 0, 0, 0x12, 0x11, 0, 0, 0, 0, 0, 0};
    CHECK(std::memcmp(record.data(), golden.data(), golden.size()) == 0);
    const std::array<std::uint8_t, 12> tail{0, 0, 0, 0, 3, 0, 0, 0, 8, 7, 0, 0};
    CHECK(std::memcmp(record.data() + 20, tail.data(), tail.size()) == 0);
    auto without = record;
    std::fill_n(without.begin() + 16, 4, std::byte{0});
    CHECK(load_le<std::uint32_t>(std::span{record}.subspan<16, 4>()) == crc32c(without));

    const auto read = decode_journal_record(record, 0x1112);
    REQUIRE(read.has_value());
    CHECK(read->blocks == std::vector<std::uint32_t>{3, 0x0708});
    CHECK(same_bytes(read->images, images));
    CHECK(read->ring_blocks == 3);
    CHECK(!decode_journal_record(record, 0x1113).has_value());
    CHECK(!decode_journal_record(std::span{record}.first(2 * journal_block_bytes), 0x1112).has_value());
    for (std::size_t at = 0; at < record.size(); at += at < 64 ? 1 : 509) {
        auto damaged = record;
        damaged[at] ^= std::byte{1};
        CHECK(!decode_journal_record(damaged, 0x1112).has_value());
    }
}

TEST_CASE("a record's head grows by a block with every thousand block numbers", "[metadata][journal]") {
    CHECK(journal_head_blocks(1) == 1);
    CHECK(journal_head_blocks(1018) == 1);
    CHECK(journal_head_blocks(1019) == 2);
    CHECK(journal_record_blocks(1019) == 1021);
}

TEST_CASE("what a sync covered survives a cut, what came later need not, and the tree is whole", "[metadata][journal]") {
    for (const std::uint64_t seed : metadata_seeds(5)) {
        INFO("seed " << seed);
        MemoryBlockDevice device{device_units};
        REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
        Random random{seed};
        const Value kept = random_value(random, 200), lost = random_value(random, 200);
        {
            const auto store = open_store(device);
            for (std::uint64_t ino = 1; ino <= 300; ++ino) commit(*store, ino, kept);
            CHECK(store->durable_at(store->last_commit()) == sim_never);
            const SimTime synced = sync(*store);
            CHECK(store->durable_at(store->last_commit()) == synced);
            for (std::uint64_t ino = 1; ino <= 20; ++ino) commit(*store, 1000 + ino, lost);
        }
        device.cut(seed);
        const auto store = open_store(device);
        for (std::uint64_t ino = 1; ino <= 300; ++ino) REQUIRE(has(*store, ino, kept));
        for (std::uint64_t ino = 1; ino <= 20; ++ino) CHECK(!has(*store, 1000 + ino, lost)); // no record was begun
        CHECK(problems(*store).empty());
    }
}

TEST_CASE("a ring that is full goes home and begins anew, and nothing is lost over many rounds and mounts", "[metadata][journal]") {
    MemoryBlockDevice device{device_units};
    REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
    Random random{20261121};
    std::map<std::uint64_t, Value> model;
    std::uint64_t checkpoints = 0;
    for (int mount = 0; mount < 4; ++mount) {
        const auto store = open_store(device);
        for (const auto& [ino, value] : model) REQUIRE(has(*store, ino, value));
        for (int i = 0; i < 100; ++i) {
            const std::uint64_t ino = 1 + random.next() % 500;
            model[ino] = random_value(random, 300);
            commit(*store, ino, model[ino]);
            sync(*store);
        }
        checkpoints += store->checkpoints();
        CHECK(store->records_written() == 100);
        device.cut(static_cast<std::uint64_t>(mount));
    }
    CHECK(checkpoints >= 4);
    CHECK(problems(*open_store(device)).empty());
}

TEST_CASE("a cut after any step of a record or of going home leaves everything that was synced", "[metadata][journal]") {
    MemoryBlockDevice device{device_units};
    REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
    const auto store = open_store(device);
    Random random{20261121};
    std::map<std::uint64_t, Value> synced;
    std::uint64_t seed = 0;
    const auto cut_now = [&] {
        MemoryBlockDevice left{device};
        left.cut(++seed);
        const auto reopened = open_store(left);
        for (const auto& [ino, value] : synced) REQUIRE(has(*reopened, ino, value));
        REQUIRE(problems(*reopened).empty());
    };
    while (store->checkpoints() < 3) {
        const std::uint64_t ino = synced.size() + 1;
        const Value value = random_value(random, 600);
        commit(*store, ino, value);
        SimTime now = sim_start;
        for (auto done = store->make_durable(store->last_commit(), now); !done; done = store->make_durable(store->last_commit(), now)) {
            cut_now();
            now = done.error().again;
        }
        synced[ino] = value;
        cut_now();
    }
}

TEST_CASE("what a commit names has left the device's cache before the commit is durable", "[metadata][journal]") {
    for (const std::uint64_t seed : metadata_seeds(5)) {
        INFO("seed " << seed);
        MemoryBlockDevice device{device_units};
        REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
        const auto store = open_store(device);
        const std::vector<std::byte> data(65536, std::byte{0x42});
        REQUIRE(device.write(Sector{store->data_sector()}, 128, data, WriteDurability::volatile_ok, sim_start).has_value());
        commit(*store, 7, std::span{data}.first(8));
        sync(*store);
        device.cut(seed);
        std::vector<std::byte> read(data.size());
        REQUIRE(device.read(Sector{store->data_sector()}, 128, read, sim_start).has_value());
        CHECK(same_bytes(read, data));
    }
}

TEST_CASE("more changes than a record holds are made durable while they come", "[metadata][journal]") {
    MemoryBlockDevice device{device_units};
    REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
    Random random{7};
    const Value value = random_value(random, 900);
    const auto store = open_store(device);
    for (std::uint64_t ino = 1; ino <= 1000; ++ino) commit(*store, ino, value);
    CHECK(store->records_written() > 5);
    for (std::uint64_t ino = 1; ino <= 1000; ++ino) REQUIRE(has(*store, ino, value));
}

TEST_CASE("a record written ahead of the clock makes nothing durable before its time", "[metadata][journal]") {
    MemoryBlockDevice device{device_units};
    REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
    Random random{7};
    const Value value = random_value(random, 900);
    const auto store = open_store(device);
    CommitMark oldest;
    std::uint64_t ino = 1;
    for (std::uint64_t records = 0; records < 3; ++records) { // the clock stands
        commit(*store, ino++, value);
        if (records == 0) oldest = store->last_commit();
        while (store->records_written() == records) commit(*store, ino++, value);
    }
    const SimTime durable = store->durable_at(oldest);
    CHECK(durable > sim_start);
    const auto early = store->make_durable(oldest, sim_start);
    REQUIRE(!early.has_value());
    REQUIRE(early.error().is_again());
    CHECK(early.error().again == durable);
    CHECK(!store->make_durable(oldest, durable - Duration{1}).has_value());
    CHECK(store->make_durable(oldest, durable).has_value());
    // Nor does the next record overtake it.
    const std::uint64_t written = device.writes;
    const auto next = store->make_durable(store->last_commit(), sim_start);
    REQUIRE(!next.has_value());
    CHECK(next.error().again >= durable);
    CHECK(device.writes == written);
}

TEST_CASE("a commit that came while a record was under way is not durable with that record", "[metadata][journal]") {
    MemoryBlockDevice device{device_units};
    REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
    const auto store = open_store(device);
    const std::array<std::byte, 8> value{};
    commit(*store, 5, value);
    const CommitMark in_record = store->last_commit();
    SimTime now = sim_start;
    while (store->records_written() == 0) {
        const auto done = store->make_durable(in_record, now);
        REQUIRE(!done.has_value());
        if (store->records_written() == 0) now = done.error().again;
    }
    CHECK(store->durable_at(in_record) > now); // the record is being written
    REQUIRE(store->durable_at(in_record) != sim_never);
    store->begin();
    REQUIRE(store->put({Ino{6}, RecordKind::inode, 0}, value).has_value());
    REQUIRE(store->commit(now, EventId{0}).has_value());
    CHECK(store->durable_at(store->last_commit()) == sim_never);
    CHECK(store->make_durable(in_record, store->durable_at(in_record)).has_value());
    CHECK(store->durable_at(store->last_commit()) == sim_never);
    device.cut(1);
    const auto again = open_store(device);
    CHECK(has(*again, 5, value));
    CHECK_FALSE(has(*again, 6, value));
}

TEST_CASE("a commit that nobody syncs is made durable when it is old", "[metadata][journal]") {
    MemoryBlockDevice device{device_units};
    REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
    const std::array<std::byte, 8> value{};
    {
        const auto store = open_store(device);
        CHECK(store->tick(sim_start) == sim_never);
        commit(*store, 5, value);
        SimTime now = store->tick(sim_start);
        CHECK(now == sim_start + Duration{1'000'000'000});
        CHECK(store->records_written() == 0);
        while (now != sim_never) now = store->tick(now);
        CHECK(store->records_written() == 1);
    }
    device.cut(3);
    CHECK(has(*open_store(device), 5, value));
}

TEST_CASE("a commit for which no room can be made is no commit", "[metadata][journal]") {
    MemoryBlockDevice device{device_units};
    REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
    const auto store = open_store(device);
    Random random{1};
    const Value value = random_value(random, 1000); // four to a block
    device.fail_writes = true;
    std::uint64_t ino = 1;
    const auto put_and_commit = [&] {
        store->begin();
        REQUIRE(store->put({Ino{ino}, RecordKind::inode, 0}, value).has_value());
        return store->commit(sim_start, EventId{0});
    };
    while (put_and_commit() && ino < 1000) ++ino;
    REQUIRE(ino < 1000);
    CHECK(has(*store, ino - 1, value));
    CHECK(!has(*store, ino, value));
    CHECK(problems(*store).empty());
    device.fail_writes = false;
    CHECK(put_and_commit().has_value());
    sync(*store);
    device.cut(1);
    const auto again = open_store(device);
    for (std::uint64_t each = 1; each <= ino; ++each) CHECK(has(*again, each, value));
}

TEST_CASE("a label that nobody syncs is made durable when it is old", "[metadata][journal]") {
    MemoryBlockDevice device{device_units};
    REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
    const auto store = open_store(device);
    REQUIRE(store->tree().set_label("new", sim_start).has_value());
    SimTime now = sim_start;
    for (int ticks = 0; ticks < 10; ++ticks) {
        const SimTime next = store->tick(now);
        now = next == sim_never ? now : std::max(now, next);
    }
    device.cut(1);
    CHECK(open_store(device)->tree().label() == "new");
}

TEST_CASE("an empty, a foreign, a damaged and a truncated journal are refused with the reason", "[metadata][journal]") {
    MemoryBlockDevice device{device_units};
    CHECK(open_error(device).find("run mkfs") != std::string::npos);
    REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
    CHECK(open_error(device).empty());
    std::array<std::byte, sector_bytes> sector{};
    REQUIRE(device.read(Sector{0}, 1, sector, sim_start).has_value());
    MemoryBlockDevice smaller{device_units / 2};
    REQUIRE(smaller.write(Sector{0}, 1, sector, WriteDurability::fua, sim_start).has_value());
    CHECK(open_error(smaller).find("larger device") != std::string::npos);
    auto damaged = sector;
    damaged[20] ^= std::byte{1};
    REQUIRE(device.write(Sector{0}, 1, damaged, WriteDurability::fua, sim_start).has_value());
    CHECK(open_error(device).find("checksum") != std::string::npos);
    damaged = sector;
    damaged[0] = std::byte{'X'};
    REQUIRE(device.write(Sector{0}, 1, damaged, WriteDurability::fua, sim_start).has_value());
    CHECK(open_error(device).find("foreign") != std::string::npos);
}

TEST_CASE("a device that was full of something else is empty when it is formatted", "[metadata][journal]") {
    MemoryBlockDevice device{device_units};
    const std::vector<std::byte> noise(std::size_t{1} << 20, std::byte{0x77});
    for (std::uint64_t at = 0; at < 16; ++at) REQUIRE(device.write(Sector{at * 2048}, 2048, noise, WriteDurability::fua, sim_start).has_value());
    REQUIRE(JournalMetadataStore::format(device, 4096, wanted(), sim_start).has_value());
    const auto store = open_store(device);
    CHECK(store->data_pages_in_use() == 0);
    CHECK(problems(*store).empty());
}

TEST_CASE("a part of a device is a device whose sectors begin at zero and end where the part ends", "[metadata][journal]") {
    MemoryBlockDevice device{64};
    OffsetDevice part{device, 64, 128};
    CHECK(part.identify().sectors == 128);
    const std::vector<std::byte> page(4096, std::byte{9});
    REQUIRE(part.write(Sector{8}, 8, page, WriteDurability::fua, sim_start).has_value());
    std::vector<std::byte> read(4096);
    REQUIRE(device.read(Sector{72}, 8, read, sim_start).has_value());
    CHECK(read == page);
    CHECK(!part.write(Sector{124}, 8, page, WriteDurability::fua, sim_start).has_value());
    CHECK(!part.read(Sector{128}, 1, std::span{read}.first(512), sim_start).has_value());
    CHECK(!part.trim(Sector{1}, 128, sim_start).has_value());
    for (const LbaRange& range : part.lba_status(Sector{0}, 128))
        if (range.mapped) CHECK(range.first == Sector{8});
}
