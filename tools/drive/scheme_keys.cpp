#include "tools/drive/scheme_keys.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ftl/make_ftl.h"
#include "tools/drive/config_schema.h"

namespace flashlab {

std::vector<std::string_view> schemes_of_key(std::string_view key) {
    std::vector<std::string_view> out;
    for (const Scheme* scheme : schemes())
        if (std::ranges::find(scheme->keys, key) != scheme->keys.end()) out.push_back(scheme->name);
    return out;
}

std::expected<void, std::string> check_key_of_scheme(std::string_view key, std::string_view scheme) {
    const auto owners = schemes_of_key(key);
    if (owners.empty() || !find_scheme(scheme) || std::ranges::find(owners, scheme) != owners.end()) return {};
    return std::unexpected(fmt::format("{} is a key of {} and does nothing with ftl.scheme = {}: leave it out, or choose {}", key,
                                       fmt::join(owners, ", "), scheme,
                                       owners.size() == 1 ? fmt::format("--ftl {}", owners.front()) : "one of these"));
}

std::expected<void, std::string> check_settings_of_scheme(std::span<const std::string> settings, std::string_view scheme) {
    for (const std::string& setting : settings)
        if (const ConfigKey* key = find_config_key(setting.substr(0, setting.find('='))))
            if (auto done = check_key_of_scheme(key->name, scheme); !done) return std::unexpected(fmt::format("--set: {}", done.error()));
    return {};
}

} // namespace flashlab
