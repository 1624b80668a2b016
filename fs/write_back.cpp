#include "fs/write_back.h"

#include <algorithm>

#include "base/contract.h"
#include "fs/device_errno.h"
#include "fs/file_stream.h"
#include "fs/metadata_transaction.h"

namespace flashlab {

namespace {
constexpr std::size_t pages_per_job = 2048;
constexpr std::size_t staging_bytes = 1u << 20;
} // namespace

WriteBack::WriteBack(MetadataStore& store, BlockDevice& device, PageCache& cache, ExtentMap& extents, SpaceAccounting& space, EventSink& events,
                     UseObserver* use, Duration dirty_age)
    : store_{store}, device_{device}, cache_{cache}, extents_{extents}, space_{space}, events_{events}, use_{use}, dirty_age_{dirty_age},
      xattrs_{store}, undurable_{store} {}

void WriteBack::mark_dirty(Inode& inode, SimTime now) {
    inode.record_dirty = true;
    if (inode.is_linked()) return;
    inode.dirty_since = now;
    dirty_.push_back(inode);
}

void WriteBack::mark_dirty(CachePage& page, SimTime now) {
    if (!page.dirty) {
        page.dirty = true;
        page.first_dirty = ++sequence_;
    }
    mark_dirty(*page.owner, now);
}

bool WriteBack::has_dirty_since_before(const Inode& inode, std::uint64_t sequence) {
    if (inode.job != nullptr) return true;
    if (inode.pages == nullptr) return false;
    return std::ranges::any_of(*inode.pages, [&](const CachePage& page) { return page.dirty && page.first_dirty <= sequence; });
}

void WriteBack::collect(WriteBackJob& job) {
    Inode& inode = *job.inode;
    batch_.clear();
    for (CachePage& page : *inode.pages) batch_.push_back(&page);
    const auto by_page = [](const CachePage* a, const CachePage* b) { return a->page < b->page; };
    const bool in_order = std::ranges::is_sorted(batch_, by_page);
    job.size_target = inode.record.size;
    if (batch_.size() > pages_per_job) {
        if (!in_order) std::ranges::nth_element(batch_, batch_.begin() + pages_per_job, by_page);
        batch_.resize(pages_per_job);
    }
    if (!in_order) std::ranges::sort(batch_, by_page);
    if (batch_.size() < inode.pages->size()) job.size_target = std::min(job.size_target, (batch_.back()->page + 1).value() * cache_.page_bytes());
}

/// The bytes of pages [first, first + count) of the batch in one piece: where they lie, or copied together.
std::span<const std::byte> WriteBack::in_one_piece(std::size_t first, std::size_t count) {
    const std::size_t page_bytes = cache_.page_bytes();
    const std::byte* begin = batch_[first]->data;
    std::size_t in_a_row = 1;
    while (in_a_row < count && batch_[first + in_a_row]->data == begin + in_a_row * page_bytes) ++in_a_row;
    if (in_a_row == count) return {begin, count * page_bytes};
    if (staging_.size() < count * page_bytes) staging_.resize(count * page_bytes);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(staging_.data() + i * page_bytes, batch_[first + i]->data, page_bytes);
    return std::span{staging_}.first(count * page_bytes);
}

FsResult<SimTime> WriteBack::write_run(WriteBackJob& job, std::size_t first, std::size_t count, LogicalPage logical, SimTime now) {
    const std::size_t per_write = std::max(staging_bytes / cache_.page_bytes(), std::size_t{1});
    SimTime end = now;
    for (std::size_t at = 0; at < count;) {
        const std::size_t pages = std::min(per_write, count - at);
        const std::span<const std::byte> from = in_one_piece(first + at, pages);
        const auto sectors = static_cast<std::uint32_t>(from.size() / sector_bytes);
        if (use_ != nullptr) use_->data_written(job.inode->ino, batch_[first + at]->page, space_.sector_of(logical + at), sectors);
        const auto written = device_.write(space_.sector_of(logical + at), sectors, from, WriteDurability::volatile_ok, {now, job.stream});
        if (written || may_have_taken(written.error(), space_.sector_of(logical + at), sectors)) job.issued = first + at + pages;
        if (!written) return std::unexpected(errno_of(written.error()));
        end = std::max(end, *written);
        at += pages;
    }
    return end;
}

/// May a write that failed have changed the device? A read-only device takes nothing, but it may have become read-only in the middle of this write.
bool WriteBack::may_have_taken(const DeviceError& error, Sector first, std::uint32_t sectors) const {
    return error.kind != DeviceErrorKind::read_only || std::ranges::any_of(device_.lba_status(first, sectors), &LbaRange::mapped);
}

FsResult<void> WriteBack::issue(WriteBackJob& job, SimTime now) {
    Inode& inode = *job.inode;
    const int injected = injected_error(inode.ino);
    now = std::max(now, inode.loaded_until);
    job.resume = now;
    const std::optional<StreamId> own = inode.record.xattrs == 0 ? std::nullopt : stream_of_file(xattrs_, inode.ino);
    job.stream = own.value_or(inode.writer_stream);
    inode.tail_zeroed = sim_never;
    for (std::size_t at = 0; at < batch_.size();) {
        const FilePage page = batch_[at]->page;
        std::size_t count = 1;
        while (at + count < batch_.size() && batch_[at + count]->page == page + count) ++count;
        auto kind = WriteBackPiece::Kind::fresh;
        LogicalPage logical{0};
        if (const auto extent = find_extent(extents_, inode, page)) {
            kind = extent->unwritten ? WriteBackPiece::Kind::convert : WriteBackPiece::Kind::overwrite;
            logical = extent->logical_page_of(page);
            count = std::min<std::uint64_t>(count, extent->end() - page);
        } else {
            const auto behind = page < inode.extents_end ? extents_.next(inode.ino, page) : std::nullopt;
            if (behind) count = std::min<std::uint64_t>(count, behind->page - page);
            const MetadataStore::PageRun run = space_.claim(next_fit_, count);
            ensure(run.pages != 0, "WriteBack: start() waited until the pages were there (F4)");
            logical = run.first;
            count = run.pages;
            next_fit_ = logical + count;
        }
        for (std::size_t i = 0; i < count; ++i) {
            CachePage& cached = *batch_[at + i];
            cached.job_slot = static_cast<std::uint32_t>(job.pieces.size());
            cached.dirty = false;
            cached.in_flight = true;
            job.pieces.push_back({.page = page + i, .logical = logical + i, .cached = &cached, .kind = kind});
        }
        if (injected == 0) {
            const auto written = write_run(job, at, count, logical, now);
            if (!written) return std::unexpected(written.error());
            job.resume = std::max(job.resume, *written);
        }
        at += count;
    }
    if (injected != 0) return std::unexpected(FsError{injected});
    return {};
}

FsResult<void> WriteBack::start(Inode& inode, SimTime now) {
    ensure(inode.job == nullptr, "WriteBack::start: one job an inode (W1)");
    if (const auto room = space_.wait_for_pages(std::min<std::uint64_t>(inode.delayed_pages, pages_per_job), now); !room) return room;
    if (const auto shrunk = wait_for_commit(inode.shrunk, now); !shrunk) return shrunk;
    inode.flush_now = false;
    if (inode.pages == nullptr) {
        const auto committed = commit_record(inode, now);
        if (!committed) return std::unexpected(committed.error());
        return {};
    }
    if (idle_jobs_.empty()) idle_jobs_.push_back(all_jobs_.emplace_back(std::make_unique<WriteBackJob>()).get());
    WriteBackJob& job = *idle_jobs_.back();
    idle_jobs_.pop_back();
    job.inode = &inode;
    job.phase = WriteBackJob::Phase::writing;
    job.pieces.clear();
    job.issued = 0;
    job.started = now;
    job.is_by_age = false;
    inode.job = &job;
    jobs_.push_back(&job);
    collect(job);
    const auto issued = issue(job, now);
    if (!issued) return std::unexpected(fail(job, 0, issued.error(), now));
    return {};
}

FsResult<void> WriteBack::advance(Inode& inode, SimTime now) {
    WriteBackJob& job = *inode.job;
    ensure(job.resume <= now, "WriteBack::advance: not before its time");
    if (job.phase == WriteBackJob::Phase::writing) {
        const auto durable = device_.flush(now);
        if (!durable) return std::unexpected(fail(job, 0, errno_of(durable.error()), now));
        job.phase = WriteBackJob::Phase::flushing;
        job.resume = *durable;
        if (job.resume > now) return {};
    }
    const auto committed = commit(job, now);
    if (!committed) return std::unexpected(committed.error());
    return {};
}

FsResult<void> WriteBack::wait_for_commit(const CommitMark& mark, SimTime now) {
    if (store_.durable_at(mark) <= now) return {};
    const auto durable = store_.make_durable(mark, now);
    if (!durable) return std::unexpected(durable.error());
    if (*durable > now) return std::unexpected(again_at(*durable));
    return {};
}

FsResult<void> WriteBack::settle(Inode& inode, SimTime now) {
    while (inode.job != nullptr || inode.is_dirty()) {
        if (inode.job != nullptr && inode.job->resume > now) return std::unexpected(again_at(inode.job->resume));
        const auto step = inode.job == nullptr ? start(inode, now) : advance(inode, now);
        if (!step) return step;
    }
    return {};
}

FsResult<SimTime> WriteBack::finish(Inode& inode, SimTime now) {
    for (;;) {
        const auto settled = settle(inode, now);
        if (settled) return now;
        if (!settled.error().is_again()) return std::unexpected(settled.error());
        now = settled.error().again;
    }
}

FsResult<void> WriteBack::make_room(std::size_t pages, SimTime now) {
    pages = std::min(pages, cache_.capacity());
    if (cache_.pages() + pages > cache_.capacity() / 2 && !dirty_.empty() && dirty_.front().job == nullptr) {
        if (const auto started = start(dirty_.front(), now); !started && !started.error().is_again()) return started;
    }
    while (cache_.pages() + pages > cache_.capacity()) {
        if (const auto moved = move_on(now); !moved) return moved;
    }
    return {};
}

FsResult<void> WriteBack::move_on(SimTime now) {
    if (jobs_.empty()) {
        ensure(!dirty_.empty(), "PageCache: pages belong to dirty inodes");
        return start(dirty_.front(), now);
    }
    const WriteBackJob& first = **std::ranges::min_element(jobs_, {}, &WriteBackJob::resume);
    if (first.resume > now) return std::unexpected(again_at(first.resume));
    return advance(*first.inode, now);
}

void WriteBack::drop(CachePage& page) {
    Inode& inode = *page.owner;
    if (page.in_flight) inode.job->pieces[page.job_slot].cached = nullptr; // its reservation stays with the piece
    if (page.reserved) {
        --inode.delayed_pages;
        if (!page.in_flight) space_.release(1);
    }
    cache_.drop(page);
}

void WriteBack::drop_range(Inode& inode, FilePage first, FilePage last) {
    if (inode.pages == nullptr) return;
    if (last - first == 1) {
        if (CachePage* page = cache_.find(inode, first)) drop(*page);
    } else {
        batch_.clear();
        for (CachePage& page : *inode.pages) {
            if (page.page >= first && page.page < last) batch_.push_back(&page);
        }
        for (CachePage* page : batch_) drop(*page);
    }
    space_.promise_metadata(cache_.pages_adding_records());
    if (!inode.is_dirty() && inode.job == nullptr && inode.is_linked()) inode.unlink();
}

void WriteBack::limit_size(Inode& inode, std::uint64_t size) {
    if (inode.job != nullptr) inode.job->size_target = std::min(inode.job->size_target, size);
}

SimTime WriteBack::tick(SimTime now) {
    SimTime next = sim_never;
    for (std::size_t i = jobs_.size(); i-- > 0;) {
        if (i < jobs_.size() && jobs_[i]->resume <= now) (void)advance(*jobs_[i]->inode, now); // a failure stays in the inode for its next sync
    }
    for (auto at = dirty_.begin(); at != dirty_.end();) {
        Inode& inode = *at++;
        if (inode.job != nullptr) continue;
        if (!inode.flush_now && now - inode.dirty_since < dirty_age_) break;
        if (const auto started = start(inode, now); !started && started.error().is_again()) next = std::min(next, started.error().again);
        if (inode.job != nullptr) inode.job->is_by_age = true;
    }
    for (const WriteBackJob* job : jobs_) next = std::min(next, job->resume);
    for (const Inode& inode : dirty_) {
        if (inode.job != nullptr) continue;
        if (inode.dirty_since + dirty_age_ > now) next = std::min(next, inode.dirty_since + dirty_age_);
        break;
    }
    return next;
}

} // namespace flashlab
