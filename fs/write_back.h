/// Writes dirty pages to the device, and then commits their extents and the file size to the store.
///
/// Idea       A job belongs to one inode. It issues the writes; when they are complete, it flushes the device; when that is complete, it commits. The
///            clock runs between these steps.
/// Invariant  F2 the commit is issued when the data are durable. W1 one job an inode.
///            W2 pages are taken in file order, so what is committed is a prefix.
///            W3 a page cut off while in flight leaves its claimed logical page to the pending trims.
/// Cost       One device write for each run of up to 1 MiB; its pages are copied only if they do not lie side by side in memory. One transaction for
///            40 extents. Memory of jobs is reused.
/// Power cut  Before the commit, pages overwritten in place are old or new, and claimed pages belong to no file.
#pragma once

#include <memory>
#include <vector>

#include "base/events.h"
#include "fs/extent_map.h"
#include "fs/inode.h"
#include "fs/page_cache.h"
#include "fs/space_accounting.h"
#include "fs/undurable_ranges.h"
#include "fs/use_observer.h"
#include "fs/write_back_faults.h"
#include "fs/xattr_store.h"

namespace flashlab {

/// One page of a job.
struct WriteBackPiece {
    enum class Kind : std::uint8_t { overwrite, convert, fresh };
    FilePage page{0};
    LogicalPage logical{0};
    CachePage* cached = nullptr; ///< null: cut off by a truncate or unlink meanwhile
    Kind kind = Kind::overwrite;
};

class WriteBackJob {
public:
    enum class Phase : std::uint8_t { writing, flushing };
    Inode* inode = nullptr;
    Phase phase = Phase::writing;
    std::vector<WriteBackPiece> pieces;
    std::size_t issued = 0;        ///< so many of the pieces may be on the device
    std::uint64_t size_target = 0; ///< the size that the data of this job justify
    StreamId stream = no_stream;   ///< of the file, for the drive
    bool is_by_age = false;        ///< nobody waits for it; the last such job makes the commits of all of them durable
    SimTime started = sim_start;
    SimTime resume = sim_start;
};

class WriteBack {
public:
    WriteBack(MetadataStore& store, BlockDevice& device, PageCache& cache, ExtentMap& extents, SpaceAccounting& space, EventSink& events,
              UseObserver* use, Duration dirty_age);

    /// What becomes of the pages of a failed write-back, and who makes write-backs fail (null: only the device).
    void set_failures(FailedPages pages, WriteBackFaults* faults) {
        failed_pages_ = pages;
        faults_ = faults;
    }
    void mark_dirty(Inode& inode, SimTime now);
    void mark_dirty(CachePage& page, SimTime now);
    /// The present write sequence. Pages that become dirty from now on get a greater number.
    [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
    [[nodiscard]] static bool has_dirty_since_before(const Inode& inode, std::uint64_t sequence);

    /// Starts a job for an inode that has none and issues its writes. Commits at once when only the record is dirty. again:
    /// freed pages are still being trimmed.
    [[nodiscard]] FsResult<void> start(Inode& inode, SimTime now);
    /// Takes the next step of the inode's job, whose resume time has come.
    [[nodiscard]] FsResult<void> advance(Inode& inode, SimTime now);
    /// Takes the steps that are due. Answers again until the inode is clean.
    [[nodiscard]] FsResult<void> settle(Inode& inode, SimTime now);
    /// Takes all steps, ahead of the clock: only where nothing else runs.
    [[nodiscard]] FsResult<SimTime> finish(Inode& inode, SimTime now);
    /// Writes back until `pages` more pages fit into the cache. Starts write-back in the background before the cache is full. again:
    /// not enough room yet.
    [[nodiscard]] FsResult<void> make_room(std::size_t pages, SimTime now);
    /// Takes the next step of the job that is ahead of the others; starts a job when none is under way. The cache must not be empty. again:
    /// no step is due yet.
    [[nodiscard]] FsResult<void> move_on(SimTime now);
    /// Commits the record (times) of a file without dirty data.
    [[nodiscard]] FsResult<SimTime> commit_record(Inode& inode, SimTime now);

    /// Answers again until the commit of the mark is durable.
    [[nodiscard]] FsResult<void> wait_for_commit(const CommitMark& mark, SimTime now);

    void drop(CachePage& page);
    /// Forgets the cached pages in [first, last).
    void drop_range(Inode& inode, FilePage first, FilePage last);
    /// Limits the size that a job under way may commit.
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
    [[nodiscard]] int injected_error(Ino ino) { return faults_ == nullptr ? 0 : faults_->write_back_fails(ino); }
    void give_up_pages(WriteBackJob& job, std::size_t first, SimTime now);
    [[nodiscard]] bool take_back_page(const WriteBackPiece& piece, std::uint64_t used, SimTime now);
    [[nodiscard]] std::span<const std::byte> in_one_piece(std::size_t first, std::size_t count);
    [[nodiscard]] FsResult<SimTime> write_run(WriteBackJob& job, std::size_t first, std::size_t count, LogicalPage logical, SimTime now);
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
    UseObserver* use_; ///< null: nobody asks whose data are written
    Duration dirty_age_;
    FailedPages failed_pages_ = FailedPages::retry;
    WriteBackFaults* faults_ = nullptr;
    InodeList dirty_;
    XattrStore xattrs_;
    UndurableRanges undurable_;
    std::vector<WriteBackJob*> jobs_; ///< under way, in order of start
    std::vector<std::unique_ptr<WriteBackJob>> all_jobs_;
    std::vector<WriteBackJob*> idle_jobs_;
    std::vector<CachePage*> batch_;
    std::vector<std::byte> staging_;
    std::uint64_t sequence_ = 0;
    LogicalPage next_fit_{0}; ///< where the last allocation ended
};

} // namespace flashlab
