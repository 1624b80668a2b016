/// The host's cache of written clusters: what write() leaves until there is enough of it.
///
/// Idea       Clusters that were written wait in order of their numbers; a flush writes runs of neighbours in one request each, as an elevator does.
/// Invariant  At most `capacity` clusters wait between two writes; with capacity 0 none does.
/// Cost       A look-up in an ordered map a cluster. Without payload nothing but the number is kept.
/// Power cut  What waits is lost.
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

    /// A whole cluster; `bytes` is empty where nobody wants the payload.
    void put(std::uint32_t cluster, std::span<const std::byte> bytes) { waiting_[cluster].assign(bytes.begin(), bytes.end()); }
    /// Null: not here.
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
