// Goal: fs/FORMAT.md is what the code writes. Method: golden bytes, spelled out field by field; then flipped, shortened and made newer.
#include "tests/support/catch.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <ranges>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "fs/btree_node.h"
#include "fs/format.h"
#include "tests/fs/metadata_world.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

Value bytes(std::initializer_list<int> list) {
    Value out;
    for (const int b : list) out.push_back(static_cast<std::byte>(b));
    return out;
}

Value slice(std::span<const std::byte> from, std::size_t at, std::size_t n) {
    const auto part = from.subspan(at, n);
    return {part.begin(), part.end()};
}

std::string open_error(MetadataWorld& world) {
    world.power_on();
    const auto opened = PramMetadataStore::open(*world.pram, world.whole(), sim_start);
    return opened ? "" : opened.error();
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void reseal(std::span<std::byte> identity) { store_le(identity.subspan(124), crc32c(identity.first(124))); }

constexpr std::uint64_t pram_bytes = 1u << 20;

} // namespace

TEST_CASE("the superblock is, byte by byte, what the format says", "[metadata]") {
    SuperblockIdentity id = SuperblockIdentity::lay_out(pram_bytes, 1000).value();
    for (std::size_t i = 0; i < 16; ++i) id.uuid[i] = static_cast<std::byte>(0xa0 + i);
    id.data_page_bytes = 4096;
    id.created = {0x0102030405, 0x3b};
    std::array<std::byte, SuperblockIdentity::encoded_size> raw;
    id.encode(raw);
    CHECK(slice(raw, 0, 16) == bytes({'F', 'L', 'A', 'T', 'F', 'S', '1', '\n', 1, 0, 0, 0, 0x00, 0x10, 0, 0}));
    CHECK(raw[16] == std::byte{0xa0});
    CHECK(raw[31] == std::byte{0xaf});
    CHECK(slice(raw, 32, 16) == bytes({0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0}));    // range bytes; log at 4096
    CHECK(slice(raw, 48, 16) == bytes({0, 0, 2, 0, 0, 0, 0, 0, 0, 0x10, 2, 0, 0, 0, 0, 0}));       // log of 128 KiB; page bitmap
    CHECK(slice(raw, 64, 16) == bytes({0xe8, 3, 0, 0, 0, 0, 0, 0, 0, 0x20, 2, 0, 0, 0, 0, 0}));    // 1000 data pages; node bitmap
    CHECK(slice(raw, 80, 16) == bytes({0, 0x30, 2, 0, 0, 0, 0, 0, 0xdd, 0, 0, 0, 0, 0x10, 0, 0})); // nodes; 221 of them; pages of 4096
    CHECK(slice(raw, 96, 16) == bytes({5, 4, 3, 2, 1, 0, 0, 0, 0x3b, 0, 0, 0, 0, 0, 0, 0}));       // created
    CHECK(slice(raw, 112, 12) == bytes({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
    CHECK(load_le<std::uint32_t>(std::span{raw}.subspan(124)) == crc32c(std::span{raw}.first(124)));
    CHECK(SuperblockIdentity::decode(raw).value() == id);
}

TEST_CASE("the superblock's state is, byte by byte, what the format says", "[metadata]") {
    const SuperblockState state{.root = 0x0a0b, .height = 3, .dirty = true, .mounts = 9, .label = "disk"};
    std::array<std::byte, SuperblockState::encoded_size> raw;
    state.encode(raw);
    CHECK(slice(raw, 0, 12) == bytes({0x0b, 0x0a, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0}));
    CHECK(slice(raw, 16, 13) == bytes({9, 0, 0, 0, 0, 0, 0, 0, 'd', 'i', 's', 'k', 0}));
    auto unsealed = raw;
    std::ranges::fill(std::span{unsealed}.subspan(12, 4), std::byte{0});
    CHECK(load_le<std::uint32_t>(std::span{raw}.subspan(12)) == crc32c(unsealed));
    CHECK(SuperblockState::decode(raw).value() == state);
}

TEST_CASE("a small leaf is, byte by byte, what the format says", "[metadata]") {
    std::array<std::byte, node_bytes> raw{};
    NodeEditor leaf{raw.data()};
    leaf.format(7, 0);
    leaf.insert(0, {Ino{0x1234}, RecordKind::dirent, 0xabcdef}, bytes({1, 2, 3}));
    leaf.insert(0, {Ino{0x1234}, RecordKind::inode, 0}, bytes({9}));
    CHECK(slice(raw, 0, 16) == bytes({2, 0, 0xed, 0x0f, 0, 0, 0, 0, 7, 0, 0, 0, 'N', 'O', 'D', 'E'}));
    CHECK(slice(raw, 16, 6) == bytes({0xed, 0x0f, 0xf4, 0x0f, 0, 0}));
    CHECK(slice(raw, 4096 - 12, 12) == bytes({2, 0x32, 3, 0, 0x34, 0x12, 0xef, 0xcd, 0xab, 1, 2, 3}));
    CHECK(slice(raw, 4096 - 19, 7) == bytes({1, 0x02, 1, 0, 0x34, 0x12, 9}));
    CHECK(leaf.problem() == "");
}

TEST_CASE("mkfs writes the superblock and nothing else, at any size", "[metadata]") {
    MetadataWorld world{64u << 20, 16u << 20};
    CHECK(world.words_written() < 40);
    CHECK(world.store->label() == "test");
    CHECK(world.store->was_clean());
    CHECK(world.store->mounts() == 0);
    CHECK(world.store->data_pages() == 16u << 20);
    CHECK(world.problems() == "");
}

TEST_CASE("what cannot be opened is named and left untouched", "[metadata]") {
    MetadataWorld world{pram_bytes, 1000};
    auto cells = world.cells.cells();
    const Value sound{cells.begin(), cells.end()};
    Value before = sound;
    const auto restore = [&] { std::memcpy(cells.data(), sound.data(), sound.size()); };
    const auto expect = [&](std::string_view part) {
        std::memcpy(before.data(), cells.data(), before.size());
        const std::string error = open_error(world);
        CAPTURE(error, std::string{part});
        CHECK(contains(error, part));
        CHECK(same_bytes(cells, before));
        restore();
    };
    std::ranges::fill(cells.first(4096), std::byte{0});
    expect("the superblock is empty; if there was one");
    std::memcpy(cells.data(), "SQLite format 3", 16);
    expect("not a FlashLab file system");
    store_le<std::uint32_t>(cells.subspan(8), 2);
    reseal(cells.first(128));
    expect("format 2 is newer than this program's 1");
    for (std::size_t at = 8; at < 128; ++at) {
        cells[at] ^= std::byte{0x10};
        expect("the superblock is damaged: its checksum does not hold");
    }
    for (std::size_t at = state_offset; at < state_offset + SuperblockState::encoded_size; ++at) {
        cells[at] ^= std::byte{0x10};
        expect("the superblock's state is damaged");
    }
    store_le<std::uint32_t>(cells.subspan(88), 222);
    reseal(cells.first(128));
    expect("its parts do not fit together");
    CHECK(open_error(world) == "");

    const auto half = PramMetadataStore::open(*world.pram, {PramAddress{0}, pram_bytes / 2}, sim_start);
    REQUIRE_FALSE(half.has_value());
    CHECK(contains(half.error(), "truncated"));
}

TEST_CASE("mkfs refuses what cannot be: too small a range, too long a label", "[metadata]") {
    MetadataWorld world{pram_bytes, 1000};
    const auto tried = [&](std::uint64_t bytes_given, std::uint64_t data_pages, std::string label) {
        const auto made = PramMetadataStore::format(*world.pram, {PramAddress{0}, bytes_given}, {data_pages, 4096, std::move(label), {}, 1});
        return made ? std::string{} : made.error();
    };
    CHECK(contains(tried(64 * 1024, 10, ""), "too few"));
    CHECK(contains(tried(pram_bytes, 1u << 30, ""), "too few"));
    CHECK(contains(tried(2 * pram_bytes, 10, ""), "does not fit"));
    CHECK(contains(tried(pram_bytes, 10, std::string(64, 'x')), "a label is at most 63 bytes"));
    CHECK(tried(pram_bytes, 10, std::string(63, 'x')).empty());
}

TEST_CASE("label and mount count are kept", "[metadata]") {
    MetadataWorld world{pram_bytes, 1000};
    CHECK(world.store->set_label(std::string(64, 'x'), sim_start) == std::unexpected(FsError{ENAMETOOLONG}));
    REQUIRE(world.store->set_label("photos", sim_start).has_value());
    REQUIRE(world.store->mark_dirty(sim_start).has_value());
    world.reopen();
    CHECK(world.store->label() == "photos");
    CHECK_FALSE(world.store->was_clean());
    CHECK(world.store->mounts() == 1);
    REQUIRE(world.store->mark_clean(sim_start).has_value());
    world.reopen();
    CHECK(world.store->was_clean());
}
