// Goal: the image's bytes are those of nand/FORMAT.md, every damaged image is refused with its reason and left as it was, what was written survives.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "base/random.h"
#include "nand/image_page_store.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace flashlab;
using namespace flashlab::testing;
using flashlab::test::TemporaryDirectory;

namespace {

constexpr GeometryConfig small{.channels = 2,
                               .chips_per_channel = 1,
                               .dies_per_chip = 1,
                               .planes_per_die = 2,
                               .blocks_per_plane = 4,
                               .pages_per_block = 8,
                               .page_bytes = 4096,
                               .spare_bytes = 256,
                               .cell = CellType::mlc};

Uuid counting_uuid() {
    Uuid uuid;
    for (std::size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<std::byte>(i + 1);
    return uuid;
}

std::vector<std::byte> bytes_at(const std::filesystem::path& path, std::uint64_t at, std::size_t n) {
    std::ifstream file{path, std::ios::binary};
    file.seekg(static_cast<std::streamoff>(at));
    std::vector<std::byte> bytes(n);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(n));
    return bytes;
}

void flip(const std::filesystem::path& path, std::uint64_t at) {
    const std::byte flipped = bytes_at(path, at, 1)[0] ^ std::byte{1};
    std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
    file.seekp(static_cast<std::streamoff>(at));
    file.write(reinterpret_cast<const char*>(&flipped), 1);
}

std::vector<std::byte> of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

ImageErrorKind failure(const std::filesystem::path& path, const GeometryConfig& geometry = small) {
    const auto store = ImagePageStore::open(path, *Geometry::make(geometry));
    REQUIRE_FALSE(store);
    CHECK_THAT(store.error().message, ContainsSubstring(path.string()));
    return store.error().kind;
}

} // namespace

TEST_CASE("a new image's header, records and data lie where nand/FORMAT.md says", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const auto geometry = *Geometry::make(small);
    {
        auto store = ImagePageStore::create(path, geometry, counting_uuid());
        REQUIRE(store);
        REQUIRE((*store)->write_block(BlockId{1}, {0x01020304, true}));
        PageRecord record{CellState::torn, {}, 0xa1b2c3d4};
        record.oob.fill(std::byte{0x77});
        REQUIRE((*store)->write_record(Ppn{3}, record));
        REQUIRE((*store)->write_data(Ppn{3}, std::vector<std::byte>(4096, std::byte{0x55})));
    }
    // Header, 16 blocks x 16, 128 pages x 32, data, generation, 16 blocks x 16 twice.
    CHECK(std::filesystem::file_size(path) == 4096 + 4096 + 4096 + 128 * 4096 + 4096 + 2 * 4096);
    CHECK(bytes_at(path, 0, 16) == of({'F', 'L', 'N', 'A', 'N', 'D', 0x0d, 0x0a, 6, 0, 0, 0, 0, 0x10, 0, 0}));
    CHECK(bytes_at(path, 16, 16) == of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
    CHECK(bytes_at(path, 32, 36) ==
          of({2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 0, 0x10, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}));
    CHECK(bytes_at(path, 68, 4092 - 68) == std::vector<std::byte>(4092 - 68));
    CHECK(bytes_at(path, 4092, 4) == of({0xc7, 0x22, 0x1f, 0xe2}));
    CHECK(bytes_at(path, 4096 + 16, 16) == of({4, 3, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0xa6, 0x14, 0xfb, 0x57}));
    CHECK(bytes_at(path, 8192 + 3 * 32, 9) == of({2, 0x28, 0xa2, 0x81, 0xd4, 0xc3, 0xb2, 0xa1, 0x77}));
    CHECK(bytes_at(path, 12288 + 3 * 4096, 2) == of({0x55, 0x55}));
}

TEST_CASE("an image of a tebibyte is made and opened without writing more than its header", "[nand]") {
    const TemporaryDirectory directory;
    GeometryConfig large;
    large.blocks_per_plane = 1u << 16; // 8 x 2 planes x 65,536 blocks x 1 MiB
    const auto geometry = *Geometry::make(large);
    REQUIRE(geometry.bytes() == 1ull << 40);
    REQUIRE(ImagePageStore::create(directory / "nand.img", geometry, counting_uuid()));
    struct ::stat status {};
    REQUIRE(::stat((directory / "nand.img").c_str(), &status) == 0);
    CHECK(status.st_blocks * 512 <= 64 * 1024);
    CHECK(ImagePageStore::open(directory / "nand.img", geometry));
}

TEST_CASE("foreign, truncated, newer, damaged, other and missing images are told apart and stay untouched", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const auto geometry = *Geometry::make(small);
    CHECK(failure(path) == ImageErrorKind::missing);
    REQUIRE(ImagePageStore::create(path, geometry, counting_uuid()));
    const auto again = ImagePageStore::create(path, geometry, counting_uuid());
    REQUIRE_FALSE(again);
    CHECK(again.error().kind == ImageErrorKind::exists);

    GeometryConfig other = small;
    other.pages_per_block = 16;
    CHECK(failure(path, other) == ImageErrorKind::other_geometry);
    for (const std::uint64_t at : {12u, 20u, 40u, 64u, 500u, 4091u, 4092u, 4095u}) {
        flip(path, at);
        CHECK(failure(path) == ImageErrorKind::damaged);
        flip(path, at);
    }
    flip(path, 0);
    CHECK(failure(path) == ImageErrorKind::foreign);
    flip(path, 0);
    const auto size = std::filesystem::file_size(path);
    for (const std::uint64_t shorter : {size - 1, std::uintmax_t{12288}, std::uintmax_t{4096}, std::uintmax_t{100}}) {
        std::filesystem::resize_file(path, shorter);
        CHECK(failure(path) == ImageErrorKind::truncated);
        CHECK(std::filesystem::file_size(path) == shorter);
    }
    std::filesystem::resize_file(path, 3);
    CHECK(failure(path) == ImageErrorKind::foreign);
    std::filesystem::resize_file(path, 0);
    CHECK(failure(path) == ImageErrorKind::foreign);
}

TEST_CASE("an image of a newer version says so", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    REQUIRE(ImagePageStore::create(path, *Geometry::make(small), counting_uuid()));
    std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
    file.seekp(8);
    file.put(7);
    file.close();
    CHECK(failure(path) == ImageErrorKind::newer_version);
}

TEST_CASE("an image of the version without checksums in page records says so", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    REQUIRE(ImagePageStore::create(path, *Geometry::make(small), counting_uuid()));
    std::array<std::byte, ImageHeader::encoded_size> raw{};
    ImageHeader{counting_uuid(), small}.encode(raw);
    raw[8] = std::byte{1};
    store_le<std::uint32_t>(std::span{raw}.last<4>(), crc32c(std::span{raw}.first<4092>()));
    std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
    file.write(reinterpret_cast<const char*>(raw.data()), raw.size());
    file.close();
    CHECK(failure(path) == ImageErrorKind::older_version);
}

TEST_CASE("an image is held by one user at a time", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const auto geometry = *Geometry::make(small);
    {
        const auto store = ImagePageStore::create(path, geometry, counting_uuid());
        REQUIRE(store);
        CHECK(failure(path) == ImageErrorKind::in_use);
        CHECK(ImagePageStore::read_header(path)->uuid == counting_uuid());
    }
    CHECK(ImagePageStore::open(path, geometry));
}

TEST_CASE("what an array wrote is there after reopening the image, and erased blocks give their space back", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    NandConfig config = round_config();
    config.geometry = small;
    const auto geometry = *Geometry::make(small);
    NullEventSink sink;
    const auto allocated = [&path] {
        struct ::stat status {};
        REQUIRE(::stat(path.c_str(), &status) == 0);
        return status.st_blocks * 512;
    };
    {
        auto store = ImagePageStore::create(path, geometry, counting_uuid());
        REQUIRE(store);
        NandArray array{geometry, config, **store, sink, UndoPolicy::keep};
        REQUIRE(array.open());
        SimTime now = sim_start;
        for (std::uint32_t block = 0; block < 2; ++block) {
            for (std::uint32_t page = 0; page < 8; ++page) {
                const auto data = page_bytes_of(geometry, block * 8 + page + 1);
                const PageProgram one{geometry.page_of(BlockId{block}, page), data, {Lpn{page}, WriteSequence{page}, PageKind::data, 0}};
                now = *array.program({&one, 1}, {now, {}});
            }
        }
        now = *array.erase(BlockId{1}, {now, {}});
        CHECK(allocated() >= 16 * 4096);
        array.settle(now);
    }
    CHECK(allocated() < 16 * 4096);
    const auto store = ImagePageStore::open(path, geometry);
    REQUIRE(store);
    NandArray array{geometry, config, **store, sink, UndoPolicy::keep};
    REQUIRE(array.open());
    CHECK(array.write_pointer(BlockId{0}) == 8);
    CHECK(array.write_pointer(BlockId{1}) == 0);
    CHECK(array.erase_count(BlockId{1}) == 1);
    std::vector<std::byte> data(geometry.page_bytes());
    for (std::uint32_t page = 0; page < 8; ++page) {
        REQUIRE(array.read(PageRead{geometry.page_of(BlockId{0}, page), 0, 4096, data}, {sim_start, {}}));
        CHECK(data == page_bytes_of(geometry, page + 1));
    }
}

TEST_CASE("pages read together in any order are those last programmed, and a page whose bits flipped fails alone", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    NandConfig config = round_config();
    config.geometry = small;
    const auto geometry = *Geometry::make(small);
    NullEventSink sink;
    auto store = ImagePageStore::create(path, geometry, counting_uuid());
    REQUIRE(store);
    NandArray array{geometry, config, **store, sink, UndoPolicy::keep};
    REQUIRE(array.open());
    SimTime now = sim_start;
    std::vector<std::vector<std::byte>> buffers(64, std::vector<std::byte>(geometry.page_bytes()));
    const auto value_of = [](std::uint32_t round, Ppn page) { return round * 1000ull + page.value(); };
    for (std::uint32_t round = 1; round <= 3; ++round) { // what a read brought in must not outlive an erase
        for (std::uint32_t block = 0; block < 8; ++block) {
            if (round > 1) now = *array.erase(BlockId{block}, {now, {}});
            REQUIRE((*store)->read_record(geometry.page_of(BlockId{block}, 7)) == PageRecord{});
            for (std::uint32_t page = 0; page < 8; ++page) {
                const Ppn where = geometry.page_of(BlockId{block}, page);
                const auto data = page_bytes_of(geometry, value_of(round, where));
                const PageProgram one{where, data, {Lpn{page}, WriteSequence{page}, PageKind::data, 0}};
                now = *array.program({&one, 1}, {now, {}});
                if (page == 3) REQUIRE(array.read(PageRead{where, 0, geometry.page_bytes(), buffers[0]}, {now, {}}));
            }
        }
        std::vector<PageRead> reads;
        for (std::uint32_t i = 0; i < 64; ++i) reads.push_back({Ppn{i * 29 % 64}, 0, geometry.page_bytes(), buffers[i]});
        REQUIRE(array.read(reads, {now, {}}));
        for (std::uint32_t i = 0; i < 64; ++i) REQUIRE(buffers[i] == page_bytes_of(geometry, value_of(round, reads[i].page)));
    }
    const std::uint64_t payload_at = 3 * 4096; // behind header, block records, page records
    flip(path, payload_at + 13 * std::uint64_t{geometry.page_bytes()} + 100);
    std::vector<PageRead> reads;
    for (std::uint32_t i = 0; i < 16; ++i) reads.push_back({Ppn{15 - i}, 0, geometry.page_bytes(), buffers[i]});
    const auto read = array.read(reads, {now, {}});
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == NandErrorKind::uncorrectable);
    CHECK(read.error().page == Ppn{13});
}

TEST_CASE("data programmed after an erase survives the hole punched for what was erased", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const auto geometry = *Geometry::make(small);
    {
        auto store = ImagePageStore::create(path, geometry, counting_uuid());
        REQUIRE(store);
        REQUIRE((*store)->write_data(Ppn{0}, page_bytes_of(geometry, 1)));
        (*store)->discard_data(Ppn{0}, 8);
        REQUIRE((*store)->write_data(Ppn{0}, page_bytes_of(geometry, 2)));
        REQUIRE((*store)->write_data(Ppn{1}, page_bytes_of(geometry, 3)));
    } // closing punches what still waits
    const auto store = ImagePageStore::open(path, geometry);
    std::vector<std::byte> data(4096);
    REQUIRE((*store)->read_data(Ppn{0}, 0, data));
    CHECK(data == page_bytes_of(geometry, 2));
    REQUIRE((*store)->read_data(Ppn{1}, 0, data));
    CHECK(data == page_bytes_of(geometry, 3));
}

TEST_CASE("page records are the last ones written, for this user of the image, for its bytes, and for the next user", "[nand]") {
    const unsigned seed = GENERATE(1u, 2u);
    CAPTURE(seed);
    std::mt19937 random{seed};
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const auto geometry = *Geometry::make(small);
    const ImageLayout layout{geometry};
    std::vector<PageRecord> model(geometry.pages());
    REQUIRE(ImagePageStore::create(path, geometry, counting_uuid()));
    for (int session = 0; session < 6; ++session) {
        auto store = ImagePageStore::open(path, geometry);
        REQUIRE(store);
        for (int step = 0; step < 200; ++step) {
            const Ppn page{static_cast<std::uint32_t>(random() % geometry.pages())};
            const BlockId block = geometry.block_of(page);
            if (random() % 8 == 0) {
                REQUIRE((*store)->erase_records(block));
                for (std::uint32_t p = 0; p < geometry.pages_per_block(); ++p) model[geometry.page_of(block, p).value()] = {};
            } else {
                PageRecord record{.state = static_cast<CellState>(1 + random() % 5), .data_crc = static_cast<std::uint32_t>(random())};
                for (std::byte& b : record.oob) b = static_cast<std::byte>(random());
                REQUIRE((*store)->write_record(page, record));
                model[page.value()] = record;
            }
            const Ppn looked_at{static_cast<std::uint32_t>(random() % geometry.pages())};
            REQUIRE((*store)->read_record(looked_at) == model[looked_at.value()]);
        }
        for (std::uint32_t p = 0; p < geometry.pages(); ++p) {
            std::array<std::byte, ImageLayout::page_record_bytes> raw;
            encode_page_record(model[p], raw);
            REQUIRE(bytes_at(path, layout.page_record_at(Ppn{p}), raw.size()) == std::vector<std::byte>(raw.begin(), raw.end()));
        }
    }
}

TEST_CASE("pages of zeros take no room where the file has none, and are zeros where it has", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const auto geometry = *Geometry::make(small);
    const std::vector<std::byte> zeros(geometry.page_bytes());
    const auto blocks_of_host = [&] {
        struct ::stat status {};
        REQUIRE(::stat(path.c_str(), &status) == 0);
        return status.st_blocks;
    };
    auto store = ImagePageStore::create(path, geometry, counting_uuid());
    REQUIRE(store);
    const auto empty = blocks_of_host();
    const std::uint32_t in_block = geometry.pages_per_block();
    for (std::uint32_t page = 0; page < geometry.pages(); ++page) REQUIRE((*store)->write_data(Ppn{page}, zeros));
    CHECK(blocks_of_host() == empty);
    // Whatever is written, erased, discarded or opened again in between: a page reads as what was last written there.
    std::vector<std::vector<std::byte>> expected(geometry.pages(), zeros);
    std::vector<std::uint32_t> next(geometry.blocks());
    Random random{31};
    std::vector<std::byte> read(geometry.page_bytes());
    for (int step = 0; step < 4000; ++step) {
        const auto block = static_cast<std::uint32_t>(random.below(geometry.blocks()));
        if (next[block] == in_block) {
            REQUIRE((*store)->erase_records(BlockId{block}));
            if (random.below(2) == 0) (*store)->discard_data(geometry.page_of(BlockId{block}, 0), in_block);
            next[block] = 0;
        }
        std::vector<std::span<const std::byte>> run;
        const Ppn first = geometry.page_of(BlockId{block}, next[block]);
        for (auto left = 1 + random.below(std::min(in_block - next[block], 5u)); left > 0; --left, ++next[block]) {
            auto& page = expected[geometry.page_of(BlockId{block}, next[block]).value()];
            run.emplace_back(page = random.below(3) == 0 ? zeros : page_bytes_of(geometry, random.below(1000) + 1));
        }
        REQUIRE((*store)->write_run(first, run));
        if (step % 500 == 499) {
            store->reset();
            store = ImagePageStore::open(path, geometry);
            REQUIRE(store);
        }
        for (std::uint32_t b = 0; b < geometry.blocks(); ++b)
            for (std::uint32_t p = 0; p < next[b]; ++p) {
                if (random.below(16) != 0) continue;
                const Ppn at = geometry.page_of(BlockId{b}, p);
                REQUIRE((*store)->read_data(at, 0, read));
                REQUIRE(read == expected[at.value()]);
            }
    }
}

TEST_CASE("a block record whose bits flipped is a host error, not an erase count", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const auto geometry = *Geometry::make(small);
    const auto store = ImagePageStore::create(path, geometry, counting_uuid());
    REQUIRE(store);
    REQUIRE((*store)->write_block(BlockId{2}, {5, false}));
    flip(path, 4096 + 2 * 16);
    std::vector<BlockRecord> blocks(geometry.blocks());
    const auto read = (*store)->read_blocks(BlockId{0}, blocks);
    REQUIRE_FALSE(read);
    CHECK(read.error().error_number == EBADMSG);
}

TEST_CASE("an image that shrank while in use gives a host error and no fault of the flash", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const auto geometry = *Geometry::make(small);
    NandConfig config = round_config();
    config.geometry = small;
    const auto store = ImagePageStore::create(path, geometry, counting_uuid());
    NullEventSink sink;
    NandArray array{geometry, config, **store, sink, UndoPolicy::keep};
    REQUIRE(array.open());
    std::filesystem::resize_file(path, 8192);
    const auto read = array.read(PageRead{Ppn{0}, 0, 4096, {}}, {sim_start, {}});
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == NandErrorKind::host_io);
    CHECK(read.error().host_errno == EIO);
}
