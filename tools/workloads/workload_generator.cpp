#include "tools/workloads/workload_generator.h"

#include <algorithm>

#include "base/contract.h"
#include "tools/workloads/portable_math.h"

namespace flashlab {

std::uint64_t WorkloadSpec::end_byte() const { return std::max(read.first_byte + read.bytes, write.first_byte + write.bytes); }

void WorkloadGenerator::Recent::push(std::uint64_t start) {
    starts_[next_] = start;
    next_ = (next_ + 1) % starts_.size();
    count_ = std::min(count_ + 1, starts_.size());
}

std::uint64_t WorkloadGenerator::Recent::draw(Random& random) const {
    const auto count = static_cast<double>(count_);
    const auto distance = std::clamp<std::size_t>(static_cast<std::size_t>(portable_exp(random.unit() * portable_log(count + 1))), 1, count_);
    return starts_[(next_ + starts_.size() - distance) % starts_.size()];
}

WorkloadGenerator::Operation::Operation(const OpLoad& from, std::uint32_t stream_count)
    : load{from}, slots{from.bytes / (std::uint64_t{from.slot_bytes} * from.cluster_slots) * from.cluster_slots},
      popularity{from.popularity, std::max<std::uint64_t>(slots, 1)}, clusters{std::max<std::uint64_t>(slots / from.cluster_slots, 1)},
      sweep{std::max<std::uint64_t>(slots, 1)}, recent{std::max(from.reuse_window, 1u)}, streams{stream_count} {
    ensure(slots > 0 && from.sizes.largest() <= from.bytes, "a working set holds a cluster of slots and the largest request");
    ensure(stream_count >= 1 && stream_count <= stream_ends.size(), "1 to 64 streams");
    stream_ends.fill(from.first_byte + from.bytes);
    ensure(from.sequential_share + from.reuse_share + from.sweep_share <= 1, "shares of one whole");
}

WorkloadGenerator::WorkloadGenerator(const WorkloadSpec& spec, std::uint64_t seed)
    : spec_{spec}, random_{seed}, read_{spec.read, spec.streams}, write_{spec.write, spec.streams} {}

bool WorkloadGenerator::fits(const OpLoad& load, std::uint64_t start, std::uint64_t bytes) {
    return start >= load.first_byte && start + bytes <= load.first_byte + load.bytes;
}

std::uint64_t WorkloadGenerator::draw_start(Operation& op) {
    const std::uint64_t rank = op.popularity.rank(random_);
    const std::uint32_t per_cluster = op.load.cluster_slots;
    return op.load.first_byte + (op.clusters.at(rank / per_cluster) * per_cluster + rank % per_cluster) * op.load.slot_bytes;
}

/// Within what the operation may touch: a read of a recent write only where the two working sets overlap.
std::uint64_t WorkloadGenerator::come_back(Operation& op, bool is_read) {
    if (is_read && !write_.recent.empty() && random_.unit() < spec_.reads_of_written) {
        const std::uint64_t start = write_.recent.draw(random_);
        if (fits(op.load, start, 1)) return start;
    }
    return op.recent.empty() ? draw_start(op) : op.recent.draw(random_);
}

TraceRequest WorkloadGenerator::make() {
    const bool is_read = random_.unit() < spec_.read_share;
    Operation& op = is_read ? read_ : write_;
    const OpLoad& load = op.load;
    const std::uint64_t bytes = load.sizes.draw(random_);
    double u = random_.unit();
    std::uint32_t stream = spec_.streams;
    std::uint64_t start = 0;
    if (u < load.sequential_share) {
        stream = static_cast<std::uint32_t>(random_.below(op.streams));
        start = op.stream_ends[stream];
        if (!fits(load, start, bytes)) // not begun, or at the end of the working set
            start = draw_start(op);
    } else if ((u -= load.sequential_share) < load.reuse_share) {
        start = come_back(op, is_read);
    } else if (u - load.reuse_share < load.sweep_share) {
        start = load.first_byte + op.sweep.at(op.swept++ % op.slots) * load.slot_bytes;
    } else {
        start = draw_start(op);
    }
    start = std::min(start, load.first_byte + load.bytes - bytes);
    if (stream == spec_.streams) { // a new stream in place of the oldest
        stream = op.next_stream;
        op.next_stream = (op.next_stream + 1) % op.streams;
    }
    op.stream_ends[stream] = start + bytes;
    op.recent.push(start);
    if (spec_.mean_interarrival_ns != 0) time_ns_ -= portable_log(1 - random_.unit()) * static_cast<double>(spec_.mean_interarrival_ns);
    return {static_cast<std::uint64_t>(time_ns_), start, bytes, 0, is_read ? TraceOp::read : TraceOp::write};
}

void WorkloadGenerator::fill(std::span<TraceRequest> out) {
    for (TraceRequest& request : out) request = make();
}

} // namespace flashlab
