/// The evidence of pram.img (base/image_evidence.h): what each part of it is, and what it was when it was last vouched for.
///
/// Idea       A part is up to 1/120 of the wear regions, with their lines. Its digest covers the words written to it and its line sums; these cover
///            the cells. Words written only grow, so an older part can be told after a kill, too.
/// Invariant  A part that was only written to since it was vouched for is no older than its evidence: a word counts before it changes.
/// Cost       survey() reads all line sums, 1/16 of the cells. 16 bytes a part, 1920 at most, twice.
/// Power cut  Nothing is written but a copy of the evidence that no generation names yet.
/// Source     pram/FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/image_evidence.h"

namespace flashlab {

inline constexpr std::size_t most_pram_parts = 120;
[[nodiscard]] constexpr std::size_t regions_in_pram_part(std::size_t regions) { return (regions + most_pram_parts - 1) / most_pram_parts; }
[[nodiscard]] constexpr std::size_t pram_parts(std::size_t regions) {
    return (regions + regions_in_pram_part(regions) - 1) / regions_in_pram_part(regions);
}

[[nodiscard]] std::vector<ImageEvidence> survey_pram(std::span<const std::uint64_t> wear, std::span<const std::uint32_t> sums);
/// The first of the parts that are not as vouched for, or, unless `is_exact`, that are older; the number of parts where none is.
[[nodiscard]] std::size_t find_older_part(std::span<const ImageEvidence> vouched, std::span<const ImageEvidence> now, bool is_exact);

} // namespace flashlab
