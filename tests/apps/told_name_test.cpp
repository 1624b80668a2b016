// Goal: what is told of a program's files is one line of UTF-8, whatever the names are, and no name is told as another.
#include "crash/apps/told_name.h"

#include <set>
#include <string>

#include "base/utf8.h"
#include "tests/apps/recorded_program.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("plain names are told as they are, others in quotes with escapes", "[told_name]") {
    CHECK(told_name("db/log.1") == "db/log.1");
    CHECK(told_name("stra\xc3\x9f\x65") == "stra\xc3\x9f\x65");
    CHECK(told_name("my file") == "\"my file\"");
    CHECK(told_name("a\nb\tc") == R"("a\nb\tc")");
    CHECK(told_name("\xff\x1b[31m") == R"("\xff\x1b[31m")");
    CHECK(told_name("a\"\\b") == R"("a\"\\b")");
    CHECK(told_name("txt.\xe2\x80\xae\x65xe") == R"("txt.\xe2\x80\xaeexe")"); // U+202E turns what follows
    CHECK(told_name("") == "\"\"");
    CHECK(quoted_words("blue") == "\"blue\"");
}

TEST_CASE("names of any bytes are told differently, in one line", "[told_name]") {
    std::set<std::string> told;
    const std::string letters = std::string{"a\\n\n\"x0 \xff\xc3\x9f\x7f", 12};
    for (const char a : letters)
        for (const char b : letters)
            for (const char c : letters) {
                const std::string one = told_name(std::string{a, b, c});
                for (std::string_view rest = one; !rest.empty();) {
                    const auto character = utf8_character(rest);
                    REQUIRE(character);
                    REQUIRE((character->code >= 0x20 && character->code != 0x7f));
                    rest.remove_prefix(character->bytes);
                }
                told.insert(one);
            }
    const std::set<char> different{letters.begin(), letters.end()};
    CHECK(told.size() == different.size() * different.size() * different.size());
}

TEST_CASE("a line of the trace with a name that ends lines is one line", "[told_name]") {
    RecordedProgram program;
    program.prepared();
    const auto file = program.create("a\nb");
    program.rename("a\nb", "c -> d");
    program.promise("one\ntwo");
    (void)file;
    const Past past{program.history()};
    std::string all;
    for (std::uint32_t i = past.first_cut(); i < past.size(); ++i) all += past.told(i) + ";";
    CHECK(all == "create \"a\\nb\";rename \"a\\nb\" -> \"c -> d\";promise \"one\\ntwo\";");
}
