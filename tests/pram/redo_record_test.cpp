#include <algorithm>
#include <cstring>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "pram/redo_record.h"
#include "tests/pram/pram_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::uint32_t seed = 0x12345678;

std::vector<std::byte> built(RedoRecordBuilder& builder, std::uint64_t sequence) {
    const auto runs = builder.finish(sequence, PramAddress{0});
    return {runs.front().data.begin(), runs.front().data.end()};
}

} // namespace

TEST_CASE("a record of two entries, byte for byte", "[pram][format]") {
    RedoRecordBuilder builder{4096, 8, seed};
    const std::vector<std::byte> present(64);
    auto wanted = present;
    wanted[0] = std::byte{0x11};  // word 0
    wanted[16] = std::byte{0x22}; // word 2: word 1 between them is carried along
    wanted[47] = std::byte{0x33}; // word 5: too far, an entry of its own
    REQUIRE(builder.add_changes(PramAddress{0x2000}, wanted, present));
    const auto record = built(builder, 0x0123456789ab);
    const auto expected = bytes_of({
        0x08, 0, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, // eight units of 8 bytes, sequence
        3,    0, 0x00, 0x20, 0,    0,    0,    0,    // three words from 0x2000
        0x11, 0, 0,    0,    0,    0,    0,    0,    //
        0,    0, 0,    0,    0,    0,    0,    0,    //
        0x22, 0, 0,    0,    0,    0,    0,    0,    //
        1,    0, 0x28, 0x20, 0,    0,    0,    0,    // one word from 0x2028
        0,    0, 0,    0,    0,    0,    0,    0x33, //
        2,    0, 0,    0,                            // entries; the CRC follows
    });
    REQUIRE(record.size() == 64);
    CHECK(std::ranges::equal(std::span{record}.first(60), expected));
    CHECK(load_le<std::uint32_t>(std::span{record}.subspan(60)) == crc32c(std::span{record}.first(60), seed));
}

TEST_CASE("a record of two-byte words is padded to eight bytes before its tail", "[pram][format]") {
    RedoRecordBuilder builder{4096, 2, seed};
    REQUIRE(builder.add_changes(PramAddress{6}, bytes_of({0xcd, 0xab}), bytes_of({0, 0})));
    const auto record = built(builder, 1);
    const auto expected = bytes_of({
        4,    0,    1, 0, 0, 0, 0, 0, // four units, sequence 1
        1,    0,    6, 0, 0, 0, 0, 0, // one word at 6
        0xcd, 0xab, 0, 0, 0, 0, 0, 0, // it, and six bytes of padding
        1,    0,    0, 0,             // one entry
    });
    REQUIRE(record.size() == 32);
    CHECK(std::ranges::equal(std::span{record}.first(28), expected));
}

TEST_CASE("only changed words go home", "[pram]") {
    RedoRecordBuilder builder{4096, 8, seed};
    const std::vector<std::byte> present(64);
    auto wanted = present;
    wanted[0] = wanted[8] = wanted[24] = std::byte{1};
    REQUIRE(builder.add_changes(PramAddress{128}, wanted, present));
    const auto runs = builder.finish(1, PramAddress{4096});
    REQUIRE(runs.size() == 3);
    CHECK(runs[0].at == PramAddress{4096});
    CHECK(runs[1].at == PramAddress{128});
    CHECK(runs[1].data.size() == 16);
    CHECK(runs[2].at == PramAddress{152});
    CHECK(runs[2].data.size() == 8);
}

TEST_CASE("what was built is decoded, in its own ring only", "[pram]") {
    const std::uint32_t word = GENERATE(2u, 4u, 8u);
    CAPTURE(word);
    Random random{word};
    RedoRecordBuilder builder{4096, word, seed};
    for (std::uint64_t sequence = 1; sequence < 200; ++sequence) {
        builder.begin();
        std::vector<std::byte> home(1024);
        auto wanted = home;
        for (std::size_t i = random.below(40) + 1; i != 0; --i) wanted[random.below(wanted.size())] = std::byte{0x5a};
        REQUIRE(builder.add_changes(PramAddress{0}, wanted, home));
        const auto bytes = built(builder, sequence);
        const auto record = decode_redo_record(bytes, seed);
        REQUIRE(record.has_value());
        CHECK(record->sequence == sequence);
        CHECK(record->bytes == bytes.size());
        CHECK_FALSE(decode_redo_record(bytes, seed + 1).has_value());
        std::vector<PramRun> runs;
        REQUIRE(append_runs(*record, word, runs));
        for (const PramRun& run : runs) std::ranges::copy(run.data, home.begin() + static_cast<std::ptrdiff_t>(run.at.value()));
        REQUIRE(home == wanted);
    }
}

TEST_CASE("a record that lacks or changes any bit is none", "[pram][format]") {
    RedoRecordBuilder builder{4096, 8, seed};
    Random random{9};
    REQUIRE(builder.add_changes(PramAddress{8}, random_bytes(random, 80), std::vector<std::byte>(80)));
    auto bytes = built(builder, 77);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        REQUIRE_FALSE(decode_redo_record(std::span{bytes}.first(i), seed).has_value());
        for (unsigned bit = 0; bit < 8; ++bit) {
            bytes[i] ^= static_cast<std::byte>(1u << bit);
            REQUIRE_FALSE(decode_redo_record(bytes, seed).has_value());
            bytes[i] ^= static_cast<std::byte>(1u << bit);
        }
    }
    CHECK(decode_redo_record(bytes, seed).has_value());
}

TEST_CASE("a builder says when its record would not fit, and never beyond", "[pram]") {
    RedoRecordBuilder builder{64, 8, seed};
    const std::vector<std::byte> ones(48, std::byte{1});
    const std::vector<std::byte> zeros(48);
    REQUIRE(builder.add_changes(PramAddress{0}, std::span{ones}.first(40), std::span{zeros}.first(40))); // 8 + 8 + 40 + 8 = 64
    CHECK(builder.encoded_bytes() == 64);
    builder.begin();
    CHECK_FALSE(builder.add_changes(PramAddress{0}, ones, zeros));
}
