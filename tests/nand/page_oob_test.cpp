#include <utility>

#include "nand/page_oob.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {
using Encoded = std::array<std::byte, PageOob::encoded_size>;

Encoded encoded(const PageOob& oob) {
    Encoded out;
    oob.encode(out);
    return out;
}
} // namespace

TEST_CASE("the OOB's bytes are those of nand/FORMAT.md", "[nand]") {
    const PageOob oob{Lpn{0x01020304}, WriteSequence{0x1122334455667788}, PageKind::translation, 0xa1b2c3d4};
    const std::uint8_t expected[] = {
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, // write sequence
        0x04, 0x03, 0x02, 0x01,                         // LPN
        0xd4, 0xc3, 0xb2, 0xa1,                         // the scheme's word
        0x02, 0x00,                                     // kind: translation
        0x00, 0x00,                                     // stream 0
        0xc7, 0x2b, 0x52, 0xa0,                         // CRC-32C of the 20 bytes before, seed 0x464c4f42
    };
    const Encoded bytes = encoded(oob);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        CAPTURE(i);
        CHECK(std::to_integer<std::uint8_t>(bytes[i]) == expected[i]);
    }
    CHECK(PageOob::decode(bytes) == oob);
}

TEST_CASE("an OOB has its stream behind the kind", "[nand]") {
    const PageOob oob{Lpn{1}, WriteSequence{2}, PageKind::data, 3, StreamId{0x1234}};
    const Encoded bytes = encoded(oob);
    CHECK(bytes[18] == std::byte{0x34});
    CHECK(bytes[19] == std::byte{0x12});
    CHECK(PageOob::decode(bytes) == oob);
}

TEST_CASE("any flipped bit of an OOB is noticed", "[nand]") {
    const Encoded good = encoded({Lpn{7}, WriteSequence{9}, PageKind::data, 0});
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        Encoded bad = good;
        bad[bit / 8] ^= std::byte{1} << (bit % 8);
        CAPTURE(bit);
        CHECK_FALSE(PageOob::decode(bad));
    }
}

TEST_CASE("erased and all-ones records do not parse", "[nand]") {
    Encoded raw{};
    CHECK_FALSE(PageOob::decode(raw));
    raw.fill(std::byte{0xff});
    CHECK_FALSE(PageOob::decode(raw));
}

TEST_CASE("the OOB of a parity page carries the sum of its row's kinds, and no other kind parses", "[nand][oob]") {
    for (std::uint32_t kind = 0; kind < 300; ++kind) {
        CAPTURE(kind);
        std::array<std::byte, PageOob::encoded_size> raw{};
        const PageOob oob{Lpn{5}, WriteSequence{6}, static_cast<PageKind>(kind), 7, StreamId{8}};
        oob.encode(raw);
        const auto known = PageOob::decode(raw);
        const bool is_kind = (kind >= 1 && kind <= 7) || (kind >= 128 && kind <= 135);
        REQUIRE(known.has_value() == is_kind);
        if (known) CHECK(*known == oob);
    }
}
