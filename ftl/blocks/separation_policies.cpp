#include "ftl/blocks/separation_policies.h"

#include <algorithm>
#include <array>

#include "ftl/blocks/cause_separation.h"
#include "ftl/blocks/frequency_separation.h"

namespace flashlab {

std::span<const SeparationPolicyEntry> separation_policies() {
    using Policy = std::unique_ptr<SeparationPolicy>;
    static constexpr std::array<SeparationPolicyEntry, 3> all{{
        {"none", 1, [](std::uint32_t) -> Policy { return nullptr; }},
        {"frequency", FrequencySeparation::streams, [](std::uint32_t pages) -> Policy { return std::make_unique<FrequencySeparation>(pages); }},
        {"cause", CauseSeparation::streams, [](std::uint32_t) -> Policy { return std::make_unique<CauseSeparation>(); }},
    }};
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
