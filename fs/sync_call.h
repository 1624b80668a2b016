/// fsync and its relatives: everything that was dirty at the start is committed when it is done.
///
/// Idea       Every inode's job is moved on as the clock allows; what becomes dirty later is not waited for.
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
    /// EIO, or ENOSPC where the host is full, once an open for write-backs that failed behind its back.
    FsResult<void> tell_errors();

    FileSystemImpl& fs_;
    std::vector<Inode*> inodes_;
    SyncScope scope_;
    std::uint64_t sequence_;
    WriteErrorMark* mark_;
    std::optional<CommitMark> committed_; ///< all that this sync is about, once it is in the store
};

} // namespace flashlab
