/// Windowed greedy: the fewest valid pages among the blocks that were filled first. The worked example of docs/adding-a-scheme.md; only tests have
/// it.
///
/// Idea       Greedy does without most blocks' counts if it only looks at the oldest ones; these have had time to become invalid.
/// Invariant  See ftl/blocks/victim_policy.h. Where every block of the window is wholly valid, the first one behind it that gains anything is taken.
/// Cost       A step for each block of the window, and for each wholly valid one before the victim.
/// Power cut  Keeps nothing.
/// Source     Hu, Eleftheriou, Haas, Iliadis, Pletka, "Write amplification analysis in flash-based solid state drives", SYSTOR 2009.
#pragma once

#include "ftl/blocks/victim_policy.h"
#include "ftl/options.h"

namespace flashlab {

namespace windowed_option {
inline constexpr OptionOf<std::uint32_t> window{{.key = "windowed.window",
                                                 .help = "Blocks of a plane, those filled first, among which windowed chooses.",
                                                 .phase = OptionPhase::mount,
                                                 .initial = 32,
                                                 .min = 1,
                                                 .max = 1u << 20}};
} // namespace windowed_option

class WindowedVictim final : public VictimPolicy {
public:
    explicit WindowedVictim(std::uint32_t window) : window_{window} {}
    [[nodiscard]] std::optional<Victim> choose(const FullBlocks& full, PlaneId plane) override;

private:
    std::uint32_t window_;
};

} // namespace flashlab
