// Results must repeat on every host, so the numbers themselves are part of the contract.
#include <array>

#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("the sequence of a seed is splitmix64's", "[base]") {
    // The values that the authors' reference program prints for seed 1234567.
    Random random{1234567};
    for (const std::uint64_t expected :
         {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u, 16408922859458223821u}) {
        CHECK(random.next() == expected);
    }
}

TEST_CASE("equal seeds give equal sequences, other seeds others", "[base]") {
    Random a{7};
    Random b{7};
    Random c{8};
    for (int i = 0; i < 100; ++i) {
        const auto value = a.next();
        CHECK(value == b.next());
        CHECK(value != c.next());
    }
}

TEST_CASE("draws below a bound stay below it and reach every value about equally often", "[base]") {
    Random random{3};
    std::array<int, 10> seen{};
    for (int i = 0; i < 100'000; ++i) ++seen.at(random.below(10));
    for (const int n : seen) {
        CHECK(n > 9'500);
        CHECK(n < 10'500);
    }
    CHECK(random.below(1) == 0);
}

TEST_CASE("unit draws lie in [0, 1) and average a half", "[base]") {
    Random random{4};
    double sum = 0;
    for (int i = 0; i < 100'000; ++i) {
        const double u = random.unit();
        REQUIRE(u >= 0.0);
        REQUIRE(u < 1.0);
        sum += u;
    }
    CHECK(sum / 100'000 == Approx(0.5).margin(0.01));
}

TEST_CASE("a chance of none never comes and a chance of all always", "[base]") {
    Random random{5};
    for (int i = 0; i < 1000; ++i) {
        REQUIRE_FALSE(random.chance(0, 10));
        REQUIRE(random.chance(10, 10));
    }
}

TEST_CASE("a fork is not shifted by its parent's later draws", "[base]") {
    Random parent{6};
    Random fork = parent.fork();
    const auto first = fork.next();
    Random again{6};
    Random fork_again = again.fork();
    for (int i = 0; i < 10; ++i) again.next();
    CHECK(fork_again.next() == first);
}
