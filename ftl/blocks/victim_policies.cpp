#include "ftl/blocks/victim_policies.h"

#include <array>

namespace flashlab {

#define VICTIM(name) const VictimPolicyEntry& name##_victim();
#include "ftl/blocks/victim_policies.def"
#undef VICTIM

std::span<const VictimPolicyEntry> victim_policies() {
    // clang-format off
    static const std::array all{
#define VICTIM(name) name##_victim(),
#include "ftl/blocks/victim_policies.def"
#undef VICTIM
    };
    // clang-format on
    return all;
}

std::unique_ptr<VictimPolicy> make_victim_policy(std::string_view name, const OptionSet& options, std::uint64_t seed) {
    const VictimPolicyEntry* found = find_named(victim_policies(), name);
    return found == nullptr ? nullptr : found->make(options, seed);
}

} // namespace flashlab
