#include "tools/reproduce/markdown_report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tools/reproduce/series.h"

namespace flashlab {
namespace {

constexpr std::size_t columns_at_most = 12;

/// A bar would end the cell.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|' || c == '*') out += '\\';
        out += c;
    }
    return out;
}

std::string row(const std::vector<std::string>& cells) {
    std::string out = "|";
    for (const std::string& text : cells) out += fmt::format(" {} |", text);
    return out + "\n";
}

std::string header(const std::vector<std::string>& cells) {
    std::string out = row(cells) + "|";
    for (std::size_t i = 0; i < cells.size(); ++i) out += "---|";
    return out + "\n";
}

std::string claims_of(const Experiment& experiment, const Reproduction& result) {
    std::string out = header({"", "claim [bound]", "kind", "ours"});
    for (const ReproducedClaim& c : result.claims)
        out += row({c.holds ? "✓" : "**✗**", cell(c.text), fmt::format("{}{}", words_of(c.kind), c.is_of_the_paper() ? "" : ", ours"), cell(c.ours)});
    ClaimTally tally;
    tally.add(experiment.id, result.claims);
    return fmt::format("{}\n{}.\n\n", out, tally.text());
}

std::string series_as_row(const std::vector<const ReproducedPoint*>& points, const std::string& x_label) {
    std::string values;
    for (const ReproducedPoint* p : points)
        values += fmt::format("{}{}: {}", values.empty() ? "" : ", ", x_as_text(p->x, x_label), number_as_text(p->ours));
    return values;
}

/// A column for each x, or where there are too many a list.
std::string points_of(const Experiment& experiment, const Reproduction& result) {
    std::string out;
    for (const PointsOfUnit& of : by_unit(result)) {
        std::set<double> xs;
        std::vector<std::string_view> names;
        for (const ReproducedPoint* p : of.points) {
            xs.insert(p->x);
            if (std::ranges::find(names, name_of(p->series)) == names.end()) names.push_back(name_of(p->series));
        }
        const bool is_list = xs.size() > columns_at_most;
        std::vector<std::string> head{fmt::format("{}, over {}", of.unit.empty() ? "ours" : cell(of.unit), cell(of.x_label))};
        if (is_list)
            head.emplace_back("x: y");
        else
            for (const double x : xs) head.push_back(x_as_text(x, of.x_label));
        out += header(head);
        for (const std::string_view name : names) {
            std::vector<const ReproducedPoint*> own;
            std::ranges::copy_if(of.points, std::back_inserter(own), [&](const ReproducedPoint* p) { return name_of(p->series) == name; });
            std::vector<std::string> cells{cell(name)};
            if (is_list) cells.push_back(series_as_row(own, of.x_label));
            for (const double x : xs) {
                if (is_list) break;
                const auto at = std::ranges::find(own, x, &ReproducedPoint::x);
                const auto paper = at == own.end() ? std::nullopt : paper_value(experiment.id, (*at)->series, x);
                cells.push_back(at == own.end() ? ""
                                                : number_as_text((*at)->ours) + (paper ? fmt::format(" (paper {})", number_as_text(*paper)) : ""));
            }
            out += row(cells);
        }
        out += "\n";
    }
    return out;
}

std::string parameters_of(const Reproduction& result) {
    std::string out;
    for (const ReproducedLoad& l : result.loads) out += fmt::format("- load {}: {}\n", l.name, cell(l.source));
    if (!result.loads.empty()) out += "\n";
    out += header({"free", "taken", "why", "fitted to", "changed after"});
    for (const FreeParameter& f : result.free_parameters)
        out += row({cell(f.name), cell(f.value), cell(f.why), cell(f.fitted_to), cell(f.changed_after)});
    return out + "\n";
}

std::string held(const ClaimTally::Count& count) { return count.claims == 0 ? "" : fmt::format("{} of {}", count.held, count.claims); }

} // namespace

std::string MarkdownReport::section(const Experiment& experiment, const Reproduction& result) {
    return fmt::format("## {}: {}\n\n", experiment.id, experiment.title) + claims_of(experiment, result) + points_of(experiment, result) +
           parameters_of(result);
}

void MarkdownReport::add(const Experiment& experiment, const Reproduction& result) {
    ClaimTally own;
    own.add(experiment.id, result.claims);
    tally_.add(experiment.id, result.claims);
    counts_ += row({std::string{experiment.id}, held(own.results()), held(own.of(ClaimKind::fitted)), held(own.of(ClaimKind::by_construction)),
                    held(own.beyond())});
    for (const ReproducedClaim& c : result.claims)
        if (!c.holds) failures_ += row({std::string{experiment.id}, cell(c.text), cell(c.ours), std::string{words_of(c.kind)}, cell(c.cause)});
    body_ += section(experiment, result);
}

std::string MarkdownReport::page() const {
    std::string page =
        fmt::format("# What `flashlab reproduce` measured\n\nMade by `flashlab reproduce all{} --markdown FILE`, not by hand; README.md "
                    "says what it means.\nThe times are simulated: the same version gives the same bytes.\n\n",
                    length_ == RunLength::quick ? " --quick" : "");
    page += "| claims that hold | |\n|---|---|\n";
    page += row({"**results of the papers**", fmt::format("**{}**", held(tally_.results()))});
    page += row({"fitted to the papers", held(tally_.of(ClaimKind::fitted))});
    page += row({"true by construction", held(tally_.of(ClaimKind::by_construction))});
    page += row({"not the papers'", held(tally_.beyond())}) + "\n";
    page += header({"experiment", "results", "fitted", "by construction", "not the papers'"}) + counts_ + "\n";
    if (!failures_.empty()) page += "What fails:\n\n" + header({"experiment", "claim [bound]", "ours", "kind", "shown by"}) + failures_ + "\n";
    page += body_;
    page.pop_back();
    return page;
}

} // namespace flashlab
