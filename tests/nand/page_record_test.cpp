// Goal: a page record is what was written, or is known not to be.
// Method: each state, each bit.
#include <algorithm>
#include <array>

#include "nand/image_layout.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("every flipped bit of a page record is noticed, whatever state it is in, but those of garbage, which promises nothing", "[nand]") {
    for (const CellState state :
         {CellState::erased, CellState::programmed, CellState::torn, CellState::garbage, CellState::unstable, CellState::weak}) {
        PageRecord record{.state = state};
        if (state != CellState::erased) {
            record.data_crc = 0x01020304;
            PageOob{Lpn{5}, WriteSequence{9}, PageKind::data, 0}.encode(record.oob);
        }
        std::array<std::byte, ImageLayout::page_record_bytes> raw;
        encode_page_record(record, raw);
        PageRecord back;
        REQUIRE(decode_page_record(raw, back));
        CHECK(back == record);
        // Behind the first eight bytes an erased record has nothing that counts.
        const std::size_t counts = state == CellState::garbage ? 4 : state == CellState::erased ? 8 : raw.size();
        for (std::size_t bit = 0; bit < counts * 8; ++bit) {
            raw[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
            INFO(static_cast<int>(state) << ", bit " << bit);
            CHECK_FALSE(decode_page_record(raw, back));
            raw[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        }
    }
}

TEST_CASE("a page whose record was stored but for its state is erased, without a trace of the rest", "[nand]") {
    PageRecord record{.state = CellState::programmed, .data_crc = 0x01020304};
    PageOob{Lpn{5}, WriteSequence{9}, PageKind::data, 0}.encode(record.oob);
    std::array<std::byte, ImageLayout::page_record_bytes> raw;
    encode_page_record(record, raw);
    PageRecord back;
    REQUIRE(decode_page_record(raw, back));
    CHECK(back == record);
    std::ranges::fill(std::span{raw}.first<8>(), std::byte{0});
    REQUIRE(decode_page_record(raw, back));
    CHECK(back == PageRecord{});
}
