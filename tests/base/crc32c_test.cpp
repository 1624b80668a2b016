// Known answers: RFC 3720 B.4 and the usual check value.
#include <array>
#include <string_view>
#include <vector>

#include "base/crc32c.h"
#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span{text}); }

/// Bit by bit, from the polynomial.
std::uint32_t slow_crc32c(std::span<const std::byte> bytes) {
    std::uint32_t crc = 0xffffffff;
    for (const std::byte b : bytes) {
        crc ^= static_cast<std::uint32_t>(b);
        for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1u)));
    }
    return ~crc;
}

} // namespace

TEST_CASE("CRC-32C gives the published values", "[base]") {
    CHECK(crc32c(bytes_of("123456789")) == 0xe3069283);
    CHECK(crc32c({}) == 0);
    std::array<std::byte, 32> block{};
    CHECK(crc32c(block) == 0x8a9136aa);
    block.fill(std::byte{0xff});
    CHECK(crc32c(block) == 0x62a8ab43);
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::byte>(i);
    CHECK(crc32c(block) == 0x46dd794e);
}

TEST_CASE("a checksum continues where another ended", "[base]") {
    const std::string_view text = "flash translation layer";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        CHECK(crc32c(bytes_of(text.substr(cut)), crc32c(bytes_of(text.substr(0, cut)))) == crc32c(bytes_of(text)));
    }
}

TEST_CASE("CRC-32C equals its definition at every length and alignment, with and without the CPU's instruction", "[base]") {
    Random random{1};
    std::vector<std::byte> bytes(300);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
    for (std::size_t from = 0; from < 9; ++from) {
        for (std::size_t length = 0; from + length <= bytes.size(); length += 7) {
            const auto part = std::span{bytes}.subspan(from, length);
            REQUIRE(crc32c(part) == slow_crc32c(part));
            REQUIRE(crc32c_portable(part) == slow_crc32c(part));
        }
    }
}

TEST_CASE("CRC-32C of long buffers, which are taken in three parts, equals its definition", "[base]") {
    Random random{2};
    std::vector<std::byte> bytes(7000);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
    for (const std::size_t around : {384u, 768u, 3072u, 3456u, 6144u}) {
        for (std::size_t length = around - 9; length <= around + 9; ++length) {
            const auto part = std::span{bytes}.subspan(length % 5, length);
            const auto seed = static_cast<std::uint32_t>(random.next());
            CAPTURE(length);
            REQUIRE(crc32c(part) == slow_crc32c(part));
            REQUIRE(crc32c(part, seed) == crc32c_portable(part, seed));
        }
    }
}
