#include "tools/cli/commands/log_target.h"

#include <filesystem>

#include <fmt/format.h>

#include "tools/host/complaint.h"
#include "tools/live/live_mount.h"

namespace flashlab {

std::expected<std::string, std::string> find_log(const std::string& command, const std::string& target) {
    std::string path = target;
    if (const auto mounted = find_mount(target)) {
        path = mounted->source + "/events.db";
        if (const auto flushed = ask_mount(*mounted, Json::object({{"cmd", "flush_log"}})); !flushed)
            complain(fmt::format("{}: the mount did not answer ({}); the newest rows may be missing", command, flushed.error()));
    } else if (std::filesystem::is_directory(target)) {
        path = target + "/events.db";
    }
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return std::unexpected(
            fmt::format("{}: {}: there is no event log; mount the device with --log summary (the default) or more", command, path));
    return path;
}

} // namespace flashlab
