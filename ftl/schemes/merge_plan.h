/// What a configuration of a block-mapping scheme comes to: data, log, reserve and journal blocks.
///
/// Idea       One calculation for the three schemes; they differ in how many log blocks they need and like.
/// Invariant  Pure. logical + log + MergeFtl::merge_reserve blocks never exceed the good blocks outside the journal.
/// Cost       One pass over the blocks for the factory's marks.
/// Power cut  Keeps nothing.
#pragma once

#include "ftl/blocks/merge_ftl.h"
#include "ftl/scheme.h"

namespace flashlab {

struct MergeScheme {
    std::string_view name;
    std::uint32_t least_logs = 1;
    std::uint32_t most_logs_a_plane = 0; ///< when the user does not say; 0 = what the reserve allows
};

struct MergePlan {
    FtlPlan plan;
    MergeFtlConfig ftl;
};

[[nodiscard]] std::expected<MergePlan, std::string> plan_merge(const MergeScheme& scheme, const SsdConfig& config, const Geometry& geometry);

} // namespace flashlab
