/// How the points of a result are shown together: a series is "NAME, UNIT", and each unit is a plot or a table of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/reproduce/experiment.h"
#include "tools/text/table.h"

namespace flashlab {

/// What stands behind the last comma of a series.
[[nodiscard]] std::string_view unit_of(std::string_view series);
[[nodiscard]] std::string_view name_of(std::string_view series);

struct PointsOfUnit {
    std::string_view unit;
    std::vector<const ReproducedPoint*> points;
    std::string x_label; ///< the parameter that is x in all of them (a share: "map_share, %"), else "x"
};
/// In the order of their first points. Points into `result`.
[[nodiscard]] std::vector<PointsOfUnit> by_unit(const Reproduction& result);

/// A row a point: all of them in one table, for programs.
[[nodiscard]] Table points_as_rows(const Experiment& experiment, const Reproduction& result);

/// A table for each unit: a row a series, a column an x, and what the paper prints below; with many values of x a row a point.
[[nodiscard]] std::string points_as_text(const Experiment& experiment, const Reproduction& result);

} // namespace flashlab
