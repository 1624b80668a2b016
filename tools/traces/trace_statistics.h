/// What is in a trace: counts, sizes, footprint, reuse, sequentiality, time span.
///
/// Idea       Fed request by request; distinct 4 KiB pages are kept in a hash set, everything else in counters.
/// Invariant  The rules are those of the traces' own descriptions: footprint = (device, byte / 4096) touched by any byte; strictly sequential = starts where
///            the previous request on that device ended; near = where one of the last 64 on that device ended; aligned = start and size multiples of 4096.
///            Reuse is counted in page touches: of the pages that reads touch, those touched by anything among the last N touches; of the pages that
///            writes touch, those written among the last N. It is what decides how often a cache of about N pages is hit.
/// Cost       O(1) a request and page; 50 bytes or so a distinct page.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

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
