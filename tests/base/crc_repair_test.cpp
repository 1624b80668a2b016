#include "base/crc_repair.h"

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

/// A message with its checksum behind it.
class Sealed {
public:
    Sealed(std::size_t message_bytes, std::uint64_t seed) : bytes_(message_bytes + 4) {
        Random random{seed};
        for (std::byte& b : bytes_) b = static_cast<std::byte>(random.next());
        store_le<std::uint32_t>(std::span{bytes_}.subspan(message_bytes), crc32c(message()));
    }
    void flip(BitPlace place) { bytes_[place / 8] ^= static_cast<std::byte>(1u << place % 8); }
    [[nodiscard]] std::uint32_t difference() const { return load_le<std::uint32_t>(std::span{bytes_}.last(4)) ^ crc32c(message()); }
    [[nodiscard]] std::uint64_t bits() const { return bytes_.size() * 8; }

private:
    [[nodiscard]] std::span<const std::byte> message() const { return std::span{bytes_}.first(bytes_.size() - 4); }
    std::vector<std::byte> bytes_;
};

} // namespace

TEST_CASE("each flipped bit of a message or of its checksum is found", "[base][crc]") {
    for (const std::size_t bytes : {1u, 12u, 36u, 64u, 500u}) {
        Sealed sealed{bytes, bytes};
        for (BitPlace place = 0; place < sealed.bits(); ++place) {
            sealed.flip(place);
            REQUIRE(find_flipped_bit(bytes, sealed.difference()) == place);
            sealed.flip(place);
        }
    }
    Sealed page{4096, 7};
    for (const BitPlace place : {0u, 1u, 9000u, 32767u, 32768u, 32799u}) {
        page.flip(place);
        CHECK(find_flipped_bit(4096, page.difference()) == place);
        page.flip(place);
    }
}

TEST_CASE("each pair of flipped bits of a line is found", "[base][crc]") {
    Sealed line{64, 3};
    const FlippedBits flipped{64};
    for (BitPlace first = 0; first < line.bits(); first += 5) {
        line.flip(first);
        for (BitPlace second = first + 1; second < line.bits(); second += 3) {
            line.flip(second);
            REQUIRE(flipped.find(line.difference()) == std::vector{first, second});
            line.flip(second);
        }
        line.flip(first);
    }
}

TEST_CASE("two flipped bits of a page, and three of a line, are never taken for fewer", "[base][crc]") {
    Random random{11};
    Sealed page{4096, 5};
    for (int i = 0; i < 300; ++i) {
        const BitPlace first = random.below(page.bits()), second = random.below(page.bits());
        if (first == second) continue;
        page.flip(first);
        page.flip(second);
        REQUIRE_FALSE(find_flipped_bit(4096, page.difference()).has_value());
        page.flip(first);
        page.flip(second);
    }
    Sealed line{64, 5};
    const FlippedBits flipped{64};
    for (int i = 0; i < 20'000; ++i) {
        const BitPlace first = random.below(line.bits()), second = random.below(line.bits()), third = random.below(line.bits());
        if (first == second || first == third || second == third) continue;
        for (const BitPlace place : {first, second, third}) line.flip(place);
        REQUIRE_FALSE(flipped.find(line.difference()).has_value());
        for (const BitPlace place : {first, second, third}) line.flip(place);
    }
}
