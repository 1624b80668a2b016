/// The one place that knows every separation policy by name: a new one is its file pair and one line in separation_policies.def.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "ftl/blocks/separation_policy.h"
#include "ftl/named.h"
#include "ftl/options.h"

namespace flashlab {

struct SeparationPolicyEntry {
    std::string_view name;
    std::uint32_t streams = 1;                                                                        ///< where `count` says nothing else
    std::unique_ptr<SeparationPolicy> (*make)(const OptionSet& options, std::uint32_t logical_pages); ///< null where there is but one stream
    std::string_view victim{}; ///< the ftl.victim of a drive for which nobody names one; empty: as without separation
    OptionList options{};      ///< its own
    std::uint32_t (*count)(const OptionSet& options) = nullptr; ///< streams, where its options say how many
    [[nodiscard]] std::uint32_t streams_of(const OptionSet& set) const { return count == nullptr ? streams : count(set); }
};
/// In the order of the documentation.
[[nodiscard]] std::span<const SeparationPolicyEntry> separation_policies();

} // namespace flashlab
