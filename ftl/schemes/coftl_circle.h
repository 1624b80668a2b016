/// The cleaner's circle: which virtual blocks have more than one set, and which of them is next.
///
/// Idea       A bit array, and a hand that goes round it.
/// Invariant  has(v) iff the chain of v has more than one set: its merge gains at least one.
/// Cost       A bit a virtual block; a step looks at 64 of them.
/// Power cut  RAM only: rebuilt with the chains.
/// Source     Chang et al. (CO11).
#pragma once

#include <bit>
#include <optional>
#include <vector>

#include "ftl/schemes/coftl_shape.h"

namespace flashlab {

class CoftlCircle {
public:
    explicit CoftlCircle(const CoftlShape& shape) : shape_{shape}, words_((shape.virtual_block_count() + 63) / 64) {}
    [[nodiscard]] bool has(VirtualBlockId vb) const { return (words_[vb.value() / 64] >> vb.value() % 64 & 1) != 0; }
    void set(VirtualBlockId vb, bool on) {
        const std::uint64_t mask = std::uint64_t{1} << vb.value() % 64;
        std::uint64_t& word = words_[vb.value() / 64];
        word = on ? word | mask : word & ~mask;
    }
    /// The hand moves behind it. nullopt: no chain has more than one set.
    std::optional<VirtualBlockId> take_next() {
        const auto count = static_cast<std::uint32_t>(words_.size());
        const std::uint32_t hand = hand_.value();
        for (std::uint32_t step = 0; step <= count; ++step) {
            const std::uint32_t w = (hand / 64 + step) % count;
            const std::uint64_t ahead = step == 0 ? words_[w] >> hand % 64 << hand % 64 : words_[w];
            if (ahead == 0) continue;
            const VirtualBlockId vb{w * 64 + static_cast<std::uint32_t>(std::countr_zero(ahead))};
            hand_ = shape_.next_in_circle(vb);
            return vb;
        }
        return std::nullopt;
    }

private:
    CoftlShape shape_;
    std::vector<std::uint64_t> words_;
    VirtualBlockId hand_{0};
};

} // namespace flashlab
