/// The one place that knows every victim policy by name: a new one is its file pair and one line in victim_policies.def.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ftl/blocks/victim_policy.h"
#include "ftl/named.h"
#include "ftl/options.h"

namespace flashlab {

struct VictimPolicyEntry {
    std::string_view name;
    std::unique_ptr<VictimPolicy> (*make)(const OptionSet& options, std::uint64_t seed);
    OptionList options{}; ///< its own
};
/// In the order of the documentation.
[[nodiscard]] std::span<const VictimPolicyEntry> victim_policies();
/// Null when there is none of that name.
[[nodiscard]] std::unique_ptr<VictimPolicy> make_victim_policy(std::string_view name, const OptionSet& options, std::uint64_t seed);

} // namespace flashlab
