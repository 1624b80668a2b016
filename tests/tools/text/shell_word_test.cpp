#include "tools/text/shell_word.h"

#include "tests/support/catch.h"

namespace flashlab {

TEST_CASE("a text is one word of a shell, whatever quotes it holds", "[tools]") {
    CHECK(shell_word("") == "''");
    CHECK(shell_word("a b $HOME \"c\" \\") == "'a b $HOME \"c\" \\'");
    CHECK(shell_word("it's") == R"('it'\''s')");
}

} // namespace flashlab
