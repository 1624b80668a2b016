#include "fs/extent_map.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/little_endian.h"
#include "fs/inode.h"

namespace flashlab {

namespace {

constexpr std::uint64_t last_page = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t unwritten_flag = 1;

RecordKey key_of(Ino ino, std::uint64_t page) { return RecordKey{.ino = ino, .kind = RecordKind::extent, .subkey = page}; }

} // namespace

bool ExtentMap::decode(const RecordKey& key, std::span<const std::byte> value, Extent& out) {
    if (value.size() != encoded_size) return false;
    LittleEndianReader reader{value};
    out.page = key.subkey;
    out.first = reader.u64();
    out.pages = reader.u32();
    out.unwritten = (reader.u32() & unwritten_flag) != 0;
    return out.pages != 0;
}

FsResult<void> ExtentMap::put(Ino ino, const Extent& extent) {
    std::array<std::byte, encoded_size> bytes;
    LittleEndianWriter writer{bytes};
    writer.u64(extent.first);
    writer.u32(static_cast<std::uint32_t>(extent.pages));
    writer.u32(extent.unwritten ? unwritten_flag : 0);
    return store_.put(key_of(ino, extent.page), bytes);
}

bool ExtentMap::find(Ino ino, std::uint64_t page, Extent& out) const {
    RecordKey found;
    std::span<const std::byte> value;
    if (!store_.find_at_or_before(key_of(ino, page), key_of(ino, 0), found, value)) return false;
    return decode(found, value, out) && out.covers(page);
}

bool ExtentMap::next(Ino ino, std::uint64_t page, Extent& out) const {
    bool found = false;
    store_.scan(key_of(ino, page), key_of(ino, last_page), [&](const RecordKey& key, std::span<const std::byte> value) {
        found = decode(key, value, out);
        return false;
    });
    return found;
}

std::uint64_t ExtentMap::end(Ino ino) const {
    RecordKey found;
    std::span<const std::byte> value;
    Extent extent;
    if (!store_.find_at_or_before(key_of(ino, last_page), key_of(ino, 0), found, value) || !decode(found, value, extent)) return 0;
    return extent.end();
}

FsResult<void> ExtentMap::insert(Ino ino, Extent extent) {
    constexpr std::uint64_t longest = std::numeric_limits<std::uint32_t>::max();
    const auto continues = [](const Extent& a, const Extent& b) {
        return a.end() == b.page && a.first + a.pages == b.first && a.unwritten == b.unwritten && a.pages + b.pages <= longest;
    };
    Extent neighbour;
    if (find(ino, extent.end(), neighbour) && continues(extent, neighbour)) {
        if (const auto erased = store_.erase(key_of(ino, neighbour.page)); !erased) return std::unexpected(erased.error());
        extent.pages += neighbour.pages;
    }
    if (extent.page > 0 && find(ino, extent.page - 1, neighbour) && continues(neighbour, extent)) {
        neighbour.pages += extent.pages;
        extent = neighbour;
    }
    return put(ino, extent);
}

FsResult<void> ExtentMap::cut_one(Ino ino, const Extent& extent, std::uint64_t first, std::uint64_t last, PageRuns& freed) {
    const std::uint64_t from = std::max(first, extent.page);
    const std::uint64_t to = std::min(last, extent.end());
    freed.push_back({.first = extent.logical_page_of(from), .pages = to - from});
    if (from > extent.page) {
        Extent head = extent;
        head.pages = from - extent.page;
        if (const auto kept = put(ino, head); !kept) return kept;
    } else if (const auto erased = store_.erase(key_of(ino, extent.page)); !erased) {
        return std::unexpected(erased.error());
    }
    if (to == extent.end()) return {};
    return put(ino, Extent{.page = to, .first = extent.logical_page_of(to), .pages = extent.end() - to, .unwritten = extent.unwritten});
}

FsResult<bool> ExtentMap::remove(Ino ino, std::uint64_t first, std::uint64_t last, std::size_t limit, PageRuns& freed) {
    while (last > first) {
        RecordKey found;
        std::span<const std::byte> value;
        Extent extent;
        if (!store_.find_at_or_before(key_of(ino, last - 1), key_of(ino, 0), found, value)) return true;
        if (!decode(found, value, extent)) return std::unexpected(FsError{EIO});
        if (extent.end() <= first) return true;
        if (extent.page >= last || extent.end() <= extent.page) return std::unexpected(FsError{EIO});
        if (limit-- == 0) return false;
        if (const auto cut = cut_one(ino, extent, first, last, freed); !cut) return std::unexpected(cut.error());
        last = extent.page;
    }
    return true;
}

FsResult<void> ExtentMap::mark_written(Ino ino, std::uint64_t first, std::uint64_t pages) {
    Extent extent;
    if (!find(ino, first, extent) || !extent.unwritten || first + pages > extent.end()) return std::unexpected(FsError{EIO});
    PageRuns same;
    if (const auto cut = cut_one(ino, extent, first, first + pages, same); !cut) return cut;
    return insert(ino, Extent{.page = first, .first = same.front().first, .pages = pages, .unwritten = false});
}

FsResult<bool> ExtentMap::mark_unwritten(Ino ino, std::uint64_t first, std::uint64_t last, std::size_t limit) {
    while (first < last) {
        Extent extent;
        if (!find(ino, first, extent) && !next(ino, first, extent)) return true;
        if (extent.page >= last) return true;
        first = std::max(first, extent.page);
        const std::uint64_t to = std::min(last, extent.end());
        if (!extent.unwritten) {
            if (limit-- == 0) return false;
            PageRuns same;
            if (const auto cut = cut_one(ino, extent, first, to, same); !cut) return std::unexpected(cut.error());
            const auto put_back = insert(ino, Extent{.page = first, .first = same.front().first, .pages = to - first, .unwritten = true});
            if (!put_back) return std::unexpected(put_back.error());
        }
        first = to;
    }
    return true;
}

bool find_extent(const ExtentMap& extents, Inode& inode, std::uint64_t page, Extent& out) {
    if (inode.last_extent.covers(page)) {
        out = inode.last_extent;
        return true;
    }
    if (!inode.extents_end_known) {
        inode.extents_end = inode.record.pages == 0 ? 0 : extents.end(inode.ino);
        inode.extents_end_known = true;
    }
    if (page >= inode.extents_end || !extents.find(inode.ino, page, out)) return false;
    inode.last_extent = out;
    return true;
}

} // namespace flashlab
