#include "tools/drive/scheme_keys.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ftl/blocks/separation_policies.h"
#include "ftl/blocks/victim_policies.h"
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

std::string policy_of_key(std::string_view key) {
    for (const VictimPolicyEntry& policy : victim_policies())
        if (std::ranges::find(policy.options, key, &Option::key) != policy.options.end()) return fmt::format("ftl.victim = {}", policy.name);
    for (const SeparationPolicyEntry& policy : separation_policies())
        if (std::ranges::find(policy.options, key, &Option::key) != policy.options.end()) return fmt::format("ftl.separation = {}", policy.name);
    return {};
}

std::expected<void, std::string> check_key_of_scheme(std::string_view key, const FtlConfig& ftl) {
    const std::string_view scheme = ftl.scheme;
    if (const std::string policy = policy_of_key(key); !policy.empty()) {
        const std::string_view setting = std::string_view{policy}.substr(0, policy.find(' '));
        const std::string chosen = fmt::format("{} = {}", setting, setting == "ftl.victim" ? ftl.victim : ftl.separation);
        if (policy != chosen) return std::unexpected(fmt::format("{} is a key of {} and does nothing with {}: leave it out", key, policy, chosen));
        return check_key_of_scheme(setting, ftl);
    }
    const auto owners = schemes_of_key(key);
    if (owners.empty() || !find_scheme(scheme) || std::ranges::find(owners, scheme) != owners.end()) return {};
    return std::unexpected(fmt::format("{} is a key of {} and does nothing with ftl.scheme = {}: leave it out, or choose {}", key,
                                       fmt::join(owners, ", "), scheme,
                                       owners.size() == 1 ? fmt::format("--ftl {}", owners.front()) : "one of these"));
}

std::expected<void, std::string> check_settings_of_scheme(std::span<const std::string> settings, const FtlConfig& ftl) {
    for (const std::string& setting : settings)
        if (const ConfigKey* key = find_config_key(setting.substr(0, setting.find('='))))
            if (auto done = check_key_of_scheme(key->name, ftl); !done) return std::unexpected(fmt::format("--set: {}", done.error()));
    return {};
}

} // namespace flashlab
