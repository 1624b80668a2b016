/// flashlab serve: a raw drive for NBD clients: virtual machines, nbdcopy, fio, and through nbd-client the kernel.
///
/// Idea       The drive is mounted as a file in a folder of ours, and nbdkit hands requests for that file on (tools/nbd/plugin.cpp). So all that a
///            mount has is there: ctl, smart, top and report find it by DIR.
/// Invariant  When it ends, nothing is mounted and neither socket nor folder is left. What clients flushed is on the drive. A signal is the way to
///            end it: the exit code is 0 then.
/// Cost       A process and a system call a request beside those of the mount.
/// Power cut  `ctl DIR powercut` ends the mount, and with it the service: clients lose their connection, as they lose a drive.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/drive/device_directory.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"
#include "tools/host/subprocess.h"
#include "tools/host/unfinished_directory.h"
#include "tools/live/live_mount.h"
#include "tools/live/trial_drive.h"

namespace flashlab {
namespace {

namespace fs = std::filesystem;

struct ServeOptions {
    std::string directory, socket;
    std::string latency = "off", log = "summary";
    std::vector<std::string> options, settings;
    bool read_only = false;
};

constexpr const char* plugin_name = "nbdkit-flashlab-plugin.so";

/// Beside the program where it was built, or where it is installed; empty: nowhere.
std::string nbd_plugin() {
    std::error_code error;
    const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& place : {bin / plugin_name, bin / "../lib/flashlab" / plugin_name})
        if (fs::exists(place, error)) return fs::weakly_canonical(place, error).string();
    return {};
}

bool is_in_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::string folders = path == nullptr ? "/usr/bin" : path;
    for (std::size_t at = 0; at <= folders.size();) {
        const std::size_t end = std::min(folders.find(':', at), folders.size());
        if (::access((folders.substr(at, end - at) + "/" + program).c_str(), X_OK) == 0) return true;
        at = end + 1;
    }
    return false;
}

/// Why nbdkit would not bind there; empty: it will. A socket that nobody listens at is removed.
std::string why_no_socket(const std::string& path) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (path.size() >= sizeof address.sun_path) return "the path of a socket has at most 107 bytes: name a shorter one";
    std::error_code error;
    if (!fs::is_socket(path, error))
        return fs::exists(fs::symlink_status(path, error)) ? "is there already, and is no socket: name another place" : "";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_alive = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    if (is_alive) return "somebody listens there already: name another place";
    fs::remove(path, error);
    return {};
}

std::vector<std::string> mount_words(const ServeOptions& o, const std::string& mount_point) {
    std::vector<std::string> words{"/proc/self/exe", "mount", "--as-file", o.directory, mount_point, "--latency", o.latency, "--log", o.log};
    for (const std::string& option : o.options) words.insert(words.end(), {"-o", option});
    for (const std::string& setting : o.settings) words.insert(words.end(), {"--set", setting});
    if (o.read_only) words.push_back("--read-only");
    return words;
}

int run_nbdkit(const ServeOptions& o, const std::string& plugin, const std::string& disk) {
    std::vector<std::string> words{"nbdkit", "--foreground", "--exit-with-parent", "--unix", o.socket, plugin, "disk=" + disk};
    if (o.read_only) words.insert(words.begin() + 1, "--readonly");
    auto server = Subprocess::start({.words = words, .directory = {}, .output = {}, .environment = {}});
    if (!server) return complain(fmt::format("serve: {}", server.error()));
    std::error_code error;
    for (bool is_told = false; !Interruption::came(); std::this_thread::sleep_for(std::chrono::milliseconds{20})) {
        if (const auto code = server->poll()) return complain(fmt::format("serve: nbdkit ended with {}", *code));
        if (!is_told && fs::is_socket(o.socket, error)) {
            is_told = true;
            tell(fmt::format("flashlab: {} is served at nbd+unix:///?socket={}\n", o.directory, o.socket));
        }
        if (!is_in_use(o.directory)) { // nothing else takes a mount whose file is open
            tell(fmt::format("flashlab: the mount of {} has ended, as after a power cut; served or mounted again, it recovers\n", o.directory));
            return exit_done;
        }
    }
    return exit_done;
}

int run_serve(const ServeOptions& given) {
    ServeOptions o = given;
    std::error_code error;
    o.directory = fs::absolute(o.directory, error).lexically_normal().string();
    o.socket = fs::absolute(o.socket, error).string();
    if (!is_in_path("nbdkit")) return complain("serve: nbdkit is not installed: sudo apt-get install nbdkit");
    const std::string plugin = nbd_plugin();
    if (plugin.empty())
        return complain(
            fmt::format("serve: {} is missing: it is built where nbdkit-plugin-dev is installed: sudo apt-get install nbdkit-plugin-dev, then "
                        "build again. Without it: flashlab mount --as-file, and nbdkit file MNT/disk",
                        plugin_name));
    if (const std::string why = why_no_socket(o.socket); !why.empty()) return complain(fmt::format("serve: --nbd {}: {}", o.socket, why), exit_usage);
    const Interruption interruption;
    const std::string work = make_work_directory("serve");
    if (work.empty()) return complain("serve: no temporary directory can be made; TMPDIR says where");
    UnfinishedDirectory removed{work};
    if (const int code = run_to_end({.words = mount_words(o, work), .directory = {}, .output = {}, .environment = {}}); code != exit_done)
        return code;
    int code = run_nbdkit(o, plugin, work + "/disk");
    fs::remove(o.socket, error);
    if (!find_mount(work)) return code;
    const int unmounted = run_to_end({.words = {"/proc/self/exe", "umount", work}, .directory = {}, .output = {}, .environment = {}});
    if (find_mount(work)) removed.keep();
    if (code == exit_done) code = unmounted;
    if (code == exit_done) Interruption::was_the_end();
    return code;
}

} // namespace

void add_serve(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_serve, "serve", "Serve a raw drive over NBD, by nbdkit, until a signal or a power cut",
                              "flashlab serve /tmp/disk --nbd /tmp/disk.sock --latency real\n"
                              "  qemu-system-x86_64 -drive file=nbd+unix:///?socket=/tmp/disk.sock,format=raw\n\n"
                              "ctl, smart, top and report take DIR as the mount. docs/block-device.md has what to type for /dev/nbdX.");
    c.add_option("DIR", o.directory, "Device directory of a raw drive (mkfs --raw)")->required();
    c.add_option("--nbd", o.socket, "Unix socket to listen at")->required()->type_name("SOCKET");
    c.add_option("--latency", o.latency, "How slow the drive feels: off, real, or Nx")->capture_default_str();
    c.add_option("--log", o.log, "What the event log keeps: none, summary, requests, all")->capture_default_str();
    c.add_option("-o,--options", o.options, "Options as of flashlab mount")->allow_extra_args(false);
    c.add_option("--set", o.settings, "KEY=VALUE of a configuration key that may change at a mount")->allow_extra_args(false);
    c.add_flag("--read-only", o.read_only, "Refuse every change; the device's files are not written either");
}

} // namespace flashlab
