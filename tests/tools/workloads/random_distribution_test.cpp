/// Distributions by rank against their definitions, and the arithmetic that makes them the same everywhere.
#include "tools/workloads/random_distribution.h"

#include <cmath>
#include <set>
#include <vector>

#include "tests/support/catch.h"

#include "tools/workloads/portable_math.h"

using namespace flashlab;

namespace {

constexpr std::uint64_t seed = 20111117;

DistributionSpec parsed(std::string_view text) {
    const auto spec = parse_distribution(text);
    REQUIRE(spec.has_value());
    return *spec;
}

std::vector<double> shares(std::string_view text, std::uint64_t count, int draws) {
    RandomDistribution distribution{parsed(text), count};
    Random random{seed};
    std::vector<double> share(count);
    for (int i = 0; i < draws; ++i) share.at(distribution.rank(random)) += 1.0 / draws;
    return share;
}

} // namespace

TEST_CASE("logarithm and exponential agree with the C library to 14 digits", "[tools][workload]") {
    Random random{seed};
    for (int i = 0; i < 20000; ++i) {
        const double x = std::exp((random.unit() - 0.5) * 600);
        CHECK(portable_log(x) == Approx(std::log(x)).epsilon(1e-14).margin(1e-14));
        const double y = (random.unit() - 0.5) * 1000;
        CHECK(portable_exp(y) == Approx(std::exp(y)).epsilon(2e-13));
    }
    CHECK(portable_log(1) == 0);
    CHECK(portable_exp(0) == 1);
}

TEST_CASE("zipf draws each rank as often as its theta says", "[tools][workload]") {
    const auto [text, theta] = GENERATE(table<const char*, double>({{"zipf:0.5", 0.5}, {"zipf:0.99", 0.99}, {"zipf:1", 1.0}, {"zipf:1.2", 1.2}}));
    CAPTURE(seed, text);
    constexpr std::uint64_t count = 100;
    constexpr int draws = 400000;
    const auto share = shares(text, count, draws);
    double sum = 0, chi2 = 0;
    for (std::uint64_t k = 1; k <= count; ++k) sum += std::pow(static_cast<double>(k), -theta);
    for (std::uint64_t k = 1; k <= count; ++k) {
        const double expected = std::pow(static_cast<double>(k), -theta) / sum;
        chi2 += (share[k - 1] - expected) * (share[k - 1] - expected) / expected * draws;
    }
    CHECK(chi2 < 149); // 99 degrees of freedom: exceeded once in a thousand seeds
}

TEST_CASE("pareto and hotspot give the hot share of the things the requests that they promise", "[tools][workload]") {
    CAPTURE(seed);
    const auto sum = [](const std::vector<double>& share, std::size_t first) {
        double all = 0;
        for (std::size_t i = 0; i < first; ++i) all += share[i];
        return all;
    };
    CHECK(sum(shares("pareto:0.2", 1000, 200000), 200) == Approx(0.8).margin(0.01));
    CHECK(sum(shares("hotspot:0.1,0.7", 1000, 200000), 100) == Approx(0.7).margin(0.01));
    CHECK(sum(shares("uniform", 1000, 200000), 300) == Approx(0.3).margin(0.01));
}

TEST_CASE("sequential walks through and begins again", "[tools][workload]") {
    RandomDistribution distribution{parsed("sequential"), 3};
    Random random{seed};
    for (const std::uint64_t expected : {0u, 1u, 2u, 0u, 1u}) CHECK(distribution.rank(random) == expected);
}

TEST_CASE("a huge zipf needs no table and no more time", "[tools][workload]") {
    RandomDistribution distribution{parsed("zipf:0.99"), std::uint64_t{1} << 40};
    Random random{seed};
    std::uint64_t outside = 0;
    for (int i = 0; i < 100000; ++i) outside += distribution.rank(random) < std::uint64_t{1} << 40 ? 0 : 1;
    CHECK(outside == 0);
}

TEST_CASE("a scattered order visits everything once", "[tools][workload]") {
    for (const std::uint64_t n : {1u, 2u, 3u, 7u, 64u, 1000u, 4097u}) {
        const ScatteredOrder order{n};
        std::set<std::uint64_t> seen;
        std::uint64_t neighbours = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            REQUIRE(order.at(i) < n);
            seen.insert(order.at(i));
            neighbours += i > 0 && (order.at(i) == order.at(i - 1) + 1 || order.at(i) + 1 == order.at(i - 1)) ? 1 : 0;
        }
        CHECK(seen.size() == n);
        if (n >= 64) CHECK(neighbours < n / 10);
    }
}

TEST_CASE("a distribution that makes no sense is refused with what is accepted", "[tools][workload]") {
    for (const char* text : {"", "zip", "zipf", "zipf:", "zipf:-1", "zipf:0", "zipf:6", "pareto:0.5", "pareto:0", "hotspot:0.2", "hotspot:0,0.5",
                             "hotspot:1,0.5", "hotspot:0.2,1.1", "uniform:3", "sequential:1"}) {
        CAPTURE(text);
        const auto spec = parse_distribution(text);
        REQUIRE(!spec.has_value());
        CHECK(spec.error().find("hotspot:SHARE,PROBABILITY") != std::string::npos);
    }
    CHECK(parsed("random") == parsed("uniform"));
}
