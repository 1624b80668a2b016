// Writing into the page cache, and copies.
#include <algorithm>

#include "fs/file_flags.h"
#include "fs/file_system_impl.h"

namespace flashlab {

namespace {
constexpr std::uint64_t copy_piece = 1u << 20;
} // namespace

FileSystemImpl::Needs FileSystemImpl::needs_of(Inode& inode, FilePage first, FilePage last) {
    Needs needs;
    for (FilePage page = first; page <= last; ++page) {
        if (cache_.find(inode, page) != nullptr) continue;
        const auto extent = find_extent(extents_, inode, page);
        if (!extent) ++needs.pages;
        if (!extent || extent->unwritten) ++needs.records;
    }
    return needs;
}

/// Writes cached pages back as long as only the metadata promised to them takes the room for new records. again: not enough room yet.
FsResult<void> FileSystemImpl::make_room_for_records(Inode& inode, FilePage first, FilePage last, SimTime now) {
    const std::uint64_t most = last - first + 1;
    if (space_.could_reserve(0, most)) return {}; // without looking at each page
    for (;;) {
        const Needs needs = needs_of(inode, first, last);
        if (!space_.waits_for_promises(needs.pages, needs.records)) return {};
        if (const auto moved = write_back_.move_on(now); !moved) return moved;
    }
}

/// Reserves a logical page for each page of [first, last] that has none yet, and room for the records of their commit. Returns the last page for
/// which there was room.
FsResult<FilePage> FileSystemImpl::reserve_for(Inode& inode, FilePage first, FilePage last, Fit fit) {
    Needs needs = needs_of(inode, first, last);
    if (fit == Fit::what_fits && !space_.could_reserve(needs.pages, needs.records)) {
        const FilePage wanted_last = last;
        needs = {};
        for (last = first; last < wanted_last; ++last) {
            const Needs more = needs_of(inode, last, last);
            if (!space_.could_reserve(needs.pages + more.pages, needs.records + more.records)) break;
            needs.pages += more.pages;
            needs.records += more.records;
        }
        if (last == first) return std::unexpected(FsError{ENOSPC});
        last = FilePage{last.value() - 1};
    }
    if (const auto reserved = space_.reserve(needs.pages, needs.records); !reserved) return std::unexpected(reserved.error());
    return last;
}

/// True when the page has committed data outside its bytes [from, to), which must be kept.
bool FileSystemImpl::needs_load(const Inode& inode, FilePage page, std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t begin = offset_of(page);
    if (begin >= inode.committed_size || cache_.find(inode, page) != nullptr) return false;
    return from > 0 || to < std::min<std::uint64_t>(page_bytes_, inode.committed_size - begin);
}

/// After a write behind a hole the page that was the last one lies in the middle of the file. Its tail must be zero on the device before the size
/// grows (I3). This makes that page cached and dirty, so that it is written back with zeros in its tail, in time.
FsResult<SimTime> FileSystemImpl::take_tail_along(Inode& inode, FilePage first, SimTime now) {
    const FilePage tail = page_of(inode.record.size);
    if (inode.record.size % page_bytes_ == 0 || tail >= first || inode.tail_zeroed <= now || cache_.find(inode, tail) != nullptr) return now;
    if (const auto extent = find_extent(extents_, inode, tail); !extent || extent->unwritten) return now;
    const auto loaded = load_page(inode, tail, head_page_, now);
    if (!loaded) return loaded;
    CachePage& page = cache_.insert(inode, tail);
    std::memcpy(page.data, head_page_.data(), page_bytes_);
    write_back_.mark_dirty(page, now);
    return loaded;
}

FsResult<Timed<std::size_t>> FileSystemImpl::write_pages(Inode& inode, std::uint64_t offset, std::span<const std::byte> from, Fit fit, SimTime now) {
    std::uint64_t end = offset + from.size();
    const FilePage first = page_of(offset);
    FilePage last = page_of(end - 1);
    if (const auto room = write_back_.make_room(static_cast<std::size_t>(last - first + 2), now); !room) return std::unexpected(room.error());
    if (const auto room = make_room_for_records(inode, first, last, now); !room) return std::unexpected(room.error());
    SimTime done = now;
    const std::uint64_t head_to = std::min<std::uint64_t>(page_bytes_, end - offset_of(first));
    const bool load_head = needs_load(inode, first, offset % page_bytes_, head_to);
    bool load_tail = last != first && needs_load(inode, last, 0, end - offset_of(last));
    for (const auto& [load, page, to] : {std::tuple{load_head, first, &head_page_}, std::tuple{load_tail, last, &tail_page_}}) {
        if (!load) continue;
        const auto loaded = load_page(inode, page, *to, now);
        if (!loaded) return std::unexpected(loaded.error());
        done = std::max(done, *loaded);
    }
    if (offset > inode.record.size) {
        const auto taken = take_tail_along(inode, first, now);
        if (!taken) return std::unexpected(taken.error());
        done = std::max(done, *taken);
    }
    const auto reserved = reserve_for(inode, first, last, fit);
    if (!reserved) return std::unexpected(reserved.error()); // the last that can fail
    if (*reserved < last) {
        last = *reserved;
        load_tail = false; // of a page that does not fit; the new last one is written whole
        end = offset_of(last + 1);
        from = from.first(static_cast<std::size_t>(end - offset));
    }
    const std::size_t written = from.size();
    inode.loaded_until = std::max(inode.loaded_until, done);

    for (FilePage page = first; page <= last; ++page) {
        const std::uint64_t in_page = offset % page_bytes_;
        const std::size_t part = std::min<std::size_t>(from.size(), page_bytes_ - in_page);
        CachePage* cached = cache_.find(inode, page);
        if (cached == nullptr) {
            const auto extent = find_extent(extents_, inode, page);
            cached = &cache_.insert(inode, page);
            if (!extent) {
                cached->reserved = true;
                ++inode.delayed_pages;
            }
            cache_.set_adds_records(*cached, !extent || extent->unwritten);
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
    space_.promise_metadata(cache_.pages_adding_records());
    inode.record.size = std::max(inode.record.size, end);
    return Timed<std::size_t>{written, done};
}

FsResult<Timed<std::size_t>> FileSystemImpl::write(const FsCall& call, Ino ino, std::uint64_t offset, std::span<const std::byte> from) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    const auto found = get_regular(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    if (!call.from_page_cache) {
        if (const auto may = may_write(inode, offset); !may) return std::unexpected(may.error());
    }
    if (from.empty()) return Timed<std::size_t>{0, call.now};
    if (offset > largest_file || from.size() > largest_file - offset) return std::unexpected(FsError{EFBIG});
    const auto done = write_pages(inode, offset, from, call.from_page_cache ? Fit::all : Fit::what_fits, call.now);
    if (!done) return done;
    if (!call.from_page_cache) inode.writer_stream = call.stream; // the kernel's flusher is nobody's writer
    drop_set_ids(call, inode.record);
    inode.record.modified = inode.record.changed = call.wall;
    return done;
}

/// Writes zeros where the range is not zero already. Holes stay holes, and a second attempt has nothing to do.
FsResult<void> FileSystemImpl::write_zeros(const FsCall& call, Inode& inode, std::uint64_t from, std::uint64_t to) {
    to = std::min(to, inode.record.size);
    if (from >= to) return {};
    const FilePage page = page_of(from);
    const auto extent = find_extent(extents_, inode, page);
    const bool is_data = extent && !extent->unwritten;
    if (!is_data && cache_.find(inode, page) == nullptr) return {};
    std::vector<std::byte> bytes(static_cast<std::size_t>(to - from));
    if (const auto got = read(call, inode.ino, from, bytes); !got) return std::unexpected(got.error());
    if (std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; })) return {};
    std::ranges::fill(bytes, std::byte{0});
    if (const auto written = write_pages(inode, from, bytes, Fit::all, call.now); !written) return std::unexpected(written.error());
    inode.record.modified = inode.record.changed = call.wall;
    return {};
}

/// Do the flags of chattr(1) allow the write? An immutable file does not change; an append-only file grows only at its end.
FsResult<void> FileSystemImpl::may_write(const Inode& inode, std::uint64_t offset) {
    const bool overwrites = offset < inode.record.size;
    if ((inode.record.flags & file_flag_immutable) != 0 || ((inode.record.flags & file_flag_append) != 0 && overwrites))
        return std::unexpected(FsError{EPERM});
    return {};
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
    bytes = from_offset >= size ? 0 : std::min({bytes, size - from_offset, copy_piece});
    if (bytes == 0) return Timed<std::uint64_t>{0, call.now};
    // Before the source is read, so that a call that waits for room does not read the source twice.
    if (const auto room = write_back_.make_room(static_cast<std::size_t>(pages_for(bytes) + 2), call.now); !room)
        return std::unexpected(room.error());
    std::vector<std::byte> piece(static_cast<std::size_t>(bytes));
    const auto got = read(call, from, from_offset, piece);
    if (!got) return std::unexpected(got.error());
    const auto put_done = write(call, to, to_offset, std::span<const std::byte>{piece}.first(got->value));
    if (!put_done) return std::unexpected(put_done.error());
    Inode& target = *table_.find(to);
    target.loaded_until = std::max(target.loaded_until, got->done);
    return Timed<std::uint64_t>{put_done->value, std::max(got->done, put_done->done)};
}

} // namespace flashlab
