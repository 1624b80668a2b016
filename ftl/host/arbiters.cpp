#include <algorithm>
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

const ArbiterEntry* find_arbiter(std::string_view name) {
    const auto found = std::ranges::find(arbiters(), name, &ArbiterEntry::name);
    return found == arbiters().end() ? nullptr : &*found;
}

std::string arbiter_names() {
    std::string out;
    for (const ArbiterEntry& entry : arbiters()) {
        if (!out.empty()) out += &entry == &arbiters().back() ? " or " : ", ";
        out += entry.name;
    }
    return out;
}

} // namespace flashlab
