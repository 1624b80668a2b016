/// The requests of a synthetic load, as many as asked for.
///
/// Idea       One generator, one seed. Requests are made in batches, straight into the caller's array.
/// Invariant  G1 a request lies within its operation's working set. G2 nothing is allocated after construction. G3 the size of the batches does not
///            matter.
/// Cost       About 100 ns a request. The reuse windows take 16 bytes for each of their requests.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tools/traces/trace_request.h"
#include "tools/workloads/workload.h"

namespace flashlab {

class WorkloadGenerator {
public:
    WorkloadGenerator(const WorkloadSpec& spec, std::uint64_t seed);
    void fill(std::span<TraceRequest> out);

private:
    /// The last addresses of an operation, newest last.
    class Recent {
    public:
        explicit Recent(std::uint32_t window) : starts_(window) {}
        void push(std::uint64_t start);
        /// Draws an address. Distance d has a probability proportional to 1/d.
        [[nodiscard]] std::uint64_t draw(Random& random) const;
        [[nodiscard]] bool empty() const { return count_ == 0; }

    private:
        std::vector<std::uint64_t> starts_;
        std::size_t next_ = 0, count_ = 0;
    };
    struct Operation {
        Operation(const OpLoad& from, std::uint32_t streams);
        OpLoad load;
        std::uint64_t slots;
        RandomDistribution popularity;
        ScatteredOrder clusters, sweep;
        Recent recent;
        std::array<std::uint64_t, 64> stream_ends{};
        std::uint64_t swept = 0;
        std::uint32_t streams, next_stream = 0;
    };
    [[nodiscard]] TraceRequest make();
    [[nodiscard]] std::uint64_t draw_start(Operation& op);
    [[nodiscard]] std::uint64_t come_back(Operation& op, bool is_read);
    [[nodiscard]] static bool fits(const OpLoad& load, std::uint64_t start, std::uint64_t bytes);

    WorkloadSpec spec_;
    Random random_;
    Operation read_, write_;
    double time_ns_ = 0;
};

} // namespace flashlab
