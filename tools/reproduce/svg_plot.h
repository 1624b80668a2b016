/// A plot as inline SVG: curves with points, what somebody else found as hollow marks, legend, axes.
///
/// Idea       Text only, no script and no font of its own, so that a page with plots is one file that opens anywhere and diffs.
/// Invariant  Same plot, same bytes. Values that are not finite are left out.
/// Cost       A few hundred bytes a point.
#pragma once

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
};

struct Plot {
    std::string title, x_label, y_label;
    std::vector<PlotSeries> series;
};

/// Logarithmic in x from a ratio of 8 on, in y from 100 on; else y begins at 0.
[[nodiscard]] std::string to_svg(const Plot& plot);
/// For text and attributes.
[[nodiscard]] std::string html_escaped(std::string_view text);

} // namespace flashlab
