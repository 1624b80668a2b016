/// flashlab sweep: many configurations, loads and seeds, on any number of machines.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/cli/command_line.h"
#include "tools/cli/command_options.h"
#include "tools/cli/progress.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/run/device_choice.h"
#include "tools/sweep/sweep_database.h"
#include "tools/sweep/sweep_journal.h"
#include "tools/sweep/sweep_plan.h"
#include "tools/sweep/sweep_shard.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

struct SweepPlanOptions {
    std::string sweep, output;
};
struct SweepRunOptions {
    std::string plan, output, shard = "1/1", scratch;
    unsigned jobs = 1;
    bool quiet = false;
};
struct SweepMergeOptions {
    std::vector<std::string> inputs;
    std::string output;
    bool reproducible = false;
};
struct SweepStatusOptions {
    std::string plan, scratch;
    std::vector<std::string> results;
    unsigned jobs = 1;
    OutputFormat format = OutputFormat::table;
};

struct Shard {
    std::uint64_t k = 1, n = 1;
};

/// "3/8"
std::expected<Shard, std::string> parse_shard(const std::string& text) {
    Shard shard;
    const char* const end = text.data() + text.size();
    const auto [slash, bad_k] = std::from_chars(text.data(), end, shard.k);
    const bool has_slash = bad_k == std::errc{} && slash != end && *slash == '/';
    const auto [last, bad_n] = has_slash ? std::from_chars(slash + 1, end, shard.n) : std::from_chars_result{end, std::errc::invalid_argument};
    if (bad_n != std::errc{} || last != end || shard.k == 0 || shard.k > shard.n)
        return std::unexpected(fmt::format("--shard {}: K/N is wanted, with K from 1 to N", text));
    return shard;
}

struct Cost {
    double seconds = 0;
    std::uint64_t runs = 0;
    [[nodiscard]] double mean() const { return runs == 0 ? 0 : seconds / static_cast<double>(runs); }
};

/// How long the missing runs take on one core: each as long as those of its load took so far.
double core_seconds_of(const std::vector<const SweepRun*>& missing, const SweepRecords& known) {
    std::map<std::string, Cost> of_load;
    Cost all;
    for (const auto& [id, record] : known) {
        if (!record.is_done || record.host["wall_run_seconds"].is_null()) continue;
        for (Cost* cost : {&of_load[record.run.load], &all}) {
            cost->seconds += record.host["wall_run_seconds"].real();
            ++cost->runs;
        }
    }
    double seconds = 0;
    for (const SweepRun* run : missing) {
        const Cost& cost = of_load[run->load];
        seconds += cost.runs == 0 ? all.mean() : cost.mean();
    }
    return seconds;
}

/// Databases, and journals of those that are not finished.
std::expected<SweepRecords, std::string> results_so_far(const SweepStatusOptions& o) {
    SweepRecords known;
    for (const std::string& path : o.results) {
        std::error_code ignored;
        const std::string journal = sweep_journal_path(path, o.scratch);
        const bool is_there = std::filesystem::exists(path, ignored);
        if (!is_there && !std::filesystem::exists(journal, ignored)) complain(fmt::format("sweep status: {}: not begun", path));
        const auto records = is_there ? read_sweep_database(path) : SweepRecords{};
        if (!records) return std::unexpected(records.error());
        const auto begun = SweepJournal::look(journal);
        if (!begun) return std::unexpected(begun.error());
        for (const auto& [id, record] : *records)
            if (auto added = add_record(known, record); !added) return std::unexpected(added.error());
        for (const SweepRecord& record : *begun)
            if (auto added = add_record(known, record); !added) return std::unexpected(added.error());
    }
    return known;
}

/// The first load that its seeds play nearly alike: a trace does not hang on them, and what lies on the drive neither where nothing is written at
/// random.
std::string load_without_chance(const std::vector<SweepRun>& runs) {
    std::map<std::string, std::uint64_t> first_seeds;
    for (const SweepRun& run : runs) {
        const bool has_seeds = first_seeds.emplace(run.load, run.seed).first->second != run.seed;
        if (has_seeds && run.command.front() == "replay" &&
            std::ranges::none_of(run.command, [](const auto& word) { return word.contains("random"); }))
            return run.load;
    }
    return {};
}

int run_sweep_plan(const SweepPlanOptions& o) {
    const auto runs = plan_sweep(o.sweep, {.wrong_usage = wrong_usage_of, .default_bench_bytes = default_bench_bytes});
    if (!runs) return complain("sweep plan: " + runs.error(), exit_usage);
    if (const std::string load = load_without_chance(*runs); !load.empty())
        complain(
            fmt::format("sweep plan: warning: load {}: seeds change a replay by bad blocks and errors at most, unless pages lie at random before "
                        "it: give it precondition = \"fill:100,random:1x\", or one seed",
                        load));
    std::string text;
    for (const SweepRun& run : *runs) text += run.to_json().dump() + "\n";
    if (o.output.empty()) {
        fmt::print("{}", text);
        return exit_done;
    }
    auto file = AsideFile::make(o.output, AsideFile::Existing::replaced, {o.sweep});
    if (!file) return complain("sweep plan: " + file.error());
    auto done = file->write(text);
    if (done) done = file->commit();
    if (!done) return complain("sweep plan: " + done.error());
    fmt::print("{} runs in {}\n", runs->size(), o.output);
    return exit_done;
}

int run_sweep_run(const SweepRunOptions& o) {
    const auto shard = parse_shard(o.shard);
    if (!shard) return complain("sweep run: " + shard.error(), exit_usage);
    const auto plan = read_sweep_plan(o.plan);
    if (!plan) return complain("sweep run: " + plan.error());
    const Interruption interruption;
    Progress progress{"runs"};
    const auto part = shard_of(*plan, shard->k, shard->n);
    const auto result =
        run_sweep_shard(part, {.output = o.output, .scratch = o.scratch, .jobs = o.jobs}, run_words, [&](std::uint64_t done) { progress.at(done); });
    if (!result) return complain("sweep run: " + result.error());
    if (result->was_interrupted)
        return complain(fmt::format("sweep run: {} of {} runs are finished; the same command goes on", result->known + result->made, part.size()));
    if (!o.quiet) fmt::print("{} runs made, {} were there, {} failed: {}\n", result->made, result->known, result->failed, o.output);
    if (result->failed == 0) return exit_done;
    return complain(fmt::format("sweep run: {} runs failed; the first: {}", result->failed, result->first_failure));
}

int run_sweep_merge(const SweepMergeOptions& o) {
    SweepRecords all;
    for (const std::string& input : o.inputs) {
        auto records = read_sweep_database(input);
        if (!records) return complain("sweep merge: " + records.error());
        for (auto& [id, record] : *records)
            if (auto added = add_record(all, std::move(record)); !added) return complain(fmt::format("sweep merge: {}: {}", input, added.error()));
    }
    if (auto done = write_sweep_database(o.output, all, o.reproducible ? HostColumns::none : HostColumns::kept); !done)
        return complain("sweep merge: " + done.error());
    fmt::print("{} runs in {}\n", all.size(), o.output);
    return exit_done;
}

int run_sweep_status(const SweepStatusOptions& o) {
    const auto plan = read_sweep_plan(o.plan);
    if (!plan) return complain("sweep status: " + plan.error());
    const auto known = results_so_far(o);
    if (!known) return complain("sweep status: " + known.error());
    std::uint64_t done = 0, failed = 0, missing = 0;
    std::vector<const SweepRun*> to_make;
    std::set<std::string> planned;
    Json failures{Json::Array{}};
    for (const SweepRun& run : *plan) {
        planned.insert(run.id);
        const auto at = known->find(run.id);
        const bool is_known = at != known->end(), is_done = is_known && at->second.is_done;
        done += is_done ? 1 : 0;
        failed += is_known && !is_done ? 1 : 0;
        missing += is_known ? 0 : 1;
        if (!is_done) to_make.push_back(&run);
        if (is_known && !is_done) failures.push(Json::object({{"id", run.id}, {"error", at->second.error}}));
    }
    std::uint64_t others = 0;
    for (const auto& [id, record] : *known) others += planned.contains(id) ? 0 : 1;
    const double seconds = core_seconds_of(to_make, *known);
    fmt::print("{}", shown(o.format, Json::object({{"runs", static_cast<std::uint64_t>(plan->size())},
                                                   {"done", done},
                                                   {"failed", failed},
                                                   {"missing", missing},
                                                   {"not_in_plan", others},
                                                   {"wall_core_seconds_left", seconds},
                                                   {"wall_seconds_left", seconds / std::max(o.jobs, 1u)},
                                                   {"failures", std::move(failures)}})));
    return exit_done;
}

void add_sweep_plan(CLI::App& sweep, Action& action) {
    auto [c, o] =
        add_command(sweep, action, run_sweep_plan, "plan", "Every run of a sweep's file, a line each", "flashlab sweep plan waf.toml -o waf.jsonl");
    c.add_option("SWEEP", o.sweep, "TOML file: [sweep] seeds, [grid] of keys to lists, [[load]], [[exclude]]")->required();
    c.add_option("-o,--output", o.output, "The plan; otherwise standard output");
}

void add_sweep_run(CLI::App& sweep, Action& action) {
    auto [c, o] = add_command(sweep, action, run_sweep_run, "run", "Make the runs of a plan, or of a shard; goes on where a killed one stopped",
                              "flashlab sweep run waf.jsonl --shard 1/4 -o waf-1.db -j 2");
    c.add_option("PLAN", o.plan, "What sweep plan wrote")->required();
    c.add_option("-o,--output", o.output, "The database; OUTPUT.part holds what is finished until all is")->required();
    c.add_option("--shard", o.shard, "K/N: the K-th of N parts")->capture_default_str();
    c.add_option("-j,--jobs", o.jobs, "Runs at once")->check(CLI::Range(1, 4096))->capture_default_str();
    c.add_option("--scratch", o.scratch, "Folder of this machine's own for OUTPUT.part")->check(CLI::ExistingDirectory);
    c.add_flag("-q,--quiet", o.quiet, "Print nothing but errors");
}

void add_sweep_merge(CLI::App& sweep, Action& action) {
    auto [c, o] = add_command(sweep, action, run_sweep_merge, "merge", "Databases of shards into one; one run with two results is an error",
                              "flashlab sweep merge waf-*.db -o waf.db");
    c.add_option("DATABASES", o.inputs, "What sweep run and sweep merge wrote")->required();
    c.add_option("-o,--output", o.output, "The database; may be one of those that are merged")->required();
    c.add_flag("--reproducible", o.reproducible, "Leave the columns wall_... and peak_rss_bytes empty: equal results are then equal files");
}

void add_sweep_status(CLI::App& sweep, Action& action) {
    auto [c, o] = add_command(sweep, action, run_sweep_status, "status", "Runs done, missing, failed, and the time left; while shards run, too",
                              "flashlab sweep status waf.jsonl waf-*.db -j 8");
    c.add_option("PLAN", o.plan, "What sweep plan wrote")->required();
    c.add_option("DATABASES", o.results, "Outputs of sweep run, finished or not");
    c.add_option("-j,--jobs", o.jobs, "Runs at once, for the time left")->check(CLI::Range(1, 1'000'000))->capture_default_str();
    c.add_option("--scratch", o.scratch, "As of sweep run");
    add_format(c, o.format, "One JSON object");
}

} // namespace

void add_sweep(CLI::App& app, Action& action) {
    auto& sweep =
        add_command(app, "sweep", "Many configurations, loads and seeds, on one machine or many", "flashlab sweep plan waf.toml -o waf.jsonl");
    sweep.require_subcommand(1);
    add_sweep_plan(sweep, action);
    add_sweep_run(sweep, action);
    add_sweep_merge(sweep, action);
    add_sweep_status(sweep, action);
}

} // namespace flashlab
