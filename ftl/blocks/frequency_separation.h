/// By update frequency: pages that are written often, and all others, whoever writes or moves them.
///
/// Idea       A count for each logical page, halved when as many pages as the drive has were written. Hot is what was written twice at least, and
///            more than twice as often as the mean: a load that is even has few such pages, and a first fill none.
/// Invariant  Counts saturate at 255; a page that nobody writes is cold after eight halvings at most.
/// Cost       DRAM of the device: a byte a logical page. A write changes one; the halving is a pass over them for each fill of the drive.
/// Power cut  Counts are forgotten: all pages are cold until they are written again.
/// Source     Hsieh, Chang and Kuo, "Efficient on-line identification of hot data for flash-memory management", SAC 2005, for counts that decay;
///            theirs are hashed, these are not.
#pragma once

#include "base/zeroed_allocator.h"
#include "ftl/blocks/separation_policy.h"

namespace flashlab {

class FrequencySeparation final : public SeparationPolicy {
public:
    static constexpr std::uint32_t streams = 2;
    static constexpr StreamId cold{0}, hot{1};

    explicit FrequencySeparation(std::uint32_t logical_pages);
    [[nodiscard]] StreamId stream_of_write(Lpn lpn, const Origin&) const override { return stream_of(lpn); }
    [[nodiscard]] StreamId stream_of_copy(Lpn lpn, StreamId) const override { return stream_of(lpn); }
    void written(Lpn lpn) override;

private:
    [[nodiscard]] StreamId stream_of(Lpn lpn) const;
    void halve();
    ZeroedVector<std::uint8_t> counts_;
    std::uint64_t sum_ = 0;
    std::uint64_t until_halved_;
};

} // namespace flashlab
