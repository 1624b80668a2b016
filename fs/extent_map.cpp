#include "fs/extent_map.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/little_endian.h"
#include "fs/inode.h"

namespace flashlab {

namespace {

constexpr FilePage last_page{std::numeric_limits<std::uint64_t>::max()};
constexpr std::uint32_t unwritten_flag = 1;

RecordKey extent_key(Ino ino, FilePage page) { return RecordKey{.ino = ino, .kind = RecordKind::extent, .subkey = page.value()}; }

} // namespace

std::optional<Extent> ExtentMap::decode(const RecordKey& key, std::span<const std::byte> value) {
    if (value.size() != encoded_size) return std::nullopt;
    LittleEndianReader reader{value};
    Extent extent{.page = FilePage{key.subkey}, .first = LogicalPage{reader.u64()}, .pages = reader.u32(), .unwritten = false};
    extent.unwritten = (reader.u32() & unwritten_flag) != 0;
    if (extent.pages == 0) return std::nullopt;
    return extent;
}

FsResult<void> ExtentMap::put(Ino ino, const Extent& extent) {
    std::array<std::byte, encoded_size> bytes;
    LittleEndianWriter writer{bytes};
    writer.u64(extent.first.value());
    writer.u32(static_cast<std::uint32_t>(extent.pages));
    writer.u32(extent.unwritten ? unwritten_flag : 0);
    return store_.put(extent_key(ino, extent.page), bytes);
}

std::optional<Extent> ExtentMap::find(Ino ino, FilePage page) const {
    RecordKey found;
    std::span<const std::byte> value;
    if (!store_.find_at_or_before(extent_key(ino, page), extent_key(ino, FilePage{0}), found, value)) return std::nullopt;
    const auto extent = decode(found, value);
    return extent && extent->covers(page) ? extent : std::nullopt;
}

std::optional<Extent> ExtentMap::next(Ino ino, FilePage page) const {
    std::optional<Extent> found;
    store_.scan(extent_key(ino, page), extent_key(ino, last_page), [&](const RecordKey& key, std::span<const std::byte> value) {
        found = decode(key, value);
        return false;
    });
    return found;
}

FilePage ExtentMap::end(Ino ino) const {
    RecordKey found;
    std::span<const std::byte> value;
    if (!store_.find_at_or_before(extent_key(ino, last_page), extent_key(ino, FilePage{0}), found, value)) return FilePage{0};
    const auto extent = decode(found, value);
    return extent ? extent->end() : FilePage{0};
}

FsResult<void> ExtentMap::insert(Ino ino, Extent extent) {
    constexpr std::uint64_t longest = std::numeric_limits<std::uint32_t>::max();
    const auto continues = [](const Extent& a, const Extent& b) {
        return a.end() == b.page && a.first + a.pages == b.first && a.unwritten == b.unwritten && a.pages + b.pages <= longest;
    };
    if (const auto behind = find(ino, extent.end()); behind && continues(extent, *behind)) {
        if (const auto erased = store_.erase(extent_key(ino, behind->page)); !erased) return std::unexpected(erased.error());
        extent.pages += behind->pages;
    }
    if (extent.page > FilePage{0})
        if (auto before = find(ino, FilePage{extent.page.value() - 1}); before && continues(*before, extent)) {
            before->pages += extent.pages;
            extent = *before;
        }
    return put(ino, extent);
}

FsResult<MetadataStore::PageRun> ExtentMap::cut_one(Ino ino, const Extent& extent, FilePage first, FilePage last) {
    const FilePage from = std::max(first, extent.page);
    const FilePage to = std::min(last, extent.end());
    if (from > extent.page) {
        Extent head = extent;
        head.pages = from - extent.page;
        if (const auto kept = put(ino, head); !kept) return std::unexpected(kept.error());
    } else if (const auto erased = store_.erase(extent_key(ino, extent.page)); !erased) {
        return std::unexpected(erased.error());
    }
    if (to != extent.end()) {
        const Extent tail{.page = to, .first = extent.logical_page_of(to), .pages = extent.end() - to, .unwritten = extent.unwritten};
        if (const auto kept = put(ino, tail); !kept) return std::unexpected(kept.error());
    }
    return MetadataStore::PageRun{.first = extent.logical_page_of(from), .pages = to - from};
}

FsResult<ExtentMap::Removed> ExtentMap::remove(Ino ino, FilePage first, FilePage last, std::size_t limit) {
    Removed removed;
    while (last > first) {
        RecordKey found;
        std::span<const std::byte> value;
        if (!store_.find_at_or_before(extent_key(ino, FilePage{last.value() - 1}), extent_key(ino, FilePage{0}), found, value)) break;
        const auto extent = decode(found, value);
        if (!extent) return std::unexpected(FsError{EIO});
        if (extent->end() <= first) break;
        if (extent->page >= last || extent->end() <= extent->page) return std::unexpected(FsError{EIO});
        if (limit-- == 0) return removed;
        const auto cut = cut_one(ino, *extent, first, last);
        if (!cut) return std::unexpected(cut.error());
        removed.freed.push_back(*cut);
        last = extent->page;
    }
    removed.is_all = true;
    return removed;
}

FsResult<void> ExtentMap::mark_written(Ino ino, FilePage first, std::uint64_t pages) {
    const auto extent = find(ino, first);
    if (!extent || !extent->unwritten || first + pages > extent->end()) return std::unexpected(FsError{EIO});
    const auto same = cut_one(ino, *extent, first, first + pages);
    if (!same) return std::unexpected(same.error());
    return insert(ino, Extent{.page = first, .first = same->first, .pages = pages, .unwritten = false});
}

FsResult<bool> ExtentMap::mark_unwritten(Ino ino, FilePage first, FilePage last, std::size_t limit) {
    while (first < last) {
        auto extent = find(ino, first);
        if (!extent) extent = next(ino, first);
        if (!extent || extent->page >= last) return true;
        first = std::max(first, extent->page);
        const FilePage to = std::min(last, extent->end());
        if (!extent->unwritten) {
            if (limit-- == 0) return false;
            const auto same = cut_one(ino, *extent, first, to);
            if (!same) return std::unexpected(same.error());
            const auto put_back = insert(ino, Extent{.page = first, .first = same->first, .pages = to - first, .unwritten = true});
            if (!put_back) return std::unexpected(put_back.error());
        }
        first = to;
    }
    return true;
}

std::optional<Extent> find_extent(const ExtentMap& extents, Inode& inode, FilePage page) {
    if (inode.last_extent.covers(page)) return inode.last_extent;
    if (!inode.extents_end_known) {
        inode.extents_end = inode.record.pages == 0 ? FilePage{0} : extents.end(inode.ino);
        inode.extents_end_known = true;
    }
    if (page >= inode.extents_end) return std::nullopt;
    const auto found = extents.find(inode.ino, page);
    if (found) inode.last_extent = *found;
    return found;
}

} // namespace flashlab
