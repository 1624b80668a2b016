/// Brings dirty pages to the device and then their extents and size into the store.
///
/// Idea       A job of one inode: issue the writes; when they are complete, flush the device; when that is complete, commit. Between these steps the clock runs.
/// Invariant  F2 the commit is issued when the data are durable. W1 one job an inode. W2 pages are taken in file order, so what is committed is a prefix.
///            W3 a page cut off while in flight leaves its claimed logical page to the pending trims.
/// Cost       One device write a run (up to 1 MiB), copied together before only where its pages do not lie side by side in memory; one transaction per 40 extents. Memory of jobs is reused.
/// Power cut  Before the commit: pages in place are old or new, claimed ones belong to nobody.
#pragma once

#include <memory>
#include <vector>

#include "base/events.h"
#include "fs/extent_map.h"
#include "fs/inode.h"
#include "fs/page_cache.h"
#include "fs/space_accounting.h"
#include "fs/undurable_ranges.h"

namespace flashlab {

/// One page of a job.
struct WriteBackPiece {
    enum class Kind : std::uint8_t { overwrite, convert, fresh };
    std::uint64_t page = 0;
    std::uint64_t logical = 0;
    CachePage* cached = nullptr; ///< null: cut off by a truncate or unlink meanwhile
    Kind kind = Kind::overwrite;
};

class WriteBackJob {
public:
    enum class Phase : std::uint8_t { writing, flushing };
    Inode* inode = nullptr;
    Phase phase = Phase::writing;
    std::vector<WriteBackPiece> pieces;
    std::size_t issued = 0; ///< so many of the pieces may be on the device
    std::uint64_t size_target = 0; ///< the size that the data of this job justify
    bool is_by_age = false;        ///< nobody waits for it: the last of its kind sees to it that their commits become durable
    SimTime started = sim_start;
    SimTime resume = sim_start;
};

class WriteBack {
public:
    WriteBack(MetadataStore& store, BlockDevice& device, PageCache& cache, ExtentMap& extents, SpaceAccounting& space, EventSink& events, Duration dirty_age);

    void mark_dirty(Inode& inode, SimTime now);
    void mark_dirty(CachePage& page, SimTime now);
    /// What becomes dirty from now on has a greater number.
    [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
    [[nodiscard]] static bool has_dirty_since_before(const Inode& inode, std::uint64_t sequence);

    /// Issues the writes of an inode without a job; commits at once when only its record is dirty. again: freed pages are still being trimmed.
    [[nodiscard]] FsResult<void> start(Inode& inode, SimTime now);
    /// The next step of the inode's job, whose resume time has come.
    [[nodiscard]] FsResult<void> advance(Inode& inode, SimTime now);
    /// The steps that are due; again until the inode is clean.
    [[nodiscard]] FsResult<void> settle(Inode& inode, SimTime now);
    /// All steps, ahead in simulated time: only where nothing else runs.
    [[nodiscard]] FsResult<SimTime> finish(Inode& inode, SimTime now);
    /// Writes back until `pages` more fit into the cache; starts early in the background. again: not yet.
    [[nodiscard]] FsResult<void> make_room(std::size_t pages, SimTime now);
    /// The next step of the write-back that is ahead of the others; starts one when none is under way. The cache is not empty. again: not yet.
    [[nodiscard]] FsResult<void> move_on(SimTime now);
    /// Times of a clean file, without data.
    [[nodiscard]] FsResult<SimTime> commit_record(Inode& inode, SimTime now);

    /// What the mark names is durable; again until it is.
    [[nodiscard]] FsResult<void> wait_for_commit(const CommitMark& mark, SimTime now);

    void drop(CachePage& page);
    /// Forgets the cached pages in [first, last).
    void drop_range(Inode& inode, std::uint64_t first, std::uint64_t last);
    /// A job under way shall not commit more than this.
    static void limit_size(Inode& inode, std::uint64_t size);

    /// Continues jobs, starts those due by age. Returns the next wake-up time.
    [[nodiscard]] SimTime tick(SimTime now);

    using InodeList = boost::intrusive::list<Inode, boost::intrusive::base_hook<InodeListHook>, boost::intrusive::constant_time_size<false>>;
    [[nodiscard]] InodeList& dirty_inodes() { return dirty_; }
    [[nodiscard]] const InodeList& dirty_inodes() const { return dirty_; }
    [[nodiscard]] const UndurableRanges& undurable() const { return undurable_; }

private:
    void collect(WriteBackJob& job);
    [[nodiscard]] FsResult<void> issue(WriteBackJob& job, SimTime now);
    [[nodiscard]] std::span<const std::byte> in_one_piece(std::size_t first, std::size_t count);
    [[nodiscard]] FsResult<SimTime> write_run(WriteBackJob& job, std::size_t first, std::size_t count, std::uint64_t logical, SimTime now);
    [[nodiscard]] bool may_have_taken(const DeviceError& error, Sector first, std::uint32_t sectors) const;
    [[nodiscard]] FsResult<SimTime> commit(WriteBackJob& job, SimTime now);
    [[nodiscard]] FsResult<std::size_t> commit_some(WriteBackJob& job, std::size_t first, SimTime now);
    void settle_pieces(WriteBackJob& job, std::size_t first, std::size_t last);
    void abandon(WriteBackJob& job, std::size_t first, SimTime now);
    void give_to_pending(std::span<const MetadataStore::PageRun> runs, SimTime now);
    void note_undurable(const WriteBackJob& job);
    void end_job(WriteBackJob& job, SimTime now);
    FsError fail(WriteBackJob& job, std::size_t first, FsError error, SimTime now);

    MetadataStore& store_;
    BlockDevice& device_;
    PageCache& cache_;
    ExtentMap& extents_;
    SpaceAccounting& space_;
    EventSink& events_;
    Duration dirty_age_;
    InodeList dirty_;
    UndurableRanges undurable_;
    std::vector<WriteBackJob*> jobs_; ///< under way, in order of start
    std::vector<std::unique_ptr<WriteBackJob>> all_jobs_;
    std::vector<WriteBackJob*> idle_jobs_;
    std::vector<CachePage*> batch_;
    std::vector<std::byte> staging_;
    std::uint64_t sequence_ = 0;
    std::uint64_t next_fit_ = 0; ///< where the last allocation ended
};

} // namespace flashlab
