/// From measurements of a drive to a preset: which parameters the points identify, and how well the others are predicted.
///
/// Idea       Each parameter is identified by one kind of load that hardly anything else moves: the program time by writes in order, tR by single
///            reads, the reserve by random overwrites. It is searched with that point alone, one after the other, twice. All other points are
///            predicted.
/// Invariant  A point by which a parameter was chosen is marked fitted. A parameter that no point identifies keeps the base's value, and is named.
/// Cost       Some ten runs of a point for each parameter: a minute or two in all.
/// Source     docs/fidelity.md.
#pragma once

#include <functional>
#include <optional>

#include "tools/fit/fitted_drive.h"

namespace flashlab {

enum class FitMetric : std::uint8_t { iops, p50, p99, waf, cache_share, first_speed, then_speed, mean_speed };
[[nodiscard]] std::string_view name_of(FitMetric metric);

/// One number of a point, of the drive and of the model.
struct FitRow {
    std::string file, job;
    bool is_read = false;
    FitMetric metric = FitMetric::iops;
    double measured = 0, model = 0;
    std::string fitted_key; ///< empty: predicted
};

struct FittedKey {
    std::string key;
    double base = 0, fitted = 0;
    bool is_at_end = false;           ///< of its range: the drive lies outside
    std::string by{};                 ///< file and job, and what of it
    std::string unidentified_since{}; ///< not empty: no point identifies it, and why
};

struct DriveFit {
    FitSettings drive;
    std::vector<FittedKey> keys;
    std::vector<FitRow> rows;
};

using FitProgress = std::function<void(const std::string& what)>;

/// `base`: the preset that gives all that is not fitted. Fails when no point identifies anything.
[[nodiscard]] std::expected<DriveFit, std::string> fit_drive(const std::vector<FitPoint>& points, const FitSettings& base, std::uint64_t seed,
                                                             const FitProgress& progress = {});
/// The keys as --config reads them.
[[nodiscard]] std::string preset_toml(const DriveFit& fit);

} // namespace flashlab
