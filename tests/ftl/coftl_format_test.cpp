/// The bytes of ftl/FORMAT-coftl.md; and that damaged ones are refused.
#include "ftl/schemes/coftl_format.h"
#include "tests/support/bytes.h"
#include "tests/support/catch.h"

using namespace flashlab;
using flashlab::test::bytes;

namespace {

CoftlVersion small_version() {
    CoftlVersion v;
    v.clean = true;
    v.width = 2;
    v.sets = 9;
    v.virtual_blocks = 3;
    v.first_birth = 0x0102030405;
    v.listed = 1;
    v.free = {{SetId{7}, true}, {SetId{8}, false}};
    v.chains = {{.vb = VirtualBlockId{1}, .length = 2, .next_row = RowId{5}, .known = true, .committed = false, .closed = true, .sealed = false}};
    v.links = {{SetId{3}, 9}, {SetId{4}, 10}};
    v.statements = {{VirtualBlockId{1}, 10, RowId{5}, {0x2a}}};
    return v;
}

} // namespace

TEST_CASE("the scheme's word of a data page holds the index in the chain above the primary set", "[ftl][coftl]") {
    CHECK(CoftlWord::naming(ChainIndex{2}, SetId{0x030405}).encode() == 0x02030405u);
    CHECK(CoftlWord::decode(0xff000001u) == CoftlWord::naming(ChainIndex{255}, SetId{1}));
    CHECK(CoftlWord::decode(6) == CoftlWord::in_primary(6));
}

TEST_CASE("a summary page lies on flash as the format says, and only its own commit reads it", "[ftl][coftl]") {
    const std::vector<CoftlPlace> places{CoftlPlace{ChainIndex{1}, RowId{6}, false}, CoftlPlace{}, CoftlPlace{primary_index, RowId{2}, true}};
    std::vector<std::byte> page(32, std::byte{0xee});
    CoftlSummary::encode(page, ChainIndex{1}, 0x1122334455667788, places);
    CHECK(page == bytes({0x43, 0x4f, 0x53, 0x55, 1, 0, 3, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, //
                         7,    0,    1,    0,    0, 0, 0, 0, 3,    0,    0,    0x80, 0,    0,    0,    0}));
    std::vector<CoftlPlace> got(3);
    REQUIRE(CoftlSummary::decode(page, ChainIndex{1}, 0x1122334455667788, got));
    CHECK(got == places);
    CHECK_FALSE(CoftlSummary::decode(page, ChainIndex{0}, 0x1122334455667788, got));
    CHECK_FALSE(CoftlSummary::decode(page, ChainIndex{1}, 0x1122334455667789, got));
    page[0] = std::byte{0};
    CHECK_FALSE(CoftlSummary::decode(page, ChainIndex{1}, 0x1122334455667788, got));
}

TEST_CASE("a replacement page lies on flash as the format says", "[ftl][coftl]") {
    std::vector<std::byte> page(20, std::byte{0xee});
    CoftlPointer::encode(page, SetId{0x0a0b}, 5);
    CHECK(page == bytes({0x43, 0x4f, 0x52, 0x50, 0x0b, 0x0a, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_CASE("a log version lies on flash as the format says; cut short anywhere it is refused", "[ftl][coftl]") {
    std::vector<std::byte> out;
    small_version().encode(out);
    CHECK(out == bytes({0x43, 0x4f, 0x56, 0x4c, 2, 0, 1, 0, 2,  0, 0, 0, 9, 0, 0, 0, 3,  0, 0, 0, 1,    0, 0, 0, //
                        5,    4,    3,    2,    1, 0, 0, 0, 2,  0, 0, 0, 1, 0, 0, 0, 2,  0, 0, 0, 1,    0, 0, 0, //
                        7,    0,    0,    0x80, 8, 0, 0, 0,                                                      //
                        1,    0,    0,    0,    2, 0, 5, 0, 5,  0, 0, 0,                                         //
                        3,    0,    0,    0,    9, 0, 0, 0, 0,  0, 0, 0, 4, 0, 0, 0, 10, 0, 0, 0, 0,    0, 0, 0, //
                        1,    0,    0,    0,    5, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1,  0, 0, 0, 0x2a, 0, 0, 0, 0, 0, 0, 0}));
    REQUIRE(CoftlVersion::decode(out) == small_version());
    out[4] = std::byte{1}; // as it was before there were switches
    CHECK(CoftlVersion::decode(out) == small_version());
    out[4] = std::byte{3};
    CHECK_FALSE(CoftlVersion::decode(out).has_value());
    out[4] = std::byte{2};
    for (std::size_t length = 0; length < out.size(); ++length) CHECK_FALSE(CoftlVersion::decode(std::span{out}.first(length)).has_value());
    out.push_back(std::byte{0});
    CHECK_FALSE(CoftlVersion::decode(out).has_value());
}

TEST_CASE("a record of trims lies on flash as the format says; cut short anywhere it is refused", "[ftl][coftl]") {
    CoftlRecord r;
    r.drops = {{VirtualBlockId{2}, 3}};
    r.statements = {{VirtualBlockId{1}, 10, RowId{5}, {0x2a}}};
    std::vector<std::byte> out;
    r.encode(out);
    CHECK(out.size() == r.encoded_size());
    CHECK(out == bytes({1, 0, 0, 0, 1, 0, 0, 0, 2,  0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, //
                        1, 0, 0, 0, 5, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x2a, 0, 0, 0, 0, 0, 0, 0}));
    REQUIRE(CoftlRecord::decode(out) == r);
    for (std::size_t length = 0; length < out.size(); ++length) CHECK_FALSE(CoftlRecord::decode(std::span{out}.first(length)).has_value());
}
