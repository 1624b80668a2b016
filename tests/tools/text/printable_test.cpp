// Goal: no name of a file commands a terminal.
#include "tests/support/catch.h"

#include "tools/text/printable.h"

using namespace flashlab;

TEST_CASE("control characters of both sets are '?', other letters stay", "[text]") {
    CHECK(printable("a\x1b[31mb\x7f") == "a?[31mb?");
    CHECK(printable("\xc2\x9b"
                    "31m") == "?31m");
    CHECK(printable("gr\xc3\xbc\xc3\x9f"
                    "e \xc2\xb5s\n\t") == "gr\xc3\xbc\xc3\x9f"
                                          "e \xc2\xb5s\n\t");
    CHECK(printable("\xc2") == "\xc2");
    CHECK(printable_line("a\nb\tc") == "a?b?c");
}
