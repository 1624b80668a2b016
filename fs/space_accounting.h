/// The state of each data page: reserved, claimed, in use, waiting for its trim, free.
///
/// Idea       A write reserves a number of pages. Write-back claims pages in memory. The committing transaction sets their bits. Freed pages keep
///            their bits until they are trimmed.
/// Invariant  F4 reserved + claimed pages always fit into what the bitmap has free plus what waits for its trim.
///            F5 a trim is issued when the commit that freed its pages is durable: until then a cut may bring the owner back.
///            F3 a bit is cleared only after the page's trim is durable: no page free here is mapped in the device.
/// Cost       O(1) a reservation; a claim is one bitmap search.
/// Power cut  Reservations and claims are gone. Pending trims are records and are issued again. Pages that were claimed and written but not committed
///            are found through the device's mapping when an unclean file system is mounted (trim_unowned).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "fs/extent_map.h"
#include "fs/metadata_store.h"
#include "ftl/block_device.h"

namespace flashlab {

class SpaceAccounting {
public:
    SpaceAccounting(MetadataStore& store, BlockDevice& device, std::uint32_t page_bytes);
    /// Reads the pending trims.
    void load();

    [[nodiscard]] std::uint32_t page_bytes() const { return page_bytes_; }
    [[nodiscard]] Sector sector_of(LogicalPage page) const { return Sector{page.value() * (page_bytes_ / sector_bytes)}; }
    [[nodiscard]] std::uint64_t total() const { return store_.data_pages(); }
    /// The free pages that statfs shows: pages not in use and pages waiting for their trim, less the reserved ones.
    [[nodiscard]] std::uint64_t free_pages() const;

    /// ENOSPC when data or metadata do not fit.
    [[nodiscard]] FsResult<void> reserve(std::uint64_t pages, std::uint64_t extents);
    [[nodiscard]] FsResult<void> could_reserve(std::uint64_t pages, std::uint64_t extents) const;
    /// Sets the metadata that is promised to write-back: room for so many cached pages that add records.
    void promise_metadata(std::uint64_t cached_pages);
    /// True: there is no room for the records only because of what is promised to cached pages.
    /// Once these are committed in runs, they will need far less.
    [[nodiscard]] bool waits_for_promises(std::uint64_t pages, std::uint64_t extents) const;
    void release(std::uint64_t pages);

    /// Succeeds when so many pages can be claimed. again: freed pages are being trimmed. ENOSPC: trims do not help.
    [[nodiscard]] FsResult<void> wait_for_pages(std::uint64_t pages, SimTime now);
    /// Claims free pages for data that are about to be written: a run near `hint`, which may be shorter than wanted. Length 0 when no page is free.
    [[nodiscard]] MetadataStore::PageRun claim(LogicalPage hint, std::uint64_t wanted);
    void unclaim(MetadataStore::PageRun run);
    [[nodiscard]] bool is_claimed(LogicalPage page) const;

    /// Puts the records of pending trims, inside the transaction that frees the pages. The bits stay set.
    [[nodiscard]] FsResult<void> put_pending(std::span<const MetadataStore::PageRun> runs);
    /// Notes these trims in memory, after that transaction has committed.
    void add_pending(std::span<const MetadataStore::PageRun> runs);

    [[nodiscard]] bool has_pending() const { return !pending_.empty(); }
    /// Does one slice of trims in the background. Returns the time of the next call, or sim_never when no trim waits.
    SimTime trim_slice(SimTime now);
    /// Does all waiting trims, ahead of the clock: only where nothing else runs.
    [[nodiscard]] FsResult<SimTime> trim_all(SimTime now);
    /// Trims the pages in [first, last) that no file owns, in runs of at least `min_pages`, where the device has them mapped. Returns how many pages
    /// no file owns there.
    [[nodiscard]] FsResult<Timed<std::uint64_t>> trim_unowned(LogicalPage first, LogicalPage last, std::uint64_t min_pages, SimTime now);

    /// A page written into the middle of an unwritten extent adds two records of 38 bytes at most, in leaves that are half full.
    static constexpr std::uint64_t metadata_bytes_per_extent = 160;
    /// Longest run that one record frees, so that its bits fit into one transaction.
    static constexpr std::uint64_t longest_pending = 16384;

private:
    /// How many bytes of metadata must be free for a reservation of so many extents.
    [[nodiscard]] static std::uint64_t records_for(std::uint64_t extents);
    [[nodiscard]] FsResult<SimTime> issue_trims(std::size_t limit, SimTime now);
    /// Takes the next step (issue, flush, commit) if it is due. Returns the time of the step after it.
    [[nodiscard]] FsResult<SimTime> advance_trims(SimTime now);
    [[nodiscard]] FsResult<void> commit_trims(SimTime now);
    /// Cuts `run` where it meets a claim; length 0 when it starts inside one.
    [[nodiscard]] MetadataStore::PageRun without_claims(MetadataStore::PageRun run) const;
    [[nodiscard]] MetadataStore::PageRun find_unclaimed(LogicalPage hint, std::uint64_t wanted) const;

    MetadataStore& store_;
    BlockDevice& device_;
    std::uint32_t page_bytes_;
    std::uint64_t reserved_ = 0;
    std::uint64_t promised_bytes_ = 0;
    std::map<LogicalPage, std::uint64_t> pending_; ///< first page -> pages
    std::uint64_t pending_pages_ = 0;
    std::map<LogicalPage, std::uint64_t> claims_;
    std::uint64_t claimed_pages_ = 0;
    CommitMark freed_by_;                          ///< the last commit that freed something
    std::vector<MetadataStore::PageRun> trimming_; ///< issued; free once trims_done_ has passed and they are flushed
    bool trims_flushed_ = false;
    SimTime trims_done_ = sim_start; ///< the trims, or their flush
};

} // namespace flashlab
