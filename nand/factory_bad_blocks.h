/// Which blocks are bad from the factory. It is a pure function of the seed, so nothing has to be stored.
///
/// Invariant  Same seed, same blocks, on every host and in any order of asking.
/// Cost       One draw a question.
#pragma once

#include <cstdint>

#include "base/id.h"
#include "base/random.h"

namespace flashlab {

[[nodiscard]] constexpr bool is_bad_from_factory(BlockId block, std::uint64_t seed, std::uint32_t bad_per_million) {
    if (bad_per_million == 0) return false;
    Random draw{seed ^ (std::uint64_t{block.value()} + 1) * 0xd1342543de82ef95u};
    return draw.chance(bad_per_million, 1'000'000);
}

} // namespace flashlab
