/// fsync and its relatives: everything that was dirty at the start is committed when it is done.
///
/// Idea       The job of every inode goes on as the clock allows. The call does not wait for pages that become dirty after its start.
/// Invariant  The inodes are pinned while the call lives.
/// Power cut  As WriteBack.
#pragma once

#include <optional>
#include <vector>

#include "fs/file_system.h"
#include "fs/inode.h"

namespace flashlab {

class FileSystemImpl;

class SyncCall final : public SlowCall {
public:
    /// `mark`: of the open that asks, when there is just one inode.
    SyncCall(FileSystemImpl& fs, std::vector<Inode*> inodes, SyncScope scope, WriteErrorMark* mark = nullptr);
    ~SyncCall() override;
    SyncCall(const SyncCall&) = delete;
    SyncCall& operator=(const SyncCall&) = delete;
    StepResult step(SimTime now) override;

private:
    /// The time to resume, or sim_never when the inode is done.
    FsResult<SimTime> advance(Inode& inode, SimTime now);
    /// Reports write-backs that failed since the open last asked: EIO, or ENOSPC when the host is full. Each open gets each failure once.
    FsResult<void> tell_errors();

    FileSystemImpl& fs_;
    std::vector<Inode*> inodes_;
    SyncScope scope_;
    std::uint64_t sequence_;
    WriteErrorMark* mark_;
    std::optional<CommitMark> committed_; ///< all that this sync is about, once it is in the store
};

} // namespace flashlab
