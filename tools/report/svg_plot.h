/// A plot as inline SVG: curves with points, the results of others as hollow marks, legend, axes.
///
/// Idea       The SVG is text only, with no script and no font of its own. So a page with plots is one file that opens anywhere and can be compared
///            by diff.
/// Invariant  The same plot gives the same bytes. Values that are not finite are left out.
/// Cost       A few hundred bytes a point.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

struct PlotPoint {
    double x = 0, y = 0;
};

struct PlotSeries {
    std::string name;
    std::vector<PlotPoint> points;
    std::vector<PlotPoint> marks; ///< of another source, hollow, not joined
    bool is_rule = false;         ///< computed, not measured: a dashed line without points
};

/// How high a plot reaches. near: from the smallest value to the largest, for what hardly differs.
enum class PlotHeight : std::uint8_t { usual, near, logarithmic };

struct Plot {
    std::string title, x_label, y_label;
    std::vector<PlotSeries> series;
    bool is_time = false;               ///< x is time: never logarithmic
    std::vector<PlotPoint> beside = {}; ///< of the panels that this one is compared with: the axes span them, too
    PlotHeight height = PlotHeight::usual;
};

/// Series of one value each are bars, and the plot is as high as they are. Otherwise an axis is logarithmic if its largest value is at least
/// 8 times (x) or 100 times (y) the smallest; a linear y axis begins at 0 (PlotHeight::usual). A legend whose names are long stands below the plot.
[[nodiscard]] std::string to_svg(const Plot& plot);
/// What a page with such plots has beyond page_parts::page_style(), whose colours it takes.
inline constexpr std::string_view svg_style = "svg{max-width:100%;height:auto;fill:currentColor}svg text{fill:currentColor}"
                                              "svg .frame{stroke:var(--soft)}svg .grid{display:inline;stroke:var(--line)}";

} // namespace flashlab
