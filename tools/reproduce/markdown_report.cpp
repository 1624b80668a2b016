#include "tools/reproduce/markdown_report.h"

#include <algorithm>
#include <map>
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

/// What claims of one row have in common, and what tells each of them from the others.
struct ClaimName {
    std::string shared, own;
};
/// Numbers that a paper prints for one series, and the same words of several loads or layers: "PC, fast: WORDS [BOUND]".
ClaimName name_of_row(const ReproducedClaim& c) {
    if (c.quoted) return {fmt::format("{}: as the paper's [{}]", c.quoted->series, c.bound), fmt::format("at {:g}", c.quoted->x)};
    const std::size_t colon = c.text.find(": ");
    return colon == c.text.npos ? ClaimName{c.text, ""} : ClaimName{c.text.substr(colon + 2), c.text.substr(0, colon)};
}

std::string joint_row(const std::vector<const ReproducedClaim*>& own) {
    const auto held = std::ranges::count_if(own, &ReproducedClaim::holds);
    const auto failed = std::ssize(own) - held;
    const std::string mark = failed == 0 ? fmt::format("{} ✓", held)
                             : held == 0 ? fmt::format("**{} ✗**", failed)
                                         : fmt::format("{} ✓, **{} ✗**", held, failed);
    std::set<std::string> kinds;
    const auto kind_of = [](const ReproducedClaim& c) { return fmt::format("{}{}", words_of(c.kind), c.is_of_the_paper() ? "" : ", ours"); };
    for (const ReproducedClaim* c : own) kinds.insert(kind_of(*c));
    std::string lines;
    std::map<std::string_view, std::string> failing; ///< by their cause
    for (const ReproducedClaim* c : own) {
        const std::string name = name_of_row(*c).own;
        const std::string ours = c->quoted ? fmt::format("{:.4g} for {:g}", c->quoted->ours, c->quoted->paper) : c->ours;
        lines += fmt::format("{}{} {}: {}{}",
                             lines.empty() ? ""
                             : c->quoted   ? ", "
                                           : "<br>",
                             c->holds ? "✓" : "**✗**", cell(name), cell(ours), kinds.size() == 1 ? "" : fmt::format(" ({})", kind_of(*c)));
        if (!c->holds) failing[c->cause] += (failing[c->cause].empty() ? "" : "; ") + name;
    }
    for (const auto& [cause, names] : failing)
        lines += fmt::format("<br>why{}: {}", failing.size() == 1 ? "" : fmt::format(" ({})", cell(names)), cell(cause));
    return row({mark, cell(name_of_row(*own.front()).shared), fmt::format("{}", fmt::join(kinds, ", ")), lines});
}

/// In the order of the experiment; a row of several stands where the first of them does.
std::string claim_rows(const Reproduction& result) {
    std::string out;
    std::set<std::string> done;
    for (const ReproducedClaim& c : result.claims) {
        const std::string shared = name_of_row(c).shared;
        std::vector<const ReproducedClaim*> own;
        for (const ReproducedClaim& other : result.claims)
            if (other.quoted.has_value() == c.quoted.has_value() && name_of_row(other).shared == shared) own.push_back(&other);
        if (own.size() < 3)
            out += claim_row(c);
        else if (done.insert(shared).second)
            out += joint_row(own);
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
