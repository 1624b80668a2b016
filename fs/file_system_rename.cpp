// Rename in its four modes, and the slow call that first brings the source's data to the device (C14).
#include <sys/stat.h>

#include "fs/file_flags.h"
#include "fs/file_system_impl.h"
#include "fs/sync_call.h"

namespace flashlab {

struct FileSystemImpl::RenamePlan {
    Inode* from_parent = nullptr;
    Inode* to_parent = nullptr;
    Dirent from, to;
    Inode* moved = nullptr;
    Inode* target = nullptr; ///< null: the new name is free
};

bool FileSystemImpl::is_within(Ino directory, Ino ancestor) {
    for (Ino at = directory; at != root_ino;) {
        if (at == ancestor) return true;
        const Inode* inode = table_.find(at);
        if (inode == nullptr || inode->record.parent == at.value()) return false;
        at = Ino{inode->record.parent};
    }
    return ancestor == root_ino;
}

FsResult<FileSystemImpl::RenamePlan> FileSystemImpl::plan_rename(Ino from_parent, std::string_view from, Ino to_parent, std::string_view to,
                                                                 RenameMode mode) {
    for (const std::string_view name : {from, to}) {
        if (const auto good = check_name(name); !good) return std::unexpected(good.error());
    }
    RenamePlan plan;
    const auto left = get_directory(from_parent);
    if (!left) return std::unexpected(left.error());
    const auto right = get_directory(to_parent);
    if (!right) return std::unexpected(right.error());
    plan.from_parent = *left;
    plan.to_parent = *right;
    if (plan.to_parent->record.links == 0) return std::unexpected(FsError{ENOENT});
    if (!directory_.find(from_parent, from, plan.from)) return std::unexpected(FsError{ENOENT});
    const auto moved = get(plan.from.ino);
    if (!moved) return std::unexpected(FsError{EIO});
    plan.moved = *moved;
    if (directory_.find(to_parent, to, plan.to)) {
        const auto target = get(plan.to.ino);
        if (!target) return std::unexpected(FsError{EIO});
        plan.target = *target;
    }
    const bool only_adds = plan.target == nullptr; // only adds a name to the new directory: an append-only directory admits that
    const std::uint32_t adding = plan.to_parent->record.flags & (only_adds ? file_flag_immutable : locking_file_flags);
    const std::uint32_t ends = plan.moved->record.flags | (plan.target != nullptr ? plan.target->record.flags : 0);
    if (adding != 0 || ((plan.from_parent->record.flags | ends) & locking_file_flags) != 0) return std::unexpected(FsError{EPERM});
    if (from_parent != to_parent && plan.moved->record.is_directory() && is_within(to_parent, plan.moved->ino))
        return std::unexpected(FsError{EINVAL});
    if (mode == RenameMode::exchange) {
        if (plan.target == nullptr) return std::unexpected(FsError{ENOENT});
        if (from_parent != to_parent && plan.target->record.is_directory() && is_within(from_parent, plan.target->ino)) {
            return std::unexpected(FsError{EINVAL});
        }
        return plan;
    }
    if (plan.target == nullptr) return plan;
    if (mode == RenameMode::no_replace) return std::unexpected(FsError{EEXIST});
    const bool moves_directory = plan.moved->record.is_directory();
    const bool replaces_directory = plan.target->record.is_directory();
    if (plan.target == plan.moved) return plan;
    if (moves_directory && !replaces_directory) return std::unexpected(FsError{ENOTDIR});
    if (!moves_directory && replaces_directory) return std::unexpected(FsError{EISDIR});
    if (replaces_directory && plan.target->record.entries != 0) return std::unexpected(FsError{ENOTEMPTY});
    return plan;
}

FsResult<SimTime> FileSystemImpl::commit_rename(const FsCall& call, Ino from_parent, std::string_view from, Ino to_parent, std::string_view to,
                                                RenameMode mode, SimTime now) {
    auto plan = plan_rename(from_parent, from, to_parent, to, mode);
    if (!plan) return std::unexpected(plan.error());
    if (plan->target == plan->moved) return now; // two names of one inode: nothing to do
    if (mode == RenameMode::exchange) return commit_exchange(call, *plan, from, to, now);

    InodeRecord moved = plan->moved->record;
    InodeRecord source_parent = plan->from_parent->record;
    InodeRecord other_parent = plan->to_parent->record;
    const bool same_parent = plan->from_parent == plan->to_parent;
    InodeRecord& target_parent = same_parent ? source_parent : other_parent;
    moved.changed = call.wall;
    for (InodeRecord* parent : {&source_parent, &other_parent}) parent->modified = parent->changed = call.wall;
    --source_parent.entries;
    if (moved.is_directory()) {
        --source_parent.links;
        ++target_parent.links;
        moved.parent = to_parent.value();
    }
    LinkDrop drop;
    MetadataTransaction transaction{*store_};
    const std::uint32_t type = moved.type();
    if (plan->target == nullptr) {
        ++target_parent.entries;
        if (const auto added = directory_.add(to_parent, to, plan->moved->ino, type); !added) return std::unexpected(added.error());
    } else {
        if (const auto led = directory_.redirect(to_parent, plan->to, to, plan->moved->ino, type); !led) return std::unexpected(led.error());
        auto dropped = drop_link(transaction, *plan->target, call.wall);
        if (!dropped) return std::unexpected(dropped.error());
        drop = *dropped;
        if (drop.record.is_directory()) --target_parent.links;
    }
    InodeNumbers numbers = numbers_;
    if (mode == RenameMode::whiteout) {
        InodeRecord whiteout = new_record(call, S_IFCHR);
        whiteout.links = 1;
        const auto ino = next_number(numbers);
        if (!ino) return std::unexpected(ino.error());
        if (const auto written = transaction.put_inode(*ino, whiteout, 0); !written) return std::unexpected(written.error());
        if (const auto led = directory_.redirect(from_parent, plan->from, from, *ino, S_IFCHR); !led) return std::unexpected(led.error());
        ++source_parent.entries;
    } else if (const auto removed = directory_.remove(from_parent, plan->from); !removed) {
        return std::unexpected(removed.error());
    }
    if (const auto written = put(transaction, *plan->moved, moved); !written) return std::unexpected(written.error());
    if (const auto written = put(transaction, *plan->from_parent, source_parent); !written) return std::unexpected(written.error());
    if (!same_parent) {
        if (const auto written = put(transaction, *plan->to_parent, other_parent); !written) return std::unexpected(written.error());
    }
    const auto done = transaction.commit(now);
    if (!done) return done;
    if (mode == RenameMode::whiteout) ++inodes_;
    numbers_ = numbers;
    plan->moved->record = moved;
    plan->from_parent->record = source_parent;
    if (!same_parent) plan->to_parent->record = other_parent;
    if (plan->target != nullptr) finish_drop(*plan->target, drop, now);
    return done;
}

FsResult<SimTime> FileSystemImpl::commit_exchange(const FsCall& call, RenamePlan& plan, std::string_view from, std::string_view to, SimTime now) {
    InodeRecord left = plan.moved->record;
    InodeRecord right = plan.target->record;
    InodeRecord left_parent = plan.from_parent->record;
    InodeRecord right_parent = plan.to_parent->record;
    left.changed = right.changed = call.wall;
    for (InodeRecord* parent : {&left_parent, &right_parent}) parent->modified = parent->changed = call.wall;
    const bool same_parent = plan.from_parent == plan.to_parent;
    if (!same_parent) {
        if (left.is_directory()) {
            --left_parent.links;
            ++right_parent.links;
            left.parent = plan.to_parent->ino.value();
        }
        if (right.is_directory()) {
            --right_parent.links;
            ++left_parent.links;
            right.parent = plan.from_parent->ino.value();
        }
    }
    MetadataTransaction transaction{*store_};
    if (const auto led = directory_.redirect(plan.from_parent->ino, plan.from, from, plan.target->ino, right.type()); !led)
        return std::unexpected(led.error());
    if (const auto led = directory_.redirect(plan.to_parent->ino, plan.to, to, plan.moved->ino, left.type()); !led)
        return std::unexpected(led.error());
    if (const auto written = put(transaction, *plan.moved, left); !written) return std::unexpected(written.error());
    if (const auto written = put(transaction, *plan.target, right); !written) return std::unexpected(written.error());
    if (const auto written = put(transaction, *plan.from_parent, left_parent); !written) return std::unexpected(written.error());
    if (!same_parent) {
        if (const auto written = put(transaction, *plan.to_parent, right_parent); !written) return std::unexpected(written.error());
    }
    const auto done = transaction.commit(now);
    if (!done) return done;
    plan.moved->record = left;
    plan.target->record = right;
    plan.from_parent->record = left_parent;
    if (!same_parent) plan.to_parent->record = right_parent;
    return done;
}

class RenameCall final : public SlowCall {
public:
    RenameCall(FileSystemImpl& fs, const FsCall& call, Ino from_parent, std::string_view from, Ino to_parent, std::string_view to, RenameMode mode,
               std::unique_ptr<SyncCall> sync)
        : fs_{fs}, call_{call}, from_parent_{from_parent}, to_parent_{to_parent}, from_{from}, to_{to}, mode_{mode}, sync_{std::move(sync)} {}

    StepResult step(SimTime now) override {
        SimTime synced = now;
        if (sync_) {
            const auto step = sync_->step(now);
            if (!step || std::holds_alternative<ResumeAt>(*step)) return step;
            synced = std::get<Done>(*step).at;
            sync_.reset();
        }
        // The store's log keeps the order of commits: the extents of the data commit before the new name.
        const auto done = fs_.commit_rename(call_, from_parent_, from_, to_parent_, to_, mode_, now);
        if (!done) return std::unexpected(done.error());
        return Done{std::max(*done, synced)};
    }

private:
    FileSystemImpl& fs_;
    FsCall call_;
    Ino from_parent_;
    Ino to_parent_;
    std::string from_;
    std::string to_;
    RenameMode mode_;
    std::unique_ptr<SyncCall> sync_;
};

FsResult<std::unique_ptr<SlowCall>> FileSystemImpl::begin_rename(const FsCall& call, Ino from_parent, std::string_view from, Ino to_parent,
                                                                 std::string_view to, RenameMode mode) {
    const auto plan = plan_rename(from_parent, from, to_parent, to, mode);
    if (!plan) return std::unexpected(plan.error());
    std::unique_ptr<SyncCall> sync;
    const bool replaces_file = plan->target != nullptr && plan->target != plan->moved && mode != RenameMode::exchange;
    if (replaces_file && (plan->moved->pages != nullptr || plan->moved->job != nullptr)) {
        sync = std::make_unique<SyncCall>(*this, std::vector<Inode*>{plan->moved}, SyncScope::data_only);
    }
    return std::make_unique<RenameCall>(*this, call, from_parent, from, to_parent, to, mode, std::move(sync));
}

} // namespace flashlab
