#include "tools/drive/scheme_keys.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ftl/blocks/separation_policies.h"
#include "ftl/blocks/victim_policies.h"
#include "ftl/host/arbiter.h"
#include "ftl/make_ftl.h"
#include "tools/drive/config_schema.h"

namespace flashlab {

Json counters_of_schemes() {
    Json out;
    for (const Scheme* scheme : every_scheme())
        for (const Counter& c : scheme->counters)
            if (!c.has_own_place) out.push(Json::object({{"counter", c.name}, {"unit", c.unit}, {"scheme", scheme->name}, {"meaning", c.help}}));
    return out;
}

std::vector<std::string_view> schemes_of_key(std::string_view key) {
    std::vector<std::string_view> out;
    for (const Scheme* scheme : every_scheme())
        if (scheme->has_key(key)) out.push_back(scheme->name);
    return out;
}

namespace {

/// Policies that are chosen by name, and those of them that declare a key.
struct PolicyKey {
    std::string_view setting; ///< ftl.victim
    std::string chosen;
    std::vector<std::string_view> owners;
};

PolicyKey policies_with(std::string_view key, const SsdConfig& drive) {
    const auto of = [key](const auto& entries) {
        std::vector<std::string_view> owners;
        for (const auto& entry : entries)
            if (std::ranges::find(entry.options, key, &Option::key) != entry.options.end()) owners.push_back(entry.name);
        return owners;
    };
    if (auto owners = of(victim_policies()); !owners.empty()) return {"ftl.victim", drive.ftl.victim, owners};
    if (auto owners = of(separation_policies()); !owners.empty()) return {"ftl.separation", drive.ftl.separation, owners};
    return {"host_link.arbiter", drive.host_link.arbiter, of(arbiters())};
}

std::string said(const PolicyKey& policy) { return fmt::format("{} = {}", policy.setting, fmt::join(policy.owners, " or ")); }

} // namespace

std::string policies_of_key(std::string_view key) {
    const PolicyKey policy = policies_with(key, {});
    return policy.owners.empty() ? std::string{} : said(policy);
}

std::expected<void, std::string> check_key_of_scheme(std::string_view key, const SsdConfig& drive) {
    const std::string_view scheme = drive.ftl.scheme;
    if (const PolicyKey policy = policies_with(key, drive); !policy.owners.empty()) {
        if (std::ranges::find(policy.owners, policy.chosen) == policy.owners.end())
            return std::unexpected(
                fmt::format("{} is a key of {} and does nothing with {} = {}: leave it out", key, said(policy), policy.setting, policy.chosen));
        return check_key_of_scheme(policy.setting, drive);
    }
    const auto owners = schemes_of_key(key);
    if (owners.empty() || !find_scheme(scheme) || std::ranges::find(owners, scheme) != owners.end()) return {};
    return std::unexpected(fmt::format("{} is a key of {} and does nothing with ftl.scheme = {}: leave it out, or choose {}", key,
                                       fmt::join(owners, ", "), scheme,
                                       owners.size() == 1 ? fmt::format("--ftl {}", owners.front()) : "one of these"));
}

std::expected<void, std::string> check_settings_of_scheme(std::span<const std::string> settings, const SsdConfig& drive) {
    for (const std::string& setting : settings)
        if (const ConfigKey* key = find_config_key(setting.substr(0, setting.find('='))))
            if (auto done = check_key_of_scheme(key->name, drive); !done) return std::unexpected(fmt::format("--set: {}", done.error()));
    return {};
}

} // namespace flashlab
