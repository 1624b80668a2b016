/// Which of n things is asked for next: the distributions that block benchmarks know, by rank.
///
/// Idea       A distribution gives a rank. Rank 0 is the most popular. ScatteredOrder says where the popular things lie.
/// Invariant  The same specification, n and seed give the same ranks on every host. A rank is below n.
/// Cost       O(1) a draw whatever n is, without a table. zipf: by rejection from its envelope, about 1.1 draws, 60 ns. The others: one draw.
/// Source     Hoermann and Derflinger, Rejection-inversion to generate variates from monotone discrete distributions, 1996. pareto as fio defines it:
///            rank = n u^(log h / log(1 - h)), so that the share h of the things gets the share 1 - h of the requests. fio-zipf: Gray et al., Quickly
///            generating billion-record synthetic databases, SIGMOD 1994, with the sum of the first ten million ranks, as fio has it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "base/random.h"

namespace flashlab {

enum class DistributionKind : std::uint8_t { uniform, sequential, zipf, pareto, hotspot };

struct DistributionSpec {
    DistributionKind kind = DistributionKind::uniform;
    double parameter = 0;   ///< zipf: theta; pareto: h; hotspot: share of the things that is hot
    double probability = 0; ///< hotspot: share of the requests that go there
    bool as_fio = false;    ///< zipf and pareto: as fio draws and places them
    friend bool operator==(const DistributionSpec&, const DistributionSpec&) = default;
};

/// "uniform", "sequential", "zipf:0.9" (theta 0.01 to 5), "pareto:0.2" (h above 0, below 0.5), "hotspot:0.2,0.8" (share, probability), "fio-zipf:0.9"
/// (theta not 1), "fio-pareto:0.2". "random" is uniform.
[[nodiscard]] std::expected<DistributionSpec, std::string> parse_distribution(std::string_view text);

class RandomDistribution {
public:
    /// `count` > 0.
    RandomDistribution(const DistributionSpec& spec, std::uint64_t count);
    [[nodiscard]] std::uint64_t rank(Random& random);

private:
    [[nodiscard]] double area(double x) const;
    [[nodiscard]] double inverse_area(double y) const;
    [[nodiscard]] double height(double x) const;
    [[nodiscard]] std::uint64_t zipf_rank(Random& random) const;
    [[nodiscard]] std::uint64_t fio_zipf_rank(Random& random) const;

    DistributionSpec spec_;
    std::uint64_t count_;
    std::uint64_t next_ = 0;                          ///< for sequential
    std::uint64_t hot_ = 0;                           ///< for hotspot
    double exponent_ = 0;                             ///< for pareto
    double area_begin_ = 0, area_end_ = 0, sure_ = 0; ///< for zipf
    double sum_ = 0, eta_ = 0;                        ///< for fio-zipf
};

/// A permutation of [0, n) without a pattern. So popular things do not lie side by side, and neighbours are not visited at a fixed distance.
///
/// Idea       Mixing steps that are bijections of the next power of two, repeated until the result is below n.
/// Cost       Two walks or fewer on average, 5 ns each.
class ScatteredOrder {
public:
    /// 0 < n <= 2^40.
    explicit ScatteredOrder(std::uint64_t n);
    [[nodiscard]] std::uint64_t at(std::uint64_t index) const {
        do index = mixed(index);
        while (index >= n_);
        return index;
    }

private:
    [[nodiscard]] std::uint64_t mixed(std::uint64_t x) const {
        for (const std::uint64_t factor : {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu}) {
            x = (x * factor + (factor >> 32)) & mask_;
            x ^= x >> shift_;
        }
        return x;
    }
    std::uint64_t n_, mask_;
    unsigned shift_;
};

/// Where fio puts a rank. Where n is no power of two, some ranks share a place, and others of the n places are never asked for: which share, depends
/// on n alone.
[[nodiscard]] constexpr std::uint64_t fio_place(std::uint64_t rank, std::uint64_t n) { return rank * 0x61c8864680b583ebu % n; }

/// The places of a random load: popular ones lie scattered, those of fio's distributions where fio puts them.
class RandomPlaces {
public:
    /// 0 < count <= 2^40.
    RandomPlaces(const DistributionSpec& spec, std::uint64_t count) : spec_{spec}, count_{count}, ranks_{spec, count}, order_{count} {}
    [[nodiscard]] std::uint64_t draw(Random& random) {
        const std::uint64_t rank = ranks_.rank(random);
        if (spec_.kind == DistributionKind::uniform || spec_.kind == DistributionKind::sequential) return rank;
        return spec_.as_fio ? fio_place(rank, count_) : order_.at(rank);
    }

private:
    DistributionSpec spec_;
    std::uint64_t count_;
    RandomDistribution ranks_;
    ScatteredOrder order_;
};

} // namespace flashlab
