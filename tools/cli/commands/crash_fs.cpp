/// flashlab crash explore --metadata pram|journal, and crash replay of what it finds: power cuts under a file system.

#include <fmt/format.h>

#include "crash/fs/fs_explorer.h"
#include "tools/cli/commands/crash.h"
#include "tools/cli/commands/crash_report.h"
#include "tools/cli/progress.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/kept_memory.h"
#include "tools/host/standard_streams.h"
#include "tools/text/table.h"

namespace flashlab {

namespace {

constexpr std::uint64_t states_by_default = 2000;
constexpr std::uint32_t runs_to_shrink = 3000;

Json report_of(const CrashExploreOptions& o, const FsExploreReport& r, std::size_t variants, double cpu_seconds, double wall_seconds) {
    Json json = Json::object({{"ftl", o.ftl},
                              {"metadata", o.metadata},
                              {"cell", o.cell.empty() ? "slc" : o.cell},
                              {"variants", static_cast<std::uint64_t>(variants)},
                              {"partial", Interruption::came()},
                              {"seed", o.seed},
                              {"programs", r.programs},
                              {"operations", r.operations},
                              {"states", r.states},
                              {"distinct_states", r.distinct_states},
                              {"second_cuts", r.second_cuts}});
    add_findings(json, r, cpu_seconds, wall_seconds);
    return json;
}

} // namespace

int run_crash_explore_file_system(const CrashExploreOptions& o) {
    if (o.workload != "standard" || !o.shape.empty() || o.in_a_row != 0)
        return complain("crash explore: --workload, --shape and --in-a-row are of the drive alone; --metadata draws programs of a file system",
                        exit_usage);
    FsCrashCase first{.shape = {.scheme = o.ftl, .journal = o.metadata == "journal", .cell = o.cell.empty() ? "slc" : o.cell, .variant = ""},
                      .seed = o.seed,
                      .cuts = o.cuts};
    if (const auto can = can_explore(first.shape); !can) return complain(fmt::format("crash explore: {}", can.error()), exit_usage);
    keep_freed_memory();
    const Interruption interruption;
    Progress progress{"states", o.states == 0 ? states_by_default : o.states};
    FsExploreReport report;
    FsExploreLimits limits;
    limits.states = o.states == 0 ? states_by_default : o.states;
    limits.variants = variants_of(first.shape);
    limits.go_on = [&](const FsExploreReport& r) {
        progress.at(r.states);
        return !Interruption::came();
    };
    const double from = Progress::cpu_seconds();
    explore_file_system(first, limits, report);
    const double seconds = Progress::cpu_seconds() - from;
    for (FsViolation& v : report.violations) {
        if (o.shrinks && !Interruption::came()) v = shrink_file_system(v, runs_to_shrink);
    }
    const Json json = report_of(o, report, limits.variants.size(), seconds, progress.seconds());
    fmt::print("{}", shown(o.format, json));
    for (const FsViolation& v : report.violations) tell(fmt::format("flashlab: {}\n  flashlab crash replay '{}'\n", v.what, v.where.id()));
    return report.violations.empty() ? exit_done : exit_failed;
}

int run_crash_replay_file_system(const CrashReplayOptions& o) {
    const auto parsed = FsCrashCase::parse(o.id);
    if (!parsed) return complain(fmt::format("crash replay: {}", parsed.error()), exit_usage);
    if (const auto can = can_explore(parsed->shape); !can) return complain(fmt::format("crash replay: {}", can.error()), exit_usage);
    FsExploreReport report;
    const auto wrong = replay_file_system(*parsed, report);
    const Json result =
        Json::object({{"id", parsed->id()}, {"holds", !wrong.has_value()}, {"found", wrong.value_or("")}, {"version", FLASHLAB_VERSION}});
    fmt::print("{}", shown(o.format, result));
    return wrong ? exit_failed : exit_done;
}

} // namespace flashlab
