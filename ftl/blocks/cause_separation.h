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
    [[nodiscard]] StreamId stream_of_write(Lpn, const Origin&) const override { return StreamId{0}; }
    [[nodiscard]] StreamId stream_of_copy(Lpn, StreamId) const override { return StreamId{1}; }
    void written(Lpn) override {}
};

} // namespace flashlab
