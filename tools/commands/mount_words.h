/// The words of -o that a mount and a remount know: those of mount(8) that mean nothing here, those that libfuse takes, and our own.
#pragma once

#include <algorithm>
#include <array>
#include <string>

namespace flashlab {

inline constexpr std::array ignored_options{"rw", "dev", "suid", "exec", "defaults", "default", "nofail", "auto", "noauto", "user", "users", "nouser", "_netdev", "relatime", "atime",
                                     "strictatime", "nodiratime", "diratime", "async", "group", "owner", "silent", "loud"};
inline constexpr std::array passed_options{"allow_other", "allow_root", "nodev", "nosuid", "noexec", "noatime", "sync", "dirsync"};
inline constexpr std::array own_options{"ro", "recovery", "host_cache", "writeback", "cache", "latency", "log", "log_keep", "threads"};

template <std::size_t N>
bool is_in(const std::array<const char*, N>& names, const std::string& name) {
    return std::ranges::any_of(names, [&](const char* n) { return name == n; });
}

} // namespace flashlab
