#include "tools/reproduce/html_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/report/page_parts.h"
#include "tools/reproduce/series.h"
#include "tools/reproduce/svg_plot.h"
#include "tools/text/markup.h"

namespace flashlab {
namespace {

/// What the page of plots has beyond the style of reports: SVG, and tables of sentences.
constexpr std::string_view style = "svg{max-width:100%;height:auto;fill:currentColor}svg text{fill:currentColor}svg .frame{stroke:var(--soft)}"
                                   "svg .grid{display:inline;stroke:var(--line)}td,th{text-align:left;white-space:normal;vertical-align:top}"
                                   ".yes{color:var(--good)}.no{color:var(--bad);font-weight:bold}svg,tr,h2{break-inside:avoid}h2{break-after:avoid}";

/// The paper's names of schemes, for who reads a plot beside the paper.
std::string legend_of(std::string_view id, std::string_view series) {
    std::string name{series};
    if (!id.starts_with("hy-")) return name;
    for (const auto& [ours, theirs] : {std::pair<std::string_view, std::string_view>{"log_block", "LBFTL"}, {"hftl", "hFTL"}})
        for (std::size_t at = name.find(ours); at != std::string::npos; at = name.find(ours, at + theirs.size()))
            name.replace(at, ours.size(), theirs);
    return name;
}

Plot plot_of(const Experiment& experiment, const PointsOfUnit& of) {
    Plot plot{fmt::format("{}: {}", experiment.id, of.unit.empty() ? "ours" : of.unit), of.x_label, std::string{of.unit}, {}};
    for (const ReproducedPoint* p : of.points) {
        auto series = std::ranges::find(plot.series, name_of(p->series), &PlotSeries::name);
        if (series == plot.series.end()) series = plot.series.insert(series, {std::string{name_of(p->series)}, {}, {}});
        series->points.push_back({p->x, p->ours});
        if (const auto paper = paper_value(experiment.id, p->series, p->x)) series->marks.push_back({p->x, *paper});
    }
    for (PlotSeries& series : plot.series) {
        std::ranges::stable_sort(series.points, {}, &PlotPoint::x);
        series.name = legend_of(experiment.id, series.name);
    }
    plot.is_time = of.x_label == "period" || of.x_label == "phases";
    return plot;
}

std::string plots_of(const Experiment& experiment, const Reproduction& result) {
    std::string out;
    for (const PointsOfUnit& of : by_unit(result)) out += to_svg(plot_of(experiment, of));
    return out;
}

std::string row(std::initializer_list<std::string_view> cells) {
    std::string out = "<tr>";
    for (const std::string_view cell : cells) out += fmt::format("<td>{}</td>", markup_escaped(cell));
    return out + "</tr>\n";
}

std::string claims_of(const Reproduction& result) {
    std::string out = "<table><tr><th></th><th>claim [bound]</th><th>kind</th><th>ours</th><th>the paper's words</th></tr>\n";
    for (const ReproducedClaim& c : result.claims)
        out += fmt::format("<tr><td class='{}'>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", c.holds ? "yes" : "no",
                           c.holds ? "&#10003;" : "&#10007;", markup_escaped(c.text), words_of(c.kind),
                           markup_escaped(c.holds ? c.ours : fmt::format("{}; shown by: {}", c.ours, c.cause)), markup_escaped(c.paper));
    return out + "</table>\n";
}

std::string points_of(const Experiment& experiment, const Reproduction& result) {
    std::string quoted, all;
    for (const ReproducedPoint& p : result.points) {
        const auto paper = paper_value(experiment.id, p.series, p.x);
        const std::string line = row({p.series, fmt::format("{:g}", p.x), paper ? fmt::format("{:g}", *paper) : "", fmt::format("{:.4g}", p.ours),
                                      paper ? fmt::format("{:.2f}", p.ours / *paper) : ""});
        all += line;
        quoted += paper ? line : "";
    }
    constexpr std::string_view head = "<table><tr><th>series</th><th>x</th><th>paper</th><th>ours</th><th>ratio</th></tr>\n";
    return (quoted.empty() ? "" : fmt::format("<p>Numbers that the paper prints:</p>{}{}</table>\n", head, quoted)) +
           fmt::format("<details><summary>All {} points</summary>{}{}</table></details>\n", result.points.size(), head, all);
}

std::string parameters_of(const Reproduction& result) {
    std::string out;
    if (!result.loads.empty()) out += "<p>Loads:</p><table><tr><th>name</th><th>what it was</th></tr>\n";
    for (const ReproducedLoad& l : result.loads) out += row({l.name, l.source});
    out += result.loads.empty() ? "" : "</table>\n";
    if (!result.free_parameters.empty())
        out += "<p>What the paper leaves open:</p><table><tr><th>parameter</th><th>taken</th><th>why</th><th>fitted to</th>"
               "<th>changed after</th></tr>\n";
    for (const FreeParameter& f : result.free_parameters) out += row({f.name, f.value, f.why, f.fitted_to, f.changed_after});
    return out + (result.free_parameters.empty() ? "" : "</table>\n");
}

} // namespace

HtmlReport::HtmlReport(RunLength length) : length_{length} {}

void HtmlReport::add(const Experiment& experiment, const Reproduction& result) {
    ClaimTally own;
    own.add(experiment.id, result.claims);
    tally_.add(experiment.id, result.claims);
    contents_ +=
        fmt::format("<li><a href='#{0}'>{0}</a>: {1} ({2})</li>\n", experiment.id, markup_escaped(experiment.title), markup_escaped(own.text()));
    body_ +=
        fmt::format("<h2 id='{0}'>{0}: {1}</h2>\n<p>{2}</p>\n", experiment.id, markup_escaped(experiment.title), markup_escaped(experiment.paper));
    body_ += plots_of(experiment, result) + claims_of(result) + points_of(experiment, result) + parameters_of(result);
}

std::string HtmlReport::page() const {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>FlashLab: papers reproduced</title><style>{}{}</style></head><body>\n"
        "<h1>Papers' figures, measured anew</h1>\n<p>{} run of FlashLab {}. <b>{}</b>. A claim is fitted where a free parameter was chosen by it or "
        "changed after it had failed, and true "
        "by construction where our model cannot refute it. Filled points are ours, hollow diamonds are "
        "numbers that the paper prints; "
        "its plots themselves are not in the text that we have. Claims that fail are explained in "
        "tools/reproduce/README.md.</p>\n<ul>\n{}</ul>\n{}</body></html>\n",
        page_parts::page_style(), style, length_ == RunLength::quick ? "Quick" : "Full", FLASHLAB_VERSION, markup_escaped(tally_.text()), contents_,
        body_);
}

} // namespace flashlab
