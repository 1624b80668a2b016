#include "tools/live/kernel_trace.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include <fcntl.h>
#include <mntent.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

namespace flashlab {

namespace {

namespace fs = std::filesystem;

constexpr std::array<long, 5> write_calls{SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_pwritev2};
constexpr std::array sync_calls{"fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range"};

std::string link_of(const std::string& path) {
    std::error_code error;
    const fs::path to = fs::read_symlink(path, error);
    return error ? std::string{} : to.string();
}

OnDisk where_is(const std::string& disk, std::uint32_t pid, std::uint32_t descriptor) {
    struct stat status {};
    struct stat of_disk {};
    if (::stat(fmt::format("/proc/{}/fd/{}", pid, descriptor).c_str(), &status) != 0) return OnDisk::unknown;
    const auto is_its_own = [&](const std::string& place) { // by the mount point: btrfs has numbers of its own
        struct stat of_place {};
        return ::stat(place.c_str(), &of_place) == 0 && of_place.st_dev == status.st_dev;
    };
    const bool is_disk = S_ISBLK(status.st_mode) && ::stat(disk.c_str(), &of_disk) == 0 && status.st_rdev == of_disk.st_rdev;
    return is_disk || std::ranges::any_of(mount_points_on(disk), is_its_own) ? OnDisk::yes : OnDisk::no; // a program may mount, too
}

/// What the file was opened with, for a call of its own: "write O_DSYNC". Empty: its writes are no syncs.
std::string call_of_synced(std::uint32_t pid, std::uint32_t descriptor) {
    std::ifstream info{fmt::format("/proc/{}/fdinfo/{}", pid, descriptor)};
    for (std::string word; info >> word;)
        if (unsigned flags = 0; word == "flags:" && info >> std::oct >> flags)
            return (flags & O_SYNC) == O_SYNC ? "write O_SYNC" : (flags & O_DSYNC) != 0 ? "write O_DSYNC" : "";
    return {};
}

/// The descriptor that the process waits for in a call that writes.
std::optional<std::uint32_t> written_by(std::uint32_t pid) {
    std::ifstream call{fmt::format("/proc/{}/syscall", pid)};
    long number = -1;
    std::uint64_t descriptor = 0;
    if (!(call >> number >> std::hex >> descriptor)) return std::nullopt; // it runs
    const bool is_write = std::ranges::find(write_calls, number) != write_calls.end();
    return is_write ? std::optional{static_cast<std::uint32_t>(descriptor)} : std::nullopt;
}

std::optional<SyncedWrite> synced_write_of(const std::string& disk, std::uint32_t pid) {
    const auto of = [&](std::uint32_t descriptor) -> std::optional<SyncedWrite> {
        std::string call = call_of_synced(pid, descriptor);
        if (call.empty() || where_is(disk, pid, descriptor) != OnDisk::yes) return std::nullopt;
        std::string path = link_of(fmt::format("/proc/{}/fd/{}", pid, descriptor));
        if (path.empty()) return std::nullopt; // it ended in between: what was seen before holds
        return SyncedWrite{std::move(call), std::move(path)};
    };
    if (const auto descriptor = written_by(pid)) return of(*descriptor);
    std::optional<SyncedWrite> only;
    std::error_code error;
    for (fs::directory_iterator at{fmt::format("/proc/{}/fd", pid), error}, end; !error && at != end; at.increment(error)) {
        auto one = of(static_cast<std::uint32_t>(std::atol(at->path().filename().c_str())));
        if (one && only) return std::nullopt;
        if (one) only = std::move(one);
    }
    return only;
}

ProcessFacts facts_of_proc(const std::string& disk) {
    return {.path_of = [](std::uint32_t pid, std::uint32_t descriptor) { return link_of(fmt::format("/proc/{}/fd/{}", pid, descriptor)); },
            .is_of_kernel =
                [](std::uint32_t pid) {
                    std::error_code error;
                    return fs::exists(fmt::format("/proc/{}", pid), error) && link_of(fmt::format("/proc/{}/exe", pid)).empty();
                },
            .where = [disk](std::uint32_t pid, std::uint32_t descriptor) { return where_is(disk, pid, descriptor); },
            .synced_write = [disk, last = std::map<std::uint32_t, SyncedWrite>{}](std::uint32_t pid) mutable -> std::optional<SyncedWrite> {
                std::error_code error;
                auto now = synced_write_of(disk, pid);
                if (now) return last.insert_or_assign(pid, *now).first->second;
                const auto known = last.find(pid); // it may have ended since, or while it was looked at
                return known != last.end() && !fs::exists(fmt::format("/proc/{}/exe", pid), error) ? std::optional{known->second} : std::nullopt;
            }};
}

bool write_to(const fs::path& file, std::string_view text) {
    std::ofstream out{file};
    out << text << std::flush;
    return out.good();
}

} // namespace

std::vector<std::string> mount_points_on(const std::string& disk) {
    const std::unique_ptr<FILE, int (*)(FILE*)> mounts{::setmntent("/proc/self/mounts", "r"), ::endmntent};
    std::vector<std::string> places;
    mntent entry{};
    std::array<char, 8192> text{};
    while (mounts && ::getmntent_r(mounts.get(), &entry, text.data(), static_cast<int>(text.size())) != nullptr)
        if (disk == entry.mnt_fsname) places.emplace_back(entry.mnt_dir);
    return places;
}

std::expected<std::unique_ptr<KernelTrace>, std::string> KernelTrace::begin(const std::string& disk) {
    struct stat status {};
    if (::stat(disk.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) return std::unexpected(fmt::format("{} is no disk of the kernel's", disk));
    const unsigned major_number = major(status.st_rdev), minor_number = minor(status.st_rdev);
    // The kernel names processes by their first numbers, which a container with numbers of its own does not see.
    std::string second;
    if (std::ifstream comm{"/proc/2/comm"}; !std::getline(comm, second) || second != "kthreadd")
        return std::unexpected(
            "the kernel's block trace names processes that cannot be seen from here: in a container it wants --privileged --pid=host");
    std::unique_ptr<KernelTrace> trace{new KernelTrace{fmt::format("{},{}", major_number, minor_number), facts_of_proc(disk)}};
    if (const std::string why = trace->make_instance(); !why.empty()) return std::unexpected(why);
    if (const std::string why = trace->switch_on(major_number, minor_number); !why.empty()) return std::unexpected(why);
    const int pipe = ::open((trace->instance_ / "trace_pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (pipe < 0) return std::unexpected(fmt::format("the kernel's trace cannot be read: {}", std::strerror(errno)));
    trace->reader_ = std::thread{[self = trace.get(), pipe] { self->read_until_ended(pipe); }};
    return trace;
}

std::string KernelTrace::make_instance() {
    fs::path root = "/sys/kernel/tracing";
    std::error_code error;
    if (!fs::exists(root / "instances", error)) {
        std::string place = (fs::temp_directory_path(error) / "flashlab-tracefs.XXXXXX").string();
        if (::mkdtemp(place.data()) == nullptr) return fmt::format("{}: {}", place, std::strerror(errno));
        if (::mount("tracefs", place.c_str(), "tracefs", 0, nullptr) != 0) {
            const std::string why = std::strerror(errno);
            ::rmdir(place.c_str());
            return fmt::format("tracefs cannot be mounted ({}): it wants root, and in a container --privileged --pid=host", why);
        }
        mounted_ = root = place;
    }
    const fs::path instance = root / "instances" / fmt::format("flashlab-{}", ::getpid());
    if (::mkdir(instance.c_str(), 0700) != 0)
        return fmt::format("{}: {}; the kernel's block trace wants root, and in a container --privileged --pid=host", instance.string(),
                           std::strerror(errno));
    instance_ = instance;
    return {};
}

std::string KernelTrace::switch_on(unsigned major_number, unsigned minor_number) {
    const auto device = (std::uint64_t{major_number} << 20) | minor_number; // as the kernel keeps it
    const fs::path events = instance_ / "events", queued = events / "block/block_bio_queue";
    (void)write_to(instance_ / "buffer_size_kb", "8192");
    (void)write_to(instance_ / "buffer_percent", "0"); // the reader wakes at each line: a process is to be looked at while it lives
    if (!write_to(queued / "filter", fmt::format("dev == {}", device)) || !write_to(queued / "enable", "1"))
        return "this kernel has no trace of its block layer (CONFIG_BLK_DEV_IO_TRACE)";
    bool has_calls = false;
    for (const char* call : sync_calls)
        for (const char* side : {"enter", "exit"})
            has_calls = write_to(events / fmt::format("syscalls/sys_{}_{}/enable", side, call), "1") || has_calls;
    return has_calls ? "" : "this kernel has no trace of system calls (CONFIG_FTRACE_SYSCALLS)";
}

void KernelTrace::read_until_ended(int pipe) {
    std::string begun;
    std::array<char, 65'536> bytes{};
    for (bool last = false; !last;) {
        last = ends_; // what was there before is read once more
        for (ssize_t got = 0; (got = ::read(pipe, bytes.data(), bytes.size())) > 0;) {
            begun.append(bytes.data(), static_cast<std::size_t>(got));
            std::size_t from = 0;
            for (std::size_t end = 0; (end = begun.find('\n', from)) != std::string::npos; from = end + 1)
                trace_.take(std::string_view{begun}.substr(from, end - from));
            begun.erase(0, from);
        }
        pollfd more{pipe, POLLIN, 0};
        if (!last) (void)::poll(&more, 1, 5);
    }
    ::close(pipe);
}

const BlockTrace& KernelTrace::end() {
    (void)write_to(instance_ / "tracing_on", "0");
    ends_ = true;
    if (reader_.joinable()) reader_.join();
    return trace_;
}

KernelTrace::~KernelTrace() {
    if (!instance_.empty()) (void)end();
    std::error_code error;
    if (!instance_.empty()) ::rmdir(instance_.c_str()); // tracefs takes its files along
    if (!mounted_.empty() && ::umount2(mounted_.c_str(), MNT_DETACH) == 0) fs::remove(mounted_, error);
}

} // namespace flashlab
