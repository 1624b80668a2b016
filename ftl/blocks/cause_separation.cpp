#include "ftl/blocks/cause_separation.h"

#include "ftl/blocks/separation_policies.h"

namespace flashlab {

const SeparationPolicyEntry& cause_separation() {
    static constexpr SeparationPolicyEntry entry{
        "cause", CauseSeparation::streams,
        [](const OptionSet&, std::uint32_t) -> std::unique_ptr<SeparationPolicy> { return std::make_unique<CauseSeparation>(); }};
    return entry;
}

} // namespace flashlab
