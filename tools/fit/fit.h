/// From measurements of a drive to a preset: which parameters the points identify, and how well the others are predicted.
///
/// Idea       Each parameter is identified by one kind of load that hardly anything else moves: the program time by writes in order, tR by single
///            reads, the reserve by random overwrites. It is searched with that point alone, one after the other, until a round moves none, three
///            rounds at most. All other points are predicted.
/// Invariant  A point by which a parameter was chosen is marked fitted. A parameter that no point identifies keeps the base's value, and is named.
/// Cost       Some five to ten runs of a point for each parameter and round, on all cores: a minute or two in all.
/// Source     docs/fidelity.md.
#pragma once

#include <functional>
#include <optional>

#include "tools/fit/fitted_drive.h"
#include "tools/fit/identified.h"

namespace flashlab {

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
    std::string beyond{};             ///< "or less", "or more": those do as well, as something else bounds what was measured
    std::string by{};                 ///< file and job, and what of it
    std::string unidentified_since{}; ///< not empty: no point identifies it, and why
};

struct DriveFit {
    FitSettings drive;
    std::vector<FittedKey> keys;
    std::vector<FitRow> rows;
};

/// Told after each run of a point how many of the fit's steps are done.
using FitProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// `base`: the preset that gives all that is not fitted. Fails when no point identifies anything.
[[nodiscard]] std::expected<DriveFit, std::string> fit_drive(const std::vector<FitPoint>& points, const FitSettings& base, std::uint64_t seed,
                                                             const FitProgress& progress = {});
/// The keys as --config reads them.
[[nodiscard]] std::string preset_toml(const DriveFit& fit);

/// What the base cannot be made to do: points by which a parameter was chosen, and which it does not meet. A sentence each.
[[nodiscard]] std::vector<std::string> unmet_by(const DriveFit& fit);

} // namespace flashlab
