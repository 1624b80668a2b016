/// Request sizes: at most twelve, each with its share.
///
/// Idea       Block traces have few sizes. A table keeps them as they were counted.
/// Cost       One draw and a walk over the table.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "base/random.h"

namespace flashlab {

struct SizeShare {
    std::uint32_t bytes = 0;
    std::uint32_t share = 0; ///< of the sum of all shares
};

class SizeTable {
public:
    SizeTable(std::initializer_list<SizeShare> sizes);
    [[nodiscard]] std::uint32_t draw(Random& random) const {
        std::uint64_t at = random.below(sum_);
        std::size_t i = 0;
        while (at >= sizes_[i].share) at -= sizes_[i++].share;
        return sizes_[i].bytes;
    }
    [[nodiscard]] double mean_bytes() const;
    [[nodiscard]] std::uint32_t largest() const;

private:
    std::array<SizeShare, 12> sizes_{};
    std::uint64_t sum_ = 0;
};

} // namespace flashlab
