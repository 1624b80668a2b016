#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "pram/image_pram_store.h"
#include "tests/pram/pram_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::array<std::byte, 16> some_uuid() {
    std::array<std::byte, 16> uuid{};
    for (std::size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<std::byte>(0xa0 + i);
    return uuid;
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("the header of an image, byte for byte", "[pram][format]") {
    std::array<std::byte, PramImageHeader::encoded_size> out{};
    PramImageHeader{.uuid = some_uuid(), .cell_bytes = 64u << 20, .word_bytes = 8}.encode(out);
    const auto expected = bytes_of({
        'F',  'L',  'A',  'B',  'P',  'R',  'A',  'M',                                                  // magic
        3,    0,    0,    0,                                                                            // version
        0x00, 0x10, 0,    0,                                                                            // header bytes
        0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, // uuid
        0,    0,    0,    4,    0,    0,    0,    0,                                                    // cell bytes
        8,    0,    0,    0,                                                                            // word bytes
        0,    0,    1,    0,                                                                            // wear region bytes
        0,    0x10, 0,    0,    0,    0,    0,    0,                                                    // wear offset
        0,    0x30, 0,    0,    0,    0,    0,    0,                                                    // cells offset: 1024 counters fill 8 KiB
    });
    CHECK(std::ranges::equal(std::span{out}.first(expected.size()), expected));
    CHECK(std::ranges::all_of(std::span{out}.subspan(expected.size(), 4092 - expected.size()), [](std::byte b) { return b == std::byte{0}; }));
    CHECK(load_le<std::uint32_t>(std::span{out}.subspan(4092)) == crc32c(std::span{out}.first(4092)));
    const auto back = PramImageHeader::decode(out);
    REQUIRE(back.has_value());
    CHECK(back->uuid == some_uuid());
    CHECK(back->cell_bytes == 64u << 20);
    CHECK(back->word_bytes == 8);
    CHECK(back->sums_offset() == 0x3000 + (64u << 20));
    CHECK(back->state_offset() == 0x3000 + (68u << 20)); // 4 bytes for each line of 64
    CHECK(back->file_bytes() == 0x4000 + (68u << 20));
}

TEST_CASE("any flipped bit of a header is noticed", "[pram][format]") {
    std::array<std::byte, PramImageHeader::encoded_size> out{};
    PramImageHeader{.uuid = some_uuid(), .cell_bytes = 1u << 20, .word_bytes = 2}.encode(out);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto bit = static_cast<std::byte>(1u << (i % 8));
        out[i] ^= bit;
        if (PramImageHeader::decode(out).has_value()) FAIL("byte " << i);
        out[i] ^= bit;
    }
    CHECK(PramImageHeader::decode(out).has_value());
}

TEST_CASE("what is written to an image is there when it is opened again, wear included", "[pram]") {
    TemporaryDirectory folder;
    const PramConfig config = small_config();
    REQUIRE(ImagePramStore::create(folder / "pram.img", config, some_uuid()).has_value());
    NullEventSink sink;
    const auto data = bytes_of({1, 2, 3, 4, 5, 6, 7, 8, 9});
    {
        const auto store = ImagePramStore::open(folder / "pram.img");
        REQUIRE(store.has_value());
        Pram pram{config, **store, sink, PramUndo::keep};
        CHECK(std::ranges::all_of(pram.cells(), [](std::byte b) { return b == std::byte{0}; }));
        pram.write(PramUser::fs, PramAddress{70'000}, data, sim_start);
        CHECK((*store)->sync().has_value());
    }
    const auto store = ImagePramStore::open(folder / "pram.img");
    REQUIRE(store.has_value());
    CHECK((*store)->header().uuid == some_uuid());
    Pram pram{config, **store, sink, PramUndo::keep};
    CHECK(std::ranges::equal(pram.view(PramAddress{70'000}, data.size()), data));
    CHECK(pram.wear_by_region()[1] == 2);
}

TEST_CASE("an image has its whole space from the beginning", "[pram]") {
    TemporaryDirectory folder;
    PramConfig config = small_config();
    config.bytes = 8u << 20;
    REQUIRE(ImagePramStore::create(folder / "pram.img", config, some_uuid()).has_value());
    struct stat status = {};
    REQUIRE(::stat((folder / "pram.img").c_str(), &status) == 0);
    CHECK(status.st_blocks * 512 >= status.st_size);
}

TEST_CASE("a copy of an image that has holes gets its space back when it is opened", "[pram]") {
    TemporaryDirectory folder;
    PramConfig config = small_config();
    REQUIRE(ImagePramStore::create(folder / "pram.img", config, some_uuid()).has_value());
    const int fd = ::open((folder / "pram.img").c_str(), O_RDWR | O_CLOEXEC);
    const bool punched = ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8192, 65536) == 0;
    ::close(fd);
    if (!punched) return; // this host keeps no holes
    REQUIRE(ImagePramStore::open(folder / "pram.img").has_value());
    struct stat status = {};
    REQUIRE(::stat((folder / "pram.img").c_str(), &status) == 0);
    CHECK(status.st_blocks * 512 >= status.st_size);
}

TEST_CASE("an image is not made over an existing file, nor left behind when there is no room", "[pram]") {
    TemporaryDirectory folder;
    std::ofstream{folder / "pram.img"} << "mine";
    const auto existing = ImagePramStore::create(folder / "pram.img", small_config(), some_uuid());
    REQUIRE_FALSE(existing.has_value());
    CHECK(mentions(existing.error(), (folder / "pram.img").string()));
    CHECK(std::filesystem::file_size(folder / "pram.img") == 4);
    std::filesystem::remove(folder / "pram.img");

    // A limit on the size of files stands in for a full disk.
    struct rlimit old = {};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
    struct rlimit small = old;
    small.rlim_cur = 64u << 10;
    const auto previous = ::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto full = ImagePramStore::create(folder / "pram.img", small_config(), some_uuid());
    ::setrlimit(RLIMIT_FSIZE, &old);
    ::signal(SIGXFSZ, previous);
    REQUIRE_FALSE(full.has_value());
    CHECK(mentions(full.error(), "free some space"));
    CHECK_FALSE(std::filesystem::exists(folder / "pram.img"));
}

TEST_CASE("foreign, damaged, newer and truncated images are told apart and left untouched", "[pram]") {
    TemporaryDirectory folder;
    REQUIRE(ImagePramStore::create(folder / "pram.img", small_config(), some_uuid()).has_value());
    const auto reason = [&] {
        const auto opened = ImagePramStore::open(folder / "pram.img");
        REQUIRE_FALSE(opened.has_value());
        CHECK(mentions(opened.error(), (folder / "pram.img").string()));
        return opened.error();
    };
    SECTION("foreign") {
        flip(folder / "pram.img", 0, 0x20);
        CHECK(mentions(reason(), "not a FlashLab PRAM image"));
    }
    SECTION("bit-flipped") {
        flip(folder / "pram.img", 33, 1);
        CHECK(mentions(reason(), "damaged"));
    }
    SECTION("newer") {
        std::array<std::byte, 4096> header{};
        PramImageHeader{.uuid = some_uuid(), .cell_bytes = small_config().bytes, .word_bytes = 8}.encode(header);
        header[8] = std::byte{9};
        store_le<std::uint32_t>(std::span{header}.subspan(4092), crc32c(std::span{header}.first(4092)));
        std::fstream file{folder / "pram.img", std::ios::in | std::ios::out | std::ios::binary};
        file.write(reinterpret_cast<const char*>(header.data()), 4096);
        file.close();
        CHECK(mentions(reason(), "version 9"));
    }
    SECTION("newer, with a checksum of its own") {
        std::fstream file{folder / "pram.img", std::ios::in | std::ios::out | std::ios::binary};
        file.seekp(8);
        file.put(9);
        file.close();
        CHECK(mentions(reason(), "use a newer flashlab"));
    }
    SECTION("older") {
        std::array<std::byte, 4096> header{};
        PramImageHeader{.uuid = some_uuid(), .cell_bytes = small_config().bytes, .word_bytes = 8}.encode(header);
        header[8] = std::byte{1};
        store_le<std::uint32_t>(std::span{header}.subspan(4092), crc32c(std::span{header}.first(4092)));
        std::fstream file{folder / "pram.img", std::ios::in | std::ios::out | std::ios::binary};
        file.write(reinterpret_cast<const char*>(header.data()), 4096);
        file.close();
        CHECK(mentions(reason(), "make the device anew"));
    }
    SECTION("truncated in the cells") {
        std::filesystem::resize_file(folder / "pram.img", std::filesystem::file_size(folder / "pram.img") - 1);
        CHECK(mentions(reason(), "truncated"));
    }
    SECTION("truncated in the header") {
        for (const std::uintmax_t size : {4095u, 100u, 1u, 0u}) {
            std::filesystem::resize_file(folder / "pram.img", size);
            CHECK(mentions(reason(), "truncated"));
            CHECK(std::filesystem::file_size(folder / "pram.img") == size);
        }
    }
    SECTION("longer") {
        std::filesystem::resize_file(folder / "pram.img", std::filesystem::file_size(folder / "pram.img") + 4096);
        CHECK(mentions(reason(), "longer"));
    }
    SECTION("missing") {
        std::filesystem::remove(folder / "pram.img");
        CHECK(mentions(reason(), "No such file"));
    }
}

TEST_CASE("an image in use is refused, and free again when it is closed", "[pram]") {
    TemporaryDirectory folder;
    REQUIRE(ImagePramStore::create(folder / "pram.img", small_config(), some_uuid()).has_value());
    {
        const auto first = ImagePramStore::open(folder / "pram.img");
        REQUIRE(first.has_value());
        for (const auto access : {PramImageAccess::read_write, PramImageAccess::private_copy}) {
            const auto second = ImagePramStore::open(folder / "pram.img", access);
            REQUIRE_FALSE(second.has_value());
            CHECK(mentions(second.error(), "in use"));
        }
    }
    CHECK(ImagePramStore::open(folder / "pram.img").has_value());
}

TEST_CASE("changes to a private copy never reach the image", "[pram]") {
    TemporaryDirectory folder;
    REQUIRE(ImagePramStore::create(folder / "pram.img", small_config(), some_uuid()).has_value());
    {
        const auto look = ImagePramStore::open(folder / "pram.img", PramImageAccess::private_copy);
        const auto another = ImagePramStore::open(folder / "pram.img", PramImageAccess::private_copy);
        REQUIRE(look.has_value());
        REQUIRE(another.has_value());
        (*look)->cells()[5] = std::byte{7};
        CHECK((*another)->cells()[5] == std::byte{0});
    }
    const auto store = ImagePramStore::open(folder / "pram.img");
    REQUIRE(store.has_value());
    CHECK((*store)->cells()[5] == std::byte{0});
}
