// Goal: an entry of the evidence, its root, and the generation that vouches for it lie in the images as nand/FORMAT.md says.
#include <array>

#include "base/image_evidence.h"
#include "base/image_generation.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

using Entry = std::array<std::byte, ImageEvidence::encoded_size>;
constexpr ImageEvidence example{.count = 7, .extent = 3, .crc = 0x01020304};

Entry encoded(const ImageEvidence& evidence) {
    Entry raw{};
    evidence.encode(raw);
    return raw;
}

} // namespace

TEST_CASE("an entry of the evidence has the bytes of nand/FORMAT.md; a new one is all zero, and any flipped bit is noticed", "[evidence]") {
    constexpr std::array<unsigned, 16> bytes{7, 0, 0, 0, 3, 0, 0, 0, 4, 3, 2, 1, 0x94, 0xe9, 0x33, 0x09};
    Entry raw = encoded(example);
    for (std::size_t i = 0; i < raw.size(); ++i) CHECK(raw[i] == static_cast<std::byte>(bytes[i]));
    CHECK(encoded({}) == Entry{});
    ImageEvidence back;
    CHECK((ImageEvidence::decode(raw, back) && back == example));
    for (std::size_t bit = 0; bit < raw.size() * 8; ++bit) {
        raw[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        CHECK_FALSE(ImageEvidence::decode(raw, back));
        raw[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    }
}

TEST_CASE("the root of the evidence is that of nand/FORMAT.md, and differs with every field, order and owner", "[evidence]") {
    const std::array one{example};
    CHECK(root_of(one, EvidenceOwner::nand) == 0xdf921b5165c97da7);
    CHECK(root_of(one, EvidenceOwner::pram) != root_of(one, EvidenceOwner::nand));
    const std::array two{example, ImageEvidence{}}, turned{ImageEvidence{}, example};
    CHECK(root_of(two, EvidenceOwner::nand) != root_of(turned, EvidenceOwner::nand));
    CHECK(root_of(two, EvidenceOwner::nand) != root_of(one, EvidenceOwner::nand));
    for (const ImageEvidence other : {ImageEvidence{8, 3, 0x01020304}, ImageEvidence{7, 4, 0x01020304}, ImageEvidence{7, 3, 0x01020305}})
        CHECK(root_of(std::array{other}, EvidenceOwner::nand) != root_of(one, EvidenceOwner::nand));
}

TEST_CASE("a generation carries the root of the evidence and what it vouches for, and the next one keeps them", "[evidence]") {
    ImageGeneration generation;
    generation.number = 5;
    generation.has_evidence = generation.second_copy = true;
    generation.root = 0x1122334455667788;
    std::array<std::byte, ImageGeneration::encoded_size> raw{};
    for (const bool exact : {false, true}) {
        generation.is_exact = exact;
        generation.encode(raw);
        CHECK(raw[24] == static_cast<std::byte>(exact ? 14 : 10));
        CHECK((raw[28] == std::byte{0x88} && raw[35] == std::byte{0x11}));
        CHECK(ImageGeneration::decode(raw) == generation);
    }
    const ImageGeneration next = generation.next(1);
    CHECK((next.number == 6 && next.token_before == generation.token && next.root == generation.root && next.second_copy));
}
