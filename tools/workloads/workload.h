/// The description of a synthetic load: what is read, what is written, how much of it again, in what order of addresses.
///
/// Idea       Reads and writes have working sets, sizes and locality of their own. A request does one of four things. It continues a stream
///            (sequentiality). It comes back to an address that was used a short while ago (temporal locality). It visits the slot that has waited
///            longest (so that the whole working set is used). Or its slot is drawn by popularity. The shares of these four are the model's
///            parameters; flashlab trace measures the result.
/// Invariant  A specification holds no state. The same specification and the same seed give the same requests.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/workloads/random_distribution.h"
#include "tools/workloads/size_table.h"

namespace flashlab {

struct OpLoad {
    std::uint64_t first_byte = 0; ///< where the working set begins
    std::uint64_t bytes = 0;      ///< working set
    SizeTable sizes{{4096, 1}};
    std::uint32_t slot_bytes = 4096; ///< the unit of popularity; a request that continues no stream begins at a slot
    std::uint32_t cluster_slots = 1; ///< this many slots that are neighbours in popularity are also neighbours in address
    DistributionSpec popularity{};   ///< popularity of the slots
    double sequential_share = 0;     ///< of requests that begin where one of the last streams of this operation ended
    double reuse_share = 0; ///< of requests that come back to one of the last `reuse_window` addresses, the recent ones more often (1/distance)
    std::uint32_t reuse_window = 1; ///< requests
    double sweep_share = 0;         ///< of requests that visit the slot which has waited longest
};

struct WorkloadSpec {
    std::string_view name;
    double read_share = 0.5;
    OpLoad read, write;
    std::uint32_t streams = 8;              ///< of each operation; 1 to 64
    double reads_of_written = 0;            ///< share of the returning reads that go to a recent write
    std::uint64_t mean_interarrival_ns = 0; ///< exponential; 0: all at once, for a closed loop
    /// One past the last byte.
    [[nodiscard]] std::uint64_t end_byte() const;
};

} // namespace flashlab
