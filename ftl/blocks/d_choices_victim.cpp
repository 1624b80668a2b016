#include "ftl/blocks/d_choices_victim.h"

#include "ftl/blocks/victim_policies.h"

namespace flashlab {

std::optional<Victim> DChoicesVictim::choose(const FullBlocks& full, PlaneId plane) {
    const Geometry& g = full.units().geometry();
    const std::uint32_t units = full.units().units_per_block();
    std::optional<Victim> best;
    std::uint32_t drawn = 0;
    // Most blocks of a plane are full, so drawing any block and dropping the others finds d of them soon. A plane that is nearly empty ends the
    // search.
    for (std::uint32_t tries = 0; tries < 64 * choices_ && drawn < choices_; ++tries) {
        const BlockId block = g.block_at(plane, static_cast<std::uint32_t>(random_.below(g.blocks_per_plane())));
        if (!full.contains(block)) continue;
        ++drawn;
        const std::uint32_t valid = full.valid_of(block);
        if (valid != units && (!best || valid < best->score)) best = Victim{block, static_cast<double>(valid)};
    }
    if (best) return best;
    // Only wholly valid ones were drawn: collecting must go on where a block gains at all.
    const auto fewest = full.fewest_valid(plane);
    if (!fewest || full.valid_of(*fewest) == units) return std::nullopt;
    return Victim{*fewest, static_cast<double>(full.valid_of(*fewest))};
}

const VictimPolicyEntry& d_choices_victim() {
    static constexpr VictimPolicyEntry entry{"d-choices", [](const OptionSet&, std::uint64_t seed) -> std::unique_ptr<VictimPolicy> {
                                                 return std::make_unique<DChoicesVictim>(10, seed);
                                             }};
    return entry;
}

} // namespace flashlab
