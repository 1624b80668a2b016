/// Where the pages of a file lie: runs of file pages on runs of logical pages.
///
/// Idea       One record an extent, keyed by its first file page; neighbours that continue each other are one record.
/// Invariant  X1 extents of one inode do not overlap. X2 no logical page belongs to two extents. X3 an unwritten extent reads zeros, whatever the device has there.
/// Cost       find: one look-up. Changes: a record or two an extent touched; a caller bounds the extents a transaction removes.
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
    /// Extents one transaction may touch, so that its log record stays small.
    static constexpr std::size_t extents_per_transaction = 40;

    explicit ExtentMap(MetadataStore& store) : store_{store} {}

    [[nodiscard]] static bool decode(const RecordKey& key, std::span<const std::byte> value, Extent& out);

    /// The extent that covers `page`.
    [[nodiscard]] bool find(Ino ino, std::uint64_t page, Extent& out) const;
    /// The first extent that starts at or after `page`.
    [[nodiscard]] bool next(Ino ino, std::uint64_t page, Extent& out) const;
    /// One page behind the last extent.
    [[nodiscard]] std::uint64_t end(Ino ino) const;

    /// The range must be a hole.
    [[nodiscard]] FsResult<void> insert(Ino ino, Extent extent);
    /// Unmaps [first, last), at most `limit` extents of it, the last ones first; the logical pages go to `freed`. True when nothing is left.
    [[nodiscard]] FsResult<bool> remove(Ino ino, std::uint64_t first, std::uint64_t last, std::size_t limit, PageRuns& freed);
    /// What is written in [first, last) reads zero from now on and keeps its pages; at most `limit` extents. True when nothing is left.
    [[nodiscard]] FsResult<bool> mark_unwritten(Ino ino, std::uint64_t first, std::uint64_t last, std::size_t limit);
    /// [first, first + pages) of one unwritten extent has now data.
    [[nodiscard]] FsResult<void> mark_written(Ino ino, std::uint64_t first, std::uint64_t pages);

private:
    [[nodiscard]] FsResult<void> put(Ino ino, const Extent& extent);
    [[nodiscard]] FsResult<void> cut_one(Ino ino, const Extent& extent, std::uint64_t first, std::uint64_t last, PageRuns& freed);

    MetadataStore& store_;
};

struct Inode;
/// As ExtentMap::find, through the inode's memory of the last extent and of where extents end.
[[nodiscard]] bool find_extent(const ExtentMap& extents, Inode& inode, std::uint64_t page, Extent& out);

} // namespace flashlab
