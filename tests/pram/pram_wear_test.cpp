#include "pram/pram_wear.h"

#include <fstream>

#include "base/random.h"
#include "pram/image_pram_store.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace flashlab;
using flashlab::test::TemporaryDirectory;

TEST_CASE("a wear counter gives its count back, and notices one and two flipped bits", "[pram][wear]") {
    Random random{5};
    for (int i = 0; i < 60; ++i) {
        const std::uint64_t count = i < 20 ? static_cast<std::uint64_t>(i) : random.below(most_wear + 1) >> random.below(48);
        const std::uint64_t word = sealed_wear(count);
        REQUIRE(wear_count_of(word) == count);
        REQUIRE(is_sound_wear(word));
        for (unsigned bit = 0; bit < 64; ++bit)
            for (unsigned other = 0; other <= bit; ++other) {
                const std::uint64_t flips = std::uint64_t{1} << bit | std::uint64_t{1} << other;
                if (is_sound_wear(word ^ flips)) FAIL("count " << count << ", bits " << other << " and " << bit);
            }
    }
    CHECK(sealed_wear(0) == 0);
}

TEST_CASE("a flipped bit of a wear counter in an image is named, and of an image without checks it is not", "[pram][wear]") {
    for (const std::uint32_t version : {PramImageHeader::first_version, PramImageHeader::current_version}) {
        const TemporaryDirectory folder;
        const PramConfig config{.bytes = 256u << 10};
        REQUIRE(ImagePramStore::create(folder / "pram.img", config, {}).has_value());
        std::array<std::byte, PramImageHeader::encoded_size> header{};
        PramImageHeader{.cell_bytes = config.bytes, .word_bytes = config.word_bytes, .version = version}.encode(header);
        std::fstream file{folder / "pram.img", std::ios::in | std::ios::out | std::ios::binary};
        file.write(reinterpret_cast<const char*>(header.data()), header.size());
        file.seekp(static_cast<std::streamoff>(PramImageHeader::wear_offset() + 2 * 8)).put('\x04').flush();
        const auto store = ImagePramStore::open(folder / "pram.img");
        REQUIRE(store.has_value());
        const bool is_checked = version == PramImageHeader::current_version;
        CHECK((*store)->damaged_wear(9) == (is_checked ? std::vector<std::uint64_t>{2} : std::vector<std::uint64_t>{}));
        NullEventSink sink;
        Pram pram{config, **store, sink, PramUndo::none};
        CHECK(pram.wear_by_region()[2] == 4); // as it was counted before
    }
}
