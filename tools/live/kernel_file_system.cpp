#include "tools/live/kernel_file_system.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>

#include <sys/mount.h>
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
    const char* mount = nullptr;          ///< options of mount(2)
};
const std::array<KnownKind, 3>& known_kinds() {
    static const std::array<KnownKind, 3> kinds{{{"ext4", "e2fsprogs", {"mkfs.ext4", "-q", "-F"}, {"e2fsck", "-f", "-n"}},
                                                 {"xfs", "xfsprogs", {"mkfs.xfs", "-q", "-f"}, {"xfs_repair", "-n"}, "nouuid"},
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

/// A module that is there is loaded by mount(2).
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
    if (::access("/dev/loop-control", R_OK | W_OK) != 0)
        return "/dev/loop-control is missing: load the module with 'modprobe loop'; a container wants --privileged";
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
    auto loop = LoopDevice::attach(disk, LoopDevice::Caching::none);
    if (!loop) loop = LoopDevice::attach(disk, LoopDevice::Caching::of_file);
    if (!loop) return loop.error();
    loop_ = std::move(*loop);
    return std::nullopt;
}

KernelFileSystem::Failure KernelFileSystem::make() {
    std::vector<std::string> words = find_kind(kind_)->make;
    words.insert(words.end(), mkfs_options_.begin(), mkfs_options_.end());
    words.push_back(loop_.path());
    return call(std::move(words));
}

KernelFileSystem::Failure KernelFileSystem::mount() {
    // XFS refuses a second one of the same UUID, and another mount namespace may still hold that of the state before.
    is_mounted_ = ::mount(loop_.path().c_str(), mount_point().c_str(), kind_.c_str(), 0, find_kind(kind_)->mount) == 0;
    return is_mounted_ ? std::nullopt : Failure{fmt::format("mount -t {}: {}; dmesg may say more", kind_, std::strerror(errno))};
}

KernelFileSystem::Failure KernelFileSystem::check() {
    std::vector<std::string> words = find_kind(kind_)->check;
    words.push_back(loop_.path());
    return call(std::move(words));
}

KernelFileSystem::Failure KernelFileSystem::unmount() {
    is_mounted_ = ::umount2(mount_point().c_str(), 0) != 0;
    return is_mounted_ ? Failure{fmt::format("umount {}: {}", mount_point(), std::strerror(errno))} : std::nullopt;
}

/// Programs that were killed may hold it for a moment.
void KernelFileSystem::take_away() {
    for (int tries = 0; is_mounted_ && unmount(); ++tries) {
        if (tries == 30) is_mounted_ = ::umount2(mount_point().c_str(), MNT_DETACH) != 0;
        if (tries >= 30) break;
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
    loop_ = {};
}

} // namespace flashlab
