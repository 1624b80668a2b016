// Goal: whatever bytes a file name or the output of a check has, XML and HTML stay well formed.
#include <string>

#include "tests/support/catch.h"
#include "tools/text/markup.h"

using namespace flashlab;

TEST_CASE("markup cannot be opened by a text", "[tools]") {
    CHECK(markup_escaped("</script><b a=\"'\">&amp;") == "&lt;/script&gt;&lt;b a=&quot;&#39;&quot;&gt;&amp;amp;");
    CHECK(markup_escaped("a\tb\nc\r") == "a\tb\nc\r");
}

TEST_CASE("what is no character of XML becomes the replacement character", "[tools]") {
    const std::string none = "\xef\xbf\xbd";
    for (const char* good : {"\x7f", "\xc2\x80", "\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbd"})
        CHECK(markup_escaped(good) == good);
    CHECK(markup_escaped(std::string{"a\0b\x1b[31m", 8}) == "a" + none + "b" + none + "[31m");
    CHECK(markup_escaped("bad\xff\xfe.") == "bad" + none + none + ".");
    CHECK(markup_escaped("\xc0\xaf") == none + none);                       // overlong
    CHECK(markup_escaped("\xe0\x80\xaf") == none + none + none);            // overlong
    CHECK(markup_escaped("\xf0\x80\x80\xaf") == none + none + none + none); // overlong
    CHECK(markup_escaped("\xed\xa0\x80") == none + none + none);            // half of a surrogate pair
    CHECK(markup_escaped("\xef\xbf\xbf") == none + none + none);            // U+FFFF
    CHECK(markup_escaped("\xf4\x90\x80\x80") == none + none + none + none); // beyond U+10FFFF
    CHECK(markup_escaped("cut \xe2\x82") == "cut " + none + none);
    CHECK(markup_escaped("\xe2\x82<") == none + none + "&lt;");
}
