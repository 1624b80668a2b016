/// By cause: what the host writes, and what collections move.
///
/// Idea       A page that outlived its block is older than what the host writes now, and likely to live longer; mixed again, it would be copied with
///            each victim.
/// Invariant  See separation_policy.h.
/// Cost       Remembers nothing.
/// Power cut  Keeps nothing.
/// Source     Van Houdt, "On the necessity of hot and cold data identification to reduce the write amplification in flash-based SSDs", Performance
///            Evaluation 82, 2014: one frontier for the host, one for copies.
#pragma once

#include "ftl/blocks/separation_policy.h"

namespace flashlab {

class CauseSeparation final : public SeparationPolicy {
public:
    static constexpr std::uint32_t streams = 2;
    [[nodiscard]] std::uint32_t stream_of_write(Lpn lpn) const override;
    [[nodiscard]] std::uint32_t stream_of_copy(Lpn lpn) const override;
    void written(Lpn) override {}
};

} // namespace flashlab
