// A write-back whose step failed: what becomes of its logical pages, and of the cached pages that it was to write.
#include <algorithm>

#include "fs/metadata_transaction.h"
#include "fs/write_back.h"

namespace flashlab {

namespace {

using Kind = WriteBackPiece::Kind;

void append_page(PageRuns& runs, LogicalPage page) {
    if (!runs.empty() && runs.back().first + runs.back().pages == page) {
        ++runs.back().pages;
    } else {
        runs.push_back({.first = page, .pages = 1});
    }
}

} // namespace

/// As a file system that marks the pages of a failed write-back clean (docs/faults.md): nobody writes them any more. A page that was written to again
/// meanwhile is newer and stays. The page in which the committed size lies goes back to what the drive has instead: its tail must be zero on
/// the drive before the size grows over it (I3).
void WriteBack::give_up_pages(WriteBackJob& job, std::size_t first, SimTime now) {
    if (failed_pages_ == FailedPages::retry) return;
    Inode& inode = *job.inode;
    const std::uint64_t page_bytes = cache_.page_bytes();
    const std::uint64_t used = inode.committed_size % page_bytes;
    for (std::size_t i = first; i < job.pieces.size(); ++i) {
        const WriteBackPiece piece = job.pieces[i];
        if (piece.cached == nullptr || piece.cached->dirty) continue;
        if (failed_pages_ == FailedPages::reverted && faults_ != nullptr)
            faults_->page_reverted(inode.ino, piece.page.value() * page_bytes, page_bytes);
        const bool holds_end = used != 0 && inode.committed_size / page_bytes == piece.page.value();
        if (!holds_end || !take_back_page(piece, used, now)) drop(*piece.cached);
    }
    if (failed_pages_ != FailedPages::reverted || inode.record.size <= inode.committed_size) return;
    const auto is_beyond = [&](const CachePage& page) { return (page.page + 1).value() * page_bytes > inode.committed_size; };
    if (inode.pages == nullptr || std::ranges::none_of(*inode.pages, [&](const CachePage& page) {
            return is_beyond(page) && (page.dirty || page.page != FilePage{inode.committed_size / page_bytes});
        }))
        inode.record.size = inode.committed_size;
}

/// False: the drive does not read.
bool WriteBack::take_back_page(const WriteBackPiece& piece, std::uint64_t used, SimTime now) {
    const std::span<std::byte> bytes{piece.cached->data, cache_.page_bytes()};
    if (piece.kind == Kind::overwrite) {
        const auto sectors = static_cast<std::uint32_t>(bytes.size() / sector_bytes);
        if (!device_.read(space_.sector_of(piece.logical), sectors, bytes, now)) return false;
    }
    std::ranges::fill(piece.kind == Kind::overwrite ? bytes.subspan(used) : bytes, std::byte{0});
    return true;
}

void WriteBack::abandon(WriteBackJob& job, std::size_t first, SimTime now) {
    PageRuns written, untouched;
    for (std::size_t i = first; i < job.pieces.size(); ++i) {
        const WriteBackPiece& piece = job.pieces[i];
        if (piece.kind == Kind::fresh) {
            append_page(i < job.issued ? written : untouched, piece.logical);
            if (piece.cached == nullptr) space_.release(1);
        }
        if (piece.cached == nullptr) continue;
        if (!piece.cached->dirty) piece.cached->first_dirty = 0;
        piece.cached->dirty = true;
        piece.cached->in_flight = false;
    }
    for (const MetadataStore::PageRun& run : untouched) space_.unclaim(run);
    give_to_pending(written, now);
}

/// Claimed pages may have data on the device, so they go through the pending trims. If even that fails, they stay claimed until the next mount finds
/// them. One record a run: a device that fails again and again must not use up the metadata.
void WriteBack::give_to_pending(std::span<const MetadataStore::PageRun> runs, SimTime now) {
    for (std::size_t at = 0; at < runs.size(); at += ExtentMap::extents_per_transaction) {
        const auto part = runs.subspan(at, std::min(ExtentMap::extents_per_transaction, runs.size() - at));
        MetadataTransaction transaction{store_, MetadataTransaction::Reserve::use};
        for (const MetadataStore::PageRun& run : part) store_.set_data_pages(run, true);
        if (!space_.put_pending(part) || !transaction.commit(now)) return;
        for (const MetadataStore::PageRun& run : part) space_.unclaim(run);
        space_.add_pending(part);
    }
}

FsError WriteBack::fail(WriteBackJob& job, std::size_t first, FsError error, SimTime now) {
    ++job.inode->write_errors;
    give_up_pages(job, first, now);
    job.inode->last_write_error = error.error_number == ENOSPC || error.error_number == EROFS ? error.error_number : EIO;
    abandon(job, first, now);
    end_job(job, now);
    return error;
}

} // namespace flashlab
