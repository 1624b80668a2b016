#include "tools/live/kernel_file_system.h"

#include <array>
#include <chrono>
#include <fstream>
#include <string_view>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "tools/host/last_lines.h"
#include "tools/host/subprocess.h"
#include "tools/text/printable.h"

namespace flashlab {

namespace {

namespace fs = std::filesystem;

struct KnownKind {
    std::string_view name, package;
    std::vector<std::string> make, check; ///< before the device
    std::vector<std::string> mount{};     ///< options of mount(8)
};
const std::array<KnownKind, 3>& known_kinds() {
    static const std::array<KnownKind, 3> kinds{{{"ext4", "e2fsprogs", {"mkfs.ext4", "-q", "-F"}, {"e2fsck", "-f", "-n"}},
                                                 {"xfs", "xfsprogs", {"mkfs.xfs", "-q", "-f"}, {"xfs_repair", "-n"}, {"-o", "nouuid"}},
                                                 {"btrfs", "btrfs-progs", {"mkfs.btrfs", "-q", "-f"}, {"btrfs", "check", "--readonly"}}}};
    return kinds;
}
const KnownKind* find_kind(std::string_view name) {
    for (const KnownKind& kind : known_kinds())
        if (kind.name == name) return &kind;
    return nullptr;
}

bool is_in_sbin(const std::string& program) {
    for (const char* folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"})
        if (::access((folder + program).c_str(), X_OK) == 0) return true;
    return false;
}

/// A module that is there is loaded by mount(8) itself.
bool kernel_has(const std::string& kind) {
    std::ifstream listed{"/proc/filesystems"};
    for (std::string word; listed >> word;)
        if (word == kind) return true;
    std::error_code error;
    return is_in_sbin("modprobe") &&
           run_to_end({.words = {"modprobe", "-n", "-q", kind}, .directory = {}, .output = "/dev/null", .environment = {}}) == 0;
}

} // namespace

KernelFileSystem::KernelFileSystem(std::string kind, std::vector<std::string> mkfs_options, const fs::path& work)
    : kind_{std::move(kind)}, log_{(work / "kernel.log").string()}, mkfs_options_{std::move(mkfs_options)}, mount_point_{work / kind_} {
    std::error_code error;
    fs::create_directory(mount_point_, error);
}

std::string KernelFileSystem::why_not(const std::string& kind) {
    const KnownKind* known = find_kind(kind);
    if (known == nullptr) return "allowed: ext4, xfs, btrfs";
    if (::geteuid() != 0) return "loop devices and mounts of the kernel want root: call it with sudo, or in a virtual machine of your own";
    if (!is_in_sbin("losetup") || ::access("/dev/loop-control", R_OK | W_OK) != 0)
        return "/dev/loop-control or losetup is missing: load the module with 'modprobe loop', and install the package mount; a container wants "
               "--privileged";
    for (const std::string& program : {known->make.front(), known->check.front()})
        if (!is_in_sbin(program)) return fmt::format("{} is missing: sudo apt-get install {}", program, known->package);
    return kernel_has(kind) ? "" : fmt::format("this kernel has no {}", kind);
}

KernelFileSystem::Failure KernelFileSystem::call(std::vector<std::string> words) {
    std::error_code error;
    fs::remove(log_, error);
    const std::string program = words.front();
    const int code = run_to_end({.words = std::move(words), .directory = {}, .output = log_, .environment = {}});
    return code == 0 ? std::nullopt : Failure{fmt::format("{} ended with {}:\n    {}", program, code, printable(last_lines(log_, 5)))};
}

KernelFileSystem::Failure KernelFileSystem::attach(const std::string& disk) {
    // Each write goes to the drive, and waits in the drive's buffer for the flush, not in the kernel's copy of the file.
    if (call({"losetup", "--find", "--show", "--direct-io=on", disk}))
        if (auto failed = call({"losetup", "--find", "--show", disk})) return failed;
    std::ifstream{log_} >> loop_;
    return loop_.starts_with("/dev/") ? std::nullopt : Failure{"losetup names no device"};
}

KernelFileSystem::Failure KernelFileSystem::make() {
    std::vector<std::string> words = find_kind(kind_)->make;
    words.insert(words.end(), mkfs_options_.begin(), mkfs_options_.end());
    words.push_back(loop_);
    return call(std::move(words));
}

KernelFileSystem::Failure KernelFileSystem::mount() {
    // XFS refuses a second one of the same UUID, and another mount namespace may still hold that of the state before.
    std::vector<std::string> words{"mount", "-t", kind_, loop_, mount_point()};
    const std::vector<std::string>& options = find_kind(kind_)->mount;
    words.insert(words.begin() + 1, options.begin(), options.end());
    auto failed = call(std::move(words));
    is_mounted_ = !failed;
    return failed;
}

KernelFileSystem::Failure KernelFileSystem::check() {
    std::vector<std::string> words = find_kind(kind_)->check;
    words.push_back(loop_);
    return call(std::move(words));
}

KernelFileSystem::Failure KernelFileSystem::unmount() {
    auto failed = call({"umount", mount_point()});
    is_mounted_ = failed.has_value();
    return failed;
}

/// Programs that were killed may hold it for a moment.
void KernelFileSystem::take_away() {
    for (int tries = 0; is_mounted_ && unmount(); ++tries) {
        if (tries == 30) is_mounted_ = call({"umount", "--lazy", mount_point()}).has_value();
        if (tries >= 30) break;
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
    if (!loop_.empty()) static_cast<void>(call({"losetup", "--detach", loop_}));
    loop_.clear();
}

} // namespace flashlab
