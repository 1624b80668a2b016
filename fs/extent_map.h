/// Where the pages of a file lie: runs of file pages on runs of logical pages.
///
/// Idea       One record an extent, keyed by its first file page; neighbours that continue each other are one record.
/// Invariant  X1 extents of one inode do not overlap. X2 no logical page belongs to two extents.
///            X3 an unwritten extent reads as zeros, whatever its pages hold on the device.
/// Cost       find: one look-up. Changes: one or two records for each extent touched. Callers limit the number of extents in a transaction.
/// Power cut  Part of the caller's transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fs/metadata_store.h"

namespace flashlab {

struct Extent {
    FilePage page{0};     ///< its first one
    LogicalPage first{0}; ///< where that lies
    std::uint64_t pages = 0;
    bool unwritten = false;

    [[nodiscard]] bool covers(FilePage at) const { return at - page < pages; }
    [[nodiscard]] FilePage end() const { return page + pages; }
    [[nodiscard]] LogicalPage logical_page_of(FilePage at) const { return first + (at - page); }
};

using PageRuns = std::vector<MetadataStore::PageRun>;

class ExtentMap {
public:
    static constexpr std::size_t encoded_size = 16;
    /// How many extents one transaction may touch, so that its log record stays small.
    static constexpr std::size_t extents_per_transaction = 40;

    explicit ExtentMap(MetadataStore& store) : store_{store} {}

    /// Nothing: these bytes are no extent.
    [[nodiscard]] static std::optional<Extent> decode(const RecordKey& key, std::span<const std::byte> value);

    /// The extent that covers `page`.
    [[nodiscard]] std::optional<Extent> find(Ino ino, FilePage page) const;
    /// The first extent that starts at or after `page`.
    [[nodiscard]] std::optional<Extent> next(Ino ino, FilePage page) const;
    /// One page behind the last extent.
    [[nodiscard]] FilePage end(Ino ino) const;

    /// Adds an extent. Its range must be a hole.
    [[nodiscard]] FsResult<void> insert(Ino ino, Extent extent);
    struct Removed {
        PageRuns freed;      ///< the logical pages of what was unmapped
        bool is_all = false; ///< no extent is left there
    };
    /// Unmaps at most `limit` extents of [first, last), the last ones first.
    [[nodiscard]] FsResult<Removed> remove(Ino ino, FilePage first, FilePage last, std::size_t limit);
    /// Makes at most `limit` written extents of [first, last) unwritten: they read as zeros from now on and keep their pages. True when none is left.
    [[nodiscard]] FsResult<bool> mark_unwritten(Ino ino, FilePage first, FilePage last, std::size_t limit);
    /// Marks [first, first + pages), a part of one unwritten extent, as written.
    [[nodiscard]] FsResult<void> mark_written(Ino ino, FilePage first, std::uint64_t pages);

private:
    [[nodiscard]] FsResult<void> put(Ino ino, const Extent& extent);
    /// Unmaps what of the extent lies in [first, last), and returns where that lay.
    [[nodiscard]] FsResult<MetadataStore::PageRun> cut_one(Ino ino, const Extent& extent, FilePage first, FilePage last);

    MetadataStore& store_;
};

struct Inode;
/// ExtentMap::find(), with the inode as a cache: it remembers the last extent and the end of its extents.
[[nodiscard]] std::optional<Extent> find_extent(const ExtentMap& extents, Inode& inode, FilePage page);

} // namespace flashlab
