#include <array>

#include "ftl/host/arbiter.h"

namespace flashlab {

#define ARBITER(name) const ArbiterEntry& name##_arbiter();
#include "ftl/host/arbiters.def"
#undef ARBITER

std::span<const ArbiterEntry> arbiters() {
    // clang-format off
    static const std::array all{
#define ARBITER(name) name##_arbiter(),
#include "ftl/host/arbiters.def"
#undef ARBITER
    };
    // clang-format on
    return all;
}

} // namespace flashlab
