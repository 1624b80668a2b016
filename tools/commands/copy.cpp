/// flashlab snapshot and clone: copies of a device directory.
#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/device_copy.h"
#include "tools/interruption.h"
#include "tools/json.h"
#include "tools/sizes.h"

namespace flashlab {

namespace {

int report(const CopiedDevice& copied, bool json) {
    if (json) {
        fmt::print("{}\n", Json::object({{"directory", copied.directory},
                                         {"file_bytes", copied.file_bytes},
                                         {"copied_bytes", copied.copied_bytes},
                                         {"reflinked", copied.reflinked}})
                               .dump());
    } else {
        fmt::print("{}: {} of images, {} copied{}\n", copied.directory, human_size(copied.file_bytes), human_size(copied.copied_bytes),
                   copied.reflinked ? ", the rest shared with the original (reflink)" : "");
    }
    return exit_done;
}

} // namespace

int run_snapshot(const CopyOptions& o) {
    if (o.remove && o.to.empty())
        return complain("snapshot --delete: which? name it", exit_usage);
    if (!o.to.empty())
        if (auto good = check_snapshot_name(o.to); !good)
            return complain(fmt::format("snapshot: {}", good.error()), exit_usage);
    if (o.remove) {
        if (auto done = delete_snapshot(o.from, o.to); !done)
            return complain(fmt::format("snapshot: {}", done.error()));
        return exit_done;
    }
    if (!o.to.empty()) {
        const Interruption interruption;
        const auto taken = take_snapshot(o.from, o.to);
        return taken ? report(*taken, o.json) : complain(fmt::format("snapshot: {}", taken.error()));
    }
    const auto names = list_snapshots(o.from);
    if (!names)
        return complain(fmt::format("snapshot: {}", names.error()));
    Json list{Json::Array{}};
    for (const std::string& name : *names) {
        list.push(name);
        if (!o.json)
            fmt::print("{}\n", name);
    }
    if (o.json)
        fmt::print("{}\n", Json::object({{"snapshots", std::move(list)}}).dump());
    return exit_done;
}

int run_clone(const CopyOptions& o) {
    const Interruption interruption;
    const auto made = clone_device(o.from, o.to);
    return made ? report(*made, o.json) : complain(fmt::format("clone: {}", made.error()));
}

} // namespace flashlab
