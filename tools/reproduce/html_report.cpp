#include "tools/reproduce/html_report.h"

#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>

#include "tools/report/page_parts.h"
#include "tools/report/svg_plot.h"
#include "tools/reproduce/series.h"
#include "tools/text/markup.h"

namespace flashlab {
namespace {

/// What the page of plots has beyond the style of reports and of plots: tables of sentences.
constexpr std::string_view style = "td,th{text-align:left;white-space:normal;vertical-align:top}"
                                   ".yes{color:var(--good)}.no{color:var(--bad);font-weight:bold}svg,tr,h2{break-inside:avoid}"
                                   "h2,p{break-after:avoid}";

/// The papers' names of schemes and loads, for who reads a plot beside the paper.
std::string legend_of(std::string_view id, std::string_view series) {
    using Name = std::pair<std::string_view, std::string_view>;
    constexpr std::array hybrid{Name{"log_block", "LBFTL"}, Name{"hftl", "hFTL"}};
    constexpr std::array loads{Name{"sysmark", "SYSmark"}, Name{"financial", "Financial"}, Name{"pc", "PC"}, Name{"tpcc", "TPC-C"}};
    std::string name{series};
    if (id.starts_with("hy-"))
        for (const auto& [ours, theirs] : hybrid)
            for (std::size_t at = name.find(ours); at != std::string::npos; at = name.find(ours, at + theirs.size()))
                name.replace(at, ours.size(), theirs);
    std::string named; // a load, or two in turn
    for (const auto part : std::views::split(name, '+')) {
        const std::string_view word{part};
        const auto load = std::ranges::find(loads, word, &Name::first);
        named += (named.empty() ? "" : "/") + std::string{load == loads.end() ? word : load->second};
    }
    return name.contains(' ') ? name : named;
}

/// What an axis is called for who has not read the keys of the JSON.
std::string axis_of(std::string_view label) {
    using Name = std::pair<std::string_view, std::string_view>;
    constexpr std::array names{Name{"request_bytes", "request size, bytes"},
                               Name{"file_bytes", "file size, bytes"},
                               Name{"cache_bytes", "size of the cache, bytes"},
                               Name{"map_share, %", "share of the DRAM that the maps have, %"},
                               Name{"reserved_share, %", "reserved blocks, %"},
                               Name{"fill_share, %", "fill level, %"},
                               Name{"bits_a_cell", "bits a cell"},
                               Name{"blocks_per_virtual_block", "blocks of a virtual block"},
                               Name{"blocks_per_plane", "blocks of a plane"},
                               Name{"bytes_written", "bytes written so far"},
                               Name{"mebibytes_of_what_grows", "buffer or maps, whichever grows, MiB"},
                               Name{"flush_each", "requests between two flushes"},
                               Name{"look_up_ns", "CPU time of a look-up, ns"},
                               Name{"words", "words of a sector, of 256"},
                               Name{"gb_written", "written so far, GB"},
                               Name{"percent_used", "share of the drive that is used, %"},
                               Name{"thousand_a_second", "requests a second, thousand"},
                               Name{"open_zones", "zones written beside each other"},
                               Name{"period", "time: equal numbers of requests"},
                               Name{"x", ""}};
    const auto at = std::ranges::find(names, label, &Name::first);
    return std::string{at == names.end() ? label : at->second};
}

/// A unit whose series are of several loads or operations is a panel for each.
using Panel = std::pair<std::string, std::vector<const ReproducedPoint*>>;
std::vector<Panel> panels_of(const PointsOfUnit& of) {
    const auto value_of = [](const ReproducedPoint* p, std::string_view key) {
        const auto at = std::ranges::find(p->params, key, &Json::Member::first);
        return at != p->params.end() ? at->second.text() : std::string{};
    };
    for (const std::string_view key : {"workload", "pattern", "op"}) {
        std::vector<Panel> panels;
        for (const ReproducedPoint* p : of.points) {
            const std::string value = value_of(p, key);
            auto at = std::ranges::find(panels, value, &Panel::first);
            if (at == panels.end()) at = panels.insert(at, {value, {}});
            at->second.push_back(p);
        }
        const auto is_whole = [](const Panel& panel) { // one value a panel would be no plot
            return !panel.first.empty() && panel.second.size() > 1;
        };
        if (panels.size() > 1 && std::ranges::all_of(panels, is_whole)) return panels;
    }
    return {{"", of.points}};
}

/// Words that all names begin or end with say nothing in the legend of a panel, whose title has them.
void shorten(std::vector<PlotSeries>& series) {
    if (series.size() < 2) return;
    const std::string first = series.front().name;
    std::size_t head = first.size(), tail = first.size();
    for (const PlotSeries& s : series) {
        head = std::min<std::size_t>(head, static_cast<std::size_t>(std::ranges::mismatch(first, s.name).in1 - first.begin()));
        const auto back = std::mismatch(first.rbegin(), first.rend(), s.name.rbegin(), s.name.rend());
        tail = std::min<std::size_t>(tail, static_cast<std::size_t>(back.first - first.rbegin()));
    }
    while (head > 0 && first[head - 1] != ' ') --head;
    while (tail > 0 && first[first.size() - tail] != ' ') --tail;
    for (const PlotSeries& s : series)
        if (head + tail >= s.name.size()) return;
    for (PlotSeries& s : series) {
        s.name = s.name.substr(head, s.name.size() - head - tail);
        s.name.resize(s.name.find_last_not_of(" ,") + 1);
    }
}

Plot plot_of(const Experiment& experiment, const PointsOfUnit& of, const Panel& panel, bool is_alone) {
    const std::string what{of.unit.empty() ? "share" : of.unit};
    // The value that varies stands behind the unit, and a label that is longer than its axis would be cut.
    const std::size_t bracket = what.ends_with(')') ? what.find(" (") : std::string::npos;
    const std::string x_label =
        of.x_label == "value" && bracket != std::string::npos ? what.substr(bracket + 2, what.size() - bracket - 3) : axis_of(of.x_label);
    Plot plot{fmt::format("{}: {}{}{}", experiment.id, legend_of(experiment.id, panel.first), panel.first.empty() ? "" : ", ", what),
              x_label,
              what.substr(0, bracket),
              {}};
    for (const ReproducedPoint* p : panel.second) {
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
    if (is_alone) return plot;
    shorten(plot.series);
    for (const ReproducedPoint* p : of.points) plot.beside.push_back({p->x, p->ours});
    return plot;
}

std::string plots_of(const Experiment& experiment, const Reproduction& result) {
    std::string out;
    for (const PointsOfUnit& of : by_unit(result)) {
        const auto panels = panels_of(of);
        for (const Panel& panel : panels) out += to_svg(plot_of(experiment, of, panel, panels.size() == 1));
    }
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
    if (experiment.id.starts_with("mc-")) body_ += "<p>S: over how many channels a request is striped. I: how many requests are interleaved.</p>\n";
    body_ += plots_of(experiment, result) + claims_of(result) + points_of(experiment, result) + parameters_of(result);
}

std::string HtmlReport::page() const {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>FlashLab: papers reproduced</title><style>{}{}{}</style></head><body>\n"
        "<h1>Papers' figures, measured anew</h1>\n<p>{} run of FlashLab {}. <b>{}</b>. A claim is fitted where a free parameter was chosen by it or "
        "changed after it had failed, and true "
        "by construction where our model cannot refute it. Filled points and bars are ours, hollow diamonds and dotted "
        "lines across bars are numbers that the paper prints; "
        "its plots themselves are not in the text that we have. Claims that fail are explained in "
        "tools/reproduce/README.md.</p>\n<ul>\n{}</ul>\n{}</body></html>\n",
        page_parts::page_style(), svg_style, style, length_ == RunLength::quick ? "Quick" : "Full", FLASHLAB_VERSION, markup_escaped(tally_.text()),
        contents_, body_);
}

} // namespace flashlab
