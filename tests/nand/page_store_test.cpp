// Goal: any store gives back what it was given, and an array writes in the order that makes kill -9 safe. Method: one body for every store; a store
// that notes calls.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

/// Notes the name of every change and passes it on.
class NotingStore final : public PageStore {
public:
    explicit NotingStore(PageStore& to) : to_{to} {}
    bool keeps_payload() const override { return to_.keeps_payload(); }
    std::expected<void, HostIoError> read_data(Ppn p, std::uint32_t offset, std::span<std::byte> to) override { return to_.read_data(p, offset, to); }
    std::expected<void, HostIoError> write_data(Ppn p, std::span<const std::byte> data) override { return note("data "), to_.write_data(p, data); }
    void discard_data(Ppn first, std::uint32_t pages) override { note("discard "), to_.discard_data(first, pages); }
    std::expected<PageRecord, HostIoError> read_record(Ppn p) override { return to_.read_record(p); }
    std::expected<void, HostIoError> write_record(Ppn p, const PageRecord& r) override { return note("record "), to_.write_record(p, r); }
    std::expected<void, HostIoError> read_block_records(BlockId b, std::span<PageRecord> to) override { return to_.read_block_records(b, to); }
    std::expected<void, HostIoError> erase_records(BlockId b) override { return note("erase "), to_.erase_records(b); }
    std::expected<void, HostIoError> read_blocks(BlockId b, std::span<BlockRecord> to) override { return to_.read_blocks(b, to); }
    std::expected<void, HostIoError> write_block(BlockId b, const BlockRecord& r) override { return note("block "), to_.write_block(b, r); }
    std::string notes;

private:
    void note(const char* what) { notes += what; }
    PageStore& to_;
};

} // namespace

TEST_CASE("a program writes data before the record; an erase counts, then clears records, and payload only when nothing can undo it", "[nand]") {
    Flash flash;
    NotingStore noting{flash.store};
    NandArray array{flash.geometry, flash.config, noting, flash.sink, UndoPolicy::keep};
    REQUIRE(array.open());
    const auto data = page_bytes_of(flash.geometry, 1);
    const PageProgram one{Ppn{0}, data, {}};
    const SimTime programmed = *array.program({&one, 1}, {at(0), {}});
    CHECK(noting.notes == "data record ");
    const SimTime erased = *array.erase(BlockId{0}, {programmed, {}});
    CHECK(noting.notes == "data record block erase ");
    array.settle(erased - Duration{1});
    CHECK(noting.notes == "data record block erase ");
    array.settle(erased);
    CHECK(noting.notes == "data record block erase discard ");
}

TEST_CASE("records come back as written, with payload and without", "[nand]") {
    const auto payload = GENERATE(Payload::keep, Payload::none);
    const auto geometry = *Geometry::make(round_config().geometry);
    MemoryPageStore store{geometry, payload};
    CHECK(*store.read_record(Ppn{5}) == PageRecord{});
    const PageOob oobs[] = {{Lpn{0xffffffff}, WriteSequence{(1ull << 40) - 1}, PageKind::padding, 0},
                            {Lpn{1}, WriteSequence{2}, PageKind::data, 0xdeadbeef}};
    for (const PageOob& oob : oobs) {
        for (const CellState state : {CellState::programmed, CellState::torn}) {
            PageRecord record{state, {}, 0};
            oob.encode(record.oob);
            REQUIRE(store.write_record(Ppn{5}, record));
            CHECK(*store.read_record(Ppn{5}) == record);
        }
    }
    PageRecord unreadable{CellState::garbage, {}, 0};
    unreadable.oob.fill(std::byte{0x12});
    REQUIRE(store.write_record(Ppn{6}, unreadable));
    CHECK(store.read_record(Ppn{6})->state == CellState::garbage);
    CHECK_FALSE(PageOob::decode(store.read_record(Ppn{6})->oob));
    std::vector<PageRecord> block(geometry.pages_per_block());
    REQUIRE(store.read_block_records(BlockId{0}, block));
    CHECK(block[6].state == CellState::garbage);
    REQUIRE(store.erase_records(BlockId{0}));
    CHECK(*store.read_record(Ppn{5}) == PageRecord{});
    CHECK(*store.read_record(Ppn{6}) == PageRecord{});
}

TEST_CASE("each page keeps its own record, whether those of a block are alike or differ, across copies and erases", "[nand]") {
    const auto payload = GENERATE(Payload::keep, Payload::none);
    const auto geometry = *Geometry::make(round_config().geometry);
    MemoryPageStore store{geometry, payload};
    const std::uint32_t pages = geometry.pages_per_block();
    constexpr std::uint32_t blocks = 4;
    std::vector<std::optional<PageOob>> oobs(blocks * pages); // what each page must say
    std::vector<std::uint32_t> known(blocks, 0);
    Random random{7};
    std::uint64_t sequence = (1ull << 32) - 2000;                    // crosses to where the upper bits of a block's pages differ
    const auto draw = [&](std::uint32_t block, std::uint32_t page) { // mostly alike, sometimes not
        PageOob oob{Lpn{page}, WriteSequence{++sequence}, PageKind::data, block / 2};
        if (random.below(20) == 0) oob.scheme_word = static_cast<std::uint32_t>(random.below(3));
        if (random.below(40) == 0) oob.kind = PageKind::padding;
        return oob;
    };
    for (int step = 0; step < 4000; ++step) {
        const auto block = static_cast<std::uint32_t>(random.below(blocks));
        const auto from = static_cast<std::uint32_t>(random.below(blocks));
        const auto last_of_run = std::find(oobs.begin() + from * pages, oobs.begin() + (from + 1) * pages, std::nullopt) - oobs.begin();
        const std::uint32_t count = std::min(static_cast<std::uint32_t>(last_of_run) - from * pages, pages - known[block]);
        const std::uint32_t next = block * pages + known[block];
        if (known[block] == pages) {
            REQUIRE(store.erase_records(BlockId{block}));
            std::fill_n(oobs.begin() + block * pages, pages, std::nullopt);
            known[block] = 0;
        } else if (from != block && count != 0 && random.below(2) == 0) {
            REQUIRE(store.copy_programmed(Ppn{from * pages}, Ppn{next}, count));
            std::copy_n(oobs.begin() + from * pages, count, oobs.begin() + next);
            known[block] += count;
        } else if (known[block] + 1 < pages && random.below(50) == 0) {
            ++known[block]; // a page is left out
        } else {
            oobs[next] = draw(block, next);
            ++known[block];
            REQUIRE(store.write_programmed(Ppn{next}, *oobs[next], 0));
        }
        for (std::uint32_t page = 0; page < oobs.size(); ++page) {
            const StoredOob stored = *store.read_oob(Ppn{page});
            REQUIRE(stored.oob.has_value() == oobs[page].has_value());
            REQUIRE(stored.state == (oobs[page] ? CellState::programmed : CellState::erased));
            if (stored.oob) REQUIRE(*stored.oob == *oobs[page]);
        }
        const std::uint32_t run = store.programmed_run(Ppn{block * pages}, pages);
        REQUIRE((run == pages || !oobs[block * pages + run]));
    }
}

namespace {

/// Something that a drive, a cut or an undo does to the cells.
void change_something(MemoryPageStore& store, const Geometry& geometry, Random& random) {
    const BlockId block{static_cast<std::uint32_t>(random.below(3))}; // few, so that they meet
    const Ppn page = geometry.page_of(block, static_cast<std::uint32_t>(random.below(geometry.pages_per_block())));
    const std::vector<std::byte> data(geometry.page_bytes(), static_cast<std::byte>(random.below(4)));
    switch (random.below(6)) {
    case 0:
        REQUIRE(store.erase_records(block));
        return;
    case 1:
        store.discard_data(geometry.page_of(block, 0), geometry.pages_per_block());
        return;
    case 2:
        REQUIRE(store.write_record(page, {.state = CellState::torn}));
        return;
    default:
        REQUIRE(store.write_data(page, data));
        REQUIRE(store.write_programmed(page, {}, 7));
    }
}

std::vector<std::byte> content_of(MemoryPageStore& store, const Geometry& geometry) {
    std::vector<std::byte> all;
    std::vector<std::byte> page(geometry.page_bytes());
    for (std::uint32_t p = 0; p < 3 * geometry.pages_per_block(); ++p) {
        REQUIRE(store.read_data(Ppn{p}, 0, page));
        const auto record = store.read_record(Ppn{p});
        REQUIRE(record);
        all.insert(all.end(), page.begin(), page.end());
        all.push_back(static_cast<std::byte>(record->state));
    }
    return all;
}

} // namespace

TEST_CASE("a block is blank until a page of it is written, and an array takes it for erased without a look at its records", "[nand]") {
    const auto payload = GENERATE(Payload::keep, Payload::none);
    Flash flash;
    MemoryPageStore store{flash.geometry, payload};
    CHECK(store.is_blank(BlockId{0}));
    REQUIRE(store.write_programmed(Ppn{0}, PageOob{}, 0));
    CHECK_FALSE(store.is_blank(BlockId{0}));
    CHECK(store.is_blank(BlockId{1}));
    NandArray array{flash.geometry, flash.config, store, flash.sink, UndoPolicy::none};
    REQUIRE(array.open());
    CHECK(array.write_pointer(BlockId{0}) == 1);
    CHECK(array.write_pointer(BlockId{1}) == 0);
}

TEST_CASE("a store is equal to what it was copied from, whatever was done to either since the last copy", "[nand]") {
    const auto geometry = *Geometry::make(round_config().geometry);
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        Random random{seed};
        MemoryPageStore original{geometry, Payload::keep}, other{geometry, Payload::keep}, copy{geometry, Payload::keep};
        for (int round = 0; round < 12; ++round) {
            for (std::uint64_t n = random.below(6); n > 0; --n) change_something(original, geometry, random);
            for (std::uint64_t n = random.below(4); n > 0; --n) change_something(copy, geometry, random);
            for (std::uint64_t n = random.below(2); n > 0; --n) change_something(other, geometry, random);
            if (random.chance(1, 3)) (void)copy.fingerprint();
            MemoryPageStore& from = random.chance(1, 6) ? other : original;
            copy.copy_from(from);
            REQUIRE(content_of(copy, geometry) == content_of(from, geometry));
            REQUIRE(copy.fingerprint() == from.fingerprint());
            MemoryPageStore fresh{geometry, Payload::keep};
            fresh.copy_from(copy);
            REQUIRE(fresh.fingerprint() == from.fingerprint());
        }
    }
}

TEST_CASE("a fingerprint tells programmed pages by their data, and zeros that were written are those that were not", "[nand]") {
    const auto geometry = *Geometry::make(round_config().geometry);
    MemoryPageStore a{geometry, Payload::keep}, b{geometry, Payload::keep};
    std::vector<std::byte> data(geometry.page_bytes());
    for (MemoryPageStore* store : {&a, &b}) REQUIRE(store->write_programmed(Ppn{0}, {}, 7));
    CHECK(a.fingerprint() == b.fingerprint());
    REQUIRE(a.write_data(Ppn{0}, data)); // zeros
    CHECK(a.fingerprint() == b.fingerprint());
    data.back() = std::byte{1};
    REQUIRE(a.write_data(Ppn{0}, data));
    CHECK(a.fingerprint() != b.fingerprint());
    REQUIRE(b.write_data(Ppn{0}, data));
    CHECK(a.fingerprint() == b.fingerprint());
    data.front() = std::byte{1};
    REQUIRE(b.write_data(Ppn{0}, data));
    CHECK(a.fingerprint() != b.fingerprint());
}
