/// Pages that a larger write buffer would still hold: numbers only.
///
/// Idea       The least recently used tail of the buffer, continued: what the buffer evicts comes in at the young end. A miss of the buffer that is
///            found here is a hit: a write takes the page back into the buffer and out of here, a read makes it young again (reads are not inserted).
/// Invariant  H1 no page is here and in the buffer. H2 buffer and ghost together stand for no more than the DRAM: the owner sets the capacity.
/// Cost       O(1) a call; 12 bytes a page in the device that it models, charged to its DRAM.
/// Power cut  Lost; it is a statistic.
/// Source     Shim et al., sections III B and IV A (AP2).
#pragma once

#include "ftl/cache/write_buffer.h"

namespace flashlab {

/// Hits since the last decision.
struct GhostHits {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
};

class GhostBuffer {
public:
    static constexpr std::uint32_t device_bytes_per_page = 12; ///< page number and two links

    explicit GhostBuffer(std::uint32_t most) : pages_{most, 0} { set_capacity(0); }

    [[nodiscard]] std::uint32_t size() const { return pages_.size(); }
    [[nodiscard]] std::uint32_t capacity() const { return pages_.capacity(); }
    /// The oldest go.
    void set_capacity(std::uint32_t pages);
    void evicted(Lpn lpn);
    void missed_read(Lpn lpn);
    void missed_write(Lpn lpn);
    [[nodiscard]] bool holds(Lpn lpn) const { return pages_.find(lpn).has_value(); }
    [[nodiscard]] GhostHits hits() const { return hits_; }
    void clear_hits() { hits_ = {}; }
    /// As that of write_buffer.h.
    [[nodiscard]] int broken_invariant() const { return pages_.broken_invariant(); }

private:
    void drop_oldest() { pages_.remove(*pages_.least_recently_used()); }

    WriteBuffer pages_; ///< without data
    GhostHits hits_;
};

} // namespace flashlab
