/// flashlab crash torture --under KIND --explore: states of the block device that a cut could have left below a file system of the kernel.
///
/// Idea       The command runs once, on the kernel's file system over a raw drive that records what it is sent (mount --as-file --record): writes,
///            trims, flushes, and the promises between them. A state is the disk as the last flush before a cut left it, with some of what came
///            since. Of each, the journal replays, the file system's fsck looks, and the check judges.
/// Invariant  What was answered before a flush began, and the flush was over before the cut, is in every state. A logical page of a write is old or
///            new. Same recording and seed, same states.
/// Cost       A copy of the disk's image and three mounts a state; in memory where the host has room.
/// Power cut  Made from the recording; the program does not run again.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/random.h"
#include "crash/apps/history.h"
#include "tools/cli/commands/torture.h"
#include "tools/cli/progress.h"
#include "tools/drive/device_presets.h"
#include "tools/explore/check_run.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"
#include "tools/host/unfinished_directory.h"
#include "tools/live/kernel_file_system.h"
#include "tools/live/trial_drive.h"
#include "tools/text/shell_word.h"

namespace flashlab {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
using Failure = std::optional<std::string>;
constexpr std::uint64_t page_of_drive = 4096;

/// A cut between two lines of the recording, and which of the pages since the last flush it left.
struct DiskState {
    enum class Kept : std::uint8_t { nothing, all, drawn };
    std::size_t cut;     ///< so many lines were answered
    std::size_t durable; ///< so many of them are there for sure
    Kept kept;
    std::uint64_t seed;
};

/// Two around each flush, and as many drawn ones.
constexpr std::uint64_t states_for_all(std::uint64_t flush_points) { return 4 * flush_points; }

class BlockHistory {
public:
    explicit BlockHistory(std::vector<Operation> lines) : lines_{std::move(lines)} {
        std::size_t durable = 0;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            durable_.push_back(durable);
            if (!is_sync(lines_[i].act)) continue;
            flushes_.push_back(i);
            durable = std::max(durable, i - std::min<std::size_t>(i, lines_[i].bytes));
        }
        durable_.push_back(durable);
        const auto prepared = std::ranges::find(lines_, Act::sync_all, &Operation::act);
        first_ = static_cast<std::size_t>(prepared - lines_.begin());
    }
    [[nodiscard]] const Operation& line(std::size_t i) const { return lines_[i]; }
    [[nodiscard]] std::size_t size() const { return lines_.size(); }
    [[nodiscard]] std::size_t first_cut() const { return std::min(first_ + 1, lines_.size()); }
    [[nodiscard]] std::size_t flush_points() const {
        return static_cast<std::size_t>(std::ranges::count_if(flushes_, [&](auto i) { return i > first_; }));
    }

    /// Around every flush without and with all that it was to make durable, then drawn ones; in the order of what is durable.
    [[nodiscard]] std::vector<DiskState> states(std::uint64_t most, std::uint64_t seed) const {
        std::vector<DiskState> out;
        const auto add = [&](std::size_t cut, DiskState::Kept kept, std::uint64_t drawn) { out.push_back({cut, durable_[cut], kept, drawn}); };
        const std::uint64_t step = std::max<std::uint64_t>(1, states_for_all(flush_points()) / std::max<std::uint64_t>(1, most));
        std::uint64_t n = 0;
        for (const std::size_t flush : flushes_) {
            if (flush <= first_ || n++ % step != 0) continue;
            add(flush, DiskState::Kept::nothing, 0);
            add(flush, DiskState::Kept::all, 0);
        }
        for (Random random{seed}; out.size() < most;)
            add(first_cut() + random.below(size() + 1 - first_cut()), DiskState::Kept::drawn, random.next());
        out.resize(std::min<std::size_t>(out.size(), most));
        std::ranges::stable_sort(out, {}, &DiskState::durable);
        return out;
    }

private:
    std::vector<Operation> lines_;
    std::vector<std::size_t> durable_, flushes_; ///< durable_: by cut
    std::size_t first_ = 0;                      ///< the flush behind the preparation
};

bool write_at(int fd, const char* from, std::uint64_t bytes, std::uint64_t offset) {
    for (std::uint64_t done = 0; done < bytes;) {
        const ssize_t put = ::pwrite(fd, from + done, bytes - done, static_cast<off_t>(offset + done));
        if (put <= 0) return false;
        done += static_cast<std::uint64_t>(put);
    }
    return true;
}

/// The part of a line that lies in one logical page after the other. `takes`: whether the cut left it.
template <class Takes>
bool apply(int fd, const Operation& line, const Takes& takes) {
    const bool is_write = line.act == Act::write;
    const std::uint64_t bytes = is_write ? line.data.size() : line.act == Act::zero ? line.bytes : 0;
    for (std::uint64_t at = line.offset, end = line.offset + bytes; at < end;) {
        const std::uint64_t next = std::min(end, (at / page_of_drive + 1) * page_of_drive);
        const bool is_left = takes();
        const bool done =
            !is_left   ? true
            : is_write ? write_at(fd, line.data.data() + (at - line.offset), next - at, at)
                       : ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at), static_cast<off_t>(next - at)) == 0;
        if (!done) return false;
        at = next;
    }
    return true;
}

class RecordedTorture {
public:
    RecordedTorture(const CrashTortureOptions& options, const fs::path& work)
        : o_{options}, work_{work}, drive_{work}, kernel_{options.under, options.mkfs_options, work} {}

    /// Runs the command once. The error: nothing can be judged.
    std::expected<BlockHistory, std::string> record() {
        std::vector<std::string> words{"--raw", "--preset", std::string{common_preset_name}, "--size", o_.size};
        if (!o_.ftl.empty()) words.insert(words.end(), {"--ftl", o_.ftl});
        const std::string history = path("history");
        if (::mkfifo((history + ".acks").c_str(), 0600) != 0) return std::unexpected(fmt::format("{}.acks: {}", history, std::strerror(errno)));
        if (auto failed = drive_.make(words)) return std::unexpected(*failed);
        if (auto failed = attach({})) return std::unexpected(*failed);
        if (auto failed = kernel_.make()) return std::unexpected(*failed);
        kernel_.take_away();
        if (auto failed = drive_.unmount()) return std::unexpected(*failed);
        if (auto failed = attach({"--record", history})) return std::unexpected(*failed);
        if (auto failed = copy_disk("durable")) return std::unexpected(*failed);
        if (auto failed = kernel_.mount()) return std::unexpected(*failed);
        if (auto failed = run_command(history)) return std::unexpected(*failed);
        kernel_.take_away();
        if (auto failed = copy_disk("image")) return std::unexpected(*failed);
        if (auto failed = drive_.unmount()) return std::unexpected(*failed);
        std::ifstream file{history, std::ios::binary};
        auto lines = read_history(std::string{std::istreambuf_iterator<char>{file}, {}});
        if (!lines) return std::unexpected(lines.error());
        BlockHistory recorded{std::move(*lines)};
        write_promises(recorded, recorded.size());
        if (auto failed = judge(path("image"), path("acks"), ", without any cut"))
            return std::unexpected(*failed); // what a check does is not recorded
        return recorded;
    }

    /// The disk as this cut left it, in the file `image`. States come in the order of what is durable.
    Failure make(const BlockHistory& history, const DiskState& state) {
        const int durable = ::open(path("durable").c_str(), O_RDWR | O_CLOEXEC);
        bool good = durable >= 0;
        for (; good && applied_ < state.durable; ++applied_) good = apply(durable, history.line(applied_), [] { return true; });
        if (durable >= 0) ::close(durable);
        if (!good || copy(path("durable"), path("image")) != 0) return no_copy;
        const int image = ::open(path("image").c_str(), O_RDWR | O_CLOEXEC);
        Random random{state.seed};
        for (std::size_t i = state.durable; good && i < state.cut && state.kept != DiskState::Kept::nothing; ++i)
            good = apply(image, history.line(i), [&] { return state.kept == DiskState::Kept::all || random.chance(1, 2); });
        ::close(image);
        write_promises(history, state.cut);
        return good ? std::nullopt : Failure{"the state cannot be written: is TMPDIR full?"};
    }

    /// What is wrong with the disk in that file; nothing: it is right. The file is changed.
    Failure judge(const std::string& image, const std::string& acks, const char* when = "") {
        auto wrong = kernel_.attach(image);
        if (!wrong) wrong = kernel_.mount();
        if (!wrong) wrong = kernel_.unmount();
        if (!wrong) wrong = kernel_.check();
        if (!wrong) wrong = kernel_.mount();
        if (!wrong) wrong = ask_check(acks, when);
        kernel_.take_away();
        return wrong;
    }
    Failure judge_here() { return judge(path("image"), path("acks")); }
    [[nodiscard]] std::string path(const char* name) const { return (work_ / name).string(); }
    static int copy(const std::string& from, const std::string& to) {
        return run_to_end({.words = {"cp", "--sparse=always", "--reflink=auto", from, to}, .directory = {}, .output = {}, .environment = {}});
    }

private:
    void write_promises(const BlockHistory& history, std::size_t cut) {
        std::ofstream acks{path("acks")};
        for (std::size_t i = 0; i < cut; ++i)
            if (history.line(i).act == Act::promise) acks << history.line(i).data << '\n';
    }
    static constexpr const char* no_copy = "the disk cannot be copied: is TMPDIR full?";
    /// As it is on the mounted drive.
    Failure copy_disk(const char* to) { return copy(drive_.mount_point() + "/disk", path(to)) == 0 ? std::nullopt : Failure{no_copy}; }
    Failure attach(std::vector<std::string> options) {
        options.insert(options.end(), {"--as-file", "--log", "none"});
        if (auto failed = drive_.mount(options)) return failed;
        return kernel_.attach(drive_.mount_point() + "/disk");
    }
    SubprocessCall inside(const std::vector<std::string>& words, std::vector<std::pair<std::string, std::string>> environment) {
        SubprocessCall call = drive_.in_mount(words, std::move(environment));
        call.environment.back().second = call.directory = kernel_.mount_point(); // FLASHLAB_MOUNT
        return call;
    }
    Failure run_command(const std::string& history) {
        const auto run = [&](std::vector<std::string> words) { return run_to_end(inside(words, {}), AtSignal::end_it); };
        if (!o_.setup.empty())
            if (const int code = run({"sh", "-c", o_.setup}); code != 0)
                return fmt::format("--setup ended with {}:\n    {}", code, drive_.last_words());
        if (run({"sync", "-f", "."}) != 0) return fmt::format("sync: {}", drive_.last_words());
        if (const auto flushed = drive_.ask(Json::object({{"cmd", "flush"}})); !flushed) return flushed.error();
        const int promises = ::open((history + ".acks").c_str(), O_WRONLY); // inherited by the command
        if (promises < 0) return fmt::format("{}.acks: {}", history, std::strerror(errno));
        (void)::fcntl(promises, F_SETPIPE_SZ, 1 << 20);
        const int code = run_to_end(inside(o_.command, {{"FLASHLAB_ACK_FD", fmt::format("{}", promises)}}), AtSignal::end_it);
        ::close(promises);
        if (code != 0) return fmt::format("the command ended with {}, without any cut:\n    {}", code, drive_.last_words());
        return std::nullopt;
    }
    /// Its own end and what it printed; nothing: it is content, or there is none.
    Failure ask_check(const std::string& acks, const char* when) {
        if (o_.check.empty()) return std::nullopt;
        const SubprocessCall call = inside({}, {{"FLASHLAB_ACKS", acks}});
        const CheckVerdict verdict = run_check(
            {.command = o_.check, .directory = call.directory, .output = call.output, .environment = call.environment, .limit = limit_of(o_)});
        if (verdict.end == CheckEnd::passed) return std::nullopt;
        return fmt::format("the check ended with {}{}:\n    {}", verdict.code, when, drive_.last_words());
    }

    const CrashTortureOptions& o_;
    fs::path work_;
    TrialDrive drive_;
    KernelFileSystem kernel_; ///< behind the drive: it goes first
    std::size_t applied_ = 0; ///< lines that `durable` holds
};

/// The disk as the cut left it, its promises and the check: all that a replay needs. Where it lies; the error says why it does not.
std::expected<std::string, std::string> keep_disk(const CrashTortureOptions& o, const RecordedTorture& torture, std::uint64_t number) {
    const std::string first = fmt::format("{}/flashlab-disk-{}-{}", o.keep.empty() ? "." : o.keep, o.seed, number);
    std::error_code error;
    std::string to = fs::absolute(first, error).lexically_normal().string();
    for (int n = 2; !fs::create_directory(to, error) && !error; ++n) to = fs::absolute(fmt::format("{}-{}", first, n)).lexically_normal().string();
    if (!error) fs::copy_file(torture.path("acks"), to + "/acks", error);
    if (error || RecordedTorture::copy(torture.path("image"), to + "/disk.img") != 0)
        return std::unexpected(fmt::format("--keep {}: it cannot be kept", to));
    std::ofstream{to + "/check"} << o.check;
    return to;
}

struct RecordedTrial {
    std::uint64_t states = 0, not_repeatable = 0;
    std::uint64_t flush_points = 0; ///< tried without and with what came since the flush before
    Json replays{Json::Array{}}, found{Json::Array{}};
};

/// Until one fails or a signal comes. The error: the trial itself went wrong.
Failure try_states(const CrashTortureOptions& o, RecordedTorture& torture, const BlockHistory& history, RecordedTrial& trial) {
    const std::vector<DiskState> states = history.states(o.states, o.seed);
    Progress progress{"states", states.size()};
    for (const DiskState& state : states) {
        progress.at(trial.states + 1);
        if (auto failed = torture.make(history, state)) return failed;
        const auto wrong = torture.judge_here();
        if (Interruption::came()) return std::nullopt;
        ++trial.states;
        if (state.kept == DiskState::Kept::all) ++trial.flush_points; // the state of the same flush without anything came right before
        if (!wrong) continue;
        if (auto failed = torture.make(history, state)) return failed;
        const bool is_again = torture.judge_here().has_value();
        if (Interruption::came()) return std::nullopt;
        if (auto failed = torture.make(history, state)) return failed;
        if (!is_again) {
            ++trial.not_repeatable;
            continue;
        }
        const auto kept = keep_disk(o, torture, trial.states);
        if (!kept) return kept.error();
        std::string line = fmt::format("flashlab crash torture --under {} --replay {}", o.under, shell_word(*kept));
        if (o.timeout_s) line += fmt::format(" --timeout {}", *o.timeout_s);
        tell(fmt::format("flashlab: after {} of {} lines to the drive, {} of them durable: {}\n  {}\n", state.cut, history.size(), state.durable,
                         *wrong, line));
        trial.replays.push(line);
        trial.found.push(*wrong);
        return std::nullopt;
    }
    return std::nullopt;
}

std::string misuse_of_recorded(const CrashTortureOptions& o) {
    if (o.command.empty()) return "which command? Write it after '--'";
    if (!o.device.empty()) return "--explore starts from an empty drive: leave out --device, and let --setup make what the command needs";
    if (!o.after.empty()) return "--after does not go with --under and --explore together: leave it out";
    if (const std::string why = misuse_of_cuts(o); !why.empty()) return why;
    const std::string given = given_of(
        o, {"--oracle", "--probe", "--check-serves", "--report", "--app-version", "--jobs", "--max-host-bytes", "--max-flash-bytes", "--max-syncs"});
    if (!given.empty()) return fmt::format("{}: --explore has it without --under alone: leave one of the two out", given);
    return KernelFileSystem::why_not(o.under);
}

} // namespace

int run_torture_recorded(const CrashTortureOptions& o) {
    if (const std::string why = misuse_of_recorded(o); !why.empty()) return complain(fmt::format("crash torture: {}", why), exit_usage);
    if (const std::string why = why_no_keep(o.keep); !why.empty()) return complain(fmt::format("crash torture: {}", why), exit_usage);
    const Interruption interruption;
    const std::string work = make_explore_directory();
    if (work.empty()) return complain("crash torture: no temporary directory can be made; TMPDIR says where", exit_usage);
    const UnfinishedDirectory removed{work};
    RecordedTorture torture{o, work};
    const auto history = torture.record();
    if (Interruption::came()) return Interruption::exit_code();
    if (!history) return complain(fmt::format("crash torture: {}", history.error()), exit_usage);
    if (history->first_cut() >= history->size())
        return complain("crash torture: the command sent nothing to the drive: there is nothing to cut", exit_usage);
    const auto began = Clock::now();
    RecordedTrial trial;
    const auto failed = try_states(o, torture, *history, trial);
    if (failed && !Interruption::came()) return complain(fmt::format("crash torture: {}", *failed));
    const std::uint64_t violations = trial.found.items().size(), flush_points = history->flush_points();
    if (violations == 0 && !Interruption::came() && trial.flush_points < flush_points)
        tell(fmt::format("flashlab: around {} of {} flushes no state was tried: --states {} tries all of them\n", flush_points - trial.flush_points,
                         flush_points, states_for_all(flush_points)));
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    const Json json = Json::object({{"under", o.under},
                                    {"lines", std::uint64_t{history->size() - history->first_cut()}},
                                    {"flush_points", flush_points},
                                    {"flush_points_tried", trial.flush_points},
                                    {"states_tried", trial.states},
                                    {"violations", violations},
                                    {"not_repeatable", trial.not_repeatable},
                                    {"seconds_a_state", seconds / static_cast<double>(std::max<std::uint64_t>(1, trial.states))},
                                    {"seed", o.seed},
                                    {"partial", Interruption::came()},
                                    {"replays", std::move(trial.replays)},
                                    {"found", std::move(trial.found)},
                                    {"version", FLASHLAB_VERSION}});
    fmt::print("{}", shown(o.format, json));
    return violations == 0 && trial.not_repeatable == 0 ? exit_done : exit_failed;
}

bool is_kept_disk(const std::string& directory) {
    std::error_code error;
    return fs::exists(directory + "/disk.img", error) && fs::exists(directory + "/check", error);
}

int replay_kept_disk(const CrashTortureOptions& given) {
    CrashTortureOptions o = given;
    if (const std::string why = o.under.empty() ? "--under KIND is wanted: which file system is on that disk?" : KernelFileSystem::why_not(o.under);
        !why.empty())
        return complain(fmt::format("crash torture: {}", why), exit_usage);
    const Interruption interruption;
    const std::string work = make_explore_directory();
    if (work.empty()) return complain("crash torture: no temporary directory can be made; TMPDIR says where", exit_usage);
    const UnfinishedDirectory removed{work};
    if (std::ifstream check{o.replay + "/check"}; o.check.empty()) o.check.assign(std::istreambuf_iterator<char>{check}, {});
    RecordedTorture torture{o, work};
    if (RecordedTorture::copy(o.replay + "/disk.img", torture.path("image")) != 0)
        return complain(fmt::format("crash torture: {}: it cannot be copied", o.replay));
    std::error_code error;
    const auto wrong = torture.judge(torture.path("image"), fs::absolute(o.replay + "/acks", error).string());
    if (Interruption::came()) return complain("crash torture: interrupted: it was not checked to the end");
    const Json json =
        Json::object({{"replayed", o.replay}, {"holds", !wrong.has_value()}, {"found", wrong.value_or("")}, {"version", FLASHLAB_VERSION}});
    fmt::print("{}", shown(o.format, json));
    return wrong ? exit_failed : exit_done;
}

} // namespace flashlab
