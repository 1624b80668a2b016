/// flashlab crash explore | replay: the crash harness of crash/ at the command line.
#include "tools/cli/commands/crash.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "crash/default_exploration.h"
#include "crash/endurance.h"
#include "crash/explorer.h"
#include "crash/fs/fs_explorer.h"
#include "crash/shrink.h"
#include "crash/tiny_devices.h"
#include "ftl/make_ftl.h"
#include "tools/cli/commands/crash_report.h"
#include "tools/cli/progress.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"

namespace flashlab {

namespace {

constexpr std::uint64_t states_a_workload = 256; // of drawn ones
constexpr std::uint64_t states_to_shrink = 2'000'000;
constexpr std::uint32_t steps_a_workload = 24;
constexpr std::uint64_t drawn_by_default = 100'000;

Json report_of(const CrashExploreOptions& o, const std::vector<std::string>& devices, const ExploreReport& r, double cpu_seconds,
               double wall_seconds) {
    Json json = Json::object({{"ftl", o.ftl},
                              {"devices", fmt::format("{}", fmt::join(devices, " "))},
                              {"exhaustive", o.states == 0}, // of the standard workloads on chip-slc; the rest is drawn
                              {"partial", Interruption::came()},
                              {"seed", o.seed},
                              {"workloads", r.workloads},
                              {"states", r.states},
                              {"distinct_states", r.distinct_states},
                              {"second_cuts", r.second_cuts},
                              {"thinned_moments", r.thinned_moments}});
    add_findings(json, r, cpu_seconds, wall_seconds);
    return json;
}

/// The devices that the options name: all shapes when states are drawn, the smallest when every one is tried.
std::vector<std::string> devices_of(const CrashExploreOptions& o) {
    std::vector<std::string> shapes{"chip"};
    if (!o.shape.empty())
        shapes = {o.shape};
    else if (o.states != 0)
        shapes = tiny_shapes();
    std::vector<std::string> cells{"slc"};
    if (!o.cell.empty())
        cells = {o.cell};
    else if (o.states != 0)
        cells = {"slc", "mlc", "tlc"};
    std::vector<std::string> devices;
    for (const std::string& shape : shapes) {
        for (const std::string& cell : cells) devices.push_back(shape + "-" + cell);
    }
    return devices;
}

struct Exploration {
    const CrashExploreOptions& options;
    std::optional<Workload> workload;
    ExploreLimits limits;
    ExploreReport report;
};

void explore_one(Exploration& e, Explorer& explorer, std::uint64_t states, Random& random) {
    if (states == 0) {
        const std::vector<Workload> workloads = e.workload ? std::vector{*e.workload} : standard_workloads(explorer.units());
        for (const Workload& w : workloads) explorer.exhaust(w, e.limits, e.report);
        return;
    }
    const std::uint64_t until = e.report.states + states;
    while (e.report.states < until && e.report.violations.size() < e.limits.violations && !Interruption::came()) {
        const Workload w = e.workload ? *e.workload : Workload::random(random.next(), steps_a_workload, explorer.units());
        e.limits.states = until;
        explorer.sample(w, std::min(states_a_workload, until - e.report.states), random, e.limits, e.report);
    }
}

/// Without options that choose: what every cut of the standard workloads on one device does not show is drawn from all devices.
bool draws_beside(const CrashExploreOptions& o) { return o.states == 0 && o.shape.empty() && o.cell.empty() && o.workload == "standard"; }

void shrink_found(Exploration& e, const CrashExploreOptions& o, std::size_t from, Explorer& explorer) {
    for (std::size_t i = from; i < e.report.violations.size() && !Interruption::came() && o.shrinks; ++i)
        e.report.violations[i] = shrink(explorer, e.report.violations[i], states_to_shrink);
}

int endure(const CrashExploreOptions& o) {
    const Interruption interruption;
    Progress progress{"cuts", o.in_a_row};
    const std::string device = (o.shape.empty() ? "chip" : o.shape) + "-" + (o.cell.empty() ? "slc" : o.cell);
    const auto result = endure_cuts(o.ftl, device, o.in_a_row, o.seed, nullptr, [&](const EnduranceReport& r) {
        progress.at(r.cuts);
        return !Interruption::came();
    });
    if (!result) return complain(fmt::format("crash explore: {} on {}, seed {}: {}", o.ftl, device, o.seed, result.error()));
    const EnduranceReport& r = *result;
    const bool leaks = r.leaks();
    const Json json = Json::object({{"ftl", o.ftl},
                                    {"device", device},
                                    {"seed", o.seed},
                                    {"cuts", r.cuts},
                                    {"cuts_of_recovery", r.cuts_of_recovery},
                                    {"fills", r.fills},
                                    {"first_free_blocks", r.first_free_blocks},
                                    {"least_free_blocks", r.least_free_blocks},
                                    {"erases", r.erases},
                                    {"host_pages_written", r.host_pages_written},
                                    {"most_pages_scanned", r.most_pages_scanned},
                                    {"wall_seconds", progress.seconds()},
                                    {"partial", Interruption::came()},
                                    {"violations", leaks ? 1 : 0},
                                    {"version", FLASHLAB_VERSION}});
    fmt::print("{}", shown(o.format, json));
    return leaks ? exit_failed : exit_done;
}

int run_crash_explore(const CrashExploreOptions& o) {
    const std::vector<std::string> known = all_schemes();
    if (std::ranges::find(known, o.ftl) == known.end())
        return complain(fmt::format("crash explore: unknown translation layer '{}'; there are: {}", o.ftl, fmt::join(known, ", ")), exit_usage);
    if (o.metadata != "none") return run_crash_explore_file_system(o);
    if (o.in_a_row != 0) return endure(o);
    Exploration e{.options = o, .workload = std::nullopt, .limits = {}, .report = {}};
    if (o.workload != "standard") {
        auto parsed = Workload::parse(o.workload);
        if (!parsed) return complain(fmt::format("crash explore: --workload: {}", parsed.error()), exit_usage);
        e.workload = std::move(*parsed);
    }
    const Interruption interruption;
    Progress progress{"states", o.states};
    e.limits.cuts = o.cuts;
    e.limits.go_on = [&](const ExploreReport& r) {
        progress.at(r.states);
        return !Interruption::came();
    };
    std::vector<std::string> done;
    const auto devices = devices_of(o);
    Random random{o.seed};
    double seconds = 0;
    std::string refusal;
    std::vector<std::unique_ptr<Explorer>> explorers; // of the devices that the scheme accepts: the states are divided among these
    for (const std::string& device : devices) {
        auto explorer = Explorer::make(o.ftl, device);
        if (explorer) {
            explorers.push_back(std::move(*explorer));
            continue;
        }
        refusal = explorer.error();
        // Once for all cell types of a shape.
        if (!o.cell.empty() || device.ends_with("-slc"))
            tell(fmt::format("flashlab: crash explore: {} is skipped on {}: {}\n", o.ftl, device, refusal));
    }
    for (std::size_t i = 0; i < explorers.size() && !Interruption::came() && e.report.violations.size() < e.limits.violations; ++i) {
        done.push_back(explorers[i]->device());
        const std::size_t found_before = e.report.violations.size();
        const double from = Progress::cpu_seconds();
        const std::uint64_t share =
            o.states == 0 ? 0 : std::max<std::uint64_t>(1, (o.states - std::min(o.states, e.report.states)) / (explorers.size() - i));
        explore_one(e, *explorers[i], share, random);
        seconds += Progress::cpu_seconds() - from;
        shrink_found(e, o, found_before, *explorers[i]);
    }
    if (draws_beside(o) && !done.empty() && !Interruption::came() && e.report.violations.size() < e.limits.violations) {
        const double from = Progress::cpu_seconds();
        auto drawn = DrawnExploration::make(o.ftl, o.seed, {});
        if (!drawn) return complain(fmt::format("crash explore: {}", drawn.error()), exit_usage);
        const std::size_t found_before = e.report.violations.size();
        (*drawn)->run(drawn_by_default, e.limits, e.report);
        seconds += Progress::cpu_seconds() - from;
        done = (*drawn)->devices();
        for (std::size_t i = found_before; i < e.report.violations.size() && !Interruption::came() && o.shrinks; ++i) {
            Violation& v = e.report.violations[i];
            v = shrink((*drawn)->explorer_of(v.where.device), v, states_to_shrink);
        }
    }
    if (done.empty()) return complain(fmt::format("crash explore: nothing to explore: {}", refusal), exit_usage);
    const Json json = report_of(o, done, e.report, seconds, progress.seconds());
    fmt::print("{}", shown(o.format, json));
    for (const Violation& v : e.report.violations) tell(fmt::format("flashlab: {}\n  flashlab crash replay '{}'\n", v.what, v.where.id()));
    return e.report.violations.empty() ? exit_done : exit_failed;
}

} // namespace

int run_crash_replay(const CrashReplayOptions& o) {
    if (o.id.starts_with(FsCrashCase::prefix)) return run_crash_replay_file_system(o);
    const auto parsed = CrashCase::parse(o.id);
    if (!parsed) return complain(fmt::format("crash replay: {}", parsed.error()), exit_usage);
    if (parsed->cuts.size() > 2) return complain("crash replay: at most two cuts, the second during recovery from the first", exit_usage);
    const auto explorer = Explorer::make(parsed->scheme, parsed->device);
    if (!explorer) return complain(fmt::format("crash replay: {}", explorer.error()), exit_usage);
    const auto wrong = (*explorer)->replay(*parsed);
    if (!wrong && parsed->cuts.empty()) // explore prints such an id only where the workload is wrong without any cut
        return complain(
            fmt::format("crash replay: '{}' names no cut, and without one nothing is wrong; add :NANOSECONDS-OUTCOMES, such as :1234567-02", o.id),
            exit_usage);
    const Json result =
        Json::object({{"id", parsed->id()}, {"holds", !wrong.has_value()}, {"found", wrong.value_or("")}, {"version", FLASHLAB_VERSION}});
    fmt::print("{}", shown(o.format, result));
    return wrong ? exit_failed : exit_done;
}

void add_crash(CLI::App& app, Action& action) {
    auto& crash = add_command(app, "crash", "Cut the power everywhere and judge what is left", "flashlab crash explore --ftl hftl --states 100000");
    crash.require_subcommand(1);
    auto [explore, o] = add_command(
        crash, action, run_crash_explore, "explore", "Every cut of small workloads on a tiny device, or many drawn ones",
        "flashlab crash explore --ftl hftl\n  flashlab crash explore --ftl hftl --states 100000 --seed 7\n"
        "  flashlab crash explore --workload 'w0x8.f/w3.t1.w0x2+500.f' --cuts 1\n"
        "  flashlab crash explore --ftl dftl --metadata journal --states 5000\n\n"
        "Workload: steps joined by '.', what stands before '/' only ages the device. w3x2 writes units 3 and 4 (W: with FUA), t3x2 trims, g3x2 "
        "reads, p and q\n"
        "write and trim sectors, r7x20 overwrites 20 random units of seed 7, f flushes, i is idle time, z a clean shutdown; +500 sends the next\n"
        "request 500 ns later instead of waiting for the answer.");
    explore.add_option("--ftl", o.ftl, translation_layers())->capture_default_str();
    explore.add_option("--metadata", o.metadata, "none: the drive alone; pram, journal: drawn programs of a file system over it, its metadata there")
        ->check(CLI::IsMember({"none", "pram", "journal"}))
        ->capture_default_str();
    explore.add_option("--shape", o.shape,
                       fmt::format("Tiny device: {}; default: every cut on chip, and drawn ones on all", fmt::join(tiny_shapes(), ", ")));
    explore.add_option("--cell", o.cell, "slc, mlc, tlc; default: every cut on slc, and drawn ones on all")
        ->check(CLI::IsMember({"slc", "mlc", "tlc"}));
    explore.add_option("--states", o.states, "Draw this many states instead of trying every one (with --metadata: default 2000)")
        ->check(at_least_one());
    explore.add_option("--cuts", o.cuts, "1: cut the power once; 2: also cut the recovery from it, at every point")
        ->check(CLI::Range(1, 2))
        ->capture_default_str();
    explore.add_option("--workload", o.workload, "standard, or a workload's text")->capture_default_str();
    explore.add_option("--in-a-row", o.in_a_row, "Instead: this many cuts one after another on one image (nothing may leak)")->check(at_least_one());
    explore.add_option("--seed", o.seed, "Of what is drawn")->capture_default_str();
    explore.add_flag("!--no-shrink", o.shrinks, "Do not shorten a workload that failed");
    add_format(explore, o.format, "One JSON object");
    auto [replay, again] = add_command(crash, action, run_crash_replay, "replay", "Run one case of crash explore again, exactly as it was",
                                       "flashlab crash replay hftl:chip-slc:w0x3.f.w1:1234567-02");
    replay.add_option("ID", again.id, "As printed by crash explore")->required();
    add_format(replay, again.format, "One JSON object");
    add_crash_torture(crash, action);
    add_crash_selftest(crash, action);
}

} // namespace flashlab
