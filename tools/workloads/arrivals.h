/// When the requests of a rate are due: reads and writes each at theirs.
///
/// Idea       An open load: times are planned whatever the drive does. Linear gaps are equal; Poisson ones are exponential, as of many users who do
///            not know of each other.
/// Invariant  Times do not go back. The same rates and seed give the same times on every host, and take no number from another sequence.
/// Cost       A multiplication a request, of Poisson ones a logarithm.
/// Source     fio's rate_iops and rate_process.
#pragma once

#include <algorithm>
#include <array>

#include "base/random.h"
#include "tools/traces/trace_request.h"
#include "tools/workloads/portable_math.h"

namespace flashlab {

class Arrivals {
public:
    /// `iops` of reads and of writes; 0: none of them.
    Arrivals(const std::array<double, 2>& iops, bool is_poisson, std::uint64_t seed)
        : iops_{iops}, is_poisson_{is_poisson}, gaps_{seed ^ own_sequence} {
        for (const std::size_t direction : {0u, 1u})
            if (is_poisson_) plan_next(direction);
    }
    /// The request becomes a read or a write: what is due first. One of the rates is not 0.
    void take(TraceRequest& request) {
        const std::size_t direction = iops_[0] == 0 || (iops_[1] != 0 && at_ns_[1] < at_ns_[0]) ? 1 : 0;
        request.op = direction == 0 ? TraceOp::read : TraceOp::write;
        request.time_ns = static_cast<std::uint64_t>(std::min(at_ns_[direction], 4e18)); // before 64 bits overflow
        plan_next(direction);
    }

private:
    static constexpr std::uint64_t own_sequence = 0xa11'0ca7'ed0f;
    void plan_next(std::size_t direction) {
        if (iops_[direction] == 0) return;
        const double gap = 1e9 / iops_[direction];
        at_ns_[direction] = is_poisson_ ? at_ns_[direction] - portable_log(1 - gaps_.unit()) * gap : static_cast<double>(++planned_[direction]) * gap;
    }
    std::array<double, 2> iops_, at_ns_{};
    std::array<std::uint64_t, 2> planned_{};
    bool is_poisson_;
    Random gaps_;
};

} // namespace flashlab
