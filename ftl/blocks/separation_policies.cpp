#include "ftl/blocks/separation_policies.h"

#include <algorithm>
#include <array>

namespace flashlab {

#define SEPARATION(name) const SeparationPolicyEntry& name##_separation();
#include "ftl/blocks/separation_policies.def"
#undef SEPARATION

std::span<const SeparationPolicyEntry> separation_policies() {
    constexpr auto one_stream = [](const OptionSet&, std::uint32_t) -> std::unique_ptr<SeparationPolicy> { return nullptr; };
    // clang-format off
    static const std::array all{
        SeparationPolicyEntry{"none", 1, one_stream},
#define SEPARATION(name) name##_separation(),
#include "ftl/blocks/separation_policies.def"
#undef SEPARATION
    };
    // clang-format on
    return all;
}

const SeparationPolicyEntry* find_separation_policy(std::string_view name) {
    const auto all = separation_policies();
    const auto found = std::ranges::find(all, name, &SeparationPolicyEntry::name);
    return found == all.end() ? nullptr : &*found;
}

std::vector<std::string_view> separation_policy_names() {
    std::vector<std::string_view> names;
    for (const SeparationPolicyEntry& entry : separation_policies()) names.push_back(entry.name);
    return names;
}

} // namespace flashlab
