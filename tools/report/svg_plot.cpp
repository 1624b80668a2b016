#include "tools/report/svg_plot.h"

#include "tools/text/markup.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <span>

#include <fmt/format.h>

namespace flashlab {
namespace {

constexpr double width = 860, height = 380, left = 76, top = 34, bottom = 52;
constexpr double letter = 6.3;                                 ///< mean width of a character
constexpr double legend_line = 17;                             ///< height of a name in the legend
constexpr double legend_beside_at_most = 280;                  ///< of the plot's width
constexpr double bar_step = 30, bar_thick = 20, label_gap = 8; ///< label_gap: neighbouring labels of an axis
/// Told apart by people who do not see red or green, on white and on black (after Okabe and Ito, and Tol).
constexpr std::array colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#aa4499", "#999933", "#888888", "#44aa99"};
constexpr std::size_t bars_at_most = 12;
constexpr std::size_t solid = 5; ///< series that are drawn with whole lines; the next ones have dashes, and those after them others
constexpr double log_x_from = 8, log_y_from = 100;
constexpr std::size_t ticks_at_most = 12;

/// Values to positions along an axis.
struct Axis {
    double low = 0, high = 1, begin = 0, end = 1;
    bool is_log = false;
    [[nodiscard]] double at(double value) const {
        const double share = is_log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
        return begin + share * (end - begin);
    }
};

bool is_shown(const PlotPoint& p) { return std::isfinite(p.x) && std::isfinite(p.y); }

std::vector<PlotPoint> all_points(const Plot& plot) {
    std::vector<PlotPoint> all;
    for (const PlotSeries& s : plot.series)
        for (const auto* points : {&s.points, &s.marks}) std::ranges::copy_if(*points, std::back_inserter(all), is_shown);
    std::ranges::copy_if(plot.beside, std::back_inserter(all), is_shown);
    return all;
}

double width_of(std::string_view text) { return letter * static_cast<double>(text.size()); }

/// Where the curves end on the right, and where the legend stands.
struct Layout {
    double right, legend_x, legend_y, tall;
};

Layout layout_of(const Plot& plot) {
    double longest = 0;
    for (const PlotSeries& s : plot.series) longest = std::max(longest, width_of(s.name));
    const double lines = legend_line * static_cast<double>(plot.series.size());
    const double beside = longest + 54;
    if (beside <= legend_beside_at_most) return {width - beside, width - beside + 14, top + 10, std::max(height, top + 20 + lines)};
    return {width - 24, left, height + 6, height + 6 + lines};
}

/// 1, 2 or 5 times a power of ten, about five of them.
double step_of(double range) {
    const double raw = range / 5, power = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (raw <= factor * power) return factor * power;
    return 10 * power;
}

std::vector<double> ticks_of(const Axis& axis) {
    std::vector<double> ticks;
    if (axis.is_log) {
        const bool is_short = axis.high / axis.low < log_y_from; // one or two powers alone would say little
        for (double t = std::pow(10, std::floor(std::log10(axis.low) + 1e-9)); t <= axis.high * 1.0001; t *= 10)
            for (const double factor : {1.0, 2.0, 5.0})
                if ((is_short || factor == 1) && t * factor >= axis.low * 0.9999 && t * factor <= axis.high * 1.0001) ticks.push_back(t * factor);
        return ticks;
    }
    const double step = step_of(axis.high - axis.low);
    for (double n = std::ceil(axis.low / step); n * step <= axis.high * 1.0001; ++n) ticks.push_back(n * step);
    return ticks;
}

/// 65536 as 64Ki: sizes are powers of two more often than not.
std::string tick_text(double value) {
    const auto whole = static_cast<std::uint64_t>(std::abs(value));
    for (const auto& [unit, suffix] : {std::pair{std::uint64_t{1} << 30, "Gi"}, {std::uint64_t{1} << 20, "Mi"}, {std::uint64_t{1} << 10, "Ki"}})
        if (value > 0 && static_cast<double>(whole) == value && whole >= unit && whole % unit == 0) return fmt::format("{}{}", whole / unit, suffix);
    if (static_cast<double>(whole) == std::abs(value)) return fmt::format("{}{}", value < 0 ? "-" : "", whole);
    return fmt::format("{:.{}g}", value, std::abs(value) >= 1000 ? 6 : 3);
}

/// 10000000 as 10 M, where six digits would become a power of ten.
std::string height_text(double value) { return value >= 1e6 ? fmt::format("{:.4g} M", value / 1e6) : fmt::format("{:.6g}", value); }

Axis x_axis(const std::vector<PlotPoint>& all, bool is_time, double right_end) {
    const auto [least, most] = std::ranges::minmax(all, {}, &PlotPoint::x);
    Axis axis{least.x, most.x, left + 12, right_end - 12, !is_time && least.x > 0 && most.x / least.x >= log_x_from};
    if (axis.low == axis.high) {
        axis.low -= 1;
        axis.high += 1;
        axis.is_log = false;
    }
    return axis;
}

Axis y_axis(const std::vector<PlotPoint>& all, PlotHeight reach) {
    const auto [least, most] = std::ranges::minmax(all, {}, &PlotPoint::y);
    if (const double room = (most.y - least.y) * 0.08; reach == PlotHeight::near && room > 0)
        return {least.y - room, most.y + room, height - bottom, top, false};
    Axis axis{std::min(least.y, 0.0), most.y * 1.05, height - bottom, top, false};
    if (least.y > 0 && (most.y / least.y >= log_y_from || reach == PlotHeight::logarithmic)) {
        axis.is_log = true;
        axis.low = std::pow(10, std::floor(std::log10(least.y)));
    }
    if (axis.high <= axis.low) axis.high = axis.low + 1;
    return axis;
}

/// A label that would run into the one before it is left out; its line stays.
void draw_x_ticks(std::string& out, const Axis& x, const std::vector<double>& ticks) {
    double free_from = 0;
    for (const double t : ticks) {
        out += fmt::format("<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' class='grid'/>", x.at(t), top, height - bottom);
        const std::string text = tick_text(t);
        if (x.at(t) - width_of(text) / 2 >= free_from) {
            out += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>", x.at(t), height - bottom + 16, text);
            free_from = x.at(t) + width_of(text) / 2 + label_gap;
        }
        out += "\n";
    }
}

void draw_frame(std::string& out, const Plot& plot, const Axis& x, const Axis& y, const std::vector<PlotPoint>& all, double right) {
    std::set<double> values;
    for (const PlotPoint& p : all) values.insert(p.x);
    draw_x_ticks(out, x, values.size() <= ticks_at_most ? std::vector<double>{values.begin(), values.end()} : ticks_of(x));
    for (const double t : ticks_of(y))
        out += fmt::format("<line x1='{1}' y1='{0:.1f}' x2='{2}' y2='{0:.1f}' class='grid'/><text x='{3}' y='{4:.1f}' text-anchor='end'>{5}</text>\n",
                           y.at(t), left, right, left - 6, y.at(t) + 4, height_text(t));
    out +=
        fmt::format("<rect x='{}' y='{}' width='{:.1f}' height='{}' fill='none' class='frame'/>\n", left, top, right - left, height - top - bottom);
    out += fmt::format("<text x='{}' y='16' font-weight='bold'>{}</text><text x='{:.0f}' y='{}' text-anchor='middle'>{}</text>\n", left,
                       markup_escaped(plot.title), (left + right) / 2, height - 12, markup_escaped(plot.x_label));
    out += fmt::format("<text transform='translate(14 {:.0f}) rotate(-90)' text-anchor='middle'>{}</text>\n", (top + height - bottom) / 2,
                       markup_escaped(plot.y_label));
}

/// Lines and points are the larger the more series are drawn over them, so that one that lies under others is seen. A point that stands alone
/// among lines is a square, here and in the legend.
struct Stroke {
    const char* colour;
    const char* dashes;
    double width, radius;
    bool is_alone;
};

Stroke stroke_of(const Plot& plot, std::size_t index) {
    constexpr std::array dashes{"", " stroke-dasharray='5 3'", " stroke-dasharray='2 2'", " stroke-dasharray='9 3 2 3'"};
    const auto later = std::span{plot.series}.subspan(index + 1);
    const auto lines = std::ranges::count_if(later, [](const PlotSeries& s) { return s.points.size() > 1 && !s.is_rule; });
    const auto above = static_cast<double>(std::min<std::ptrdiff_t>(lines, 3));
    const PlotSeries& series = plot.series[index];
    if (series.is_rule) return {colours[index % colours.size()], dashes[1], 1.6, 0, false};
    return {colours[index % colours.size()], dashes[index / solid % dashes.size()], 1.6 + above, 3 + above, series.points.size() == 1};
}

std::string point_of(const Stroke& stroke, double x, double y, const std::string& title) {
    if (!stroke.is_alone)
        return fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{:g}' fill='{}'>{}</circle>\n", x, y, stroke.radius, stroke.colour, title);
    return fmt::format("<rect x='{:.1f}' y='{:.1f}' width='10' height='10' fill='{}' class='alone'>{}</rect>\n", x - 5, y - 5, stroke.colour, title);
}

void draw_series(std::string& out, const Plot& plot, std::size_t index, const Axis& x, const Axis& y, const Layout& at) {
    const PlotSeries& series = plot.series[index];
    const Stroke stroke = stroke_of(plot, index);
    std::string path;
    for (const PlotPoint& p : series.points)
        if (is_shown(p)) path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x.at(p.x), y.at(p.y));
    out += fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='{:g}'{}/>\n", path, stroke.colour, stroke.width, stroke.dashes);
    for (const PlotPoint& p : series.points)
        if (is_shown(p) && !series.is_rule)
            out += point_of(stroke, x.at(p.x), y.at(p.y), fmt::format("<title>{}: {:g}, {:.6g}</title>", markup_escaped(series.name), p.x, p.y));
    for (const PlotPoint& p : series.marks)
        if (is_shown(p))
            out += fmt::format(
                "<path d='M{:.1f} {:.1f}m-6 0l6 -6l6 6l-6 6z' fill='none' stroke='{}' stroke-width='1.6'><title>paper: {:g}, {:.6g}</title></path>\n",
                x.at(p.x), y.at(p.y), stroke.colour, p.x, p.y);
    const double line = at.legend_y + static_cast<double>(index) * legend_line;
    if (stroke.is_alone)
        out += point_of(stroke, at.legend_x + 10, line, "");
    else
        out += fmt::format("<line x1='{0:.1f}' y1='{1}' x2='{2:.1f}' y2='{1}' stroke='{3}' stroke-width='{4:g}'{5}/>", at.legend_x, line,
                           at.legend_x + 20, stroke.colour, stroke.width, stroke.dashes);
    out += fmt::format("<text x='{:.1f}' y='{}'>{}</text>\n", at.legend_x + 26, line + 4, markup_escaped(series.name));
}

/// One value of each series, all over the same x; one value alone is a bar as well.
bool are_categories(const Plot& plot) {
    if (plot.series.empty() || plot.series.size() > bars_at_most) return false;
    const auto is_one = [&](const PlotSeries& s) {
        return s.points.size() == 1 && is_shown(s.points.front()) && s.points.front().x == plot.series.front().points.front().x;
    };
    return !plot.series.front().points.empty() && std::ranges::all_of(plot.series, is_one);
}

/// A bar a series, its name and number beside it; the paper's number is a line across, and in words behind ours.
void draw_bars(std::string& out, const Plot& plot, const std::vector<PlotPoint>& all) {
    const auto most = std::ranges::max(all, {}, &PlotPoint::y).y;
    double names = 0;
    for (const PlotSeries& s : plot.series) names = std::max(names, width_of(s.name) * 1.15 + 16); // capitals are wider than the mean
    const bool has_marks = std::ranges::any_of(plot.series, [](const PlotSeries& s) { return !s.marks.empty(); });
    const double room = width - names - (has_marks ? 150 : 80);
    const auto length = [&](double value) { return most > 0 ? std::max(0.0, value) / most * room : 0.0; };
    out += fmt::format("<text x='{}' y='16' font-weight='bold'>{}</text>\n", 8, markup_escaped(plot.title));
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
        const PlotSeries& s = plot.series[i];
        const double at = top + bar_step * static_cast<double>(i), thick = bar_thick, middle = at + thick / 2 + 4;
        const double y = s.points.front().y;
        double after = length(y); // the number stands behind the bar and the paper's line
        std::string numbers = fmt::format("{:.4g}", y);
        for (const PlotPoint& mark : s.marks) {
            after = std::max(after, length(mark.y));
            numbers += fmt::format("; paper: {:.4g}", mark.y);
        }
        out += fmt::format("<text x='{}' y='{:.1f}' text-anchor='end'>{}</text>", names - 8, middle, markup_escaped(s.name));
        out += fmt::format("<rect x='{}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}'/><text x='{:.1f}' y='{:.1f}'>{}</text>\n", names, at,
                           length(y), thick, colours[i % colours.size()], names + after + 6, middle, numbers);
        for (const PlotPoint& mark : s.marks)
            out +=
                fmt::format("<line x1='{0:.1f}' y1='{1:.1f}' x2='{0:.1f}' y2='{2:.1f}' stroke='currentColor' stroke-width='2' stroke-dasharray='3 2'>"
                            "<title>paper: {3:g}, {4:.6g}</title></line>\n",
                            names + length(mark.y), at - 3, at + thick + 3, mark.x, mark.y);
    }
}

} // namespace

std::string to_svg(const Plot& plot) {
    const auto all = all_points(plot);
    if (all.empty()) return {};
    const bool is_bars = are_categories(plot);
    const Layout at = layout_of(plot);
    const double tall = is_bars ? top + bar_step * static_cast<double>(plot.series.size()) : at.tall;
    std::string out = fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' font-family='sans-serif' font-size='12'>\n", width,
        tall);
    if (is_bars) {
        draw_bars(out, plot, all);
        return out + "</svg>\n";
    }
    const Axis x = x_axis(all, plot.is_time, at.right), y = y_axis(all, plot.height);
    draw_frame(out, plot, x, y, all, at.right);
    for (std::size_t i = 0; i < plot.series.size(); ++i) draw_series(out, plot, i, x, y, at);
    return out + "</svg>\n";
}

} // namespace flashlab
