#include "tools/reproduce/fat/cluster_cache.h"

#include "fs/device_errno.h"

namespace flashlab {

FsResult<void> ClusterCache::flush(SimTime& clock) {
    constexpr std::uint32_t most_clusters = (1u << 20) / fat_cluster_bytes; ///< of one request
    while (!waiting_.empty()) {
        const std::uint32_t first = waiting_.begin()->first;
        std::uint32_t clusters = 0;
        staging_.clear();
        auto at = waiting_.begin();
        for (; at != waiting_.end() && at->first == first + clusters && clusters < most_clusters; ++at, ++clusters)
            staging_.insert(staging_.end(), at->second.begin(), at->second.end());
        const auto done =
            device_.write(Sector{layout_.sector_of(first)}, clusters * fat_cluster_sectors, staging_, WriteDurability::volatile_ok, clock);
        if (!done) return std::unexpected(errno_of(done.error()));
        clock = *done;
        waiting_.erase(waiting_.begin(), at);
    }
    return {};
}

} // namespace flashlab
