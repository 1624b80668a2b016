/// A change of a file's bytes and then its sync, as one slow call: O_DSYNC, O_SYNC, chattr +S, host_cache=writethrough.
///
/// Idea       The change is repeated until the file system takes it ("again": the page cache is full).
///            Then the file is synced, then the caller is answered.
/// Invariant  The monitor is not released between the change and the begin of the sync.
/// Cost       One allocation beside the sync's own.
/// Power cut  Before the answer, as after an unsynced change.
#pragma once

#include <memory>
#include <utility>

#include "fs/file_system.h"

namespace flashlab {

/// work(const FsCall&) -> FsResult<Timed<Amount>>; it owns what it needs. The amount goes to `amount`, since the sync says nothing of it.
/// `mark` as for FileSystem::begin_sync.
template <class Work, class Amount>
class SyncedChange final : public SlowCall {
public:
    SyncedChange(FileSystem& fs, const FsCall& call, Ino ino, Work work, SyncScope scope, WriteErrorMark* mark, std::shared_ptr<Amount> amount)
        : fs_{fs}, call_{call}, ino_{ino}, work_{std::move(work)}, scope_{scope}, mark_{mark}, amount_{std::move(amount)} {
        if constexpr (requires { work_.keep(); }) work_.keep();
    }
    StepResult step(SimTime now) override {
        if (sync_ == nullptr) {
            call_.now = now;
            const auto changed = work_(std::as_const(call_));
            if (!changed && changed.error().is_again()) return ResumeAt{changed.error().again};
            if (!changed) return std::unexpected(changed.error());
            *amount_ = changed->value;
            auto sync = fs_.begin_sync(call_, ino_, scope_, mark_);
            if (!sync) return std::unexpected(sync.error());
            sync_ = std::move(*sync);
        }
        return sync_->step(now);
    }

private:
    FileSystem& fs_;
    FsCall call_;
    Ino ino_;
    Work work_;
    SyncScope scope_;
    WriteErrorMark* mark_;
    std::shared_ptr<Amount> amount_;
    std::unique_ptr<SlowCall> sync_;
};

} // namespace flashlab
