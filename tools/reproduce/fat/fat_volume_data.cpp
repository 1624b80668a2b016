#include <algorithm>
#include <cstring>

#include "base/contract.h"
#include "fs/device_errno.h"
#include "tools/reproduce/fat/fat_volume.h"

namespace flashlab {
namespace {

constexpr std::uint32_t clusters_for(std::uint64_t bytes) { return static_cast<std::uint32_t>((bytes + fat_cluster_bytes - 1) / fat_cluster_bytes); }

} // namespace

/// The chain is followed from where the last access ended, or from its start when that lies behind.
FsResult<std::uint32_t> FatVolume::cluster_at(FatFile& file, std::uint32_t index) {
    if (file.at_cluster == 0 || index < file.at_index) {
        file.at_index = 0;
        file.at_cluster = file.entry.first_cluster;
    }
    while (file.at_index < index) {
        const auto next = table_.next_of(file.at_cluster, clock_);
        if (!next) return next;
        if (!table_.is_cluster(*next)) return std::unexpected(FsError{EIO});
        file.at_cluster = *next;
        ++file.at_index;
    }
    return table_.is_cluster(file.at_cluster) ? FsResult<std::uint32_t>{file.at_cluster} : std::unexpected(FsError{EIO});
}

FsResult<void> FatVolume::extend_chain(FatFile& file, std::uint32_t clusters) {
    const std::uint32_t has = clusters_for(file.entry.size);
    if (clusters <= has) return {};
    if (table_.free_clusters(FatTable::Part::files) < clusters - has) return std::unexpected(FsError{ENOSPC});
    if (has != 0 && file.last_cluster == 0) {
        const auto last = cluster_at(file, has - 1);
        if (!last) return std::unexpected(last.error());
        file.last_cluster = *last;
    }
    for (std::uint32_t c = has; c < clusters; ++c) {
        const auto cluster = table_.append(file.last_cluster, FatTable::Part::files, clock_);
        if (!cluster) return std::unexpected(cluster.error());
        if (c == 0) file.entry.first_cluster = *cluster;
        file.last_cluster = *cluster;
    }
    return {};
}

/// Clusters first..first + clusters - 1 into staging_.
FsResult<void> FatVolume::read_run(std::uint32_t first, std::uint32_t clusters, bool with_payload) {
    staging_.resize(with_payload ? std::size_t{clusters} * fat_cluster_bytes : 0);
    const auto done = device_.read(Sector{layout_.sector_of(first)}, clusters * fat_cluster_sectors, staging_, clock_);
    if (!done) return std::unexpected(errno_of(done.error()));
    clock_ = *done;
    return {};
}

FsResult<std::uint32_t> FatVolume::read(const FsCall& call, FatFile& file, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to) {
    ensure(to.empty() || to.size() >= bytes, "a buffer as long as the read");
    begin(call);
    if (offset >= file.entry.size) return 0u;
    bytes = std::min(bytes, file.entry.size - offset);
    const std::uint32_t end = clusters_for(std::uint64_t{offset} + bytes);
    for (std::uint32_t index = offset / fat_cluster_bytes; index < end;) {
        const auto first = cluster_at(file, index);
        if (!first) return std::unexpected(first.error());
        std::uint32_t clusters = 1;
        const std::vector<std::byte>* waiting = data_.find(*first);
        while (waiting == nullptr && index + clusters < end) {
            const auto next = cluster_at(file, index + clusters);
            if (!next) return std::unexpected(next.error());
            if (*next != *first + clusters || data_.find(*next) != nullptr) break;
            ++clusters;
        }
        if (waiting == nullptr)
            if (auto read = read_run(*first, clusters, !to.empty()); !read) return std::unexpected(read.error());
        if (!to.empty()) {
            const std::uint64_t run = std::uint64_t{index} * fat_cluster_bytes;
            const std::uint64_t from = std::max<std::uint64_t>(offset, run);
            const std::uint64_t until = std::min<std::uint64_t>(std::uint64_t{offset} + bytes, run + std::uint64_t{clusters} * fat_cluster_bytes);
            std::memcpy(to.data() + (from - offset), (waiting ? waiting->data() : staging_.data()) + (from - run), until - from);
        }
        index += clusters;
    }
    return bytes;
}

/// What of the cluster is not written keeps its bytes; behind the end of the file they are zeros.
FsResult<void> FatVolume::put_part(FatFile& file, std::uint32_t cluster, std::uint32_t offset, std::uint32_t bytes, std::span<const std::byte> from) {
    const std::uint32_t begin_of_cluster = offset / fat_cluster_bytes * fat_cluster_bytes;
    const std::vector<std::byte>* waiting = data_.find(cluster);
    std::vector<std::byte> whole;
    if (waiting != nullptr) {
        whole = *waiting;
    } else if (begin_of_cluster < file.entry.size) {
        if (auto read = read_run(cluster, 1, !from.empty()); !read) return read;
        whole = staging_;
    }
    if (!from.empty()) {
        const std::uint32_t known = file.entry.size > begin_of_cluster ? std::min(file.entry.size - begin_of_cluster, fat_cluster_bytes) : 0;
        whole.resize(known);             // what lies behind the end of the file goes ...
        whole.resize(fat_cluster_bytes); // ... and zeros come
        std::ranges::copy(from.first(bytes), whole.begin() + offset % fat_cluster_bytes);
    }
    data_.put(cluster, whole);
    return {};
}

FsResult<void> FatVolume::put_range(FatFile& file, std::uint32_t offset, std::uint32_t bytes, std::span<const std::byte> from) {
    for (std::uint32_t done = 0; done < bytes;) {
        const std::uint32_t at = offset + done;
        const std::uint32_t part = std::min(bytes - done, fat_cluster_bytes - at % fat_cluster_bytes);
        const auto cluster = cluster_at(file, at / fat_cluster_bytes);
        if (!cluster) return std::unexpected(cluster.error());
        const auto payload = from.empty() ? from : from.subspan(done, part);
        if (part == fat_cluster_bytes)
            data_.put(*cluster, payload);
        else if (auto put = put_part(file, *cluster, at, part, payload); !put)
            return put;
        done += part;
    }
    return {};
}

FsResult<void> FatVolume::put_zeros(FatFile& file, std::uint32_t from, std::uint32_t to, bool with_payload) {
    constexpr std::uint32_t piece = 64u << 10;
    zeros_.resize(with_payload ? piece : 0);
    while (from < to) {
        const std::uint32_t part = std::min(to - from, piece);
        if (auto put = put_range(file, from, part, std::span{zeros_}.first(with_payload ? part : 0)); !put) return put;
        from += part;
        file.entry.size = from;
        if (data_.is_full())
            if (auto flushed = data_.flush(clock_); !flushed) return flushed;
    }
    return {};
}

FsResult<void> FatVolume::write(const FsCall& call, FatFile& file, std::uint32_t offset, std::uint32_t bytes, std::span<const std::byte> from) {
    ensure(from.empty() || from.size() == bytes, "a buffer as long as the write");
    begin(call);
    const std::uint64_t end = std::uint64_t{offset} + bytes;
    if (end > 0xffff'ffff) return std::unexpected(FsError{EFBIG});
    if (bytes == 0) return {};
    if (auto extended = extend_chain(file, clusters_for(end)); !extended) return extended;
    if (offset > file.entry.size)
        if (auto zeroed = put_zeros(file, file.entry.size, offset, !from.empty()); !zeroed) return zeroed;
    if (auto put = put_range(file, offset, bytes, from); !put) return put;
    if (data_.is_full())
        if (auto flushed = data_.flush(clock_); !flushed) return flushed;
    file.entry.size = std::max(file.entry.size, static_cast<std::uint32_t>(end));
    file.entry.modified = call.wall;
    if (auto entry = put_entry(file); !entry) return entry;
    return sectors_.write_dirty(clock_);
}

} // namespace flashlab
