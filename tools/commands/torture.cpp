/// flashlab crash torture: the power fails under a user's own application, again and again; their check says whether they can live with what is left.
///
/// Idea       Mount, start the command in the mount, cut the power at a drawn instant, keep a copy of the drive as the cut left it, fsck, mount, check.
/// Invariant  A copy that failed is kept, and `--replay` recovers and checks a clone of it, as often as wanted. Everything else is removed.
/// Cost       What command and check take; a copy is by reflink where the host can, else what the drive has on disk.
/// Power cut  Makes them: `ctl powercut` with a seed of its own for each.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.h"
#include "fs/fuse/mount_point.h"
#include "tools/commands/commands.h"
#include "tools/device_copy.h"
#include "tools/device_directory.h"
#include "tools/live_mount.h"
#include "tools/progress.h"
#include "tools/subprocess.h"
#include "tools/table.h"
#include "tools/unfinished_directory.h"

namespace flashlab {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Failure = std::optional<std::string>;
constexpr std::chrono::milliseconds patience{3000}; // for a program on a mount whose power went

std::string last_lines(const std::string& path) {
    std::ifstream file{path};
    std::string line, tail;
    for (std::vector<std::string> lines; std::getline(file, line);) {
        lines.push_back(line);
        if (lines.size() > 5) lines.erase(lines.begin());
        tail = fmt::format("{}", fmt::join(lines, "\n    "));
    }
    return tail.empty() ? "it printed nothing" : tail;
}

class Torture {
public:
    Torture(const CrashTortureOptions& options, fs::path work)
        : o_{options}, device_{work / "device"}, copy_{work / "copy"}, mount_point_{work / "mnt"}, log_{(work / "log").string()} {}
    ~Torture() { (void)unmount(); }
    Torture(const Torture&) = delete;
    Torture& operator=(const Torture&) = delete;

    /// A new drive, or a clone of the user's, which is never touched.
    Failure prepare(const std::string& from) {
        std::error_code error;
        fs::create_directory(mount_point_, error);
        if (!from.empty()) {
            const auto cloned = clone_device(from, device_.string());
            return cloned ? std::nullopt : Failure{cloned.error()};
        }
        std::vector<std::string> words{"mkfs", device_.string(), "--quiet"};
        const auto add = [&](const char* option, const std::string& value) {
            if (!value.empty()) words.insert(words.end(), {option, value});
        };
        add("--ftl", o_.ftl);
        add("--metadata", o_.metadata);
        add("--size", o_.size);
        return flashlab(std::move(words), "mkfs");
    }

    /// The command runs, again when it ends, until the power fails.
    Failure run_and_cut(std::uint64_t cut, std::chrono::milliseconds after, std::uint64_t seed) {
        if (auto failed = mount()) return failed;
        const SubprocessCall call = in_mount(o_.command, cut);
        auto command = Subprocess::start(call);
        if (!command) return command.error();
        ++runs_;
        const auto at = Clock::now() + after;
        while (Clock::now() < at) {
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
            const auto code = command->poll();
            if (!code) continue;
            if (*code != 0) return fmt::format("the command ended with {} before any cut:\n    {}", *code, last_lines(log_));
            command = Subprocess::start(call);
            if (!command) return command.error();
            ++runs_;
        }
        const auto answer = ask_mount(device_.string(), Json::object({{"cmd", "powercut"}, {"seed", seed}}));
        if (!answer) return fmt::format("the power could not be cut: {}", answer.error());
        command->end(patience);
        return unmount();
    }

    /// fsck, mount, check. What the user gets after the power is back.
    Failure recover_and_check(std::uint64_t cut) {
        if (auto failed = flashlab({"fsck", "-n", device_.string()}, "fsck")) return failed;
        const auto from = Clock::now();
        if (auto failed = mount()) return failed;
        slowest_ = std::max(slowest_, std::chrono::duration<double, std::milli>(Clock::now() - from).count());
        if (!o_.check.empty()) {
            const int code = run_to_end(in_mount({"sh", "-c", o_.check}, cut));
            if (code != 0) return fmt::format("the check ended with {}:\n    {}", code, last_lines(log_));
        }
        return unmount();
    }

    Failure keep_copy() {
        std::error_code error;
        fs::remove_all(copy_, error);
        const auto copied = clone_device(device_.string(), copy_.string());
        return copied ? std::nullopt : Failure{copied.error()};
    }
    /// Where the copy of a failed state lies from now on.
    std::string hand_over(std::uint64_t cut) {
        std::error_code error;
        std::string to = fs::absolute(fmt::format("{}/flashlab-cut-{}-{}", o_.keep.empty() ? "." : o_.keep, o_.seed, cut), error).lexically_normal().string();
        fs::remove_all(to, error);
        fs::rename(copy_, to, error);
        if (error && !clone_device(copy_.string(), to)) return copy_.string() + " (which could not be copied)";
        return to;
    }
    [[nodiscard]] std::uint64_t runs() const { return runs_; }
    [[nodiscard]] double slowest_mount_ms() const { return slowest_; }

private:
    SubprocessCall in_mount(const std::vector<std::string>& words, std::uint64_t cut) {
        std::error_code error;
        fs::remove(log_, error);
        return {.words = words,
                .directory = mount_point_.string(),
                .output = log_,
                .environment = {{"FLASHLAB_MOUNT", mount_point_.string()}, {"FLASHLAB_CUT", fmt::format("{}", cut)}}};
    }
    /// One of our own commands.
    Failure flashlab(std::vector<std::string> words, const char* what) {
        std::error_code error;
        fs::remove(log_, error);
        words.insert(words.begin(), "/proc/self/exe");
        const int code = run_to_end({.words = std::move(words), .directory = {}, .output = log_, .environment = {}});
        return code == 0 ? std::nullopt : Failure{fmt::format("{} ended with {}:\n    {}", what, code, last_lines(log_))};
    }
    Failure mount() { return flashlab({"mount", device_.string(), mount_point_.string(), "--latency", o_.latency, "--log", "none"}, "mount"); }
    Failure unmount() {
        const bool was_mounted = detach(mount_point_.string());
        for (const auto until = Clock::now() + std::chrono::minutes{5}; is_in_use(device_.string()) && Clock::now() < until;)
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
        return is_in_use(device_.string()) ? Failure{fmt::format("the daemon does not end{}", was_mounted ? "" : ", and was not mounted")} : std::nullopt;
    }

    const CrashTortureOptions& o_;
    fs::path device_, copy_, mount_point_;
    std::string log_;
    std::uint64_t runs_ = 0;
    double slowest_ = 0;
};

std::string make_work_directory() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "flashlab-torture.XXXXXX").string();
    return ::mkdtemp(name.data()) == nullptr ? std::string{} : name;
}

int replay_torture(const CrashTortureOptions& o, Torture& torture) {
    if (auto failed = torture.prepare(o.replay)) return complain(fmt::format("crash torture: {}", *failed));
    const auto wrong = torture.recover_and_check(0);
    const Json json = Json::object({{"replayed", o.replay}, {"holds", !wrong.has_value()}, {"found", wrong.value_or("")}, {"version", FLASHLAB_VERSION}});
    fmt::print("{}", o.json ? json.dump() + "\n" : to_key_value_text(json));
    return wrong ? exit_failed : exit_done;
}

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return out + "'";
}

} // namespace

int run_crash_torture(const CrashTortureOptions& o) {
    if (o.replay.empty() && o.command.empty())
        return complain("crash torture: which command? Write it after '--', such as: flashlab crash torture -- git clone /src copy", exit_usage);
    const std::string work = make_work_directory();
    if (work.empty()) return complain("crash torture: no temporary directory can be made; TMPDIR says where", exit_failed);
    const UnfinishedDirectory removed{work};
    Torture torture{o, work};
    if (!o.replay.empty()) return replay_torture(o, torture);
    Interruptible interruptible;
    Progress progress{"cuts"};
    Random random{o.seed};
    if (auto failed = torture.prepare(o.device)) return complain(fmt::format("crash torture: {}", *failed));
    std::uint64_t cuts = 0;
    Json replays{Json::Array{}}, found{Json::Array{}};
    bool holds = true;
    while (cuts < o.cuts && holds && !Interruptible::interrupted()) {
        progress.at(++cuts);
        const std::chrono::milliseconds after{1 + random.below(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(o.within_s * 1000)))};
        if (auto failed = torture.run_and_cut(cuts, after, random.next())) return complain(fmt::format("crash torture: cut {}: {}", cuts, *failed));
        if (auto failed = torture.keep_copy()) return complain(fmt::format("crash torture: cut {}: {}", cuts, *failed));
        const auto wrong = torture.recover_and_check(cuts);
        if (!wrong) continue;
        holds = false;
        const std::string kept = torture.hand_over(cuts);
        std::string line = fmt::format("flashlab crash torture --replay {}", quoted(kept));
        if (!o.check.empty()) line += fmt::format(" --check {}", quoted(o.check));
        fmt::print(stderr, "flashlab: cut {}, {} ms after the mount: {}\n  {}\n", cuts, after.count(), *wrong, line);
        replays.push(line);
        found.push(*wrong);
    }
    const Json json = Json::object({{"cuts", cuts},
                                    {"command_runs", torture.runs()},
                                    {"violations", holds ? 0 : 1},
                                    {"slowest_mount_ms", torture.slowest_mount_ms()},
                                    {"seed", o.seed},
                                    {"interrupted", Interruptible::interrupted()},
                                    {"replays", std::move(replays)},
                                    {"found", std::move(found)},
                                    {"version", FLASHLAB_VERSION}});
    fmt::print("{}", o.json ? json.dump() + "\n" : to_key_value_text(json));
    return holds ? exit_done : exit_failed;
}

} // namespace flashlab
