#include "fs/fuse/statistics.h"

#include <algorithm>
#include <utility>

#include "base/contract.h"

namespace flashlab {

void OperationStatistics::record(FsOp op, Duration latency, int error) {
    PerOperation& counters = operations_[std::to_underlying(op)];
    counters.latency_ns.add(static_cast<std::uint64_t>(std::max<std::int64_t>(latency.count(), 0)));
    if (error != 0) ++counters.errors;
}

std::vector<OperationStats> OperationStatistics::snapshot() const {
    std::vector<OperationStats> all;
    for (std::size_t index = 0; index < operations_.size(); ++index) {
        const PerOperation& from = operations_[index];
        const auto& ns = from.latency_ns;
        if (ns.count() == 0) continue;
        all.push_back({static_cast<FsOp>(index), ns.count(), from.errors, static_cast<std::int64_t>(ns.permille(500)),
                       static_cast<std::int64_t>(ns.permille(990)), static_cast<std::int64_t>(ns.max())});
    }
    return all;
}

std::string_view name_of(FsOp op) {
    const auto index = std::to_underlying(op);
    ensure(index < fs_op_names.size(), "name_of: a known operation");
    return fs_op_names[index];
}

} // namespace flashlab
