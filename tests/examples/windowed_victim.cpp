#include "tests/examples/windowed_victim.h"

#include <array>

#include "ftl/blocks/victim_policies.h"

namespace flashlab {

std::optional<Victim> WindowedVictim::choose(const FullBlocks& full, PlaneId plane) {
    std::optional<Victim> best;
    std::uint32_t seen = 0;
    for (auto block = full.first_filled(plane); block && (seen < window_ || !best); block = full.filled_after(*block), ++seen) {
        const std::uint32_t valid = full.valid_of(*block);
        if (valid == full.units().units_per_block()) continue;
        if (!best || valid < best->score) best = Victim{*block, static_cast<double>(valid)};
    }
    return best;
}

const VictimPolicyEntry& windowed_victim() {
    static constexpr std::array<const Option*, 1> options{&windowed_option::window};
    static constexpr VictimPolicyEntry entry{"windowed",
                                             [](const OptionSet& set, std::uint64_t) -> std::unique_ptr<VictimPolicy> {
                                                 return std::make_unique<WindowedVictim>(set[windowed_option::window]);
                                             },
                                             options};
    return entry;
}

} // namespace flashlab
