/// fio's numbers, times and lists against what fio 3.33 makes of them.
#include "tests/support/catch.h"

#include "tools/text/fio_values.h"

using namespace flashlab;

TEST_CASE("fio's sizes are powers of 1024, and of 1000 where it says ib, or the other way round with kb_base=1000", "[text][fio]") {
    for (const auto& [text, by_1024, by_1000] : {std::tuple{"4096", 4096u, 4096u},
                                                 {"4k", 4096u, 4000u},
                                                 {"4kb", 4096u, 4000u},
                                                 {"4KiB", 4000u, 4096u},
                                                 {"4ki", 4096u, 4000u},
                                                 {"0x1000", 4096u, 4096u},
                                                 {"1.5m", 1572864u, 1500000u}}) {
        CAPTURE(text);
        CHECK(fio_size(text, 1024) == by_1024);
        CHECK(fio_size(text, 1000) == by_1000);
    }
    for (const char* text : {"", "k", "4x", "4kk", "-4k", "0x", "18446744073709551615k"}) {
        CAPTURE(text);
        CHECK_FALSE(fio_size(text, 1024).has_value());
    }
}

TEST_CASE("a list of fio's has an element for reads and one for writes, a single value is for both", "[text][fio]") {
    for (const auto& [list, reads, writes] :
         {std::tuple{"4k", "4k", "4k"}, {"4k,8k", "4k", "8k"}, {",8k", "", "8k"}, {"4k,", "4k", ""}, {"4k,8k,16k", "4k", "8k"}}) {
        CAPTURE(list);
        CHECK(fio_directions(list).reads == reads);
        CHECK(fio_directions(list).writes == writes);
    }
}

TEST_CASE("what is blank in a split shares the rest, and more than all is none", "[text][fio]") {
    const auto shares = fio_shares("4k/50:8k/:16k/");
    REQUIRE(shares.has_value());
    REQUIRE(shares->size() == 3);
    CHECK(shares->at(0).percent == 50);
    CHECK(shares->at(2).percent == 25);
    for (const char* list : {"", "4k/60:8k/50", "4k/x", "4k/-1"}) {
        CAPTURE(list);
        CHECK_FALSE(fio_shares(list).has_value());
    }
}

TEST_CASE("fio's times have their units, and engines that wait are known", "[text][fio]") {
    CHECK(fio_time("500msec") == "500ms");
    CHECK(fio_time("10S") == "10s");
    CHECK(fio_time("1d") == "24h");
    CHECK_FALSE(fio_time("soon").has_value());
    for (const char* engine : {"sync", "psync", "pvsync2", "mmap", "splice"}) CHECK(is_fio_synchronous(engine));
    for (const char* engine : {"libaio", "io_uring", "posixaio", "solarisasync"}) CHECK_FALSE(is_fio_synchronous(engine));
}
