/// The words of -o that a mount and a remount know: words of mount(8) that mean nothing here, words that libfuse takes, and our own.
///
/// Cost       fault_plan= reads the plan.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "tools/live/mount_session.h"

namespace flashlab {

inline constexpr std::array ignored_options{"rw",         "exec",     "defaults", "default", "nofail",   "auto",   "noauto",
                                            "user",       "users",    "nouser",   "_netdev", "relatime", "atime",  "default_permissions",
                                            "nodiratime", "diratime", "async",    "group",   "owner",    "silent", "loud"};
inline constexpr std::array passed_options{"allow_other", "allow_root", "dev", "suid", "nodev", "nosuid", "noexec", "noatime", "sync", "dirsync"};
inline constexpr std::array own_options{"ro",          "strictatime", "recovery",   "norecovery",    "host_cache", "writeback",
                                        "cache",       "latency",     "log",        "log_keep",      "threads",    "use",
                                        "persistence", "fault",       "fault_plan", "fsync_failure", "io_uring",   "as_file"};

template <std::size_t N>
bool is_in(const std::array<const char*, N>& names, const std::string& name) {
    return std::ranges::any_of(names, [&](const char* n) { return name == n; });
}

/// Takes one word. `log` and `latency` are collected, since -o comes last in the order of precedence. The error is a whole sentence.
[[nodiscard]] std::expected<void, std::string> apply_option(const std::string& option, MountSessionConfig& config, std::optional<std::string>& log,
                                                            std::string& latency);
/// Of two words that contradict each other the last one holds, as with mount(8).
[[nodiscard]] std::vector<std::string> without_contradicted(const std::vector<std::string>& options);
/// No word of a mount at all.
[[nodiscard]] bool is_unknown_option(const std::string& option);
/// The rules of a plan file.
[[nodiscard]] std::expected<std::vector<FaultRule>, std::string> read_fault_plan(const std::string& path);

} // namespace flashlab
