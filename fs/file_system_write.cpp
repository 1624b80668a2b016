// Writing into the page cache, and copies.
#include <algorithm>

#include "fs/file_flags.h"
#include "fs/file_system_impl.h"

namespace flashlab {

namespace {
constexpr std::uint64_t largest_file = 1ull << 60;
constexpr std::size_t copy_piece = 1u << 20;
} // namespace

/// Reserves a logical page for each page of [first, last] that has none yet. Returns how many.
FsResult<std::uint64_t> FileSystemImpl::reserve_for(Inode& inode, std::uint64_t first, std::uint64_t last) {
    std::uint64_t missing = 0;
    for (std::uint64_t page = first; page <= last; ++page) {
        Extent extent;
        if (cache_.find(inode, page) == nullptr && !find_extent(extents_, inode, page, extent)) ++missing;
    }
    if (missing == 0) return missing;
    auto reserved = space_.reserve(missing);
    if (!reserved) return std::unexpected(reserved.error());
    return missing;
}

/// True when bytes of the page outside [from, to) of it must be kept: they are committed data.
bool FileSystemImpl::needs_load(const Inode& inode, std::uint64_t page, std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t begin = page * page_bytes_;
    if (begin >= inode.committed_size || cache_.find(inode, page) != nullptr) return false;
    return from > 0 || to < std::min<std::uint64_t>(page_bytes_, inode.committed_size - begin);
}

FsResult<SimTime> FileSystemImpl::write_pages(Inode& inode, std::uint64_t offset, std::span<const std::byte> from, SimTime now) {
    const std::uint64_t end = offset + from.size();
    std::uint64_t first = page_of(offset);
    const std::uint64_t last = page_of(end - 1);
    if (offset > inode.record.size && inode.record.size % page_bytes_ != 0) {
        // The last page so far becomes part of the middle of the file: its tail has to be zero on the device (I3).
        const std::uint64_t tail = page_of(inode.record.size);
        Extent extent;
        if (tail < first && cache_.find(inode, tail) == nullptr && find_extent(extents_, inode, tail, extent) && !extent.unwritten) {
            const auto zeroed = zero_committed_tail(inode, now);
            if (!zeroed) return zeroed;
            now = *zeroed;
        }
    }
    const auto room = write_back_.make_room(static_cast<std::size_t>(last - first + 1), now);
    if (!room) return room;
    SimTime done = *room;
    const std::uint64_t head_to = std::min<std::uint64_t>(page_bytes_, end - first * page_bytes_);
    const bool load_head = needs_load(inode, first, offset % page_bytes_, head_to);
    const bool load_tail = last != first && needs_load(inode, last, 0, end - last * page_bytes_);
    for (const auto& [load, page, to] : {std::tuple{load_head, first, &head_page_}, std::tuple{load_tail, last, &tail_page_}}) {
        if (!load) continue;
        const auto loaded = load_page(inode, page, *to, now);
        if (!loaded) return loaded;
        done = std::max(done, *loaded);
    }
    if (const auto reserved = reserve_for(inode, first, last); !reserved) return std::unexpected(reserved.error());

    for (std::uint64_t page = first; page <= last; ++page) {
        const std::uint64_t in_page = offset % page_bytes_;
        const std::size_t part = std::min<std::size_t>(from.size(), page_bytes_ - in_page);
        CachePage* cached = cache_.find(inode, page);
        if (cached == nullptr) {
            Extent extent;
            const bool mapped = find_extent(extents_, inode, page, extent);
            cached = &cache_.insert(inode, page);
            if (!mapped) {
                cached->reserved = true;
                ++inode.delayed_pages;
            }
            if (page == first && load_head) {
                std::memcpy(cached->data, head_page_.data(), page_bytes_);
            } else if (page == last && load_tail) {
                std::memcpy(cached->data, tail_page_.data(), page_bytes_);
            } else if (part != page_bytes_) {
                std::memset(cached->data, 0, page_bytes_);
            }
        }
        std::memcpy(cached->data + in_page, from.data(), part);
        write_back_.mark_dirty(*cached, now);
        offset += part;
        from = from.subspan(part);
    }
    inode.record.size = std::max(inode.record.size, end);
    return done;
}

FsResult<SimTime> FileSystemImpl::write(const FsCall& call, Ino ino, std::uint64_t offset, std::span<const std::byte> from) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    const auto found = get_regular(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    if (from.empty()) return call.now;
    if (offset > largest_file || from.size() > largest_file - offset) return std::unexpected(FsError{EFBIG});
    const auto done = write_pages(inode, offset, from, call.now);
    if (!done) return done;
    if (!call.may_override_suid) inode.record.clear_suid_sgid();
    inode.record.modified = inode.record.changed = call.wall;
    if (options_.host_cache == HostCache::delayed) return done;
    return write_back_.finish(inode, *done);
}

/// Zeros over what is there: holes stay holes.
FsResult<SimTime> FileSystemImpl::write_zeros(const FsCall& call, Inode& inode, std::uint64_t from, std::uint64_t to, SimTime now) {
    to = std::min(to, inode.record.size);
    if (from >= to) return now;
    Extent extent;
    const std::uint64_t page = page_of(from);
    const bool is_data = find_extent(extents_, inode, page, extent) && !extent.unwritten;
    if (!is_data && cache_.find(inode, page) == nullptr) return now;
    const std::vector<std::byte> zeros(static_cast<std::size_t>(to - from));
    const auto written = write_pages(inode, from, zeros, now);
    if (written) inode.record.modified = inode.record.changed = call.wall;
    return written;
}

FsResult<Timed<std::uint64_t>> FileSystemImpl::copy_range(const FsCall& call, Ino from, std::uint64_t from_offset, Ino to, std::uint64_t to_offset,
                                                          std::uint64_t bytes) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    const auto source = get_regular(from);
    if (!source) return std::unexpected(source.error());
    if (const auto target = get_regular(to); !target) return std::unexpected(target.error());
    if (from == to && from_offset < to_offset + bytes && to_offset < from_offset + bytes) return std::unexpected(FsError{EINVAL});
    if (to_offset > largest_file || bytes > largest_file - to_offset) return std::unexpected(FsError{EFBIG});
    const std::uint64_t size = (*source)->record.size;
    bytes = from_offset >= size ? 0 : std::min(bytes, size - from_offset);
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, copy_piece)));
    FsCall at = call;
    std::uint64_t copied = 0;
    while (copied < bytes) {
        const auto piece = std::span{buffer}.first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), bytes - copied)));
        const auto got = read(at, from, from_offset + copied, piece);
        const FsResult<SimTime> put_done = got ? write(at, to, to_offset + copied, piece.first(got->value)) : std::unexpected(got.error());
        if (!put_done) {
            if (copied != 0) break; // what is copied is told; the next call meets the error
            return std::unexpected(put_done.error());
        }
        copied += got->value;
        at.now = std::max({at.now, got->done, *put_done});
    }
    return Timed<std::uint64_t>{copied, at.now};
}

} // namespace flashlab
