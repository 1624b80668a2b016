#include "tools/grade/grade.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/grade/grade_checks.h"
#include "tools/grade/grade_figures.h"
#include "tools/grade/isolated.h"
#include "tools/grade/scheme_file.h"

namespace flashlab {

namespace {

constexpr const char* reference_scheme = "page_map";

/// What the scheme says of itself; in the child, because loading runs its code.
std::expected<Json, std::string> introduction(const GradeRequest& request, const IsolationLimits& limits) {
    const auto said = isolated(
        [&] {
            const auto scheme = load_scheme(request.what);
            if (!scheme) return Json::object({{"error", scheme.error()}}).dump();
            return Json::object({{"name", (*scheme)->name}, {"idea", (*scheme)->idea}}).dump();
        },
        limits);
    if (!said) return std::unexpected(fmt::format("{}: {} while it is loaded", request.what, said.error()));
    Json json = Json::parse(*said).value();
    if (const std::string error = json["error"].text(); !error.empty()) return std::unexpected(error);
    return json;
}

GradedCheck ask(const GradeCheck& check, const GradeRequest& request, const IsolationLimits& limits) {
    GradedCheck graded{.name = std::string{check.name}, .promise = std::string{check.promise}, .found = {}, .replay = {}};
    const auto said = isolated(
        [&] {
            const auto scheme = load_scheme(request.what);
            if (!scheme) return Json::object({{"what", scheme.error()}}).dump();
            const auto found =
                check.ask({.scheme = std::string{(*scheme)->name}, .seed = request.seed, .states = std::max<std::uint64_t>(request.states, 1)});
            return found ? Json::object({{"what", found->what}, {"replay", found->replay}}).dump() : Json::object({{"what", ""}}).dump();
        },
        limits);
    if (!said) {
        graded.found = said.error();
        return graded;
    }
    const Json json = Json::parse(*said).value_or(Json{});
    graded.found = json.is_object() ? json["what"].text() : "its process answered nonsense";
    graded.replay = json["replay"].text();
    return graded;
}

/// The figures as JSON; the error is what a check "figures" has found.
std::expected<Json, std::string> figures_of(const std::string& what, std::uint64_t seed, const IsolationLimits& limits) {
    const auto said = isolated(
        [&] {
            const auto scheme = load_scheme(what);
            if (!scheme) return Json::object({{"error", scheme.error()}}).dump();
            const auto measured = measure_scheme(std::string{(*scheme)->name}, seed);
            return measured ? measured->to_json().dump() : Json::object({{"error", measured.error()}}).dump();
        },
        limits);
    if (!said) return std::unexpected(said.error());
    Json json = Json::parse(*said).value_or(Json{});
    if (const std::string error = json["error"].text(); !error.empty()) return std::unexpected(error);
    return json;
}

/// Spare space buys every other figure: a scheme that gives the host much less of the drive does not compare. Empty: it does.
std::string small_capacity(const Json& figures, const Json& reference) {
    const std::uint64_t own = figures["logical_pages"].number(), all = reference["logical_pages"].number();
    if (own * 10 >= all * 9) return "";
    return fmt::format(
        "it gives the host {} pages of the drive, {} gives {}: more spare space buys every other figure, so they do not compare; plan at "
        "least nine tenths",
        own, reference_scheme, all);
}

void give_points(Grade& grade, const GradeWeights& weights) {
    const GradeFigures own = GradeFigures::of_json(grade.figures), reference = GradeFigures::of_json(grade.reference);
    grade.points = {points_of(own.waf(), reference.waf()), points_of(own.ram_a_page(), reference.ram_a_page()),
                    points_of(own.recovery_us_mean, reference.recovery_us_mean), points_of(reference.iops(), own.iops())};
    double sum = 0, all = 0;
    for (std::size_t i = 0; i < grade.points.size(); ++i) {
        sum += grade.points[i] * weights.of[i];
        all += weights.of[i];
    }
    grade.score = std::round(sum / all * 10) / 10;
}

} // namespace

double points_of(double cost, double reference) {
    if (!(cost > 0) || !(reference > 0)) return cost <= 0 && reference > 0 ? 100 : 0;
    return std::round(std::clamp(50 + 25 * std::log2(reference / cost), 0.0, 100.0) * 10) / 10;
}

std::string mark_of(double score) { return score >= 60 ? "A" : score >= 45 ? "B" : score >= 30 ? "C" : score >= 15 ? "D" : "E"; }

std::expected<GradeWeights, std::string> GradeWeights::parse(const std::string& text) {
    GradeWeights weights{.of = {0, 0, 0, 0}};
    std::vector<std::string_view> given;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string word = text.substr(at, end - at);
        const std::size_t equals = std::min(word.find('='), word.size());
        const auto* const name = std::ranges::find(names, word.substr(0, equals));
        std::uint32_t value = 0;
        const char* const last = word.data() + word.size();
        const auto [stop, error] = std::from_chars(word.data() + std::min(equals + 1, word.size()), last, value);
        if (name == names.end() || equals == word.size() || error != std::errc{} || stop != last || value > 1000)
            return std::unexpected(fmt::format("'{}' is no weight: NAME=0..1000 with NAME one of {}", word, fmt::join(names, ", ")));
        if (std::ranges::find(given, *name) != given.end()) return std::unexpected(fmt::format("{} is given twice", *name));
        given.push_back(*name);
        weights.of[static_cast<std::size_t>(name - names.begin())] = value;
        at = end + 1;
    }
    if (std::ranges::all_of(weights.of, [](std::uint32_t w) { return w == 0; })) return std::unexpected("one weight at least is above 0");
    return weights;
}

bool Grade::passed() const {
    return !is_partial && std::ranges::all_of(checks, [](const GradedCheck& check) { return check.found.empty(); });
}

Json Grade::to_json() const {
    Json list;
    for (const GradedCheck& check : checks)
        list.push(Json::object(
            {{"check", check.name}, {"promise", check.promise}, {"passed", check.found.empty()}, {"found", check.found}, {"replay", check.replay}}));
    Json given;
    for (std::size_t i = 0; i < points.size(); ++i) given.add(std::string{GradeWeights::names[i]}, points[i]);
    return Json::object({{"scheme", scheme},
                         {"idea", idea},
                         {"passed", passed()},
                         {"partial", is_partial},
                         {"grade", mark},
                         {"score", score},
                         {"points", passed() ? given : Json{}},
                         {"checks", list},
                         {"figures", figures},
                         {"reference", reference},
                         {"version", FLASHLAB_VERSION}});
}

std::expected<Grade, std::string> grade(const GradeRequest& request, const std::function<bool(std::string_view next)>& go_on) {
    const IsolationLimits limits{.cpu_seconds = request.cpu_seconds};
    const auto introduced = introduction(request, limits);
    if (!introduced) return std::unexpected(introduced.error());
    Grade grade;
    grade.scheme = (*introduced)["name"].text();
    grade.idea = (*introduced)["idea"].text();
    for (const GradeCheck& check : grade_checks()) {
        if (!go_on(check.name)) grade.is_partial = true;
        if (grade.is_partial) break;
        grade.checks.push_back(ask(check, request, limits));
    }
    if (!grade.is_partial && go_on("figures")) {
        GradedCheck measured{.name = "figures",
                             .promise = "what is measured comes to its end, keeps every page, and is of as large a drive",
                             .found = {},
                             .replay = {}};
        if (auto figures = figures_of(request.what, request.seed, limits))
            grade.figures = std::move(*figures);
        else
            measured.found = figures.error();
        if (auto reference = figures_of(reference_scheme, request.seed, limits)) grade.reference = std::move(*reference);
        if (measured.found.empty()) measured.found = small_capacity(grade.figures, grade.reference);
        grade.checks.push_back(std::move(measured));
    } else {
        grade.is_partial = true;
    }
    if (grade.passed()) give_points(grade, request.weights);
    grade.mark = grade.passed() ? mark_of(grade.score) : "F";
    return grade;
}

} // namespace flashlab
