/// flashlab crash torture: the power fails under the user's own program, again and again. The user's check says whether the data that are left are
/// right.
///
/// Idea       Mount, start the command in the mount, cut the power at a drawn instant, keep a copy of the drive as the cut left it, fsck, mount,
///            check.
/// Invariant  A copy that failed is kept, and `--replay` recovers and checks a clone of it, as often as wanted. Everything else is removed.
///            A signal ends command, check, mount and temporary folder, too; what was found so far is reported.
/// Cost       What command and check take; a copy is by reflink where the host can, else what the drive has on disk.
/// Power cut  Makes them: `ctl powercut` with a seed of its own for each.
#include "tools/cli/commands/torture.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/random.h"
#include "crash/apps/persistence.h"
#include "tools/cli/commands/crash.h"
#include "tools/cli/progress.h"
#include "tools/drive/config_file.h"
#include "tools/drive/device_copy.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/device_presets.h"
#include "tools/explore/check_run.h"
#include "tools/faults/fault_rule.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"
#include "tools/host/subprocess.h"
#include "tools/host/unfinished_directory.h"
#include "tools/live/cut_report.h"
#include "tools/live/kernel_file_system.h"
#include "tools/live/mount_session.h"
#include "tools/live/promise_pipe.h"
#include "tools/live/recovery_cut.h"
#include "tools/live/trial_drive.h"
#include "tools/text/shell_word.h"

namespace flashlab {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Failure = std::optional<std::string>;
constexpr std::chrono::minutes patience_for_flushes{1};
constexpr std::chrono::milliseconds patience{3000}; // for a program on a mount whose power went
constexpr std::chrono::milliseconds no_limit{0};

/// What the shell says of a command that is not there, or that cannot be run.
bool is_no_check(int code) { return code == 126 || code == 127; }

bool is_lie(const std::string& words) {
    const auto rule = FaultRule::parse(fault_words(words));
    return rule && rule->is_a_lie();
}
/// Cuts of a drive that tears meet its buffer, and not the flash.
bool is_tear(const std::string& words) {
    const auto rule = FaultRule::parse(fault_words(words));
    return rule && rule->kind == FaultKind::lie_tear;
}

class Torture {
public:
    Torture(const CrashTortureOptions& options, const fs::path& work) : o_{options}, drive_{work}, copy_{work / "copy"}, acks_{work / "acks"} {
        if (!o_.under.empty()) kernel_.emplace(o_.under, o_.mkfs_options, work);
    }

    /// A new drive, without capacitors, which would finish what a cut is to tear; or a clone of the user's, which is never touched.
    Failure prepare(const std::string& from) {
        std::ofstream acks{acks_};
        if (!o_.replay.empty()) acks << std::ifstream{from + "/acks"}.rdbuf();
        if (!from.empty()) return drive_.make_clone_of(from);
        std::vector<std::string> words{"--preset", std::string{common_preset_name}};
        const auto add = [&](const char* option, const std::string& value) {
            if (!value.empty()) words.insert(words.end(), {option, value});
        };
        add("--ftl", o_.ftl);
        add("--metadata", o_.metadata);
        add("--size", o_.size);
        if (std::ranges::any_of(o_.faults, is_lie)) add("--set", "dram.write_buffer_bytes=8M"); // volatile: there is something to lie about
        if (!kernel_) return drive_.make(words);
        words.emplace_back("--raw");
        if (auto failed = drive_.make(words)) return failed;
        if (auto failed = attach()) return failed;
        if (auto failed = kernel_->make()) {
            wrong_usage_ = true; // a word of --mkfs-options, or a size that this file system refuses
            return failed;
        }
        return unmount();
    }

    /// The command runs, again when it ends, until the power fails.
    Failure run_and_cut(std::uint64_t cut, std::chrono::milliseconds after, std::uint64_t seed) {
        if (auto failed = mount()) return failed;
        if (auto failed = set_faults()) return failed;
        const auto promises = PromisePipe::open();
        if (!promises) return fmt::format("no pipe can be made for promises: {}", promises.error());
        SubprocessCall call = in_mount(o_.command, cut);
        call.environment.emplace_back("FLASHLAB_ACK_FD", fmt::format("{}", (*promises)->descriptor()));
        auto command = Subprocess::start(call);
        if (!command) {
            wrong_usage_ = true; // there is no such program
            return command.error();
        }
        ++runs_;
        const std::uint64_t flushes = flushes_before(o_).value_or(0);
        auto at = flushes == 0 ? Clock::now() + after : Clock::time_point::max();
        for (const auto latest = Clock::now() + patience_for_flushes; Clock::now() < at;) {
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
            if (Interruption::came()) return "interrupted"; // its group ends with `command`
            if (at == Clock::time_point::max() && flushes_so_far() >= flushes) at = Clock::now() + after;
            if (at == Clock::time_point::max() && Clock::now() > latest)
                return fmt::format("--after flush {}: the command made {} within a minute", flushes, flushes_so_far());
            const auto code = command->poll();
            if (!code) continue;
            if (*code != 0) {
                wrong_usage_ = true; // it fails by itself: no cut can be judged by it
                return fmt::format("the command ended with {} before any cut:\n    {}", *code, drive_.last_words());
            }
            command = Subprocess::start(call);
            if (!command) return command.error();
            ++runs_;
        }
        const auto answer = drive_.ask(Json::object({{"cmd", "powercut"}, {"seed", seed}, {"at", o_.at}}));
        if (!answer) return fmt::format("the power could not be cut: {}", answer.error());
        note_cut(*answer);
        const std::chrono::nanoseconds at_cut{(*answer)["steady_ns"].number()};
        std::ofstream{acks_} << (*promises)->before(PromisePipe::Time{at_cut});
        command->end(patience);
        if (auto failed = unmount()) return failed;
        if (o_.at != "recovery") return std::nullopt;
        const auto again = cut_recovery(drive_.device(), seed, EventLevel::none);
        if (!again) return fmt::format("the recovery could not be cut: {}", again.error());
        note_cut(to_json(*again));
        return std::nullopt;
    }

    /// fsck, mount, check. What the user gets after the power is back.
    Failure recover_and_check(std::uint64_t cut) {
        if (auto failed = drive_.check()) return failed;
        if (Interruption::came()) return "interrupted";
        const auto from = Clock::now();
        if (auto failed = mount()) return failed;
        if (kernel_) // its journal was replayed: now its own fsck looks
            for (auto failed : {kernel_->unmount(), kernel_->check(), kernel_->mount()})
                if (failed) return failed;
        slowest_ = std::max(slowest_, std::chrono::duration<double, std::milli>(Clock::now() - from).count());
        if (!o_.check.empty()) {
            SubprocessCall call = in_mount({}, cut);
            call.environment.emplace_back("FLASHLAB_ACKS", acks_.string());
            const CheckVerdict verdict = run_check({.command = o_.check,
                                                    .directory = call.directory,
                                                    .output = call.output,
                                                    .environment = call.environment,
                                                    .limit = o_.timeout_s ? limit_of(o_) : no_limit});
            wrong_usage_ = is_no_check(verdict.code);
            if (verdict.end != CheckEnd::passed) return fmt::format("the check ended with {}:\n    {}", verdict.code, drive_.last_words());
        }
        return unmount();
    }

    /// The same once more, of the drive as the cut left it: what a check says once may be its own doing.
    Failure recover_and_check_again(std::uint64_t cut) {
        if (auto failed = unmount()) return failed;
        std::error_code error;
        fs::remove_all(drive_.device(), error);
        if (auto failed = drive_.make_clone_of(copy_.string())) return failed;
        return recover_and_check(cut);
    }

    Failure keep_copy() {
        std::error_code error;
        fs::remove_all(copy_, error);
        const auto copied = clone_device(drive_.device(), copy_.string());
        return copied ? std::nullopt : Failure{copied.error()};
    }
    /// Where the copy of a failed state lies from now on; nothing: it could not be moved out of the work folder. What an earlier trial kept stays.
    std::optional<std::string> hand_over(std::uint64_t cut) {
        std::error_code error;
        const std::string first =
            fs::absolute(fmt::format("{}/flashlab-cut-{}-{}", o_.keep.empty() ? "." : o_.keep, o_.seed, cut), error).lexically_normal().string();
        std::string to = first;
        for (int n = 2; fs::exists(fs::symlink_status(to, error)); ++n) to = fmt::format("{}-{}", first, n);
        fs::rename(copy_, to, error);
        if (error && !clone_device(copy_.string(), to)) return std::nullopt;
        std::ofstream{to + "/acks"} << std::ifstream{acks_}.rdbuf();
        return to;
    }
    [[nodiscard]] std::string copy() const { return copy_.string(); }
    /// Of what failed last: what was asked for cannot be, which is no finding.
    [[nodiscard]] int failure_code() const { return wrong_usage_ || drive_.is_wrong_usage() ? exit_usage : exit_failed; }
    [[nodiscard]] std::uint64_t runs() const { return runs_; }
    [[nodiscard]] double slowest_mount_ms() const { return slowest_; }
    /// What all cuts left of the operations that they met.
    [[nodiscard]] const std::array<std::uint64_t, 12>& outcomes() const { return outcomes_; }
    [[nodiscard]] std::uint64_t operations_torn() const { return operations_torn_; }
    [[nodiscard]] std::uint64_t cuts_that_tore() const { return cuts_that_tore_; }
    /// Which the model of --persistence took.
    [[nodiscard]] std::uint64_t changes_lost() const { return changes_lost_; }

private:
    /// Answered since the mount.
    std::uint64_t flushes_so_far() {
        const auto stats = drive_.ask(Json::object({{"cmd", "stats"}}));
        std::uint64_t calls = 0;
        if (stats)
            for (const Json& o : (*stats)["operations"].items())
                if (o["op"].text().starts_with("fsync")) calls += o["calls"].number() - o["errors"].number();
        return calls;
    }
    /// In force until the cut: recovery and check meet a drive that works.
    Failure set_faults() {
        Json rules{Json::Array{}};
        for (const std::string& rule : o_.faults) {
            Json words{Json::Array{}};
            for (const std::string& word : fault_words(rule)) words.push(word);
            rules.push(std::move(words));
        }
        if (o_.faults.empty()) return std::nullopt;
        const auto answer = drive_.ask(Json::object({{"cmd", "fault"}, {"do", "add"}, {"rules", std::move(rules)}}));
        if (answer) return std::nullopt;
        wrong_usage_ = true;
        return fmt::format("--fault: {}", answer.error());
    }
    void note_cut(const Json& report) {
        add_outcomes(report, outcomes_);
        operations_torn_ += report["operations_torn"].number();
        cuts_that_tore_ += report["operations_torn"].number() != 0 ? 1 : 0;
        changes_lost_ += report["persistence"]["changes_lost"].number(0);
    }
    SubprocessCall in_mount(const std::vector<std::string>& words, std::uint64_t cut) {
        SubprocessCall call = drive_.in_mount(words, {{"FLASHLAB_CUT", fmt::format("{}", cut)}});
        if (kernel_) call.environment.back().second = call.directory = kernel_->mount_point(); // FLASHLAB_MOUNT
        return call;
    }
    Failure mount() {
        if (!kernel_) return drive_.mount({"--latency", o_.latency, "--log", "none", "-o", "persistence=" + o_.persistence});
        if (auto failed = attach()) return failed;
        return kernel_->mount();
    }
    /// The drive's file is there, and the kernel's block device over it.
    Failure attach() {
        if (auto failed = drive_.mount({"--as-file", "--latency", o_.latency, "--log", "none"})) return failed;
        return kernel_->attach(drive_.mount_point() + "/disk");
    }
    Failure unmount() {
        if (kernel_) kernel_->take_away();
        return drive_.unmount();
    }

    const CrashTortureOptions& o_;
    TrialDrive drive_;
    std::optional<KernelFileSystem> kernel_; ///< behind the drive: it goes first
    fs::path copy_, acks_;                   ///< acks_: what was promised since the mount, before the cut
    std::uint64_t runs_ = 0, operations_torn_ = 0, cuts_that_tore_ = 0, changes_lost_ = 0;
    std::array<std::uint64_t, 12> outcomes_{};
    bool wrong_usage_ = false;
    double slowest_ = 0;
};

int replay_torture(const CrashTortureOptions& o, Torture& torture) {
    if (auto failed = torture.prepare(o.replay)) return complain(fmt::format("crash torture: {}", *failed));
    const auto wrong = torture.recover_and_check(0);
    if (Interruption::came()) return complain("crash torture: interrupted: it was not checked to the end");
    const Json json =
        Json::object({{"replayed", o.replay}, {"holds", !wrong.has_value()}, {"found", wrong.value_or("")}, {"version", FLASHLAB_VERSION}});
    fmt::print("{}", shown(o.format, json));
    return wrong ? exit_failed : exit_done;
}

/// What a trial has shown so far.
struct Trial {
    std::uint64_t cuts = 0; ///< whose recovery was judged
    bool holds = true;
    std::uint64_t not_repeatable = 0; ///< cuts after which the check failed, and passed when all was made anew
    bool keeps_work = false;          ///< the copy of the failed state could not be moved out of it
    Json replays{Json::Array{}}, found{Json::Array{}};
};

/// Cut, recover, judge, until one fails or a signal comes. The error: the trial itself went wrong.
Failure try_cuts(const CrashTortureOptions& o, Torture& torture, Trial& trial) {
    Progress progress{"cuts", o.cuts};
    Random random{o.seed};
    while (trial.cuts < o.cuts && trial.holds) {
        const std::uint64_t cut = trial.cuts + 1;
        progress.at(cut);
        const std::chrono::milliseconds after{1 + random.below(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(o.within_s * 1000)))};
        auto failed = torture.run_and_cut(cut, after, random.next());
        if (!failed) failed = torture.keep_copy();
        if (Interruption::came()) return std::nullopt;
        if (failed) return fmt::format("cut {}: {}", cut, *failed);
        const auto wrong = torture.recover_and_check(cut);
        if (Interruption::came()) return std::nullopt;
        if (wrong && torture.failure_code() == exit_usage) return wrong; // it says nothing of the cut
        trial.cuts = cut;
        if (!wrong) continue;
        if (!torture.recover_and_check_again(cut)) {
            if (Interruption::came()) return std::nullopt;
            ++trial.not_repeatable;
            tell(fmt::format(
                "flashlab: cut {}: not repeatable: {}\n  and nothing was wrong when the same drive was recovered and checked again. That is no "
                "finding: let the check answer the same each time\n",
                cut, *wrong));
            continue;
        }
        if (Interruption::came()) return std::nullopt;
        trial.holds = false;
        const auto moved = torture.hand_over(cut);
        trial.keeps_work = !moved;
        std::string line = fmt::format("flashlab crash torture --replay {}", shell_word(moved.value_or(torture.copy())));
        if (!o.under.empty()) line += " --under " + o.under;
        if (!o.check.empty()) line += fmt::format(" --check {}", shell_word(o.check));
        if (o.timeout_s) line += fmt::format(" --timeout {}", *o.timeout_s);
        tell(fmt::format("flashlab: cut {}, {} ms after the mount: {}\n  {}\n", cut, after.count(), *wrong, line));
        trial.replays.push(line);
        trial.found.push(*wrong);
    }
    return std::nullopt;
}

} // namespace

int run_crash_torture(const CrashTortureOptions& o) {
    if (const std::string why = misuse_without_states(o); !why.empty()) return complain(fmt::format("crash torture: {}", why), exit_usage);
    if (!o.faults.empty() && (o.explores || judges_itself(o) || !o.replay.empty()))
        return complain("crash torture: --fault is of a drive whose power is cut, not of --explore, --check auto or --replay: leave it out",
                        exit_usage);
    if (judges_itself(o) && !o.under.empty()) return complain("crash torture: --check auto does not go with --under: leave one out", exit_usage);
    if (o.replay.empty() && (o.explores || judges_itself(o))) return o.under.empty() ? run_torture_explore(o) : run_torture_recorded(o);
    if (is_kept_state(o.replay)) return replay_kept_state(o);
    if (is_kept_disk(o.replay)) return replay_kept_disk(o);
    for (const std::string& words : o.faults)
        if (const auto rule = FaultRule::parse(fault_words(words)); !rule)
            return complain(fmt::format("crash torture: --fault: {}", rule.error()), exit_usage);
    if (const auto after = flushes_before(o); !after) return complain(fmt::format("crash torture: {}", after.error()), exit_usage);
    if (!find_persistence(o.persistence))
        return complain(fmt::format("crash torture: --persistence {}: allowed: {}", o.persistence, persistence_names), exit_usage);
    if (o.replay.empty() && o.command.empty())
        return complain("crash torture: which command? Write it after '--', such as: flashlab crash torture -- git clone /src copy", exit_usage);
    if (const std::string& from = o.replay.empty() ? o.device : o.replay; !from.empty())
        if (const auto there = read_device_toml(directory_of_device(from)); !there)
            return complain(fmt::format("crash torture: {}", there.error()), exit_usage);
    if (!parse_latency(o.latency))
        return complain(fmt::format("crash torture: --latency {}: allowed: off, real, or a factor such as 10x", o.latency), exit_usage);
    if (!parse_cut_at(o.at)) return complain(fmt::format("crash torture: --at {}: allowed: {}", o.at, fmt::join(cut_at_names, ", ")), exit_usage);
    if (o.replay.empty())
        if (const std::string why = why_no_keep(o.keep); !why.empty()) return complain(fmt::format("crash torture: {}", why), exit_usage);
    if (const std::string why = o.under.empty() ? "" : KernelFileSystem::why_not(o.under); !why.empty())
        return complain(fmt::format("crash torture: --under {}: {}", o.under, why), exit_usage);
    const Interruption interruption;
    const auto began = Clock::now();
    const std::string work = make_work_directory("torture");
    if (work.empty()) return complain("crash torture: no temporary directory can be made; TMPDIR says where", exit_usage);
    UnfinishedDirectory removed{work};
    Torture torture{o, work};
    if (!o.replay.empty()) return replay_torture(o, torture);
    Trial trial;
    auto failed = torture.prepare(o.device);
    if (!failed) failed = try_cuts(o, torture, trial);
    if (failed && !Interruption::came()) return complain(fmt::format("crash torture: {}", *failed), torture.failure_code());
    if (trial.cuts != 0 && o.at == "work" && std::ranges::none_of(o.faults, is_tear) &&
        std::ranges::all_of(torture.outcomes(), [](std::uint64_t count) { return count == 0; }))
        complain("crash torture: no cut met the flash at work, so next to nothing was tested: let the command write longer, or give --latency real");
    if (trial.keeps_work) removed.keep();
    const Json json = Json::object(
        {{"cuts", trial.cuts},
         {"command_runs", torture.runs()},
         {"violations", trial.holds ? 0 : 1},
         {"not_repeatable", trial.not_repeatable},
         {"slowest_mount_ms", torture.slowest_mount_ms()},
         {"seconds_a_cut", std::chrono::duration<double>(Clock::now() - began).count() / static_cast<double>(std::max<std::uint64_t>(1, trial.cuts))},
         {"under", o.under},
         {"at", o.at},
         {"persistence", o.persistence},
         {"changes_lost", torture.changes_lost()},
         {"outcomes", outcomes_json(torture.outcomes())},
         {"operations_torn", torture.operations_torn()},
         {"cuts_that_tore", torture.cuts_that_tore()},
         {"seed", o.seed},
         {"partial", Interruption::came()},
         {"replays", std::move(trial.replays)},
         {"found", std::move(trial.found)},
         {"version", FLASHLAB_VERSION}});
    fmt::print("{}", shown(o.format, json));
    return trial.holds && trial.not_repeatable == 0 ? exit_done : exit_failed;
}

} // namespace flashlab
