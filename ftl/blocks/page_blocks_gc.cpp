/// Garbage collection of a page-mapping scheme: copy what is valid out of a victim, have the scheme forget the victim, erase it.
#include <algorithm>

#include "ftl/blocks/page_blocks.h"

namespace flashlab {

std::optional<BlockId> PageBlocks::choose_victim(const Group& group, std::uint32_t first_frontier) const {
    const Geometry& g = units_.geometry();
    std::optional<Victim> best;
    std::optional<BlockId> on_shortest;
    std::uint32_t fewest = ~0u;
    std::uint32_t most = 0;
    for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) {
        const PlaneId plane = g.plane_at(group.die, p);
        const std::uint32_t free = free_.count(plane);
        most = std::max(most, free);
        std::optional<Victim> here;
        for (std::uint32_t f = first_frontier; f < frontiers(); ++f) {
            const auto victim = policy_->choose(full_[f], plane);
            if (victim && (!here || victim->score < here->score)) here = victim;
        }
        if (!here) continue;
        if (!best || here->score < best->score) best = here;
        if (free < fewest) {
            fewest = free;
            on_shortest = here->block;
        }
    }
    // A plane that falls behind narrows every superblock: its own best victim goes first.
    if (on_shortest && most >= fewest + 2) return on_shortest;
    return best ? std::optional{best->block} : std::nullopt;
}

void PageBlocks::start_job(Job& job, BlockId victim, bool retire, SimTime now) {
    ensure(!job.victim, "one collection at a time");
    FullBlocks& full = full_of(victim);
    if (full.contains(victim)) full.remove(victim);
    job = Job{victim, retire || array_.is_bad(victim), 0, now, now, now, 0, events_.next_id(), collecting_as_};
}

/// The collection is given up; the victim stays as it is.
void PageBlocks::drop_job(Job& job) {
    const BlockId victim = *job.victim;
    if (job.copied != 0) tell(job, job.last_end);
    job.victim.reset();
    if (pinned_[victim.value()] == 0) list_full(victim);
}

FtlResult<PageBlocks::JobEnd> PageBlocks::run_job(Group& group, Job& job, SimTime now, Slice slice, std::uint32_t keep_free) {
    const BlockId victim = *job.victim;
    for (const std::uint32_t before = job.copied;;) {
        job.next = valid_.next_set(victim, job.next);
        if (job.next == units_.units_per_block()) break;
        if (job.last_end >= slice.until || job.copied - before >= slice.copies) return JobEnd::paused;
        look_ahead(victim, job.next + 1);
        const auto copied = copy_unit(group, job, units_.unit_at(victim, job.next), now, keep_free);
        if (copied && *copied == JobEnd::finished) continue;
        drop_job(job);
        return copied;
    }
    const auto done = finish_job(group, job, now);
    if (!done) return std::unexpected(done.error());
    return JobEnd::finished;
}

/// The mapping of the unit that is copied next is on its way while this one is. With payload the copies themselves take longer than a miss.
void PageBlocks::look_ahead(BlockId victim, std::uint32_t from) const {
    if (array_.keeps_payload()) return;
    const std::uint32_t next = valid_.next_set(victim, from);
    if (next == units_.units_per_block()) return;
    const auto known = array_.inspect_oob(units_.page_of(units_.unit_at(victim, next), 0));
    if (known && known->oob) owner_.prefetch(known->oob->lpn);
}

/// finished: copied; no_room; unreadable: the unit cannot be read and its block stays.
FtlResult<PageBlocks::JobEnd> PageBlocks::copy_unit(Group& group, Job& job, UnitId from, SimTime now, std::uint32_t keep_free) {
    const std::uint32_t frontier = frontier_of_[units_.block_of(from).value()];
    OpenSuperblock& set = group.frontiers[frontier].open;
    for (;;) {
        if (!set.has_room()) {
            retire_open(group, frontier);
            SimTime failed_at = now;
            // One block stays back where it can: a program that fails in the new superblock must find another.
            if (!open_superblock(group, frontier, now, std::max(keep_free, free_in(group) >= 2 ? 1u : 0u), failed_at)) {
                if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, failed_at});
                if (free_in(group) > keep_free) continue;
                return JobEnd::no_room;
            }
        }
        const OpenColumn column = set.columns[set.column()];
        const UnitId to = units_.unit_at(column.block, set.row());
        SimTime end = now;
        PageOob oob;
        std::optional<NandError> error;
        for (std::uint32_t p = 0; p < units_.pages_per_unit() && !error; ++p) {
            const auto copied = array_.copy_as(units_.page_of(from, p), units_.page_of(to, p), config_.stamps_pages ? set.stamp : p, std::max(now, set.ready),
                                               {job.cause, job.id});
            if (!copied) {
                error = copied.error();
                break;
            }
            end = std::max(end, copied->done);
            oob = copied->oob;
        }
        if (error && error->kind == NandErrorKind::program_failed) {
            failed_.push_back(column.block);
            retire_open(group, frontier);
            continue;
        }
        if (error && error->kind != NandErrorKind::host_io) { // cannot be read: reads of it go on failing, nothing else does
            pinned_[units_.block_of(from).value()] = 1;
            return JobEnd::unreadable;
        }
        if (error) return std::unexpected(fail(*error, Lpn{0}));
        invalidate(from, end);
        validate(to);
        owner_.moved(oob, from, to, column, end);
        ++set.next;
        set.last_end = std::max(set.last_end, end);
        job.last_end = std::max(job.last_end, end);
        ++job.copied;
        gc_page_copies_ += units_.pages_per_unit();
        return JobEnd::finished;
    }
}

/// No valid unit is left: the scheme forgets the victim once every newer version is durable, then it is erased.
FtlResult<SimTime> PageBlocks::finish_job(Group& group, Job& job, SimTime now) {
    const BlockId victim = *job.victim;
    ensure(valid_.count(victim) == 0, "a victim is erased when nothing in it is valid");
    const SimTime at = std::max({now, job.last_end, settled_at_[victim.value()]});
    ++jobs_under_way_;
    const auto forgotten = owner_.forget(victim, job.retire ? BlockFate::retired : BlockFate::erased, at, job.id);
    --jobs_under_way_;
    if (!forgotten) {
        drop_job(job);
        return std::unexpected(forgotten.error());
    }
    const auto done = give_back(job, *forgotten);
    if (done) tell(job, *done);
    job.victim.reset();
    if (!done) return done;
    // The copies may have taken the last free block: until the victim is forgotten, no host page may make them worth it (ftl/DESIGN-pages.md, "Reserve").
    OpenSuperblock& open = group.frontiers[frontier_of_[victim.value()]].open;
    open.ready = std::max(open.ready, *forgotten);
    return done;
}

/// Counts the job, too. One that was given up is told if it has copied: its copies name it.
void PageBlocks::tell(const Job& job, SimTime end) {
    ++gc_jobs_;
    if (!events_.wants(EventLevel::all)) return;
    events_.on(GcJobEvent{job.id, job.start, end, GroupId{group_of(*job.victim)}, *job.victim, job.copied, job.cause});
}

FtlResult<SimTime> PageBlocks::give_back(Job& job, SimTime forgotten) {
    const BlockId victim = *job.victim;
    SimTime done = forgotten;
    if (!job.retire) {
        const auto erased = array_.erase(victim, forgotten, {job.cause, job.id});
        count_erase(victim, erased);
        if (erased || erased.error().kind == NandErrorKind::host_io) {
            state_[victim.value()] = BlockState::free;
            forgotten_at_[victim.value()] = forgotten;
            if (!erased) {
                free_.add_garbage(victim);
                return std::unexpected(fail(erased.error(), Lpn{0}));
            }
            settled_at_[victim.value()] = *erased;
            free_.add_erased(victim);
            return *erased;
        }
        done = owner_.condemned(victim, erased.error().done, job.id);
    }
    const auto marked = array_.mark_bad(victim);
    if (!marked) return std::unexpected(fail(marked.error(), Lpn{0}));
    lose_block(victim);
    return done;
}

FtlResult<SimTime> PageBlocks::collect_now(Group& group, BlockId victim, bool retire, SimTime now) {
    Job& job = group.job;
    if (group.inner.victim == victim) drop_job(group.inner);
    for (;;) {
        if (job.victim && job.victim != victim) drop_job(job);
        if (job.victim) job.retire = job.retire || retire;
        else start_job(job, victim, retire, now);
        const auto run = run_job(group, job, now, {}, copies_keep_free(victim));
        if (!run) return std::unexpected(run.error());
        if (*run != JobEnd::no_room) break;
        const auto compacted = compact(group, now);
        if (!compacted) return std::unexpected(compacted.error());
        if (!*compacted) break;
    }
    return std::max(now, group.frontiers[frontier_of_[victim.value()]].open.last_end);
}

FtlResult<SimTime> PageBlocks::retire_failed(SimTime now) {
    if (jobs_under_way_ != 0) return now; // whoever called the outermost collection comes here when it has ended
    SimTime done = now;
    while (!failed_.empty()) {
        const BlockId block = failed_.back();
        failed_.pop_back();
        Group& group = groups_[group_of(block)];
        if (!close_holder(group, block, now)) continue; // collected meanwhile: it fails again when it is used again
        const auto moved = collect_now(group, block, true, now);
        if (!moved) return std::unexpected(moved.error());
        done = std::max(done, *moved);
    }
    return done;
}

FtlResult<SimTime> PageBlocks::relocate(BlockId block, SimTime now) {
    if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, now});
    if (state(block) == BlockState::outside) return now;
    Group& group = groups_[group_of(block)];
    if (!close_holder(group, block, now)) return now;
    collecting_as_ = Cause::wear;
    const auto moved = collect_now(group, block, false, now);
    collecting_as_ = Cause::gc;
    return moved;
}

SimTime PageBlocks::idle(SimTime now) {
    if (read_only_) return sim_never;
    SimTime next = sim_never;
    for (Group& g : groups_) next = std::min(next, idle_group(g, now));
    return next;
}

SimTime PageBlocks::idle_group(Group& group, SimTime now) {
    close_due(group, now);
    SimTime close_at = sim_never;
    for (const Frontier& f : group.frontiers)
        if (f.closing.is_active()) close_at = std::min(close_at, close_ready(f.closing));
    const std::uint32_t planes = units_.geometry().planes_per_die();
    const std::uint32_t keep = writes_keep_free(0);
    const auto slice = std::chrono::microseconds{config_.gc_slice_us};
    if (!group.job.victim) {
        if (free_in(group) > planes + keep) return close_at;
        const auto victim = choose_victim(group, 0);
        // In the background only what frees a quarter of a block is worth its wear.
        if (!victim || valid_.count(*victim) * 4 > units_.units_per_block() * 3) return close_at;
        start_job(group.job, *victim, false, now);
    }
    if (group.job.next_slice > now) return std::min(close_at, group.job.next_slice);
    const auto run = run_job(group, group.job, now, {.until = now + slice}, std::max(keep, copies_keep_free(*group.job.victim)));
    if (!run || !failed_.empty()) {
        if (run && !retire_failed(now)) return close_at;
        return read_only_ ? sim_never : std::min(close_at, now + slice);
    }
    if (!group.job.victim) return *run == JobEnd::finished ? std::min(close_at, now + slice) : close_at;
    group.job.next_slice = std::max(group.job.last_end, now);
    return std::min(close_at, group.job.next_slice);
}

} // namespace flashlab
