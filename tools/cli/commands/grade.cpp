/// flashlab grade: a translation layer's checks, figures and mark.
#include <string>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/cli/commands/crash.h"
#include "tools/grade/grade.h"
#include "tools/grade/grade_figures.h"
#include "tools/grade/scheme_file.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"
#include "tools/text/table.h"

namespace flashlab {

namespace {

struct GradeOptions {
    GradeRequest request;
    std::string weights;
    std::string replay; ///< an id: this case of the scheme again, instead of a grade
    OutputFormat format = OutputFormat::table;
};

std::string figure(double value) { return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value); }

/// The mark and what it rests on.
std::string mark_in_words(const Grade& grade) {
    std::string failed;
    std::size_t count = 0;
    for (const GradedCheck& check : grade.checks)
        if (!check.found.empty()) failed += fmt::format("{}{}", count++ == 0 ? "" : ", ", check.name);
    if (!grade.passed())
        return fmt::format("{}: grade {}. It fails {} of {} checks: {}. Figures earn points only where every check passes.\n\n", grade.scheme,
                           grade.mark, count, grade.checks.size(), failed);
    const GradeFigures own = GradeFigures::of_json(grade.figures), reference = GradeFigures::of_json(grade.reference);
    return fmt::format(
        "{}: grade {}, {:.1f} of 100. It passes all {} checks. Against page_map it programs {:.2f} times the pages, takes {:.2f} times the "
        "memory, recovers in {:.2f} times the time and answers {:.2f} times the requests a second.\n\n",
        grade.scheme, grade.mark, grade.score, grade.checks.size(), own.waf() / reference.waf(), own.ram_a_page() / reference.ram_a_page(),
        own.recovery_us_mean / reference.recovery_us_mean, own.iops() / reference.iops());
}

std::string text_of(const Grade& grade) {
    Table checks{{"check", "", "promise"}};
    for (const GradedCheck& check : grade.checks) checks.add({check.name, check.found.empty() ? "passed" : "FAILED", check.promise});
    std::string text = mark_in_words(grade) + checks.to_text();
    for (const GradedCheck& check : grade.checks)
        if (!check.found.empty()) text += fmt::format("\n{}: {}\n", check.name, check.found);
    if (!grade.figures.is_null()) {
        const GradeFigures own = GradeFigures::of_json(grade.figures), reference = GradeFigures::of_json(grade.reference);
        Table figures{{"figure", grade.scheme, "page_map", "points"}};
        const auto points = [&](std::size_t of) { return grade.passed() ? fmt::format("{:.1f}", grade.points[of]) : std::string{"-"}; };
        figures.add({"write amplification", figure(own.waf()), figure(reference.waf()), points(0)});
        figures.add({"memory, bytes a page", figure(own.ram_a_page()), figure(reference.ram_a_page()), points(1)});
        figures.add({"recovery, us", figure(own.recovery_us_mean), figure(reference.recovery_us_mean), points(2)});
        figures.add({"requests/s, simulated", figure(own.iops()), figure(reference.iops()), points(3)});
        for (std::size_t i = 0; i < own.loads.size() && i < reference.loads.size(); ++i) {
            const LoadFigures &a = own.loads[i], &b = reference.loads[i];
            figures.add({fmt::format("  {}: amplification", a.name), figure(a.waf), figure(b.waf), ""});
            figures.add({fmt::format("  {}: p99, us", a.name), figure(a.p99_us), figure(b.p99_us), ""});
            figures.add({fmt::format("  {}: host CPU, ns a request", a.name), figure(a.cpu_ns), figure(b.cpu_ns), ""});
        }
        text += "\n" + figures.to_text();
    }
    return text;
}

int replay(const GradeOptions& o) {
    const auto scheme = load_scheme(o.request.what);
    if (!scheme) return complain(fmt::format("grade: {}", scheme.error()), exit_usage);
    return run_crash_replay({.id = o.replay, .format = o.format});
}

int run_grade(const GradeOptions& o) {
    if (!o.replay.empty()) return replay(o);
    GradeRequest request = o.request;
    if (!o.weights.empty()) {
        const auto weights = GradeWeights::parse(o.weights);
        if (!weights) return complain(fmt::format("grade: --weights: {}", weights.error()), exit_usage);
        request.weights = *weights;
    }
    const Interruption interruption;
    const auto graded = grade(request, [](std::string_view) { return !Interruption::came(); });
    if (!graded) return complain(fmt::format("grade: {}", graded.error()), exit_usage);
    fmt::print("{}", o.format == OutputFormat::table ? text_of(*graded) : shown(o.format, graded->to_json()));
    for (const GradedCheck& check : graded->checks)
        if (!check.replay.empty()) tell(fmt::format("flashlab: {}\n  flashlab grade {} --replay '{}'\n", check.found, request.what, check.replay));
    return graded->passed() ? exit_done : exit_failed;
}

} // namespace

void add_grade(CLI::App& app, Action& action) {
    auto [c, o] = add_command(
        app, action, run_grade, "grade", "Judge a translation layer: correctness, power cuts, write amplification, memory, recovery, speed",
        "sh tools/build_scheme.sh my_scheme.cpp && flashlab grade my_scheme.so\n  flashlab grade dftl --json\n\n"
        "Every check runs in a process of its own. A scheme that fails one has the grade F. The others get points beside page_map\n"
        "on the same drives (docs/adding-a-scheme.md).");
    c.add_option("SCHEME", o.request.what, "A shared object that tools/build_scheme.sh made, or the name of a built-in scheme")->required();
    c.add_option("--states", o.request.states, "States of power cuts to judge, at most")->check(at_least_one())->capture_default_str();
    c.add_option("--seed", o.request.seed, "Number from which loads and power cuts are drawn: the same seed asks the same")->capture_default_str();
    c.add_option("--timeout", o.request.cpu_seconds, "Seconds of CPU that one check may take")->check(CLI::Range(1, 86400))->capture_default_str();
    c.add_option("--weights", o.weights,
                 "What the score counts: waf=40,memory=20,recovery=20,speed=20 unless given; what is not named counts nothing");
    c.add_option("--replay", o.replay, "One case again, as printed where a check failed");
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab
