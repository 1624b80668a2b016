#include "tools/cli/commands/recorded_run.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/fuse/mount_point.h"
#include "tools/drive/device_directory.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/live/live_mount.h"

namespace flashlab {

namespace {

std::unexpected<RecordedRunFailure> failed(std::string why, int code = exit_failed) {
    return std::unexpected(RecordedRunFailure{std::move(why), code});
}

/// The words of a shell that pipes the command's output through the oracle, and the oracle's into the promises.
std::vector<std::string> through_oracle(const std::vector<std::string>& command) {
    std::vector<std::string> words{"sh", "-c", R"({ "$@"; echo $? > "$FLASHLAB_STATUS"; } | sh -c "$FLASHLAB_ORACLE" >&"$FLASHLAB_ACK_FD")",
                                   "torture"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

} // namespace

RecordedRun::RecordedRun(const RecordedRunConfig& config, const std::string& work)
    : config_{config}, device_{work + "/device"}, mount_point_{work + "/mnt"}, history_{work + "/history"}, log_{work + "/log"} {}

RecordedRun::~RecordedRun() {
    if (Interruption::came()) // nobody wants what the cache holds
        (void)ask_mount(device_, Json::object({{"cmd", "powercut"}, {"seed", std::uint64_t{1}}}));
    (void)unmount();
}

std::string RecordedRun::tail_of_log() const {
    std::ifstream file{log_};
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(line);
        if (lines.size() > 5) lines.erase(lines.begin());
    }
    std::string tail;
    for (const std::string& line : lines) tail += "\n    " + line;
    return tail.empty() ? "\n    it printed nothing" : tail;
}

SubprocessCall RecordedRun::in_mount(std::vector<std::string> words) {
    std::error_code error;
    std::filesystem::remove(log_, error);
    return {.words = std::move(words), .directory = mount_point_, .output = log_, .environment = {{"FLASHLAB_MOUNT", mount_point_}}};
}

RecordedRun::Step RecordedRun::flashlab(std::vector<std::string> words) {
    std::error_code error;
    std::filesystem::remove(log_, error);
    const std::string what = words.front();
    words.insert(words.begin(), "/proc/self/exe");
    // A mount that is ended half way would leave a daemon that comes up later.
    const AtSignal at_signal = what == "mount" ? AtSignal::wait : AtSignal::end_it;
    const int code = run_to_end({.words = std::move(words), .directory = {}, .output = log_, .environment = {}}, at_signal);
    if (code == 0) return {};
    return failed(fmt::format("{} ended with {}:{}", what, code, tail_of_log()), code == exit_usage ? exit_usage : exit_failed);
}

RecordedRun::Step RecordedRun::mount() {
    std::error_code error;
    std::filesystem::create_directory(mount_point_, error);
    std::vector<std::string> words{"mkfs", device_, "--quiet"};
    const auto add = [&](const char* option, const std::string& value) {
        if (!value.empty()) words.insert(words.end(), {option, value});
    };
    add("--ftl", config_.ftl);
    add("--metadata", config_.metadata);
    add("--size", config_.size);
    if (auto made = flashlab(std::move(words)); !made) return made;
    if (::mkfifo((history_ + ".acks").c_str(), 0600) != 0) return failed(fmt::format("{}.acks: {}", history_, std::strerror(errno)));
    return flashlab({"mount", device_, mount_point_, "--latency", "off", "--log", "none", "--record", history_});
}

/// What the preparation leaves is durable: the flush at its end is where cuts begin.
RecordedRun::Step RecordedRun::prepare() {
    if (!config_.setup.empty()) {
        const int code = run_to_end(in_mount({"sh", "-c", config_.setup}), AtSignal::end_it);
        if (code != 0) return failed(fmt::format("the preparation (--setup) ended with {}:{}", code, tail_of_log()));
    }
    const auto flushed = ask_mount(device_, Json::object({{"cmd", "flush"}}));
    return flushed ? Step{} : failed(fmt::format("the preparation could not be made durable: {}", flushed.error()));
}

RecordedRun::Step RecordedRun::run_command() {
    const std::string status = history_ + ".status"; // a pipe ends with the code of its last program
    SubprocessCall call = in_mount(config_.oracle.empty() ? config_.command : through_oracle(config_.command));
    call.environment.emplace_back("FLASHLAB_ORACLE", config_.oracle);
    call.environment.emplace_back("FLASHLAB_STATUS", status);
    const int promises = ::open((history_ + ".acks").c_str(), O_WRONLY); // inherited by the command
    if (promises < 0) return failed(fmt::format("{}.acks: {}", history_, std::strerror(errno)));
    (void)::fcntl(promises, F_SETPIPE_SZ, 1 << 20);
    call.environment.emplace_back("FLASHLAB_ACK_FD", fmt::format("{}", promises));
    auto command = Subprocess::start(call);
    ::close(promises);
    if (!command) return failed(command.error(), exit_usage); // there is no such program
    for (;;) {
        if (Interruption::came()) return failed("interrupted"); // its group ends with `command`
        if (auto code = command->poll()) {
            if (*code != 0 && !config_.oracle.empty()) return failed(fmt::format("the oracle ended with {}:{}", *code, tail_of_log()));
            if (std::ifstream file{status}; !config_.oracle.empty()) file >> *code;
            return *code == 0 ? Step{} : failed(fmt::format("the command ended with {}:{}", *code, tail_of_log()));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

RecordedRun::Step RecordedRun::unmount() {
    detach(mount_point_);
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::minutes{5};
         is_in_use(device_) && std::chrono::steady_clock::now() < until;)
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    return is_in_use(device_) ? failed("the daemon does not end") : Step{};
}

std::expected<std::vector<Operation>, RecordedRunFailure> RecordedRun::run() {
    for (Step (RecordedRun::*step)() : {&RecordedRun::mount, &RecordedRun::prepare, &RecordedRun::run_command, &RecordedRun::unmount})
        if (auto done = (this->*step)(); !done) return std::unexpected(done.error());
    std::ifstream file{history_, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    auto history = read_history(text);
    if (!history) return failed(fmt::format("{} {}", history_, history.error()));
    const auto flushes = std::ranges::count(*history, Act::sync_all, &Operation::act);
    if (flushes > 1 && history->back().act == Act::sync_all) history->pop_back(); // of umount
    return std::move(*history);
}

} // namespace flashlab
