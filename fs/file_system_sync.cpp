// fsync, the sync of everything, and the clean end.
#include <algorithm>
#include <array>

#include "base/little_endian.h"
#include "fs/device_errno.h"
#include "fs/file_system_impl.h"
#include "fs/fs_counters.h"
#include "fs/sync_call.h"

namespace flashlab {

SyncCall::SyncCall(FileSystemImpl& fs, std::vector<Inode*> inodes, SyncScope scope, WriteErrorMark* mark)
    : fs_{fs}, inodes_{std::move(inodes)}, scope_{scope}, sequence_{fs.write_back_.sequence()}, mark_{mark} {
    for (Inode* inode : inodes_) ++inode->pins;
}

SyncCall::~SyncCall() {
    for (Inode* inode : inodes_) {
        --inode->pins;
        if (inode->record.links == 0 && inode->is_unused()) {
            fs_.doomed_.push_back(inode->ino);
        } else {
            fs_.table_.drop_if_idle(*inode);
        }
    }
}

FsResult<SimTime> SyncCall::advance(Inode& inode, SimTime now) {
    while (true) {
        FsResult<void> step;
        if (inode.job != nullptr) {
            if (inode.job->resume > now) return inode.job->resume;
            step = fs_.write_back_.advance(inode, now);
        } else if (WriteBack::has_dirty_since_before(inode, sequence_)) {
            step = fs_.write_back_.start(inode, now);
        } else if (inode.record_dirty && (scope_ == SyncScope::data_and_metadata || inode.record.size != inode.committed_size)) {
            const auto committed = fs_.write_back_.commit_record(inode, now);
            if (!committed) return committed;
        } else {
            return sim_never;
        }
        if (step) continue;
        if (step.error().is_again()) return step.error().again;
        return std::unexpected(step.error());
    }
}

FsResult<void> SyncCall::tell_errors() {
    if (mark_ == nullptr || inodes_.front()->write_errors == mark_->told) return {};
    Inode& inode = *inodes_.front();
    mark_->told = inode.errors_told = inode.write_errors;
    return std::unexpected(FsError{inode.last_write_error});
}

StepResult SyncCall::step(SimTime now) {
    SimTime resume = sim_never;
    FsResult<void> outcome;
    for (Inode* inode : inodes_) {
        const auto next = advance(*inode, now);
        if (!next) {
            outcome = std::unexpected(next.error());
            continue; // the other inodes are still written back
        }
        resume = std::min(resume, *next);
    }
    if (!outcome || resume == sim_never) {
        const auto told = tell_errors();
        if (outcome) outcome = told;
    }
    if (!outcome) return std::unexpected(outcome.error());
    if (resume != sim_never) return ResumeAt{resume};
    if (fs_.options_.read_only) return Done{now}; // a worn-out device has not even taken the mark of the mount
    // What others committed and this sync has seen may still be on its way.
    if (!committed_) committed_ = fs_.store_->last_commit();
    const auto durable = fs_.store_->make_durable(*committed_, now);
    if (!durable && durable.error().is_again()) return ResumeAt{durable.error().again};
    if (!durable) return std::unexpected(durable.error());
    return Done{std::max(now, *durable)};
}

WriteErrorMark FileSystemImpl::write_error_mark(Ino ino) {
    const Inode* inode = table_.peek(ino);
    return {inode == nullptr ? 0 : inode->errors_told};
}

FsResult<std::unique_ptr<SlowCall>> FileSystemImpl::begin_sync(const FsCall&, Ino ino, SyncScope scope, WriteErrorMark* mark) {
    const auto inode = get(ino);
    if (!inode) return std::unexpected(inode.error());
    return std::make_unique<SyncCall>(*this, std::vector<Inode*>{*inode}, scope, mark);
}

FsResult<std::unique_ptr<SlowCall>> FileSystemImpl::begin_sync_all(const FsCall&) {
    std::vector<Inode*> inodes;
    for (Inode& inode : write_back_.dirty_inodes()) inodes.push_back(&inode);
    return std::make_unique<SyncCall>(*this, std::move(inodes), SyncScope::data_and_metadata);
}

FsResult<SimTime> FileSystemImpl::shut_down(SimTime now) {
    if (options_.read_only) return now;
    std::vector<Inode*> inodes;
    for (Inode& inode : write_back_.dirty_inodes()) inodes.push_back(&inode);
    FsResult<SimTime> written = now;
    for (Inode* inode : inodes) {
        const auto done = write_back_.finish(*inode, now);
        if (done)
            now = *done;
        else if (written)
            written = done; // the other inodes are still written back
    }
    if (!written) return written;
    destroy_doomed(now);
    const auto trimmed = space_.trim_all(now);
    // A worn-out device takes no more trims: what they would free is of no use to it.
    if (!trimmed && trimmed.error().error_number != EROFS) return trimmed;
    const auto durable = device_.flush(trimmed.value_or(now));
    if (!durable) return std::unexpected(errno_of(durable.error()));
    MetadataTransaction transaction{*store_, MetadataTransaction::Reserve::use};
    std::array<std::byte, sizeof(std::uint64_t)> bytes;
    store_le<std::uint64_t>(bytes, inodes_);
    if (const auto put_count = store_->put(inode_count_key, bytes); !put_count) return std::unexpected(put_count.error());
    const auto counted = transaction.commit(*durable);
    if (!counted) return counted;
    const auto marked = superblock_->mark_clean(*counted);
    if (!marked) return marked;
    return make_all_durable(*store_, *marked);
}

} // namespace flashlab
