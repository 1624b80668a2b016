/// The host's cache of written clusters. write() leaves clusters there until there are enough of them.
///
/// Idea       Written clusters wait in the order of their numbers. A flush writes a run of neighbouring clusters in one request, as an elevator does.
/// Invariant  At most `capacity` clusters wait between two writes. With capacity 0 no cluster waits.
/// Cost       A look-up in an ordered map for each cluster. Without payload only the number is kept.
/// Power cut  Clusters that wait are lost.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fs/fs_types.h"
#include "ftl/block_device.h"
#include "tools/reproduce/fat/fat_layout.h"

namespace flashlab {

class ClusterCache {
public:
    ClusterCache(const FatLayout& layout, BlockDevice& device, std::uint64_t capacity_bytes)
        : layout_{layout}, device_{device}, capacity_{capacity_bytes / fat_cluster_bytes} {}

    /// Puts in a whole cluster. `bytes` is empty if no payload is kept.
    void put(std::uint32_t cluster, std::span<const std::byte> bytes) { waiting_[cluster].assign(bytes.begin(), bytes.end()); }
    /// The cluster's bytes. Null: the cluster is not in the cache.
    [[nodiscard]] const std::vector<std::byte>* find(std::uint32_t cluster) const {
        const auto at = waiting_.find(cluster);
        return at == waiting_.end() ? nullptr : &at->second;
    }
    void drop(std::uint32_t cluster) { waiting_.erase(cluster); }
    [[nodiscard]] bool is_full() const { return waiting_.size() >= capacity_; }
    [[nodiscard]] FsResult<void> flush(SimTime& clock);

private:
    const FatLayout& layout_;
    BlockDevice& device_;
    std::size_t capacity_;
    std::map<std::uint32_t, std::vector<std::byte>> waiting_;
    std::vector<std::byte> staging_;
};

} // namespace flashlab
