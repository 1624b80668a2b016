/// What `crash explore` does of its own accord: every cut on one device, then drawn cuts on all, most where there is most to be seen.
///
/// Idea       The standard workloads are exhausted on the device chip-slc. Then rounds are drawn: a device, a workload, some cuts with their
///            outcomes. Orders that go wrong need several dies, a write buffer, paired pages or wear levelling, and these are on the other devices.
///            Each device gets its share of the rounds; the others go where the last rounds met the most states that nobody had met before.
/// Invariant  Everything follows from the seed. Without a defect it finds nothing; the seeded orderings (seeded_orderings.cpp) are found in each
///            scheme.
/// Cost       As the Explorer; `Effort` is the number of states.
/// Power cut  Makes them.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "crash/explorer.h"

namespace flashlab {

class DrawnExploration {
public:
    /// All shapes and cells that the scheme accepts, or those of `devices`. The error is the reason of the last refusal, when it refuses all.
    [[nodiscard]] static std::expected<std::unique_ptr<DrawnExploration>, std::string>
    make(const std::string& scheme, std::uint64_t seed, const std::vector<std::string>& devices, Sabotage* sabotage = nullptr, JudgeSet judges = {});
    /// Draws rounds until `states` more have been judged, or the limits end it.
    void run(std::uint64_t states, ExploreLimits limits, ExploreReport& report);
    [[nodiscard]] std::vector<std::string> devices() const;
    /// The one that explored the device of a violation, to shrink it.
    [[nodiscard]] Explorer& explorer_of(const std::string& device);

private:
    struct Arm {
        std::unique_ptr<Explorer> explorer;
        std::uint64_t rounds = 0;
        double yield = 1.0; ///< distinct states a state, of the last rounds
    };
    explicit DrawnExploration(std::uint64_t seed) : random_{seed} {}
    [[nodiscard]] Arm& next();

    Random random_;
    std::vector<Arm> arms_;
    std::uint64_t rounds_ = 0;
};

/// Every cut of the standard workloads on chip-slc, each recovery cut again; then `drawn` states.
struct Effort {
    std::uint64_t exhausted = ~std::uint64_t{0}; ///< states of the first part, at most
    std::uint64_t drawn = 100'000;
};
[[nodiscard]] std::expected<std::vector<std::string>, std::string> explore_by_default(const std::string& scheme, std::uint64_t seed,
                                                                                      const Effort& effort, const ExploreLimits& limits,
                                                                                      ExploreReport& report, Sabotage* sabotage = nullptr,
                                                                                      JudgeSet judges = {});

} // namespace flashlab
