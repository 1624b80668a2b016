#include "tools/cli/commands/mount_words.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "crash/apps/persistence.h"
#include "tools/drive/config_schema.h"
#include "tools/faults/fault_rule.h"
#include "tools/host/host_memory.h"
#include "tools/host/regular_file.h"
#include "tools/text/sizes.h"

namespace flashlab {
namespace {

std::string unknown_option(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& key : config_keys()) known.emplace_back(key.name);
    known.insert(known.end(), own_options.begin(), own_options.end());
    known.insert(known.end(), passed_options.begin(), passed_options.end());
    const std::string near = name.size() < 3 ? std::string{} : nearest_name(name, known); // of two letters every word is near
    return near.empty() ? fmt::format("-o {}: unknown option; see: flashlab mount --help", name)
                        : fmt::format("-o {}: unknown option; did you mean '{}'?", name, near);
}

std::expected<void, std::string> apply_sized(const std::string& name, const std::string& value, MountSessionConfig& config) {
    const auto bytes = parse_size(value);
    if (!bytes)
        return std::unexpected(name == "threads"
                                   ? fmt::format("-o threads={}: a whole number from 0 to 64 is wanted; 0: chosen by measurement", value)
                                   : fmt::format("-o {}={}: {}", name, value, bytes.error()));
    if (name == "cache") {
        if (*bytes < (1u << 20) || *bytes > (std::uint64_t{1} << 40))
            return std::unexpected(fmt::format("-o cache={}: allowed: 1 MiB to 1 TiB", value));
        if (const auto there = check_host_memory(*bytes); !there)
            return std::unexpected(fmt::format("-o cache={}: {}: give less, or leave the option out for 64 MiB", value, there.error()));
        config.open.fs.cache_bytes = *bytes;
    } else if (name == "threads") {
        if (*bytes > 64) return std::unexpected(fmt::format("-o threads={}: allowed: 0 to 64; 0: chosen by measurement", value));
        config.mount.threads = static_cast<unsigned>(*bytes);
    } else {
        config.open.log_keep_bytes = *bytes;
    }
    return {};
}

std::expected<void, std::string> apply_fault_option(const std::string& name, const std::string& value, MountSessionConfig& config) {
    if (name == "fsync_failure") {
        FailedPages& pages = config.open.fs.failed_pages;
        if (value == "retry")
            pages = FailedPages::retry;
        else if (value == "ext4" || value == "xfs")
            pages = FailedPages::clean;
        else if (value == "btrfs")
            pages = FailedPages::reverted;
        else
            return std::unexpected(fmt::format("-o fsync_failure={}: allowed: retry (the default), ext4, xfs, btrfs", value));
        return {};
    }
    if (name == "fault") {
        auto rule = FaultRule::parse(fault_words(value));
        if (!rule) return std::unexpected(fmt::format("-o fault={}: {}", value, rule.error()));
        config.faults.push_back(std::move(*rule));
        return {};
    }
    const auto rules = read_fault_plan(value);
    if (!rules) return std::unexpected(fmt::format("-o fault_plan={}", rules.error()));
    config.faults.insert(config.faults.end(), rules->begin(), rules->end());
    return {};
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> opposites{{{"rw", "ro"},
                                                                                  {"exec", "noexec"},
                                                                                  {"suid", "nosuid"},
                                                                                  {"dev", "nodev"},
                                                                                  {"async", "sync"},
                                                                                  {"atime", "noatime"},
                                                                                  {"relatime", "noatime"},
                                                                                  {"strictatime", "noatime"}}};

bool contradict(std::string_view one, std::string_view other) {
    return std::ranges::any_of(opposites, [&](const auto& pair) { return pair == std::pair{one, other} || pair == std::pair{other, one}; });
}

} // namespace

std::vector<std::string> without_contradicted(const std::vector<std::string>& options) {
    std::vector<std::string> out;
    for (const std::string& option : options) {
        std::erase_if(out, [&](const std::string& before) { return contradict(before, option); });
        out.push_back(option);
    }
    return out;
}

bool is_unknown_option(const std::string& option) {
    const std::string name = option.substr(0, option.find('='));
    return !is_in(ignored_options, name) && !is_in(passed_options, name) && !is_in(own_options, name) && find_config_key(name) == nullptr;
}

std::expected<void, std::string> apply_option(const std::string& option, MountSessionConfig& config, std::optional<std::string>& log,
                                              std::string& latency) {
    const auto equals = option.find('=');
    const std::string name = option.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
    if (name.empty() && equals != std::string::npos)
        return std::unexpected(fmt::format("-o {}: names no option; see: flashlab mount --help", option));
    if (name.empty() || name.starts_with("x-") || name == "comment" || is_in(ignored_options, name)) return {};
    if (is_in(passed_options, name)) {
        config.mount.fuse_options.push_back(option);
        if (name == "noatime") config.mount.access_times = AccessTimes::kept;    // the kernel leaves access times to the daemon
        if (name == "sync") config.open.fs.host_cache = HostCache::writethrough; // the kernel syncs after write(2), but not after copy_file_range(2)
    } else if (name == "ro") {
        config.mount.read_only = true;
    } else if (name == "norecovery") { // what a cut has left is recovered in memory alone, as always where nothing is written
        config.mount.read_only = true;
    } else if (name == "recovery") {
        config.mount.read_only = config.open.tolerate_damage = true;
    } else if (name == "strictatime") {
        config.mount.access_times = AccessTimes::strict;
    } else if (name == "as_file") {
        config.as_file = true;
    } else if (name == "use") {
        config.open.counts_use = true;
    } else if (name == "writeback") {
        config.mount.kernel_writeback = true;
    } else if (name == "host_cache") {
        if (value != "writethrough" && value != "delayed" && value != "lossy")
            return std::unexpected(fmt::format("-o host_cache={}: allowed: delayed (lossy is the same), writethrough", value));
        config.open.fs.host_cache = value == "writethrough" ? HostCache::writethrough : HostCache::delayed;
    } else if (name == "io_uring") {
        if (value != "auto" && value != "on" && value != "off") return std::unexpected(fmt::format("-o io_uring={}: allowed: auto, on, off", value));
        config.mount.io_ring = value == "auto" ? IoRingUse::chosen : value == "on" ? IoRingUse::on : IoRingUse::off;
    } else if (name == "persistence") {
        const auto model = find_persistence(value);
        if (!model) return std::unexpected(fmt::format("-o persistence={}: allowed: {}", value, persistence_names));
        config.persistence = value == "strict" ? std::nullopt : model;
    } else if (name == "latency") {
        latency = value;
    } else if (name == "log") {
        log = value;
    } else if (name == "cache" || name == "log_keep" || name == "threads") {
        return apply_sized(name, value, config);
    } else if (name == "fault" || name == "fault_plan" || name == "fsync_failure") {
        return apply_fault_option(name, value, config);
    } else if (find_config_key(name) != nullptr) {
        config.open.settings.push_back(option);
    } else {
        return std::unexpected(unknown_option(name));
    }
    return {};
}

std::expected<std::vector<FaultRule>, std::string> read_fault_plan(const std::string& path) {
    constexpr std::size_t largest = 1u << 20;
    const auto text = read_regular_file(path, largest);
    if (!text) return std::unexpected(fmt::format("{}: {}", path, text.error()));
    auto rules = parse_fault_plan(*text);
    if (!rules) return std::unexpected(fmt::format("{}: {}", path, rules.error()));
    return rules;
}

} // namespace flashlab
