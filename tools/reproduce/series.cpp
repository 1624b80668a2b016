#include "tools/reproduce/series.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "tools/text/sizes.h"

namespace flashlab {
namespace {

constexpr std::size_t columns_at_most = 12;

/// A share is shown in percent.
bool is_x(const Json& value, std::string_view key, double x) {
    return value.is_number() && (key.ends_with("_share") ? std::abs(value.real() * 100 - x) < 1e-9 : value.real() == x);
}

std::string x_label(const std::vector<const ReproducedPoint*>& points) {
    for (const auto& member : points.front()->params) {
        const std::string& key = member.first;
        const auto is_x_of = [&](const ReproducedPoint* p) {
            const auto at = std::ranges::find(p->params, key, &Json::Member::first);
            return at != p->params.end() && is_x(at->second, key, p->x);
        };
        if (std::ranges::all_of(points, is_x_of)) return key.ends_with("_share") ? key + ", %" : key;
    }
    return "x";
}

std::string long_table(const Experiment& experiment, const PointsOfUnit& of) {
    Table table{{"series", of.x_label, "ours", "paper", "ratio"}};
    for (const ReproducedPoint* p : of.points) {
        const auto paper = paper_value(experiment.id, p->series, p->x);
        table.add({std::string{name_of(p->series)}, x_as_text(p->x, of.x_label), number_as_text(p->ours), paper ? number_as_text(*paper) : "-",
                   paper ? number_as_text(p->ours / *paper) : "-"});
    }
    return table.to_text();
}

std::string wide_table(const Experiment& experiment, const PointsOfUnit& of, const std::set<double>& xs) {
    std::vector<std::string> header{of.x_label + ":"};
    for (const double x : xs) header.push_back(x_as_text(x, of.x_label));
    Table table{header};
    std::vector<std::string_view> names;
    for (const ReproducedPoint* p : of.points)
        if (std::ranges::find(names, name_of(p->series)) == names.end()) names.push_back(name_of(p->series));
    for (const std::string_view name : names) {
        std::vector<std::string> ours{std::string{name}}, papers{"  the paper"}, ratios{"  ours over the paper's"};
        bool quoted = false;
        for (const double x : xs) {
            const auto at = std::ranges::find_if(of.points, [&](const ReproducedPoint* p) { return p->x == x && name_of(p->series) == name; });
            for (auto* row : {&ours, &papers, &ratios}) row->emplace_back();
            if (at == of.points.end()) continue;
            ours.back() = number_as_text((*at)->ours);
            if (const auto paper = paper_value(experiment.id, (*at)->series, x)) {
                papers.back() = number_as_text(*paper);
                ratios.back() = number_as_text((*at)->ours / *paper);
                quoted = true;
            }
        }
        table.add(std::move(ours));
        if (!quoted) continue;
        table.add(std::move(papers));
        table.add(std::move(ratios));
    }
    return table.to_text();
}

} // namespace

std::string number_as_text(double value) {
    if (!std::isfinite(value)) return "-";
    const double size = std::abs(value);
    return fmt::format("{:.{}f}", value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

std::string x_as_text(double x, std::string_view label) {
    return label.ends_with("_bytes") ? format_size(static_cast<std::uint64_t>(x))
                                     : fmt::format("{:g}", std::round(x * 10) / 10 == 0 ? x : std::round(x * 100) / 100);
}

std::string_view unit_of(std::string_view series) {
    const std::size_t comma = series.rfind(", ");
    return comma == std::string_view::npos ? "" : series.substr(comma + 2);
}

std::string_view name_of(std::string_view series) { return series.substr(0, series.rfind(", ")); }

std::vector<PointsOfUnit> by_unit(const Reproduction& result) {
    std::vector<PointsOfUnit> units;
    for (const ReproducedPoint& p : result.points) {
        auto at = std::ranges::find(units, unit_of(p.series), &PointsOfUnit::unit);
        if (at == units.end()) at = units.insert(at, {unit_of(p.series), {}, {}});
        at->points.push_back(&p);
    }
    for (PointsOfUnit& of : units) of.x_label = x_label(of.points);
    return units;
}

Table points_as_rows(const Experiment& experiment, const Reproduction& result) {
    Table table{{"experiment", "series", "x", "paper", "ours", "ratio"}};
    const auto cell = [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string{}; };
    for (const ReproducedPoint& p : result.points) {
        const auto paper = paper_value(experiment.id, p.series, p.x);
        table.add({std::string{experiment.id}, p.series, cell(p.x), paper ? cell(*paper) : "", cell(p.ours), paper ? cell(p.ours / *paper) : ""});
    }
    return table;
}

std::string points_as_text(const Experiment& experiment, const Reproduction& result) {
    std::string out;
    for (const PointsOfUnit& of : by_unit(result)) {
        std::set<double> xs;
        for (const ReproducedPoint* p : of.points) xs.insert(p->x);
        out += fmt::format("{}\n{}\n", of.unit.empty() ? "ours" : of.unit,
                           xs.size() > columns_at_most ? long_table(experiment, of) : wide_table(experiment, of, xs));
    }
    return out;
}

} // namespace flashlab
