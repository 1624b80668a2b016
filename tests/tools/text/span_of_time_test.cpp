// Goal: spans of time are whole numbers with a unit, and nothing else is one.
#include "tools/text/span_of_time.h"

#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("a span of time is a whole number of minutes, hours, days or years", "[tools]") {
    using std::chrono::hours;
    CHECK(parse_span_of_time("90m") == std::chrono::minutes{90});
    CHECK(parse_span_of_time("12h") == hours{12});
    CHECK(parse_span_of_time("30d") == hours{24 * 30});
    CHECK(parse_span_of_time("100y") == hours{24 * 365 * 100});
    for (const char* wrong : {"", "d", "30", "0d", "-1d", "+1d", "1.5d", "30 d", " 30d", "30dd", "30s", "101y", "99999999999d", "0x10d"}) {
        INFO(wrong);
        CHECK_FALSE(parse_span_of_time(wrong));
    }
}
