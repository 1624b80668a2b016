/// fsync and its relatives: everything that was dirty at the start is committed when it is done.
///
/// Idea       Every inode's job is moved on as the clock allows; what becomes dirty later is not waited for.
/// Invariant  The inodes are pinned while the call lives.
/// Power cut  As WriteBack.
#pragma once

#include <vector>

#include "fs/file_system.h"
#include "fs/inode.h"

namespace flashlab {

class FileSystemImpl;

class SyncCall final : public SlowCall {
public:
    SyncCall(FileSystemImpl& fs, std::vector<Inode*> inodes, SyncScope scope);
    ~SyncCall() override;
    SyncCall(const SyncCall&) = delete;
    SyncCall& operator=(const SyncCall&) = delete;
    StepResult step(SimTime now) override;

private:
    /// The time to resume, or sim_never when the inode is done.
    FsResult<SimTime> advance(Inode& inode, SimTime now);

    FileSystemImpl& fs_;
    std::vector<Inode*> inodes_;
    SyncScope scope_;
    std::uint64_t sequence_;
};

} // namespace flashlab
