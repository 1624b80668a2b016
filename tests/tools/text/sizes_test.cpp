#include "tests/support/catch.h"

#include "tools/text/sizes.h"

using namespace flashlab;

TEST_CASE("sizes accept K, M, G, T, KiB as powers of 1024 and KB as powers of 1000", "[tools]") {
    CHECK(parse_size("0").value() == 0);
    CHECK(parse_size("512").value() == 512);
    CHECK(parse_size("4k").value() == 4096);
    CHECK(parse_size("4 KiB").value() == 4096);
    CHECK(parse_size("3M").value() == 3u << 20);
    CHECK(parse_size("2G").value() == std::uint64_t{2} << 30);
    CHECK(parse_size("1TiB").value() == std::uint64_t{1} << 40);
    CHECK(parse_size("10MB").value() == 10'000'000);
}

TEST_CASE("a size for people has three digits, or four before the next unit, and no exponent", "[tools]") {
    CHECK(human_size(999) == "999 B");
    CHECK(human_size(1536) == "1.5 KiB");
    CHECK(human_size(1000 << 10) == "1000 KiB");
    CHECK(human_size((1023 << 10) + 512) == "1024 KiB");
    CHECK(human_size(1u << 30) == "1 GiB");
}

TEST_CASE("a size that is none is refused with the reason", "[tools]") {
    for (const char* text : {"", "G", "-1", "1.5G", "4q", "4kk", "99999999999999999999", "99999999999T"}) {
        CAPTURE(text);
        const auto size = parse_size(text);
        REQUIRE_FALSE(size.has_value());
        CHECK(size.error().find("is not a size") != std::string::npos);
    }
}

TEST_CASE("times are seconds, or have their unit; what is none, or nothing, is refused", "[tools]") {
    CHECK(parse_seconds("10").value() == 10'000'000'000);
    CHECK(parse_seconds("0.1").value() == 100'000'000);
    CHECK(parse_seconds("20ms").value() == 20'000'000);
    CHECK(parse_seconds("1.5us").value() == 1'500);
    CHECK(parse_seconds("2m").value() == 120'000'000'000);
    CHECK(parse_seconds("1h").value() == 3'600'000'000'000);
    for (const char* text : {"", "0", "-1", "s", "1 s", "1d", "1e3", "nan", "inf", "9999999999", "0.0000000001"}) {
        CAPTURE(text);
        const auto time = parse_seconds(text);
        REQUIRE_FALSE(time.has_value());
        CHECK(time.error().find("is not a time") != std::string::npos);
    }
}

TEST_CASE("a size printed exactly reads back as itself", "[tools]") {
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{4097}, std::uint64_t{3} << 30, std::uint64_t{5} << 50})
        CHECK(parse_size(format_size(bytes)).value() == bytes);
}
