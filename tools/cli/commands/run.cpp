/// flashlab run: what a program on a temporary drive costs the drive.
///
/// Idea       Make, mount with use counted, run the program in the mount, flush, ask the mount, unmount. With --compare once for each drive.
/// Invariant  The exit code is the program's. Nothing of the drive is left, unless --keep names a place for it; a signal ends program, mount and
///            folder, too. The report counts from the mount to the flush, so what still lay in the cache is in it.
/// Cost       What the program takes; a clone of --device is by reflink where the host can.
/// Power cut  None but for a signal.
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ftl/make_ftl.h"
#include "tools/cli/command_options.h"
#include "tools/cli/commands/run_blame.h"
#include "tools/cli/commands/run_budget.h"
#include "tools/cli/commands/run_life.h"
#include "tools/cli/commands/run_text.h"
#include "tools/drive/device_copy.h"
#include "tools/drive/device_presets.h"
#include "tools/drive/use_ledger.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"
#include "tools/host/unfinished_directory.h"
#include "tools/live/mount_session.h"
#include "tools/live/trial_drive.h"
#include "tools/report/log_report.h"
#include "tools/report/report_page.h"
#include "tools/text/table.h"

namespace flashlab {

namespace {

struct RunOptions {
    std::vector<std::string> command;
    std::string check; ///< for sh -c, on the drive that was unmounted and mounted again
    std::optional<std::string> preset, config_file, ftl, metadata;
    std::string size, precondition;
    std::vector<std::string> settings;
    std::string device; ///< a drive to clone instead of a new one
    std::string latency = "off", log = "all", keep, html;
    std::vector<std::string> compare, compare_ftl; ///< presets, schemes to run again with
    double runs_per_day = 0;                       ///< 0: with latency real one after the other, without a pause
    std::uint64_t rows = 10;                       ///< of files and syncs, for people
    WriteBudget budget;
    OutputFormat format = OutputFormat::table;
};

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Failure = TrialDrive::Failure;

/// One of the drives to run on.
struct Variant {
    std::string label;
    std::optional<std::string> preset, ftl;
};

/// What a run came to. A report without `measured` belongs to a run that a signal ended.
struct Outcome {
    int code = exit_done;
    Json report;
    Json page{}; ///< of --html
};

std::vector<std::string> mkfs_options(const RunOptions& o, const Variant& variant) {
    std::vector<std::string> words;
    const auto add = [&](const char* option, const std::string& value) {
        if (!value.empty()) words.insert(words.end(), {option, value});
    };
    add("--preset", variant.preset.value_or(""));
    add("--ftl", variant.ftl.value_or(""));
    add("--config", o.config_file.value_or(""));
    add("--metadata", o.metadata.value_or(""));
    add("--size", o.size);
    add("--precondition", o.precondition);
    for (const std::string& setting : o.settings) add("--set", setting);
    return words;
}

/// The program runs where its user started it in every respect but the folder: terminal, input and output are its own.
std::expected<int, std::string> run_program(const RunOptions& o, TrialDrive& drive) {
    auto program = Subprocess::start({.words = o.command,
                                      .directory = drive.mount_point(),
                                      .output = {},
                                      .environment = {{"FLASHLAB_MOUNT", drive.mount_point()}},
                                      .standard_output = o.format == OutputFormat::table ? OutputTo::file_or_inherited : OutputTo::error,
                                      .terminal = Terminal::lend});
    const bool is_relative = o.command.front().find('/', 1) != std::string::npos && !o.command.front().starts_with("/");
    if (!program) return std::unexpected(program.error() + (is_relative ? ": it is looked for in the mounted folder; give an absolute path" : ""));
    for (auto pause = std::chrono::microseconds{200};; pause = std::min(pause * 2, std::chrono::microseconds{10'000})) {
        if (const auto code = program->poll()) return *code;
        if (Interruption::came()) return Interruption::exit_code(); // its group ends with `program`
        std::this_thread::sleep_for(pause);
    }
}

std::expected<DriveAnswers, std::string> ask_all(TrialDrive& drive) {
    DriveAnswers answers;
    for (const auto& [command, to] : std::initializer_list<std::pair<const char*, Json*>>{
             {"use", &answers.use}, {"stats", &answers.stats}, {"smart", &answers.smart}, {"info", &answers.info}, {"config", &answers.config}}) {
        auto answer = drive.ask(Json::object({{"cmd", command}, {"drive", true}}));
        if (!answer) return std::unexpected(fmt::format("the mount does not answer: {}", answer.error()));
        *to = std::move(*answer);
    }
    return answers;
}

/// What starts the program enters the mount under our own name. That row gets another one, unless the program is a flashlab that works there.
Json without_ourselves(const Json& processes) {
    const std::string our_name = program_of_thread(::getpid());
    Json rows{Json::Array{}};
    for (const Json& process : processes.items()) {
        const bool is_ours = process["process"].text() == our_name && process["write_bytes"].number() + process["read_bytes"].number() == 0 &&
                             process["nand_write_bytes"].number() + process["syncs"].number() == 0;
        Json row;
        for (const auto& [key, value] : process.members()) row.add(key, is_ours && key == "process" ? Json{start_of_program} : value);
        rows.push(std::move(row));
    }
    return rows;
}

Json report_of(const RunOptions& o, const Variant& variant, const DriveAnswers& a, int code, double seconds) {
    const Json& stats = a.use["drive"];
    Json out = Json::object({{"label", variant.label},
                             {"command", fmt::format("{}", fmt::join(o.command, " "))},
                             {"exit_code", code},
                             {"preset", a.info["preset"]},
                             {"ftl", a.info["ftl"]},
                             {"metadata", a.info["metadata"]},
                             {"device_bytes", a.info["device_bytes"]},
                             {"latency", a.stats["latency"]},
                             {"wall_seconds", seconds},
                             {"calls", a.use["calls"]},
                             {"failed_calls", a.use["failed_calls"]},
                             {"syncs", a.use["syncs"]},
                             {"application_write_bytes", a.use["write_bytes"]},
                             {"read_bytes", a.use["read_bytes"]},
                             {"host_write_bytes", stats["host_write_bytes"]},
                             {"metadata_write_bytes", a.use["metadata_write_bytes"]},
                             {"host_read_bytes", stats["host_read_bytes"]},
                             {"nand_write_bytes", a.use["nand_write_bytes"]},
                             {"nand_write_bytes_by_cause", a.use["nand_write_bytes_by_cause"]},
                             {"nand_page_reads", sum_of(stats["nand"], "page_reads")},
                             {"nand_block_erases", sum_of(stats["nand"], "block_erases")},
                             {"pram_words_written", stats["pram_words_written"]}});
    const auto over = [](const Json& what, const Json& by) { return by.number() == 0 ? Json{} : Json{what.real() / by.real()}; };
    out.add("host_per_application_byte", over(stats["host_write_bytes"], a.use["write_bytes"]));
    for (const char* key : {"waf", "waf_user", "waf_gc", "waf_merge", "waf_map", "waf_parity"}) out.add(key, stats[key]);
    out.add("nand_per_application_byte", over(a.use["nand_write_bytes"], a.use["write_bytes"]));
    out.add("latency_us", a.stats["operations"]);
    out.add("processes", without_ourselves(a.use["processes"]));
    for (const char* key : {"files", "syncs_by_caller"}) out.add(key, a.use[key]);
    out.add("lifetime", lifetime_of(a, {o.latency == "real", seconds, o.runs_per_day}));
    out.add("version", FLASHLAB_VERSION);
    return out;
}

/// On the drive as it is after a clean unmount: what the program believes to have stored must be there.
Failure check_what_is_left(const RunOptions& o, TrialDrive& drive, int& code) {
    if (auto failed = drive.check()) return failed;
    if (auto failed = drive.mount({"--log", "none"})) return failed;
    code = run_to_end(drive.in_mount({"sh", "-c", o.check}, {}), AtSignal::end_it);
    if (code != 0 && !Interruption::came()) tell(fmt::format("flashlab: run: the check ended with {}:\n    {}\n", code, drive.last_words()));
    return drive.unmount();
}

std::string kept_name(const RunOptions& o, std::size_t number) { return number == 0 ? o.keep : fmt::format("{}-{}", o.keep, number + 1); }

Failure keep_drive(const RunOptions& o, const TrialDrive& drive, std::size_t number) {
    const std::string to = kept_name(o, number);
    std::error_code error;
    fs::rename(drive.device(), to, error);
    if (!error) return std::nullopt;
    if (error != std::errc::cross_device_link) return fmt::format("--keep {}: {}", to, error.message());
    // Another file system: the images are copied with their holes; the log, which a clone does not have, is moved after them.
    if (const auto copied = clone_device(drive.device(), to); !copied) return fmt::format("--keep {}", copied.error());
    for (const char* name : {"events.db", "mount.log"}) {
        fs::copy_file(fs::path{drive.device()} / name, fs::path{to} / name, error);
        if (error && error != std::errc::no_such_file_or_directory) return fmt::format("--keep {}/{}: {}", to, name, error.message());
    }
    return std::nullopt;
}

/// One drive from its making to its end.
std::expected<Outcome, std::string> run_on(const RunOptions& o, const Variant& variant, std::size_t number, bool& is_wrong_usage) {
    const std::string work = make_work_directory("run");
    if (work.empty()) return std::unexpected(std::string{"no temporary directory can be made; TMPDIR says where"});
    const UnfinishedDirectory removed{work};
    TrialDrive drive{work};
    const auto failed_with = [&](const std::string& why) {
        is_wrong_usage = is_wrong_usage || drive.is_wrong_usage();
        return std::unexpected(why);
    };
    if (auto failed = o.device.empty() ? drive.make(mkfs_options(o, variant)) : drive.make_clone_of(o.device)) return failed_with(*failed);
    if (auto failed = drive.mount({"--latency", o.latency, "--log", o.log, "-o", "use"})) return failed_with(*failed);
    const auto begin = Clock::now();
    const auto code = run_program(o, drive);
    take_terminal_back();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!code) {
        is_wrong_usage = true; // there is no such program
        return std::unexpected(code.error());
    }
    Outcome outcome{.code = *code, .report = {}};
    if (Interruption::came()) return outcome;
    if (auto flushed = drive.ask(Json::object({{"cmd", "flush"}})); !flushed) return failed_with(fmt::format("flush: {}", flushed.error()));
    auto answers = ask_all(drive);
    if (!answers) return failed_with(answers.error());
    outcome.report = report_of(o, variant, *answers, *code, seconds);
    if (o.budget.has_limits()) outcome.report.add("budget", judged(o.budget, outcome.report));
    if (auto failed = drive.unmount()) return failed_with(*failed);
    std::error_code ignored;
    if (const std::string log = drive.device() + "/events.db"; fs::exists(log, ignored)) {
        auto blame = blame_of_run(log, answers->use["slow_requests"]);
        if (Interruption::came()) return outcome;
        if (!blame) return failed_with(fmt::format("what slow requests waited for: {}", blame.error()));
        outcome.report.add("slow_requests", std::move(*blame));
        if (!o.html.empty()) {
            auto page = report_log(log, variant.label, {});
            if (!page) return failed_with(fmt::format("--html: {}", page.error()));
            outcome.page = std::move(*page);
        }
    }
    if (!o.check.empty()) {
        int check_code = 0;
        if (auto failed = check_what_is_left(o, drive, check_code)) return failed_with(*failed);
        outcome.report.add("check_exit_code", check_code);
        if (outcome.code == exit_done && check_code != 0) outcome.code = exit_failed;
    }
    if (!o.keep.empty() && !Interruption::came())
        if (auto failed = keep_drive(o, drive, number)) { // the figures are shown none the less
            complain(fmt::format("run: {}", *failed));
            if (outcome.code == exit_done) outcome.code = exit_failed;
        }
    if (const std::string why = over_budget(outcome.report, o.rows); !why.empty())
        outcome.code = complain(fmt::format("run: {}: {}", variant.label, why), outcome.code == exit_done ? exit_over_budget : outcome.code);
    return outcome;
}

std::vector<Variant> variants_of(const RunOptions& o) {
    std::vector<Variant> variants{{.label = o.ftl.value_or(o.preset.value_or("default")), .preset = o.preset, .ftl = o.ftl}};
    if (!o.compare.empty() && !o.preset) variants.clear();
    for (const std::string& preset : o.compare) variants.push_back({.label = preset, .preset = preset, .ftl = o.ftl});
    if (!o.compare_ftl.empty() && !o.ftl) variants.clear();
    for (const std::string& ftl : o.compare_ftl) variants.push_back({.label = ftl, .preset = o.preset, .ftl = ftl});
    return variants;
}

/// Told before the first run, not after the last.
Failure misused(const RunOptions& o) {
    if (o.command.empty()) return "which program? Write it after '--', such as: flashlab run -- git clone /src copy";
    if (!o.html.empty() && o.log == "none") return "--html: the page is made from the event log, and --log none keeps none";
    if (!parse_latency(o.latency)) return fmt::format("--latency {}: allowed: off, real, or a factor such as 10x", o.latency);
    for (const std::string& preset : o.compare)
        if (const auto known = find_device_preset(preset); !known) return known.error();
    if (const std::string why = why_no_budget(o.budget); !why.empty()) return why;
    const auto schemes = all_schemes();
    for (const std::string& ftl : o.compare_ftl)
        if (std::ranges::find(schemes, ftl) == schemes.end()) return fmt::format("--compare-ftl {}: there are: {}", ftl, fmt::join(schemes, ", "));
    std::error_code error;
    for (std::size_t i = 0; !o.keep.empty() && i < variants_of(o).size(); ++i) {
        const std::string keep = kept_name(o, i);
        if (fs::exists(fs::symlink_status(keep, error))) return fmt::format("--keep {}: is there already", keep);
    }
    if (!o.keep.empty())
        if (const fs::path folder = fs::absolute(o.keep, error).parent_path(); ::access(folder.c_str(), W_OK | X_OK) != 0)
            return fmt::format("--keep {}: {}: {}", o.keep, folder.string(), std::strerror(errno));
    return std::nullopt;
}

int run_run(const RunOptions& o) {
    if (const auto wrong = misused(o)) return complain(fmt::format("run: {}", *wrong), exit_usage);
    const Interruption interruption;
    std::optional<AsideFile> page;
    if (!o.html.empty()) { // told before the first run, not after the last
        auto file = AsideFile::make(o.html, AsideFile::Existing::replaced, {});
        if (!file) return complain(fmt::format("run: --html {}", file.error()), exit_usage);
        page.emplace(std::move(*file));
    }
    Json reports{Json::Array{}};
    std::vector<Json> pages;
    int code = exit_done;
    const auto variants = variants_of(o);
    for (std::size_t i = 0; i < variants.size() && !Interruption::came(); ++i) {
        bool is_wrong_usage = false;
        auto outcome = run_on(o, variants[i], i, is_wrong_usage);
        if (Interruption::came()) break;
        if (!outcome) return complain(fmt::format("run: {}", outcome.error()), is_wrong_usage ? exit_usage : exit_failed);
        if (code == exit_done) code = outcome->code;
        reports.push(std::move(outcome->report));
        pages.push_back(std::move(outcome->page));
    }
    if (Interruption::came()) return Interruption::exit_code();
    fmt::print("{}", shown_runs(o.format, reports, static_cast<std::size_t>(o.rows)));
    if (!o.budget.junit.empty())
        if (auto written = write_junit(o.budget.junit, reports); !written) return complain(fmt::format("run: {}", written.error()));
    if (page)
        if (auto written = write_report_page(*page, std::move(pages)); !written) return complain(fmt::format("run: --html {}", written.error()));
    return code;
}

} // namespace

void add_run(CLI::App& app, Action& action) {
    auto [c, o] =
        add_command(app, action, run_run, "run", "Run a program on a temporary drive, and see where its bytes went and how long the drive lasts",
                    "flashlab run -- git clone /src copy\n"
                    "  flashlab run --compare-ftl page_map,fast --size 1G -- sh -c 'sqlite3 db < load.sql'\n\n"
                    "The program runs in the mounted folder (FLASHLAB_MOUNT), with your terminal; the exit code is its own. With --json and\n"
                    "--csv what it prints goes to standard error. What a process or a file wrote is followed through the host's requests to the\n"
                    "pages on flash, the copies of collections and merges included.");
    c.add_option("PROGRAM", o.command, "After '--'");
    c.add_option("--check", o.check,
                 "Shell command that looks at what the program left, after unmount, fsck and a new mount. If it fails, run ends with 1");
    auto* device = c.add_option("--device", o.device, "A clone of this device, which is not touched, instead of a new one");
    c.add_option("--preset", o.preset, "A known device (flashlab presets)")->excludes(device);
    c.add_option("--config", o.config_file, "TOML file of configuration keys")->excludes(device);
    c.add_option("--ftl", o.ftl, translation_layers())->excludes(device);
    c.add_option("--metadata", o.metadata, "Where metadata live: pram, journal")->excludes(device);
    c.add_option("--size", o.size, "Logical size; as for mkfs")->check(is_size())->excludes(device);
    c.add_option("--set", o.settings, "KEY=VALUE of a configuration key")->allow_extra_args(false)->excludes(device);
    c.add_option("--precondition", o.precondition, "A drive that is not new, as for mkfs: fill:90,random:2x")->excludes(device);
    c.add_option("--compare", o.compare, "PRESET,PRESET: run on each of them, and show them side by side")
        ->delimiter(',')
        ->allow_extra_args(false) // CLI11 would take the '--' before the program, too
        ->excludes(device);
    c.add_option("--compare-ftl", o.compare_ftl, "FTL,FTL: the same with translation layers")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->excludes(device);
    c.add_option("--latency", o.latency, "off: as fast as this machine; real: as slow as the flash; or Nx")->capture_default_str();
    c.add_option("--log", o.log, "Event log of the drive: all tells what slow requests waited for; requests, summary and none cost less")
        ->check(CLI::IsMember({"none", "summary", "requests", "all"}))
        ->capture_default_str();
    c.add_option("--keep", o.keep, "Leave the drive here, for flashlab query; with --compare also NAME-2, NAME-3 ...");
    c.add_option("--html", o.html, "Also one page with plots, as of flashlab report; of several drives side by side");
    c.add_option("--runs-per-day", o.runs_per_day, "For the lifetime: how often the program runs; default: with --latency real without a pause")
        ->check(CLI::Range(1e-6, 1e9));
    c.add_option("--rows", o.rows, "Files, processes and callers to show")->check(at_least_one())->capture_default_str();
    add_budget_options(c, o.budget);
    add_format(c, o.format, "One JSON object; of several drives {runs: [...]}");
}

} // namespace flashlab
