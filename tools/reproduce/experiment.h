/// One figure of a paper, measured anew.
///
/// Idea       An experiment builds its device from a preset, drives it in virtual time and returns points and claims. What the paper found is in
///            paper_values.cpp alone and meets ours only when a result is shown.
/// Invariant  R1 nothing that run() returns depends on a paper's result. R2 two runs give the same bytes: no clock of the host, no chance without a seed.
/// Cost       A quick run of one experiment takes about a second; a full one some.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/json.h"

namespace flashlab {

struct ReproducedPoint {
    std::string series; ///< names the unit
    double x = 0;
    Json::Object params;
    double ours = 0;
};

/// What the paper says in words, judged by what was measured.
struct ReproducedClaim {
    std::string text;
    std::string ours; ///< the numbers that decide
    bool holds = false;
};

struct Reproduction {
    std::vector<ReproducedPoint> points;
    std::vector<ReproducedClaim> claims;
};

enum class RunLength : std::uint8_t { full, quick };

struct Experiment {
    std::string_view id;
    std::string_view paper;
    std::string_view title;
    std::expected<Reproduction, std::string> (*run)(RunLength length);
};

/// In the order of papers and figures.
[[nodiscard]] std::span<const Experiment> experiments();
[[nodiscard]] const Experiment* find_experiment(std::string_view id);

/// What the paper prints for a point; none where it prints no number.
[[nodiscard]] std::optional<double> paper_value(std::string_view id, std::string_view series, double x);
/// The paper's words for a claim; empty where there are none of its own.
[[nodiscard]] std::string_view paper_words(std::string_view id, std::string_view claim);

/// {id, paper, title, points:[{series, x, params, paper, ours, ratio}], claims:[{text, paper, ours, holds}]}
[[nodiscard]] Json to_json(const Experiment& experiment, const Reproduction& result);

} // namespace flashlab
