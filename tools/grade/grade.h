/// Judges a translation layer: the checks that it passes, what it costs, and a mark.
///
/// Idea       Everything that touches the scheme happens in a process of its own (isolated.h): a scheme that crashes, hangs or exits fails that
///            check, and the others are asked all the same. Its figures are set beside those of page_map on the same drives.
/// Invariant  G1 a scheme that fails one check has the mark F and no points, whatever its figures are.
///            G2 points: 50 where a figure equals page_map's, 25 more for each halving of a cost, 25 less for each doubling, within 0 and 100.
///            G3 the score is the mean of waf, memory, recovery and speed, by the weights; A from 60, B from 45, C from 30, D from 15, else E.
/// Cost       Some twenty processes; ten seconds for a page-mapping scheme.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/text/json.h"

namespace flashlab {

struct GradeWeights {
    static constexpr std::array<std::string_view, 4> names{"waf", "memory", "recovery", "speed"};
    std::array<std::uint32_t, 4> of{40, 20, 20, 20};
    /// "waf=50,memory=50": what is not named weighs nothing.
    [[nodiscard]] static std::expected<GradeWeights, std::string> parse(const std::string& text);
};

struct GradeRequest {
    std::string what; ///< a scheme's name, or the file of a shared object
    std::uint64_t seed = 1;
    std::uint64_t states = 20'000;
    std::uint32_t cpu_seconds = 120; ///< of one check
    GradeWeights weights = {};
};

struct GradedCheck {
    std::string name, promise;
    std::string found; ///< empty: passed
    std::string replay;
};

struct Grade {
    std::string scheme, idea;
    std::vector<GradedCheck> checks;
    Json figures;   ///< null where a check failed so that there are none
    Json reference; ///< page_map's
    std::array<double, 4> points{};
    double score = 0;
    std::string mark;
    bool is_partial = false; ///< it was ended before all was asked

    [[nodiscard]] bool passed() const;
    [[nodiscard]] Json to_json() const;
};

/// The error: there is no such scheme, or the object is not one of ours. `go_on` hears what comes next; false ends it.
[[nodiscard]] std::expected<Grade, std::string> grade(const GradeRequest& request, const std::function<bool(std::string_view next)>& go_on);

/// G2 of a cost, where `reference` is page_map's.
[[nodiscard]] double points_of(double cost, double reference);
[[nodiscard]] std::string mark_of(double score);

} // namespace flashlab
