#include "tools/cli/commands/log_target.h"

#include <filesystem>

#include <fmt/format.h>

#include "tools/host/complaint.h"
#include "tools/live/live_mount.h"
#include "tools/text/sizes.h"

namespace flashlab {

std::string not_on_flash(const std::string& command, std::uint64_t bytes, const std::string& mount_point, bool takes_writes) {
    const std::string what =
        fmt::format("{}: {} that programs wrote are still in memory, not on the flash and in no figure here;", command, human_size(bytes));
    if (!takes_writes) return fmt::format("{} the drive takes no more writes: copy the files elsewhere before the unmount", what);
    return fmt::format("{} write them with: flashlab ctl {} flush", what, mount_point);
}

std::expected<std::string, std::string> find_log(const std::string& command, const std::string& target) {
    std::string path = target;
    if (const auto mounted = find_mount(target)) {
        path = mounted->source + "/events.db";
        if (const auto flushed = ask_mount(*mounted, Json::object({{"cmd", "flush_log"}})); !flushed)
            complain(fmt::format("{}: the mount did not answer ({}); the newest rows may be missing", command, flushed.error()));
        else if (const std::uint64_t bytes = (*flushed)["unsynced_bytes"].number(); bytes != 0)
            complain(fmt::format("{}; its log has the level {}", not_on_flash(command, bytes, mounted->mount_point, !(*flushed)["read_only"].truth()),
                                 (*flushed)["level"].text()));
    } else if (std::filesystem::is_directory(target)) {
        path = target + "/events.db";
    }
    std::error_code error;
    if (!std::filesystem::exists(path, error))
        return std::unexpected(error ? fmt::format("{}: {}: {}", command, path, error.message())
                                     : fmt::format("{}: {}: there is no event log. Record one: mount the device with --log summary (the default) or "
                                                   "more, or give bench or replay --events FILE",
                                                   command, path));
    return path;
}

} // namespace flashlab
