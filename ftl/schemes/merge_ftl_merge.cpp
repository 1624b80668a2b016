/// Merges, and the blocks they take and leave.
#include <algorithm>

#include "ftl/schemes/merge_ftl.h"

namespace flashlab {

std::uint32_t MergeFtl::max_logs() const {
    const std::uint32_t kept = map_.logical_blocks() + merge_reserve;
    const std::uint32_t good = pool_.good_blocks();
    return good > kept ? std::min({config_.log_blocks, good - kept, log_limit_}) : 0;
}

FtlResult<BlockPool::Taken> MergeFtl::take_block(PlaneId plane, const Io& io) {
    constexpr std::uint32_t low = 2;
    if (pool_.free_blocks() <= low && !leaving_.empty() && leaving_.front().ready <= io.when) {
        if (auto committed = commit(Commit::what_is_due, io.when); !committed) return std::unexpected(committed.error());
    }
    if ((pool_.free_blocks() < low && !leaving_.empty()) || leaving_.size() >= config_.most_leaving) {
        if (auto committed = commit(Commit::everything, io.when); !committed) return std::unexpected(committed.error());
    }
    const auto taken = pool_.take(plane, io);
    if (!taken) return taken;
    if (max_logs() < config_.least_logs) { // G4: too many were lost on the way
        pool_.put_back(*taken);
        return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, io.when});
    }
    return taken;
}

FtlResult<LogSlot> MergeFtl::open_log(std::optional<LogicalBlock> home, SimTime now) {
    const auto taken = take_block(plane_for(home ? home->value() : turn_++), {now, {Cause::merge, no_event}});
    if (!taken) return std::unexpected(taken.error());
    const LogSlot slot = logs_.open(taken->block, home);
    role_[taken->block.value()] = Role::log;
    owner_[taken->block.value()] = slot;
    logs_.at(slot).ready = taken->ready;
    encode_log_opened(opens_, taken->block, home);
    unnamed_.push_back(slot);
    opens_ready_ = std::max(opens_ready_, taken->ready);
    return slot;
}

bool MergeFtl::can_complete(LogSlot slot) const {
    const LogBlock& log = logs_.at(slot);
    if (!log.in_place || pool_.is_failing(log.block) || array_.is_bad(log.block)) return false;
    if (log.sealed && map_.next_mapped(*log.home, log.next) != map_.pages_per_block()) return false;
    return log.live == map_.mapped_in(*log.home, 0, log.next);
}

FtlResult<void> MergeFtl::merge(LogicalBlock home, SimTime now, Cause cause, MergeTarget target) {
    Leaving leaving = new_job(now, cause);
    const std::uint32_t all = map_.pages_per_block();
    const auto slot = logs_.of_home(home);
    if (map_.next_mapped(home, 0) == all) {
        install(home, std::nullopt, leaving);
    } else if (target == MergeTarget::log_block_if_possible && map_.next_logged(home, 0) == all) {
        install(home, map_.data_block(home), leaving); // its log blocks hold nothing any more
    } else {
        bool completed = false;
        if (target == MergeTarget::log_block_if_possible && slot && can_complete(*slot)) {
            const auto done = complete(*slot, now, leaving);
            if (!done) return std::unexpected(done.error());
            completed = *done;
        }
        if (!completed) {
            if (auto gathered = gather(home, now, leaving); !gathered) return gathered;
        }
    }
    push(leaving);
    return {};
}

/// Switch or partial merge. False: a program failed, the log block is sealed and will be lost.
FtlResult<bool> MergeFtl::complete(LogSlot slot, SimTime now, Leaving& leaving) {
    LogBlock& log = logs_.at(slot);
    const LogicalBlock home = *log.home;
    const auto copied = copy_mapped(home, log.block, log.next, map_.pages_per_block(), {std::max(now, log.last_end), {leaving.cause, leaving.id}});
    if (!copied) return std::unexpected(copied.error());
    if (copied->target_failed) {
        log.sealed = true;
        pool_.set_failing(log.block);
        return false;
    }
    leaving.ready = std::max({leaving.ready, log.last_end, copied->end});
    leaving.copies = copied->copies;
    ++(copied->copies == 0 ? counted_.switches : counted_.partial);
    install(home, log.block, leaving);
    return true;
}

/// Full merge.
FtlResult<void> MergeFtl::gather(LogicalBlock home, SimTime now, Leaving& leaving) {
    for (;;) {
        const auto taken = take_block(plane_for(home.value()), {now, {leaving.cause, leaving.id}});
        if (!taken) return std::unexpected(taken.error());
        const auto copied = copy_mapped(home, taken->block, 0, map_.pages_per_block(), {taken->ready, {leaving.cause, leaving.id}});
        if (!copied) return std::unexpected(copied.error());
        if (copied->target_failed) { // nothing names it: lost at once, the sources are as they were
            pool_.set_failing(taken->block);
            role_[taken->block.value()] = Role::lost;
            if (auto lost = pool_.give_back(taken->block, {copied->end, {leaving.cause, leaving.id}}); !lost) return std::unexpected(lost.error());
            continue;
        }
        leaving.ready = std::max(leaving.ready, copied->end);
        leaving.copies = copied->copies;
        ++counted_.full;
        install(home, taken->block, leaving);
        return {};
    }
}

/// In page order, one after the other: the controller has one page of room. A page that cannot be read is skipped: it stays mapped, reads of it go on
/// failing, and nothing else does.
FtlResult<MergeFtl::Copied> MergeFtl::copy_mapped(LogicalBlock home, BlockId to, std::uint32_t from, std::uint32_t until, const Io& io) {
    Copied done{io.when, 0, false};
    for (std::uint32_t o = map_.next_mapped(home, from); o < until;) {
        // Neighbours that lie side by side are one run.
        const Ppn source = *locate(map_.page_of(home, o));
        std::uint32_t next = std::min(map_.end_of_data(home, o), until);
        if (next == o)
            for (++next;
                 next < until && map_.is_logged(map_.page_of(home, next)) && *locate(map_.page_of(home, next)) == Ppn{source.value() + next - o};)
                ++next;
        const std::uint32_t pages = next - o;
        next = map_.next_mapped(home, next);
        const CopiedRun run = array_.copy_run(source, array_.geometry().page_of(to, o), pages, io.at(done.end));
        done.end = run.done;
        done.copies += run.pages;
        if (!run.failed) {
            o = next;
            continue;
        }
        const std::uint32_t failed = o + run.pages;
        if (run.failed->kind == NandErrorKind::host_io) return std::unexpected(fail(*run.failed, map_.page_of(home, failed)));
        done.end = run.failed->done;
        if (run.failed->kind == NandErrorKind::program_failed) {
            done.target_failed = true;
            break;
        }
        lost_.insert_or_assign(map_.page_of(home, failed), array_.geometry().page_of(to, failed));
        o = map_.next_mapped(home, failed + 1);
    }
    counters_.gc_page_copies += done.copies;
    return done;
}

FtlResult<bool> MergeFtl::fill_in_place(LogSlot slot, std::uint32_t from, std::uint32_t to, SimTime now) {
    LogBlock& log = logs_.at(slot);
    Leaving job = new_job(now, Cause::merge); // of which nothing leaves
    const auto copied = copy_mapped(*log.home, log.block, from, to, {std::max({now, log.ready, log.last_end}), {job.cause, job.id}});
    if (!copied) return std::unexpected(copied.error());
    job.ready = copied->end;
    job.copies = copied->copies;
    job.victim = log.block;
    tell(job);
    if (copied->target_failed) {
        log.sealed = true;
        pool_.set_failing(log.block);
        return false;
    }
    for (std::uint32_t o = map_.next_mapped(*log.home, from); o < to; o = map_.next_mapped(*log.home, o + 1))
        adopt(map_.page_of(*log.home, o), slot, o);
    log.next = to;
    log.last_end = std::max(log.last_end, copied->end);
    durable_at_ = std::max(durable_at_, copied->end);
    return true;
}

/// From here on `target` is the data block; what it replaces leaves.
void MergeFtl::install(LogicalBlock home, std::optional<BlockId> target, Leaving& leaving) {
    const auto old = map_.data_block(home);
    for (std::uint32_t o = map_.next_logged(home, 0); o < map_.pages_per_block(); o = map_.next_logged(home, o + 1)) {
        logs_.drop(map_.page_of(home, o));
        map_.clear_logged(map_.page_of(home, o));
    }
    map_.set_data_block(home, target);
    if (target) {
        leaving.victim = *target;
        role_[target->value()] = Role::data;
        owner_[target->value()] = home.value();
    }
    encode_moved(changes_, home, target, WriteSequence{next_sequence_}, map_);
    while (const auto slot = logs_.of_home(home)) {
        if (logs_.at(*slot).block == target)
            logs_.close(*slot);
        else
            close_log(*slot, leaving);
    }
    if (old && old != target) leave(*old, leaving);
}

void MergeFtl::close_log(LogSlot slot, Leaving& leaving) {
    const BlockId block = logs_.at(slot).block;
    encode_log_closed(changes_, block);
    logs_.close(slot);
    leave(block, leaving);
}

void MergeFtl::leave(BlockId block, Leaving& leaving) {
    role_[block.value()] = Role::leaving;
    leaving_blocks_.push_back(block);
    if (leaving.blocks == 0) leaving.victim = block;
    ++leaving.blocks;
    ++blocks_left_;
}

void MergeFtl::push(Leaving leaving) {
    leaving.bytes = changes_.size() - leaving_bytes_;
    leaving_bytes_ = changes_.size();
    tell(leaving);
    leaving_.push_back(leaving);
}

MergeFtl::Leaving MergeFtl::new_job(SimTime now, Cause cause) {
    return {.ready = std::max(now, durable_at_), .start = now, .id = events_.next_id(), .cause = cause};
}

void MergeFtl::tell(const Leaving& job) {
    if (job.blocks + job.copies == 0 || !events_.wants(EventLevel::all)) return;
    events_.on(GcJobEvent{job.id, job.start, job.ready, GroupId{0}, job.victim, job.copies, job.cause});
}

FtlResult<void> MergeFtl::merge_homes_of(LogSlot slot, SimTime now, Cause cause) {
    const std::uint64_t copied = counters_.gc_page_copies;
    std::uint32_t homes = 0;
    if (logs_.at(slot).live != 0 && ghost_)
        for (std::uint32_t page = 0; page < map_.pages_per_block(); ++page)
            if (const auto lpn = logs_.live_page(slot, page)) ghost_->evicted(lpn->value());
    const std::uint32_t live = logs_.at(slot).live;
    for (std::uint32_t page = 0; page < map_.pages_per_block(); ++page) {
        const auto lpn = logs_.live_page(slot, page);
        if (!lpn) continue;
        if (auto merged = merge(map_.block_of(*lpn), now, cause); !merged) return merged;
        ++homes;
    }
    if (homes != 0) shared_reclaims_.pages_a_home.add(static_cast<double>(live) / homes);
    shared_reclaims_.homes.add(homes);
    shared_reclaims_.copies.add(static_cast<double>(counters_.gc_page_copies - copied));
    return {};
}

FtlResult<void> MergeFtl::reclaim(LogSlot slot, SimTime now, Cause cause) {
    ++counters_.gc_jobs;
    if (const auto home = logs_.at(slot).home) {
        if (curve_) curve_->merged_for_all(*home);
        return merge(*home, now, cause);
    }
    if (auto merged = merge_homes_of(slot, now, cause); !merged) return merged;
    Leaving leaving = new_job(now, cause);
    close_log(slot, leaving);
    push(leaving);
    return {};
}

} // namespace flashlab
