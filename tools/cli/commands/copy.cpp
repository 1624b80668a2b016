/// flashlab snapshot and clone: copies of a device directory.
#include <algorithm>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/command_options.h"
#include "tools/drive/device_copy.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/live/live_mount.h"
#include "tools/text/sizes.h"
#include "tools/text/table.h"

namespace flashlab {

namespace {

/// The options of snapshot and clone.
struct CopyOptions {
    std::string from, to;
    bool remove = false;
    OutputFormat format = OutputFormat::table;
};

int report(const CopiedDevice& copied, OutputFormat format) {
    if (format != OutputFormat::table) {
        fmt::print("{}", shown(format, Json::object({{"directory", copied.directory},
                                                     {"file_bytes", copied.file_bytes},
                                                     {"copied_bytes", copied.copied_bytes},
                                                     {"reflinked", copied.reflinked}})));
    } else {
        fmt::print("{}: {} of images, {} copied{}\n", copied.directory, human_size(copied.file_bytes), human_size(copied.copied_bytes),
                   copied.reflinked ? ", the rest shared with the original (reflink)" : "");
    }
    return exit_done;
}

/// Of DEVICE@NAME: why there is no such snapshot, and which there are; empty: there is, or it is no such name.
std::string unknown_snapshot(const std::string& from) {
    std::error_code error;
    const std::size_t at = from.rfind('@');
    if (at == std::string::npos || std::filesystem::exists(from, error)) return {};
    const std::string device = from.substr(0, at), name = from.substr(at + 1);
    if (const auto good = check_snapshot_name(name); !good) return good.error();
    const auto names = list_snapshots(device);
    if (!names) return names.error();
    if (std::ranges::find(*names, name) != names->end()) return {};
    return fmt::format("{}: has no snapshot '{}'; {}", device, name,
                       names->empty() ? fmt::format("it has none; one is made by: flashlab snapshot {} NAME", device)
                                      : fmt::format("there are: {}", fmt::join(*names, ", ")));
}

/// Why the drive cannot be had; empty: it is free, perhaps after a wait for a daemon that was still writing back.
std::string why_taken(const std::string& directory, DeviceAccess access) {
    const auto free = wait_for_unmounted(directory, access);
    return free ? std::string{} : free.error();
}

int run_snapshot(const CopyOptions& o) {
    if (o.remove && o.to.empty()) return complain("snapshot --delete: which? name it", exit_usage);
    if (!o.to.empty())
        if (auto good = check_snapshot_name(o.to); !good) return complain(fmt::format("snapshot: {}", good.error()), exit_usage);
    if (o.remove) {
        const std::string path = directory_of_device(o.from + "@" + o.to);
        if (const std::string why = why_taken(path, DeviceAccess::use); !why.empty()) return complain("snapshot: " + why);
        if (auto done = delete_snapshot(o.from, o.to); !done) return complain(fmt::format("snapshot: {}", done.error()));
        return exit_done;
    }
    if (!o.to.empty()) {
        const Interruption interruption;
        if (const std::string why = why_taken(o.from, DeviceAccess::look); !why.empty()) return complain("snapshot: " + why);
        const auto taken = take_snapshot(o.from, o.to);
        return taken ? report(*taken, o.format) : complain(fmt::format("snapshot: {}", taken.error()));
    }
    const auto names = list_snapshots(o.from);
    if (!names) return complain(fmt::format("snapshot: {}", names.error()));
    Json list{Json::Array{}};
    Table table{{o.format == OutputFormat::csv ? "snapshot" : ""}};
    for (const std::string& name : *names) {
        list.push(name);
        table.add({name});
    }
    fmt::print("{}", shown(o.format, Json::object({{"snapshots", std::move(list)}}), table));
    return exit_done;
}

int run_clone(const CopyOptions& o) {
    const Interruption interruption;
    if (const std::string why = unknown_snapshot(o.from); !why.empty())
        return complain("clone: " + why, why.starts_with("'") ? exit_usage : exit_failed);
    if (const std::string why = why_taken(directory_of_device(o.from), DeviceAccess::look); !why.empty()) return complain("clone: " + why);
    const auto made = clone_device(o.from, o.to);
    return made ? report(*made, o.format) : complain(fmt::format("clone: {}", made.error()));
}

} // namespace

void add_snapshot(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_snapshot, "snapshot", "Keep the device as it is under a name; clone DIR@NAME brings it back",
                              "flashlab snapshot /tmp/disk before-upgrade");
    c.add_option("DIR", o.from, "Device directory, not mounted")->required();
    c.add_option("NAME", o.to, "Letters, digits, '.', '-', '_'; without one the snapshots are listed");
    c.add_flag("--delete", o.remove, "Delete the snapshot NAME instead");
    add_format(c, o.format, "One JSON object");
}

void add_clone(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_clone, "clone", "A copy of a device, with an identity of its own",
                              "flashlab clone /tmp/disk@before-upgrade /tmp/old");
    c.add_option("DIR", o.from, "Device directory, not mounted, or DIR@NAME of a snapshot")->required();
    c.add_option("NEW", o.to, "Directory to make")->required();
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab
