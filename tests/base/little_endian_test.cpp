#include <array>

#include "base/little_endian.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

std::byte operator""_b(unsigned long long v) { return static_cast<std::byte>(v); }

} // namespace

TEST_CASE("fields are written least significant byte first, without padding", "[base]") {
    std::array<std::byte, 17> out{};
    LittleEndianWriter writer{out};
    writer.u8(0x01);
    writer.u16(0x0302);
    writer.u32(0x07060504);
    writer.u64(0x0f0e0d0c0b0a0908);
    writer.zeros(1);
    CHECK(writer.written().size() == 16);
    CHECK_FALSE(writer.full());
    const std::array tail{0xaa_b};
    writer.bytes(tail);
    CHECK(writer.full());
    for (std::size_t i = 0; i < 15; ++i) CHECK(out[i] == static_cast<std::byte>(i + 1));
    CHECK(out[15] == 0_b);
    CHECK(out[16] == 0xaa_b);
}

TEST_CASE("what was written is read back", "[base]") {
    std::array<std::byte, 15> bytes{};
    LittleEndianWriter writer{bytes};
    writer.u8(0xfe);
    writer.u16(0xfedc);
    writer.u32(0xfedcba98);
    writer.u64(0xfedcba9876543210);
    LittleEndianReader reader{bytes};
    CHECK(reader.u8() == 0xfe);
    CHECK(reader.u16() == 0xfedc);
    CHECK(reader.u32() == 0xfedcba98);
    CHECK(reader.left() == 8);
    CHECK(reader.consumed().size() == 7);
    CHECK(reader.u64() == 0xfedcba9876543210);
    CHECK_FALSE(reader.failed());
}

TEST_CASE("writing past the end breaks a contract and leaves the rest alone", "[base]") {
    std::array<std::byte, 4> out{};
    LittleEndianWriter writer{std::span{out}.first(3)};
    writer.u16(0xffff);
    CHECK_THROWS_AS(writer.u16(0xffff), ContractViolation);
    CHECK_THROWS_AS(writer.zeros(2), ContractViolation);
    CHECK(out[2] == 0_b);
    CHECK(out[3] == 0_b);
}

TEST_CASE("reading past the end gives zero and fails for good", "[base]") {
    std::array<std::byte, 3> in{0xff_b, 0xff_b, 0xff_b};
    LittleEndianReader reader{in};
    CHECK(reader.u32() == 0);
    CHECK(reader.failed());
    CHECK(reader.u8() == 0);
    CHECK(reader.left() == 0);
    CHECK(reader.bytes(1).empty());
    CHECK(reader.failed());
}

TEST_CASE("loading or storing beyond a span breaks a contract", "[base]") {
    std::array<std::byte, 3> bytes{};
    CHECK_THROWS_AS(load_le<std::uint32_t>(bytes), ContractViolation);
    CHECK_THROWS_AS(store_le<std::uint32_t>(bytes, 1), ContractViolation);
}
