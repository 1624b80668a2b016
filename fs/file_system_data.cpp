// Reading, and changing a file's size.
#include <algorithm>
#include <array>

#include "base/little_endian.h"
#include "fs/device_errno.h"
#include "fs/file_system_impl.h"
#include "fs/fs_counters.h"

namespace flashlab {

namespace {

constexpr std::size_t most_scratch_bytes = 1u << 20;

} // namespace

FsResult<SimTime> FileSystemImpl::read_device(std::uint64_t device_byte, std::span<std::byte> to, SimTime now) {
    if (device_byte % sector_bytes == 0 && to.size() % sector_bytes == 0) {
        const auto done = device_.read(Sector{device_byte / sector_bytes}, static_cast<std::uint32_t>(to.size() / sector_bytes), to, now);
        if (!done) return std::unexpected(errno_of(done.error()));
        return *done;
    }
    SimTime end = now;
    while (!to.empty()) {
        const std::uint64_t skip = device_byte % sector_bytes;
        const std::size_t part = std::min<std::size_t>(to.size(), most_scratch_bytes - skip);
        const std::size_t sectors = (skip + part + sector_bytes - 1) / sector_bytes;
        if (scratch_.size() < sectors * sector_bytes) scratch_.resize(sectors * sector_bytes);
        const auto done = device_.read(Sector{device_byte / sector_bytes}, static_cast<std::uint32_t>(sectors),
                                       std::span{scratch_}.first(sectors * sector_bytes), now);
        if (!done) return std::unexpected(errno_of(done.error()));
        std::memcpy(to.data(), scratch_.data() + skip, part);
        end = std::max(end, *done);
        device_byte += part;
        to = to.subspan(part);
    }
    return end;
}

/// Reads a range without cached pages: extents from the device; zeros in holes and beyond the committed size (I3).
FsResult<SimTime> FileSystemImpl::read_uncached(Inode& inode, std::uint64_t offset, std::span<std::byte> to, SimTime now) {
    SimTime end = now;
    while (!to.empty()) {
        if (offset >= inode.committed_size) {
            std::ranges::fill(to, std::byte{0});
            return end;
        }
        std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), inode.committed_size - offset));
        const FilePage page = page_of(offset);
        if (const auto extent = find_extent(extents_, inode, page)) {
            part = static_cast<std::size_t>(std::min<std::uint64_t>(part, extent->end().value() * page_bytes_ - offset));
            if (extent->unwritten) {
                std::ranges::fill(to.first(part), std::byte{0});
            } else {
                const std::uint64_t at = extent->first.value() * page_bytes_ + (offset - extent->page.value() * page_bytes_);
                const auto done = read_device(at, to.first(part), now);
                if (!done) {
                    if (done.error().error_number == EIO && options_.unreadable) options_.unreadable(inode.ino, offset, part);
                    return done;
                }
                end = std::max(end, *done);
            }
        } else {
            const auto behind = page < inode.extents_end ? extents_.next(inode.ino, page) : std::nullopt;
            if (behind) part = static_cast<std::size_t>(std::min<std::uint64_t>(part, offset_of(behind->page) - offset));
            std::ranges::fill(to.first(part), std::byte{0});
        }
        offset += part;
        to = to.subspan(part);
    }
    return end;
}

FsResult<Timed<std::size_t>> FileSystemImpl::read(const FsCall& call, Ino ino, std::uint64_t offset, std::span<std::byte> to) {
    const auto found = get_regular(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    touch_accessed(call, inode);
    if (offset >= inode.record.size || to.empty()) return Timed<std::size_t>{0, call.now};
    to = to.first(static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), inode.record.size - offset)));
    const std::size_t bytes = to.size();
    SimTime end = call.now;
    while (!to.empty()) {
        FilePage page = page_of(offset);
        const std::uint64_t in_page = offset % page_bytes_;
        if (const CachePage* cached = cache_.find(inode, page)) {
            const std::size_t part = std::min<std::size_t>(to.size(), page_bytes_ - in_page);
            std::memcpy(to.data(), cached->data + in_page, part);
            offset += part;
            to = to.subspan(part);
            continue;
        }
        const FilePage last = page_of(offset + to.size() - 1);
        if (inode.pages == nullptr) {
            page = last + 1;
        } else {
            do ++page;
            while (page <= last && cache_.find(inode, page) == nullptr);
        }
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), offset_of(page) - offset));
        const auto done = read_uncached(inode, offset, to.first(part), call.now);
        if (!done) return std::unexpected(done.error());
        end = std::max(end, *done);
        offset += part;
        to = to.subspan(part);
    }
    return Timed<std::size_t>{bytes, end};
}

FsResult<SimTime> FileSystemImpl::load_page(Inode& inode, FilePage page, std::span<std::byte> to, SimTime now) {
    return read_uncached(inode, offset_of(page), to, now);
}

/// Zeroes the tail of the last committed page on the device, before the committed size grows over it (I3). again: not yet done.
FsResult<void> FileSystemImpl::zero_committed_tail(Inode& inode, SimTime now) {
    const std::uint64_t used = inode.committed_size % page_bytes_;
    const FilePage page = page_of(inode.committed_size);
    if (used == 0 || inode.tail_zeroed <= now) return {};
    if (inode.tail_zeroed != sim_never) return std::unexpected(again_at(inode.tail_zeroed));
    if (const auto shrunk = write_back_.wait_for_commit(inode.shrunk, now); !shrunk) return shrunk;
    const CachePage* cached = cache_.find(inode, page);
    LogicalPage logical{0};
    if (cached != nullptr && cached->in_flight) {
        logical = inode.job->pieces[cached->job_slot].logical; // not committed yet; it may hold a tail that a truncate took away
    } else if (const auto extent = find_extent(extents_, inode, page); extent && !extent->unwritten) {
        logical = extent->logical_page_of(page);
    } else {
        return {};
    }
    const Sector where = space_.sector_of(logical);
    const std::uint32_t sectors = page_bytes_ / sector_bytes;
    std::span<const std::byte> image;
    if (cached != nullptr) {
        image = {cached->data, page_bytes_};
    } else {
        const auto read = device_.read(where, sectors, head_page_, now);
        if (!read) return std::unexpected(errno_of(read.error()));
        inode.tail_zeroed = *read;
        const auto tail = std::span{head_page_}.subspan(used);
        if (std::ranges::all_of(tail, [](std::byte b) { return b == std::byte{0}; })) return zero_committed_tail(inode, now);
        std::ranges::fill(tail, std::byte{0});
        image = head_page_;
        now = *read;
    }
    const auto written = device_.write(where, sectors, image, WriteDurability::fua, now);
    if (!written) {
        inode.tail_zeroed = sim_never;
        return std::unexpected(errno_of(written.error()));
    }
    inode.tail_zeroed = *written;
    return std::unexpected(again_at(*written));
}

FsResult<SimTime> FileSystemImpl::truncate(const FsCall& call, Inode& inode, InodeRecord changed, std::uint64_t size, bool with_mode) {
    const SimTime now = call.now;
    const std::uint64_t old_size = inode.record.size;
    if (size > inode.committed_size) {
        if (const auto zeroed = zero_committed_tail(inode, now); !zeroed) return std::unexpected(zeroed.error());
    }
    const FilePage first = page_from(size);
    changed.size = size;
    PageRuns freed;
    bool complete = true;
    SimTime done;
    {
        MetadataTransaction transaction{*store_, size < old_size ? MetadataTransaction::Reserve::use : MetadataTransaction::Reserve::keep};
        if (changed.pages != 0 && size <= old_size) {
            auto removed = extents_.remove(inode.ino, first, no_page, ExtentMap::extents_per_transaction);
            if (!removed) return std::unexpected(removed.error());
            freed = std::move(removed->freed);
            complete = removed->is_all;
        }
        for (const auto& run : freed) changed.pages -= run.pages;
        if (const auto written = space_.put_pending(freed); !written) return std::unexpected(written.error());
        if (!complete) {
            std::array<std::byte, sizeof(std::uint64_t)> bytes;
            store_le<std::uint64_t>(bytes, first.value());
            if (const auto written = store_->put(orphan_key(inode.ino), bytes); !written) return std::unexpected(written.error());
        }
        if (with_mode) {
            if (const auto followed = chmod_acl(inode, changed); !followed) return std::unexpected(followed.error());
        }
        if (const auto written = transaction.put_inode(inode.ino, changed, size); !written) return std::unexpected(written.error());
        const auto committed = transaction.commit(now);
        if (!committed) return committed;
        done = *committed;
    }
    inode.record = changed;
    inode.committed_size = size;
    inode.tail_zeroed = sim_never;
    inode.shrunk = store_->last_commit();
    inode.forget_extents();
    space_.add_pending(freed);
    WriteBack::limit_size(inode, size);
    write_back_.drop_range(inode, first, no_page);
    if (CachePage* last = cache_.find(inode, page_of(size)); last != nullptr && size % page_bytes_ != 0) {
        std::memset(last->data + size % page_bytes_, 0, page_bytes_ - size % page_bytes_);
        write_back_.mark_dirty(*last, now); // what is in flight still has the old tail
    }
    if (size == 0 && old_size != 0) inode.flush_on_close = true;
    if (complete) return done;
    return free_extents_from(inode, first, now);
}

} // namespace flashlab
