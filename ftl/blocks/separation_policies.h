/// The one place that knows every separation policy by name: a new one is its file pair and one line in separation_policies.def.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ftl/blocks/separation_policy.h"
#include "ftl/options.h"

namespace flashlab {

struct SeparationPolicyEntry {
    std::string_view name;
    std::uint32_t streams = 1;
    std::unique_ptr<SeparationPolicy> (*make)(const OptionSet& options, std::uint32_t logical_pages); ///< null where there is but one stream
    std::string_view victim{}; ///< the ftl.victim of a drive for which nobody names one; empty: as without separation
    OptionList options{};      ///< its own
};
/// In the order of the documentation.
[[nodiscard]] std::span<const SeparationPolicyEntry> separation_policies();
/// Null when there is none of that name.
[[nodiscard]] const SeparationPolicyEntry* find_separation_policy(std::string_view name);
[[nodiscard]] std::vector<std::string_view> separation_policy_names();

} // namespace flashlab
