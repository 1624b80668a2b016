#include "tools/text/table.h"

#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("an object is printed for people a line a key: numbers of a list in one line, other items a line each", "[text]") {
    const auto object = Json::parse(R"({"a":1,"b":{"c":"x","d":[]},"e":[1,2.5],"f":["g","h"],"i":[{"j":1},{"j":[3]}]})");
    REQUIRE(object.has_value());
    CHECK(to_key_value_text(*object) == "a      1\n"
                                        "b.c    x\n"
                                        "b.d    []\n"
                                        "e      [1,2.5]\n"
                                        "f.0    g\n"
                                        "f.1    h\n"
                                        "i.0.j  1\n"
                                        "i.1.j  [3]\n");
    CHECK(shown(OutputFormat::csv, *object) == "key,value\na,1\nb.c,x\nb.d,[]\ne.0,1\ne.1,2.5\nf.0,g\nf.1,h\ni.0.j,1\ni.1.j.0,3\n");
    CHECK(shown(OutputFormat::json, *object) == object->dump() + "\n");
}

TEST_CASE("people read units, known by the end of a key, and large sizes a second time", "[text]") {
    const auto object = Json::parse(
        R"({"host_bytes":7,"page_bytes":4096,"busy_us":{"read":{"p50":1.5}},"spare_blocks":3,"temperature":300,"waf":2,"none_bytes":null})");
    REQUIRE(object.has_value());
    CHECK(to_key_value_text(*object) == "host_bytes        7 bytes\n"
                                        "page_bytes        4096 bytes (4 KiB)\n"
                                        "busy_us.read.p50  1.5 us\n"
                                        "spare_blocks      3 blocks\n"
                                        "temperature       300 K\n"
                                        "waf               2\n"
                                        "none_bytes        null\n");
    CHECK(shown(OutputFormat::csv, *object).find("\npage_bytes,4096\n") != std::string::npos); // programs get the number alone
}

TEST_CASE("people read six digits of a fraction and all of a whole number, programs read all digits", "[text]") {
    const auto object = Json::parse(R"({"a":12345678901,"b":0.1234567891,"c":1234567.875,"d":[0.0000012345678,7],"e":-99999.96,"f":0.1})");
    REQUIRE(object.has_value());
    CHECK(to_key_value_text(*object) == "a  12345678901\n"
                                        "b  0.123457\n"
                                        "c  1234568\n"
                                        "d  [1.23457e-06,7]\n"
                                        "e  -100000\n"
                                        "f  0.1\n");
    CHECK(shown(OutputFormat::csv, *object).find("b,0.1234567891\nc,1234567.875\n") != std::string::npos);
}
