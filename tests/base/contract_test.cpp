#include <string>

#include "base/contract.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("a promise that holds costs nothing and says nothing", "[base]") { CHECK_NOTHROW(ensure(true, "two is even")); }

TEST_CASE("a broken promise names itself, and its file and function to those who ask", "[base]") {
    try {
        ensure(false, "two is odd");
        FAIL("it did not throw");
    } catch (const ContractViolation& violation) {
        CHECK(std::string{violation.what()} == "two is odd");
        CHECK(violation.place().find("contract_test.cpp") != std::string::npos);
    }
}
