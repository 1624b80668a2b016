#include "ftl/blocks/separation_policies.h"

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

} // namespace flashlab
