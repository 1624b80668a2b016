/// One figure of a paper, measured anew.
///
/// Idea       An experiment builds its device from a preset, drives it in virtual time and returns points and claims. What the paper found stands in
///            paper_values.cpp only. It is put beside our result when the result is shown.
/// Invariant  R1 no point depends on a paper's result; claims compare points with it. R2 two runs give the same bytes: they use no clock of the host
///            and no randomness without a seed. Points may be measured on several cores; measure_points() keeps their order.
/// Cost       A quick run of one experiment takes a second to half a minute; a full one up to some minutes.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/reproduce/claim.h"
#include "tools/run/workers.h"
#include "tools/text/json.h"

namespace flashlab {

struct ReproducedPoint {
    std::string series; ///< its name ends with the unit
    double x = 0;
    Json::Object params;
    double ours = 0;
};

/// Where a load came from: "desktop", "generated: workload:desktop,scale=16 ..." or "the file /tmp/fin.spc, read as spc".
struct ReproducedLoad {
    std::string name, source;
};

/// What the paper leaves open, the value taken, and why.
struct FreeParameter {
    std::string name, value, why;
    std::string fitted_to = {};     ///< the paper's numbers or sentences by which it was chosen; empty: by none
    std::string changed_after = {}; ///< what had failed when it was changed; empty: it never was
};

struct Reproduction {
    std::vector<ReproducedPoint> points;
    std::vector<ReproducedClaim> claims;
    std::vector<ReproducedLoad> loads; ///< empty where the load is the request sizes of the points
    std::vector<FreeParameter> free_parameters;

    /// Judged by the line of the data file that fits.
    void claim(std::string_view id, std::string name, std::string ours, std::vector<Evidence> evidence) {
        claims.push_back(judged(id, std::move(name), std::move(ours), std::move(evidence)));
    }
};

enum class RunLength : std::uint8_t { full, quick };

/// The user's file that replaces a generated load: --trace NAME=FILE.
struct TraceInPlace {
    std::string name, path;
};

struct RunContext {
    RunContext(RunLength of_run, Workers* spare = nullptr, std::span<const TraceInPlace> files = {},
               std::string folder = {}) // NOLINT: a length is a context
        : length{of_run}, workers{spare}, traces{files}, trace_folder{std::move(folder)} {}
    RunLength length;
    Workers* workers; ///< used by measure_points(); null: one core
    std::span<const TraceInPlace> traces;
    std::string trace_folder; ///< folder of real traces, for experiments that play them; empty: generated loads replace them
    [[nodiscard]] bool is_quick() const { return length == RunLength::quick; }
};

/// run_x(RunLength) or run_x(const RunContext&).
class ExperimentRun {
public:
    using Result = std::expected<Reproduction, std::string>;
    constexpr ExperimentRun(Result (*run)(RunLength)) : simple_{run} {}               // NOLINT: a table of functions reads like one
    constexpr ExperimentRun(Result (*run)(const RunContext&)) : with_context_{run} {} // NOLINT
    [[nodiscard]] Result operator()(const RunContext& context) const { return simple_ != nullptr ? simple_(context.length) : with_context_(context); }

private:
    Result (*simple_)(RunLength) = nullptr;
    Result (*with_context_)(const RunContext&) = nullptr;
};

struct Experiment {
    std::string_view id;
    std::string_view paper;
    std::string_view title;
    ExperimentRun run;
    bool is_long = false; ///< a quick run takes more than two seconds: its tests carry the label long

    /// What run() gives, and a claim for each number that the paper prints.
    [[nodiscard]] ExperimentRun::Result reproduce(const RunContext& context) const;
};

/// All experiments, in the order of papers and figures.
[[nodiscard]] std::span<const Experiment> experiments();
[[nodiscard]] const Experiment* find_experiment(std::string_view id);

/// The number that the paper prints for a point; nothing if it prints none.
[[nodiscard]] std::optional<double> paper_value(std::string_view id, std::string_view series, double x);

/// {id, paper, title, points:[{series, x, params, paper, ours, ratio}], claims:[{text, paper, ours, holds, kind, bound}], loads:[{name, source}],
/// free_parameters:[{name, value, why, fitted_to, changed_after}]}
[[nodiscard]] Json to_json(const Experiment& experiment, const Reproduction& result);

} // namespace flashlab
