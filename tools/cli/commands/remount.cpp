// mount -o remount,...: the kernel's flags by mount(2), latency and log by the control socket; the daemon goes on.
#include "tools/cli/commands/remount.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "tools/cli/commands/mount_words.h"
#include "tools/host/complaint.h"
#include "tools/live/live_mount.h"

namespace flashlab {
namespace {

struct KernelWord {
    const char* name;
    unsigned long flag;
    bool sets;
};
constexpr std::array kernel_words{
    KernelWord{"ro", MS_RDONLY, true},
    KernelWord{"rw", MS_RDONLY, false},
    KernelWord{"nosuid", MS_NOSUID, true},
    KernelWord{"suid", MS_NOSUID, false},
    KernelWord{"nodev", MS_NODEV, true},
    KernelWord{"dev", MS_NODEV, false},
    KernelWord{"noexec", MS_NOEXEC, true},
    KernelWord{"exec", MS_NOEXEC, false},
    KernelWord{"noatime", MS_NOATIME, true},
    KernelWord{"atime", MS_NOATIME, false},
    KernelWord{"relatime", MS_RELATIME, true},
    KernelWord{"strictatime", MS_STRICTATIME, true},
    KernelWord{"sync", MS_SYNCHRONOUS, true},
    KernelWord{"async", MS_SYNCHRONOUS, false},
    KernelWord{"nodiratime", MS_NODIRATIME, true},
    KernelWord{"diratime", MS_NODIRATIME, false},
};

/// The flags the mount has now: a remount that does not name them must not clear them.
unsigned long flags_of(const std::string& mount_point) {
    struct statvfs now {};
    if (::statvfs(mount_point.c_str(), &now) != 0) return 0;
    constexpr std::array<std::pair<unsigned long, unsigned long>, 8> same{{{ST_RDONLY, MS_RDONLY},
                                                                           {ST_NOSUID, MS_NOSUID},
                                                                           {ST_NODEV, MS_NODEV},
                                                                           {ST_NOEXEC, MS_NOEXEC},
                                                                           {ST_NOATIME, MS_NOATIME},
                                                                           {ST_SYNCHRONOUS, MS_SYNCHRONOUS},
                                                                           {ST_NODIRATIME, MS_NODIRATIME},
                                                                           {ST_RELATIME, MS_RELATIME}}};
    unsigned long flags = 0;
    for (const auto& [seen, wanted] : same)
        if ((now.f_flag & seen) != 0) flags |= wanted;
    return flags;
}

/// Of the rules for access times one holds.
unsigned long excluded_by(unsigned long flag) {
    constexpr unsigned long rules = MS_NOATIME | MS_RELATIME | MS_STRICTATIME;
    return (flag & rules) != 0 ? rules & ~flag : 0;
}

/// What only the start of a mount can set. mount(8) hands over all that the kernel shows of it: as it is, it is no change.
bool is_in_force(const std::string& option, const MountEntry& mount) {
    const std::string name = option.substr(0, option.find('='));
    if (name == "fsname" || name == "subtype") return true; // not shown as options; mount(8) takes them from the source and the type
    std::istringstream shown{mount.options};
    for (std::string word; std::getline(shown, word, ',');)
        if (word == option) return true;
    return name == "default_permissions";
}
bool is_of_the_start(const std::string& option) {
    constexpr std::array names{"user_id",     "group_id",  "rootmode", "max_read", "blksize", "fsname", "subtype", "default_permissions",
                               "allow_other", "allow_root"};
    return is_in(names, option.substr(0, option.find('=')));
}

/// mount(8) hands over what stands in fstab, too.
bool is_known_word(const std::string& option) {
    const auto is_kernels = [&](const KernelWord& word) { return option == word.name; };
    const bool has_value = option.find('=') != std::string::npos;
    return option.empty() || option.starts_with("x-") || option.starts_with("comment=") ||
           (!has_value && (option == "remount" || std::ranges::any_of(kernel_words, is_kernels) || is_in(ignored_options, option) ||
                           is_in(passed_options, option)));
}

} // namespace

int run_remount(const std::string& mount_point, const std::vector<std::string>& options) {
    const auto mounted = find_mount(mount_point);
    if (!mounted) return complain(fmt::format("mount: -o remount: no FlashLab device is mounted on {}", mount_point));
    const unsigned long before = flags_of(mounted->mount_point);
    unsigned long flags = before;
    Json request = Json::object({{"cmd", "set"}});
    bool asks_daemon = false;
    for (const auto& option : options) {
        const auto equals = option.find('=');
        const std::string name = option.substr(0, equals);
        if (name == "latency" || name == "log") {
            request.add(name, equals == std::string::npos ? "" : option.substr(equals + 1));
            asks_daemon = true;
            continue;
        }
        for (const auto& word : kernel_words)
            if (option == word.name) flags = word.sets ? (flags & ~excluded_by(word.flag)) | word.flag : flags & ~word.flag;
        if (is_of_the_start(option) && !is_in_force(option, *mounted))
            return complain(
                fmt::format("mount: -o remount cannot set {} (set at the mount: {}): unmount, and mount again with it", option, mounted->options),
                exit_usage);
        if (!is_of_the_start(option) && !is_known_word(option))
            return complain(
                fmt::format(
                    "mount: -o remount,{}: can change latency=, log= and the kernel's words (ro, nosuid ...); unmount and mount again for the rest",
                    option),
                exit_usage);
    }
    if ((before & MS_RDONLY) != 0 && (flags & MS_RDONLY) == 0) {
        request.add("rw", true);
        asks_daemon = true;
    }
    if (asks_daemon)
        if (const auto answer = ask_mount(*mounted, request); !answer)
            return complain(fmt::format("mount: -o remount: {}", answer.error()), exit_usage);
    // The kernel tells the daemon of no remount. What is written back before it can still be told as a failure that changes nothing.
    const bool writes_back = (flags & MS_RDONLY) != 0;
    const auto asked = [&](const char* command) { return ask_mount(*mounted, Json::object({{"cmd", command}})); };
    if (writes_back)
        if (const auto answer = asked("flush"); !answer)
            return complain(fmt::format("mount: -o remount,ro: nothing was changed, since the drive could not be written back: {}", answer.error()));
    if (::mount("none", mounted->mount_point.c_str(), nullptr, MS_REMOUNT | flags, nullptr) != 0)
        return complain(fmt::format("mount: -o remount: {}: {}{}", mounted->mount_point, std::strerror(errno),
                                    errno == EPERM ? "; only root may change a mount, or unmount it and mount it again" : ""));
    auto followed = asked("remounted");
    if (followed && writes_back) followed = asked("flush"); // what came in between; the daemon may have seen the remount by itself, and be at it
    if (!followed) return complain(fmt::format("mount: -o remount: it is done, but the daemon did not answer: {}", followed.error()));
    return exit_done;
}

} // namespace flashlab
