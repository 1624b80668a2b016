// The last step of a write-back: extents, size and times in bounded transactions.
#include <algorithm>

#include "base/contract.h"
#include "fs/metadata_transaction.h"
#include "fs/write_back.h"

namespace flashlab {

namespace {

using Kind = WriteBackPiece::Kind;

/// How many pieces from `first` on make one run that is committed in the same way.
std::size_t run_length(const std::vector<WriteBackPiece>& pieces, std::size_t first) {
    const WriteBackPiece& head = pieces[first];
    std::size_t length = 1;
    while (first + length < pieces.size()) {
        const WriteBackPiece& piece = pieces[first + length];
        if (piece.kind != head.kind || piece.page != head.page + length || piece.logical != head.logical + length ||
            (piece.cached == nullptr) != (head.cached == nullptr)) {
            break;
        }
        ++length;
    }
    return length;
}

} // namespace

FsResult<std::size_t> WriteBack::commit_some(WriteBackJob& job, std::size_t first, SimTime now) {
    Inode& inode = *job.inode;
    MetadataTransaction transaction{store_, MetadataTransaction::Reserve::use};
    InodeRecord record = inode.record;
    PageRuns lost;
    std::size_t at = first;
    for (std::size_t runs = 0; at < job.pieces.size() && runs < ExtentMap::extents_per_transaction; ++runs) {
        const WriteBackPiece& head = job.pieces[at];
        const std::size_t length = run_length(job.pieces, at);
        if (head.kind == Kind::fresh) {
            const MetadataStore::PageRun run{.first = head.logical, .pages = length};
            store_.set_data_pages(run, true);
            if (head.cached == nullptr) {
                lost.push_back(run);
            } else {
                const auto inserted =
                    extents_.insert(inode.ino, Extent{.page = head.page, .first = head.logical, .pages = length, .unwritten = false});
                if (!inserted) return std::unexpected(inserted.error());
                record.pages += length;
            }
        } else if (head.kind == Kind::convert && head.cached != nullptr) {
            if (const auto marked = extents_.mark_written(inode.ino, head.page, length); !marked) return std::unexpected(marked.error());
        }
        at += length;
    }
    std::uint64_t size = std::min(job.size_target, inode.record.size);
    if (at < job.pieces.size()) size = std::min(size, job.pieces[at].page.value() * cache_.page_bytes());
    size = std::max(size, inode.committed_size);
    if (const auto put = space_.put_pending(lost); !put) return std::unexpected(put.error());
    if (const auto put = transaction.put_inode(inode.ino, record, size); !put) return std::unexpected(put.error());
    const auto committed = transaction.commit(now);
    if (!committed) return std::unexpected(committed.error());
    inode.record.pages = record.pages;
    inode.committed_size = size;
    inode.tail_zeroed = sim_never;
    inode.forget_extents();
    space_.add_pending(lost);
    settle_pieces(job, first, at);
    return at;
}

void WriteBack::settle_pieces(WriteBackJob& job, std::size_t first, std::size_t last) {
    MetadataStore::PageRun claimed;
    for (std::size_t i = first; i < last; ++i) {
        const WriteBackPiece& piece = job.pieces[i];
        if (piece.kind == Kind::fresh) {
            if (claimed.pages != 0 && claimed.first + claimed.pages != piece.logical) {
                space_.unclaim(claimed);
                claimed.pages = 0;
            }
            if (claimed.pages++ == 0) claimed.first = piece.logical;
            space_.release(1);
        }
        if (piece.cached == nullptr) continue;
        CachePage& page = *piece.cached;
        page.in_flight = false;
        cache_.set_adds_records(page, false);
        if (page.reserved) {
            page.reserved = false;
            --page.owner->delayed_pages;
        }
        if (!page.dirty) cache_.drop(page);
    }
    if (claimed.pages != 0) space_.unclaim(claimed);
}

FsResult<SimTime> WriteBack::commit(WriteBackJob& job, SimTime now) {
    std::size_t at = 0;
    do {
        const auto next = commit_some(job, at, now); // the store keeps the order
        if (!next) return std::unexpected(fail(job, at, next.error(), now));
        at = *next;
    } while (at < job.pieces.size());
    const SimTime durable = store_.durable_at(store_.last_commit());
    const SimTime end = durable == sim_never ? now : std::max(now, durable);
    if (events_.wants(EventLevel::requests)) {
        events_.on(FsOpEvent{.id = events_.next_id(),
                             .start = job.started,
                             .end = end,
                             .op = FsOp::writeback,
                             .ino = job.inode->ino,
                             .offset = job.pieces.empty() ? 0 : job.pieces.front().page.value() * cache_.page_bytes(),
                             .bytes = job.pieces.size() * cache_.page_bytes()});
    } else {
        (void)events_.next_id();
    }
    job.inode->record_dirty = false;
    note_undurable(job);
    end_job(job, now);
    return end;
}

/// Notes the ranges that were committed just now and that a kill would lose. Pages overwritten in place are safe on the device, except those at the
/// file's end, which need the commit of the new size.
void WriteBack::note_undurable(const WriteBackJob& job) {
    if (store_.durable_at(store_.last_commit()) != sim_never) return; // at once, on PRAM
    const std::uint64_t size = job.inode->committed_size;
    for (const WriteBackPiece& piece : job.pieces) {
        const std::uint64_t offset = piece.page.value() * cache_.page_bytes();
        const std::uint64_t end = std::min(offset + cache_.page_bytes(), size);
        const bool needs_commit = piece.kind != Kind::overwrite || end == size;
        if (piece.cached != nullptr && needs_commit && offset < end) undurable_.add(job.inode->ino, offset, end - offset);
    }
}

void WriteBack::end_job(WriteBackJob& job, SimTime now) {
    Inode& inode = *job.inode;
    inode.job = nullptr;
    space_.promise_metadata(cache_.pages_adding_records());
    std::erase(jobs_, &job);
    idle_jobs_.push_back(&job);
    // Data written back by age do not wait until their commit is old, too. The last such job asks for one record for all of them. The store's tick()
    // takes the steps that follow, and repeats steps that fail.
    if (job.is_by_age && std::ranges::none_of(jobs_, &WriteBackJob::is_by_age)) (void)store_.make_durable(store_.last_commit(), now);
    if (inode.is_linked()) inode.unlink();
    if (inode.is_dirty()) {
        inode.dirty_since = now;
        dirty_.push_back(inode);
    }
}

FsResult<SimTime> WriteBack::commit_record(Inode& inode, SimTime now) {
    MetadataTransaction transaction{store_, MetadataTransaction::Reserve::use};
    if (const auto put = transaction.put_inode(inode.ino, inode.record, inode.committed_size); !put) return std::unexpected(put.error());
    const auto committed = transaction.commit(now);
    if (!committed) return committed;
    inode.record_dirty = false;
    if (inode.pages == nullptr && inode.is_linked()) inode.unlink();
    return committed;
}

} // namespace flashlab
