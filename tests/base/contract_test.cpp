#include <string>

#include "base/contract.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("a promise that holds costs nothing and says nothing", "[base]") { CHECK_NOTHROW(ensure(true, "two is even")); }

TEST_CASE("a broken promise names itself, its file and its function", "[base]") {
    try {
        ensure(false, "two is odd");
        FAIL("it did not throw");
    } catch (const ContractViolation& violation) {
        const std::string what = violation.what();
        CHECK(what.find("two is odd") != std::string::npos);
        CHECK(what.find("contract_test.cpp") != std::string::npos);
    }
}
