/// How the points of a result are shown together. A series is called "NAME, UNIT", and each unit is a plot or a table of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/reproduce/experiment.h"
#include "tools/text/table.h"

namespace flashlab {

/// The part of a series' name after the last comma.
[[nodiscard]] std::string_view unit_of(std::string_view series);
[[nodiscard]] std::string_view name_of(std::string_view series);

struct PointsOfUnit {
    std::string_view unit;
    std::vector<const ReproducedPoint*> points;
    std::string x_label; ///< the parameter that is x in all of them (a share: "map_share, %"), else "x"
};
/// The units in the order of their first points. The pointers point into `result`.
[[nodiscard]] std::vector<PointsOfUnit> by_unit(const Reproduction& result);

/// Four digits, no exponent; "-" for what is no number.
[[nodiscard]] std::string number_as_text(double value);
[[nodiscard]] std::string x_as_text(double x, std::string_view x_label);

/// All points in one table, one row each, for programs.
[[nodiscard]] Table points_as_rows(const Experiment& experiment, const Reproduction& result);

/// One table for each unit. It has a row for each series and a column for each x, with the paper's numbers below. If there are many values of x, each
/// point has a row.
[[nodiscard]] std::string points_as_text(const Experiment& experiment, const Reproduction& result);

} // namespace flashlab
