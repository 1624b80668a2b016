/// Distributions by rank against their definitions, and the arithmetic that makes them the same everywhere.
#include "tools/workloads/random_distribution.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
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

TEST_CASE("fio's zipf and pareto leave out the places that fio leaves out", "[tools][workload]") {
    // Counted in what fio 3.33 writes: rw=randwrite, bs=4k, size=400m, io_size=1600m, by --write_iolog; and the share of the most popular places.
    const auto [text, places, ten, tenth] = GENERATE(table<const char*, std::uint64_t, double, double>(
        {{"fio-zipf:0.8", 44659, 0.0822, 0.681}, {"fio-zipf:1.2", 23269, 0.5057, 0.964}, {"fio-pareto:0.2", 41802, 0.2790, 0.786}}));
    CAPTURE(seed, text);
    constexpr std::uint64_t count = 102'400, draws = 4 * count;
    RandomPlaces of{parsed(text), count};
    Random random{seed};
    std::vector<std::uint64_t> asked(count);
    for (std::uint64_t i = 0; i < draws; ++i) ++asked.at(of.draw(random));
    CHECK(static_cast<double>(count - static_cast<std::uint64_t>(std::ranges::count(asked, 0))) == Approx(static_cast<double>(places)).epsilon(0.01));
    std::ranges::sort(asked, std::greater{});
    const auto most_popular = [&](std::uint64_t n) { return static_cast<double>(std::accumulate(asked.begin(), asked.begin() + n, 0ul)) / draws; };
    CHECK(most_popular(10) == Approx(ten).epsilon(0.03));
    CHECK(most_popular(count / 10) == Approx(tenth).epsilon(0.01));
}

TEST_CASE("where the places are a power of two, fio's distributions ask for each", "[tools][workload]") {
    std::set<std::uint64_t> seen;
    for (std::uint64_t rank = 0; rank < 4096; ++rank) seen.insert(fio_place(rank, 4096));
    CHECK(seen.size() == 4096);
    for (const char* text : {"fio-zipf:0.5", "fio-zipf:2", "fio-pareto:0.3"})
        for (const std::uint64_t n : {1u, 2u, 3u, 1000u, 1001u}) {
            CAPTURE(text, n);
            RandomPlaces of{parsed(text), n};
            Random random{seed};
            for (int i = 0; i < 1000; ++i) REQUIRE(of.draw(random) < n);
        }
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
    for (const char* text : {"",
                             "zip",
                             "zipf",
                             "zipf:",
                             "zipf:-1",
                             "zipf:0",
                             "zipf:6",
                             "pareto:0.5",
                             "pareto:0",
                             "hotspot:0.2",
                             "hotspot:0,0.5",
                             "hotspot:1,0.5",
                             "hotspot:0.2,1.1",
                             "uniform:3",
                             "sequential:1",
                             "fio-zipf:1",
                             "fio-zipf:0",
                             "fio-zipf",
                             "fio-pareto:0.5",
                             "fio-hotspot:0.2,0.8"}) {
        CAPTURE(text);
        const auto spec = parse_distribution(text);
        REQUIRE(!spec.has_value());
        CHECK(spec.error().find("hotspot:SHARE,PROBABILITY") != std::string::npos);
    }
    CHECK(parsed("random") == parsed("uniform"));
}
