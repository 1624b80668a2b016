// Goal: help on a narrow terminal loses no word, and what people copy stays in one line.
#include "tests/support/catch.h"

#include "tools/text/wrapped.h"

using namespace flashlab;

TEST_CASE("a long description goes on below its own beginning, lines that fit and examples stay", "[text]") {
    const std::string text =
        "Makes a drive\n\nOptions:\n  --size SIZE                 How large the drive is, as its file system sees it\n"
        "  -h                          Help\nExample:\n  flashlab mkfs /tmp/disk --size 4G --preset nvme-tlc --ftl dftl --label x\n";
    CHECK(wrapped_help(text, 60) ==
          "Makes a drive\n\nOptions:\n  --size SIZE                 How large the drive is, as its\n"
          "                              file system sees it\n"
          "  -h                          Help\nExample:\n  flashlab mkfs /tmp/disk --size 4G --preset nvme-tlc --ftl dftl --label x\n");
    CHECK(wrapped_help(text, 0) == text);
    CHECK(wrapped_help("one two three four", 9) == "one two\n      three\n      four");
}

TEST_CASE("on a terminal too narrow for two columns the text goes on near the edge, and a word wider than it stays whole", "[text]") {
    CHECK(wrapped_help("  --option                    a description of-which-one-word-is-very-long indeed", 40) ==
          "  --option                    a\n      description\n      of-which-one-word-is-very-long\n      indeed");
}
