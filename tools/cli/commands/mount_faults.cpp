#include "tools/cli/commands/mount_faults.h"

#include <fmt/format.h>

#include "tools/faults/fault_rule.h"
#include "tools/host/regular_file.h"

namespace flashlab {

std::expected<std::vector<FaultRule>, std::string> read_fault_plan(const std::string& path) {
    constexpr std::size_t largest = 1u << 20;
    const auto text = read_regular_file(path, largest);
    if (!text) return std::unexpected(fmt::format("{}: {}", path, text.error()));
    auto rules = parse_fault_plan(*text);
    if (!rules) return std::unexpected(fmt::format("{}: {}", path, rules.error()));
    return rules;
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

} // namespace flashlab
