#include "base/utf8.h"

#include <array>
#include <string_view>

#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("a character of UTF-8 is told by its code and its bytes", "[utf8]") {
    struct Sample {
        std::string_view bytes;
        std::uint32_t code;
    };
    for (const auto& [bytes, code] : {Sample{"a", 'a'},
                                      {"\n", '\n'},
                                      {"\xc2\x80", 0x80},
                                      {"\xdf\xbf", 0x7ff},
                                      {"\xe0\xa0\x80", 0x800},
                                      {"\xef\xbf\xbf", 0xffff},
                                      {"\xf0\x90\x80\x80", 0x10000},
                                      {"\xf4\x8f\xbf\xbf", 0x10ffff}}) {
        const auto character = utf8_character(bytes);
        REQUIRE(character);
        CHECK(character->code == code);
        CHECK(character->bytes == bytes.size());
    }
}

TEST_CASE("bytes that RFC 3629 forbids are no character", "[utf8]") {
    for (const std::string_view bytes : std::array<std::string_view, 11>{"", "\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                                                                         "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xff", "\xe2\x82", "\xe2x\xac"}) {
        CHECK_FALSE(utf8_character(bytes));
    }
}
