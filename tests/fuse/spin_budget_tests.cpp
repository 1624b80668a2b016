#include "fs/fuse/spin_budget.h"

#include "tests/support/catch.h"

namespace flashlab {

TEST_CASE("Looking for the next request goes on while it pays", "[fuse]") {
    SpinBudget budget;
    for (int request = 0; request < 1000; ++request) {
        REQUIRE(budget.may_spin());
        budget.succeeded();
    }
}

TEST_CASE("Looking for the next request is tried ever more rarely when it does not pay", "[fuse]") {
    SpinBudget budget;
    int looks = 0;
    for (int request = 0; request < 10'000; ++request)
        if (budget.may_spin()) {
            ++looks;
            budget.failed();
        }
    // 2 + 4 + ... + 1024 requests hold ten looks, and then one in each 1024
    CHECK(looks == 18);
}

TEST_CASE("One success lets looking be tried at every request again", "[fuse]") {
    SpinBudget budget;
    for (int failure = 0; failure < 3; ++failure) {
        while (!budget.may_spin()) continue;
        budget.failed();
    }
    while (!budget.may_spin()) continue;
    budget.succeeded();
    CHECK(budget.may_spin());
    budget.failed();
    CHECK_FALSE(budget.may_spin());
    CHECK(budget.may_spin());
}

} // namespace flashlab
