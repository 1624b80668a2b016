#include "tools/cli/command_line_sweep.h"

#include "tools/cli/command_line.h"
#include "tools/cli/command_options.h"
#include "tools/cli/commands/sweep.h"

namespace flashlab {
namespace {

/// A command of the plan, as if a user had typed it.
int run_words(const std::vector<std::string>& words) {
    std::vector<std::string> all{"flashlab"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> pointers;
    for (std::string& word : all) pointers.push_back(word.data());
    return run_command_line(static_cast<int>(pointers.size()), pointers.data());
}

void add_plan(CLI::App& sweep, std::function<int()>& action) {
    static SweepPlanOptions o;
    auto& c = add_command(sweep, "plan", "Every run of a sweep's file, a line each", "flashlab sweep plan waf.toml -o waf.jsonl");
    c.add_option("SWEEP", o.sweep, "TOML file: [sweep] seeds, [grid] of keys to lists, [[load]], [[exclude]]")->required();
    c.add_option("-o,--output", o.output, "The plan; otherwise standard output");
    c.callback([&action] { action = [] { return run_sweep_plan(o, wrong_usage_of); }; });
}

void add_run(CLI::App& sweep, std::function<int()>& action) {
    static SweepRunOptions o;
    auto& c = add_command(sweep, "run", "Make the runs of a plan, or of a shard; goes on where a killed one stopped",
                          "flashlab sweep run waf.jsonl --shard 1/4 -o waf-1.db -j 2");
    c.add_option("PLAN", o.plan, "What sweep plan wrote")->required();
    c.add_option("-o,--output", o.output, "The database; OUTPUT.part holds what is finished until all is")->required();
    c.add_option("--shard", o.shard, "K/N: the K-th of N parts")->capture_default_str();
    c.add_option("-j,--jobs", o.jobs, "Runs at once")->check(CLI::Range(1, 4096))->capture_default_str();
    c.add_option("--scratch", o.scratch, "Folder of this machine's own for OUTPUT.part")->check(CLI::ExistingDirectory);
    c.add_flag("-q,--quiet", o.quiet, "Print nothing but errors");
    c.callback([&action] { action = [] { return run_sweep_run(o, run_words); }; });
}

void add_merge(CLI::App& sweep, std::function<int()>& action) {
    static SweepMergeOptions o;
    auto& c =
        add_command(sweep, "merge", "Databases of shards into one; one run with two results is an error", "flashlab sweep merge waf-*.db -o waf.db");
    c.add_option("DATABASES", o.inputs, "What sweep run and sweep merge wrote")->required();
    c.add_option("-o,--output", o.output, "The database; may be one of those that are merged")->required();
    c.add_flag("--reproducible", o.reproducible, "Leave the columns wall_... and peak_rss_bytes empty: equal results are then equal files");
    c.callback([&action] { action = [] { return run_sweep_merge(o); }; });
}

void add_status(CLI::App& sweep, std::function<int()>& action) {
    static SweepStatusOptions o;
    auto& c = add_command(sweep, "status", "Runs done, missing, failed, and the time left; while shards run, too",
                          "flashlab sweep status waf.jsonl waf-*.db -j 8");
    c.add_option("PLAN", o.plan, "What sweep plan wrote")->required();
    c.add_option("DATABASES", o.results, "Outputs of sweep run, finished or not");
    c.add_option("-j,--jobs", o.jobs, "Runs at once, for the time left")->check(CLI::Range(1, 1'000'000))->capture_default_str();
    c.add_option("--scratch", o.scratch, "As of sweep run");
    add_format(c, o.format, "One JSON object");
    c.callback([&action] { action = [] { return run_sweep_status(o); }; });
}

} // namespace

void add_sweep(CLI::App& app, std::function<int()>& action) {
    auto& sweep =
        add_command(app, "sweep", "Many configurations, loads and seeds, on one machine or many", "flashlab sweep plan waf.toml -o waf.jsonl");
    sweep.require_subcommand(1);
    add_plan(sweep, action);
    add_run(sweep, action);
    add_merge(sweep, action);
    add_status(sweep, action);
}

} // namespace flashlab
