/// Where the pages of a file lie: runs of file pages on runs of logical pages.
///
/// Idea       One record an extent, keyed by its first file page; neighbours that continue each other are one record.
/// Invariant  X1 extents of one inode do not overlap. X2 no logical page belongs to two extents.
///            X3 an unwritten extent reads as zeros, whatever its pages hold on the device.
/// Cost       find: one look-up. Changes: one or two records for each extent touched. Callers limit the number of extents in a transaction.
/// Power cut  Part of the caller's transaction.
#pragma once

#include <cstdint>
#include <vector>

#include "fs/metadata_store.h"

namespace flashlab {

struct Extent {
    std::uint64_t page = 0;  ///< first file page
    std::uint64_t first = 0; ///< first logical page
    std::uint64_t pages = 0;
    bool unwritten = false;

    [[nodiscard]] bool covers(std::uint64_t file_page) const { return file_page - page < pages; }
    [[nodiscard]] std::uint64_t end() const { return page + pages; }
    [[nodiscard]] std::uint64_t logical_page_of(std::uint64_t file_page) const { return first + (file_page - page); }
};

using PageRuns = std::vector<MetadataStore::PageRun>;

class ExtentMap {
public:
    static constexpr std::size_t encoded_size = 16;
    /// How many extents one transaction may touch, so that its log record stays small.
    static constexpr std::size_t extents_per_transaction = 40;

    explicit ExtentMap(MetadataStore& store) : store_{store} {}

    [[nodiscard]] static bool decode(const RecordKey& key, std::span<const std::byte> value, Extent& out);

    /// The extent that covers `page`.
    [[nodiscard]] bool find(Ino ino, std::uint64_t page, Extent& out) const;
    /// The first extent that starts at or after `page`.
    [[nodiscard]] bool next(Ino ino, std::uint64_t page, Extent& out) const;
    /// One page behind the last extent.
    [[nodiscard]] std::uint64_t end(Ino ino) const;

    /// Adds an extent. Its range must be a hole.
    [[nodiscard]] FsResult<void> insert(Ino ino, Extent extent);
    /// Unmaps at most `limit` extents of [first, last), the last ones first. Their logical pages are appended to `freed`.
    /// True when no extent is left there.
    [[nodiscard]] FsResult<bool> remove(Ino ino, std::uint64_t first, std::uint64_t last, std::size_t limit, PageRuns& freed);
    /// Makes at most `limit` written extents of [first, last) unwritten: they read as zeros from now on and keep their pages. True when none is left.
    [[nodiscard]] FsResult<bool> mark_unwritten(Ino ino, std::uint64_t first, std::uint64_t last, std::size_t limit);
    /// Marks [first, first + pages), a part of one unwritten extent, as written.
    [[nodiscard]] FsResult<void> mark_written(Ino ino, std::uint64_t first, std::uint64_t pages);

private:
    [[nodiscard]] FsResult<void> put(Ino ino, const Extent& extent);
    [[nodiscard]] FsResult<void> cut_one(Ino ino, const Extent& extent, std::uint64_t first, std::uint64_t last, PageRuns& freed);

    MetadataStore& store_;
};

struct Inode;
/// ExtentMap::find(), with the inode as a cache: it remembers the last extent and the end of its extents.
[[nodiscard]] bool find_extent(const ExtentMap& extents, Inode& inode, std::uint64_t page, Extent& out);

} // namespace flashlab
