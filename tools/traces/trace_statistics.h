/// What is in a trace: counts, sizes, footprint, reuse, sequentiality, time span.
///
/// Idea       The object is fed request by request. Distinct 4 KiB pages are kept in a hash set, everything else in counters.
/// Invariant  The definitions are those of the traces' own descriptions. Footprint: every (device, byte / 4096) that any byte touches. Strictly
///            sequential: a request that starts where the previous request on that device ended. Near: it starts where one of the last 64 on that
///            device ended. Aligned: start and size are multiples of 4096. Reuse is counted in page touches. For pages that reads touch, a page is
///            reused if anything touched it among the last N touches. For pages that writes touch, a page is reused if it was written among the last
///            N. Reuse decides how often a cache of about N pages is hit.
/// Cost       O(1) a request and page; about 50 bytes a distinct page.
#pragma once

#include <array>
#include <map>
#include <memory>

#include "tools/text/json.h"
#include "tools/traces/trace_request.h"

namespace flashlab {

class TraceStatistics {
public:
    TraceStatistics();
    ~TraceStatistics();
    void add(const TraceRequest& request);
    [[nodiscard]] Json to_json() const;
    [[nodiscard]] std::uint64_t requests() const { return of_op_[0].requests + of_op_[1].requests; }

private:
    /// Windows of reuse, in page touches; the last one has no end.
    static constexpr std::array<std::uint64_t, 5> reuse_windows{256, 2048, 16384, 131072, ~std::uint64_t{0}};
    struct OfOp {
        std::uint64_t requests = 0, bytes = 0, pages_touched = 0;
        std::array<std::uint64_t, reuse_windows.size()> reused{};
    };
    struct Recent {
        std::array<std::uint64_t, 64> ends{};
        std::uint32_t next = 0, count = 0;
    };
    struct Pages;
    static void count_reuse(OfOp& op, std::uint64_t gap);
    static Json reuse_of(const OfOp& op);

    std::array<OfOp, 4> of_op_{};
    std::uint64_t strict_ = 0, near_ = 0, aligned_ = 0;
    std::uint64_t first_byte_ = ~std::uint64_t{0}, end_byte_ = 0;
    std::uint64_t last_time_ns_ = 0;
    std::map<std::uint32_t, Recent> devices_;
    std::map<std::uint64_t, std::uint64_t> sizes_; ///< power of two at or above the size -> requests
    std::unique_ptr<Pages> pages_;
};

} // namespace flashlab
