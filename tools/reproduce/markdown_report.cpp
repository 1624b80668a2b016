#include "tools/reproduce/markdown_report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// Its experiment names what shows why a claim fails.
std::string claim_row(const ReproducedClaim& c) {
    return row({c.holds ? "✓" : "**✗**", cell(c.text), fmt::format("{}{}", words_of(c.kind), c.is_of_the_paper() ? "" : ", ours"),
                cell(c.ours) + (c.holds ? "" : "<br>why: " + cell(c.cause))});
}

/// Numbers that the paper prints for one series, each a claim with the same bound.
std::string series_row(const std::vector<const ReproducedClaim*>& own) {
    const auto held = std::ranges::count_if(own, &ReproducedClaim::holds);
    const auto failed = std::ssize(own) - held;
    const std::string mark = failed == 0 ? fmt::format("{} ✓", held)
                             : held == 0 ? fmt::format("**{} ✗**", failed)
                                         : fmt::format("{} ✓, **{} ✗**", held, failed);
    std::string values, causes;
    std::set<std::string_view> kinds, said;
    for (const ReproducedClaim* c : own) kinds.insert(words_of(c->kind));
    for (const ReproducedClaim* c : own) {
        const QuotedPoint& q = *c->quoted;
        values += fmt::format("{}{} at {:g}: {:.4g} for {:g}{}", values.empty() ? "" : ", ", c->holds ? "✓" : "**✗**", q.x, q.ours, q.paper,
                              kinds.size() == 1 ? "" : fmt::format(" ({})", words_of(c->kind)));
        if (!c->holds && said.insert(c->cause).second) causes += "<br>why: " + cell(c->cause);
    }
    return row({mark, cell(fmt::format("{}: as the paper's [{}]", own.front()->quoted->series, own.front()->bound)),
                fmt::format("{}", fmt::join(kinds, ", ")), values + causes});
}

/// In the order of the experiment; a series stands where its first number does.
std::string claim_rows(const Reproduction& result) {
    std::string out;
    std::set<std::pair<std::string_view, std::string_view>> done;
    for (const ReproducedClaim& c : result.claims) {
        if (!c.quoted) {
            out += claim_row(c);
            continue;
        }
        if (!done.insert({c.quoted->series, c.bound}).second) continue;
        std::vector<const ReproducedClaim*> own;
        for (const ReproducedClaim& other : result.claims)
            if (other.quoted && other.quoted->series == c.quoted->series && other.bound == c.bound) own.push_back(&other);
        out += own.size() == 1 ? claim_row(c) : series_row(own);
    }
    return out;
}

/// "1891, 7977, 15091" over the x of the table; "0: 227.9, 8.28: 176.2" where there are too many.
std::string values_of(std::string_view id, const std::vector<const ReproducedPoint*>& own, const PointsOfUnit& of, const std::set<double>& xs) {
    std::string out;
    const auto add = [&](std::string value) { out += (out.empty() ? "" : ", ") + value; };
    if (xs.size() > columns_at_most) {
        for (const ReproducedPoint* p : own) add(fmt::format("{}: {}", x_as_text(p->x, of.x_label), number_as_text(p->ours)));
        return out;
    }
    for (const double x : xs) {
        const auto at = std::ranges::find(own, x, &ReproducedPoint::x);
        const auto paper = at == own.end() ? std::nullopt : paper_value(id, (*at)->series, x);
        add(at == own.end() ? "-" : number_as_text((*at)->ours) + (paper ? fmt::format(" (paper {})", number_as_text(*paper)) : ""));
    }
    return out;
}

bool is_claim(std::string_view id, const ReproducedPoint* p) {
    return std::ranges::any_of(quoted_values(),
                               [&](const QuotedValue& v) { return v.id == id && v.series == p->series && v.x == p->x && v.is_judged; });
}

/// A row for each unit, with a line for each series. Numbers that a paper prints are claims, which say ours beside them.
std::string point_rows(const Experiment& experiment, const Reproduction& result) {
    std::string out;
    for (const PointsOfUnit& of : by_unit(result)) {
        if (std::ranges::all_of(of.points, [&](const ReproducedPoint* p) { return is_claim(experiment.id, p); })) continue;
        std::set<double> xs;
        std::vector<std::string_view> names;
        for (const ReproducedPoint* p : of.points) {
            xs.insert(p->x);
            if (std::ranges::find(names, name_of(p->series)) == names.end()) names.push_back(name_of(p->series));
        }
        std::string over = fmt::format("{}, over {}", of.unit.empty() ? "ours" : cell(of.unit), cell(of.x_label));
        if (xs.size() <= columns_at_most)
            for (const double x : xs) over += fmt::format("{}{}", x == *xs.begin() ? " = " : ", ", x_as_text(x, of.x_label));
        std::string lines;
        for (const std::string_view name : names) {
            std::vector<const ReproducedPoint*> own;
            std::ranges::copy_if(of.points, std::back_inserter(own), [&](const ReproducedPoint* p) { return name_of(p->series) == name; });
            lines += fmt::format("{}{}: {}", lines.empty() ? "" : "<br>", cell(name), values_of(experiment.id, own, of, xs));
        }
        out += row({"", over, "", lines});
    }
    return out;
}

} // namespace

std::string MarkdownReport::section(const Experiment& experiment, const Reproduction& result) {
    ClaimTally own;
    own.add(experiment.id, result.claims);
    return row({"", fmt::format("**{}: {}**", experiment.id, experiment.title), "", fmt::format("**{}**", own.text())}) + claim_rows(result) +
           point_rows(experiment, result);
}

std::vector<std::string> MarkdownReport::assumptions(const Reproduction& result) {
    std::vector<std::string> rows;
    for (const ReproducedLoad& l : result.loads) rows.push_back(row({"load " + l.name, cell(l.source), "", "", ""}));
    for (const FreeParameter& f : result.free_parameters)
        rows.push_back(row({cell(f.name), cell(f.value), cell(f.why), cell(f.fitted_to), cell(f.changed_after)}));
    return rows;
}

void MarkdownReport::add(const Experiment& experiment, const Reproduction& result) {
    tally_.add(experiment.id, result.claims);
    for (const std::string& line : assumptions(result)) {
        const auto known = std::ranges::find(assumptions_, line, &std::pair<std::string, std::string>::first);
        if (known == assumptions_.end())
            assumptions_.emplace_back(line, experiment.id);
        else
            known->second += fmt::format(", {}", experiment.id);
    }
    body_ += section(experiment, result);
}

std::string MarkdownReport::page() const {
    std::string page =
        fmt::format("# What `flashlab reproduce` measured\n\nMade by `flashlab reproduce all{} --markdown FILE`, not by hand; README.md "
                    "says what it means.\nThe times are simulated: the same version gives the same bytes.\n\n",
                    length_ == RunLength::quick ? " --quick" : "");
    page += header({"", "claim [bound], or what was measured", "kind", "ours"}) + row({"", "**all**", "", fmt::format("**{}**", tally_.text())}) +
            body_ + "\n";
    page += "## What the papers leave open\n\n" + header({"free", "taken", "why", "fitted to", "changed after", "experiments"});
    for (const auto& [line, experiments] : assumptions_) page += line.substr(0, line.size() - 1) + fmt::format(" {} |\n", experiments);
    return page;
}

} // namespace flashlab
