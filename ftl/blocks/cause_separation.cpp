#include "ftl/blocks/cause_separation.h"

#include "ftl/blocks/separation_policies.h"

namespace flashlab {

std::uint32_t CauseSeparation::stream_of_write(Lpn) const { return 0; }

std::uint32_t CauseSeparation::stream_of_copy(Lpn) const { return 1; }

const SeparationPolicyEntry& cause_separation() {
    static constexpr SeparationPolicyEntry entry{
        "cause", CauseSeparation::streams,
        [](const OptionSet&, std::uint32_t) -> std::unique_ptr<SeparationPolicy> { return std::make_unique<CauseSeparation>(); }};
    return entry;
}

} // namespace flashlab
