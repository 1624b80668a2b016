#include "tools/live/trial_drive.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fs/fuse/mount_point.h"
#include "tools/drive/device_copy.h"
#include "tools/drive/device_directory.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/last_lines.h"
#include "tools/live/live_mount.h"
#include "tools/live/mount_table.h"
#include "tools/text/printable.h"

namespace flashlab {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

/// The device number of the mount that `path` lies on; 0 if it cannot be looked at.
dev_t device_number_of(const std::string& path) {
    struct statx status {};
    if (::statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC, 0, &status) != 0) return 0;
    return makedev(status.stx_dev_major, status.stx_dev_minor);
}

bool has_file_on(const fs::path& process, dev_t device) {
    for (const char* name : {"cwd", "root", "exe"})
        if (device_number_of((process / name).string()) == device) return true;
    std::error_code error;
    for (fs::directory_iterator at{process / "fd", error}, end; !error && at != end; at.increment(error))
        if (device_number_of(at->path().string()) == device) return true;
    return false;
}

/// Who still has files of a mount open.
///
/// Idea       /proc names each process's folder, program and open files; the device number of a mount tells which of them lie on it.
/// Invariant  Nothing is sent to the mount: it may be about to end. Processes that this user may not look at are left out.
/// Cost       A look at every open file of every process: for messages only.
///
/// "12 (sleep)", by process number.
std::vector<std::string> processes_with_files_on(dev_t device) {
    std::vector<int> found;
    std::error_code error;
    for (fs::directory_iterator at{"/proc", error}, end; device != 0 && !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        int process = 0;
        const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), process);
        if (wrong == std::errc{} && rest == name.data() + name.size() && has_file_on(at->path(), device)) found.push_back(process);
    }
    std::ranges::sort(found);
    std::vector<std::string> texts;
    for (const int process : found) {
        std::ifstream comm{fmt::format("/proc/{}/comm", process)};
        std::string name;
        std::getline(comm, name);
        texts.push_back(fmt::format("{} ({})", process, name));
    }
    return texts;
}

bool is_mounted_at(const fs::path& mount_point) {
    return std::ranges::any_of(flashlab_mounts(), [&](const MountEntry& mount) { return mount.mount_point == mount_point; });
}

} // namespace

TrialDrive::TrialDrive(const fs::path& work) : device_{work / "device"}, mount_point_{work / "mnt"}, log_{(work / "log").string()} {}

TrialDrive::~TrialDrive() {
    if (Interruption::came() || is_held_) (void)ask(Json::object({{"cmd", "powercut"}, {"seed", std::uint64_t{1}}}));
    (void)unmount();
    for (const auto until = Clock::now() + std::chrono::seconds{10}; is_in_use(device_.string()) && Clock::now() < until;) // after a signal, too
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
}

TrialDrive::Failure TrialDrive::make(const std::vector<std::string>& options) {
    std::error_code error;
    fs::create_directory(mount_point_, error);
    std::vector<std::string> words{"mkfs", device_.string(), "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    return flashlab(std::move(words), "mkfs");
}

TrialDrive::Failure TrialDrive::make_clone_of(const std::string& device) {
    std::error_code error;
    fs::create_directory(mount_point_, error);
    const std::string from = directory_of_device(device);
    if (const auto free = wait_for_unmounted(from, DeviceAccess::look); !free) return free.error();
    const auto cloned = clone_device(device, device_.string());
    return cloned ? std::nullopt : Failure{cloned.error()};
}

TrialDrive::Failure TrialDrive::mount(const std::vector<std::string>& options) {
    std::vector<std::string> words{"mount", device_.string(), mount_point_.string()};
    words.insert(words.end(), options.begin(), options.end());
    return flashlab(std::move(words), "mount");
}

TrialDrive::Failure TrialDrive::unmount() {
    const dev_t mount = device_number_of(mount_point_.string());
    const bool was_mounted = detach(mount_point_.string());
    if (!was_mounted && is_mounted_at(mount_point_))
        return Failure{fmt::format("unmounting is refused: fusermount3 -u {} says why", mount_point_.string())};
    const auto users = [&] {
        const auto processes = was_mounted ? processes_with_files_on(mount) : std::vector<std::string>{};
        return processes.empty() ? std::string{} : fmt::format("process {} still has files of it open", fmt::join(processes, ", "));
    };
    constexpr std::chrono::seconds patience_with_processes{15};
    bool said = false;
    for (const auto start = Clock::now(); is_in_use(device_.string()) && Clock::now() < start + std::chrono::minutes{5} && !Interruption::came();) {
        if (said && Clock::now() > start + patience_with_processes)
            if (const std::string who = users(); !who.empty()) {
                is_wrong_usage_ = is_held_ = true;
                return Failure{fmt::format("{}: let the command end what it starts (kill and wait), or start it in the foreground", who)};
            }
        if (!said && Clock::now() > start + std::chrono::seconds{2}) {
            said = true;
            if (const std::string who = users(); !who.empty()) complain(fmt::format("waiting until the drive can be unmounted: {}", who));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    if (!is_in_use(device_.string())) return std::nullopt;
    const std::string who = users();
    return Failure{fmt::format("the daemon does not end{}", who.empty() ? was_mounted ? "" : ", and was not mounted" : ": " + who)};
}

TrialDrive::Failure TrialDrive::check() { return flashlab({"fsck", "-n", device_.string()}, "fsck"); }

std::expected<Json, std::string> TrialDrive::ask(const Json& request) { return ask_mount(device_.string(), request); }

SubprocessCall TrialDrive::in_mount(const std::vector<std::string>& words, std::vector<std::pair<std::string, std::string>> environment) {
    std::error_code error;
    fs::remove(log_, error);
    environment.emplace_back("FLASHLAB_MOUNT", mount_point_.string());
    return {.words = words, .directory = mount_point_.string(), .output = log_, .environment = std::move(environment)};
}

std::string TrialDrive::last_words() const {
    std::string words = printable(last_lines(log_, 5));
    for (std::size_t at = 0; (at = words.find('\n', at)) != std::string::npos; at += 5) words.replace(at, 1, "\n    ");
    return words.empty() ? "it printed nothing" : words;
}

/// One of our own commands.
TrialDrive::Failure TrialDrive::flashlab(std::vector<std::string> words, const char* what) {
    std::error_code error;
    fs::remove(log_, error);
    words.insert(words.begin(), "/proc/self/exe");
    // A mount that is ended half way would leave a daemon that comes up later.
    const AtSignal at_signal = words[1] == "mount" ? AtSignal::wait : AtSignal::end_it;
    const int code = run_to_end({.words = std::move(words), .directory = {}, .output = log_, .environment = {}}, at_signal);
    is_wrong_usage_ = code == exit_usage;
    return code == 0 ? std::nullopt : Failure{fmt::format("{} ended with {}:\n    {}", what, code, last_words())};
}

std::string make_work_directory(const std::string& purpose) {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / fmt::format("flashlab-{}.XXXXXX", purpose)).string();
    return ::mkdtemp(name.data()) == nullptr ? std::string{} : name;
}

} // namespace flashlab
