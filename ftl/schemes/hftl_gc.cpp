/// hFTL's garbage collection: copy what is valid out of a victim, make PRAM forget the victim, erase it.
#include <algorithm>

#include "ftl/schemes/hftl.h"

namespace flashlab {

std::optional<BlockId> Hftl::choose_victim(const Group& group) const {
    const Geometry& g = array_.geometry();
    std::optional<BlockId> cheapest;
    std::optional<BlockId> on_shortest;
    std::uint32_t fewest = ~0u;
    std::uint32_t most = 0;
    for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) {
        const PlaneId plane = g.plane_at(group.die, p);
        const std::uint32_t free = free_.count(plane);
        most = std::max(most, free);
        const auto victim = policy_.choose(full_, plane);
        if (!victim || valid_.count(*victim) == units_.units_per_block()) continue;
        if (!cheapest || valid_.count(*victim) < valid_.count(*cheapest)) cheapest = victim;
        if (free < fewest) {
            fewest = free;
            on_shortest = victim;
        }
    }
    // A plane that falls behind narrows every superblock: its own best victim goes first.
    return on_shortest && most >= fewest + 2 ? on_shortest : cheapest;
}

void Hftl::start_job(Group& group, BlockId victim, bool retire, SimTime now) {
    ensure(!group.job.victim, "one collection a group");
    if (full_.contains(victim)) full_.remove(victim);
    group.job = Job{victim, retire || array_.is_bad(victim), 0, now, now, now, 0, events_.next_id()};
}

/// The collection is given up; the victim stays as it is.
void Hftl::drop_job(Group& group) {
    const BlockId victim = *group.job.victim;
    group.job.victim.reset();
    if (pinned_[victim.value()] == 0) full_.add(victim, valid_.count(victim));
}

FtlResult<bool> Hftl::run_job(Group& group, SimTime now, SimTime until, std::uint32_t keep_free) {
    Job& job = group.job;
    const BlockId victim = *job.victim;
    for (;;) {
        job.next = valid_.next_set(victim, job.next);
        if (job.next == units_.units_per_block()) break;
        if (job.last_end >= until) return false;
        const auto copied = copy_unit(group, units_.unit_at(victim, job.next), now, keep_free);
        if (!copied) {
            drop_job(group);
            return std::unexpected(copied.error());
        }
        if (!*copied) {
            drop_job(group);
            return false;
        }
    }
    const auto done = finish_job(group, now);
    if (!done) return std::unexpected(done.error());
    return true;
}

/// False: no room, or the unit cannot be read and its block stays.
FtlResult<bool> Hftl::copy_unit(Group& group, UnitId from, SimTime now, std::uint32_t keep_free) {
    Job& job = group.job;
    for (;;) {
        if (!group.open.has_room()) {
            retire_open(group);
            SimTime failed_at = now;
            // One block stays back where it can: a program that fails in the new superblock must find another.
            if (!open_superblock(group, now, std::max(keep_free, free_in(group) >= 2 ? 1u : 0u), failed_at)) {
                if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, failed_at});
                if (free_in(group) > keep_free) continue;
                return false;
            }
        }
        OpenSuperblock& set = group.open;
        const OpenColumn column = set.columns[set.column()];
        const UnitId to = units_.unit_at(column.block, set.row());
        SimTime end = now;
        std::optional<NandError> error;
        for (std::uint32_t p = 0; p < units_.pages_per_unit() && !error; ++p) {
            const auto copied = array_.copy(units_.page_of(from, p), units_.page_of(to, p), std::max(now, set.ready), {Cause::gc, job.id});
            if (copied) end = std::max(end, *copied);
            else error = copied.error();
        }
        if (error && error->kind == NandErrorKind::program_failed) {
            failed_.push_back(column.block);
            retire_open(group);
            continue;
        }
        if (error && error->kind != NandErrorKind::host_io) { // cannot be read: reads of it go on failing, nothing else does
            pinned_[units_.block_of(from).value()] = 1;
            return false;
        }
        if (error) return std::unexpected(fail(*error, Lpn{0}));
        // The logical page comes with the page that was just read; asking the cells again costs no simulated time.
        const auto copy = array_.inspect_oob(units_.page_of(to, 0));
        if (!copy) return std::unexpected(fail(copy.error(), Lpn{0}));
        ensure(copy->oob.has_value(), "a page copied intact has an OOB");
        adopt(group, copy->oob->lpn, to, column.slot, end);
        ++set.next;
        set.last_end = std::max(set.last_end, end);
        job.last_end = std::max(job.last_end, end);
        ++job.copied;
        counters_.gc_page_copies += units_.pages_per_unit();
        return true;
    }
}

/// No valid unit is left: PRAM forgets the victim once every newer version is durable, then it is erased.
FtlResult<SimTime> Hftl::finish_job(Group& group, SimTime now) {
    Job& job = group.job;
    const BlockId victim = *job.victim;
    ensure(valid_.count(victim) == 0, "a victim is erased when nothing in it is valid");
    SimTime at = std::max({now, job.last_end, settled_at_[victim.value()]});
    const ValidMap& bits = tables_.bits();
    for (std::uint32_t i = bits.next_set(victim, 0); i < units_.units_per_block(); i = bits.next_set(victim, i + 1)) {
        const auto lpn = overlay_.stale_lpn(units_.unit_at(victim, i));
        ensure(lpn.has_value(), "a committed unit that is not valid is stale");
        const Group& target = group_of(units_.block_of(*overlay_.current(*lpn)));
        at = std::max({at, target.open.last_end, target.closing.last_end});
    }
    tables_.begin(at, job.id);
    for (std::uint32_t i = bits.next_set(victim, 0); i < units_.units_per_block(); i = bits.next_set(victim, i + 1)) {
        const UnitId old = units_.unit_at(victim, i);
        const Lpn lpn = *overlay_.stale_lpn(old);
        tables_.map(lpn, *overlay_.current(lpn));
        overlay_.drop_stale(old);
    }
    tables_.set_state(victim, job.retire ? HftlBlockState::bad : HftlBlockState::garbage);
    const SimTime forgotten = tables_.commit();
    SimTime done = forgotten;
    if (job.retire) {
        const auto marked = array_.mark_bad(victim);
        if (!marked) return std::unexpected(fail(marked.error(), Lpn{0}));
        lose_block(victim);
    } else if (const auto erased = array_.erase(victim, forgotten, {Cause::gc, job.id})) {
        done = *erased;
        settled_at_[victim.value()] = done;
        free_.add_erased(victim);
    } else if (erased.error().kind == NandErrorKind::host_io) {
        job.victim.reset();
        free_.add_garbage(victim);
        return std::unexpected(fail(erased.error(), Lpn{0}));
    } else {
        tables_.begin(erased.error().done, job.id);
        tables_.set_state(victim, HftlBlockState::bad);
        done = tables_.commit();
        const auto marked = array_.mark_bad(victim);
        if (!marked) return std::unexpected(fail(marked.error(), Lpn{0}));
        lose_block(victim);
    }
    // The copies may have taken the last free block: until PRAM has forgotten the victim, no host page may make them worth keeping (DESIGN.md, "Reserve").
    group.open.ready = std::max(group.open.ready, forgotten);
    ++counters_.gc_jobs;
    if (events_.wants(EventLevel::all)) events_.on(GcJobEvent{job.id, job.start, done, GroupId{group.die.value()}, victim, job.copied, Cause::gc});
    job.victim.reset();
    return done;
}

FtlResult<SimTime> Hftl::collect_now(Group& group, BlockId victim, bool retire, SimTime now) {
    if (group.job.victim && group.job.victim != victim) drop_job(group);
    if (group.job.victim) group.job.retire = group.job.retire || retire;
    else start_job(group, victim, retire, now);
    const auto run = run_job(group, now, sim_never, 0);
    if (!run) return std::unexpected(run.error());
    return std::max(now, group.open.last_end);
}

/// Blocks whose program failed: what is valid in them moves, then they are marked bad.
FtlResult<SimTime> Hftl::retire_failed(SimTime now) {
    SimTime done = now;
    while (!failed_.empty()) {
        const BlockId block = failed_.back();
        failed_.pop_back();
        Group& group = group_of(block);
        const auto holds = [block](const OpenSuperblock& set) { return std::ranges::any_of(set.columns, [&](const OpenColumn& c) { return c.block == block; }); };
        if (holds(group.open)) retire_open(group);
        if (holds(group.closing)) close(group, now);
        if (tables_.state(block) != HftlBlockState::data || pinned_[block.value()] != 0) continue; // collected meanwhile: it fails again when it is used again
        const auto moved = collect_now(group, block, true, now);
        if (!moved) return std::unexpected(moved.error());
        done = std::max(done, *moved);
    }
    return done;
}

FtlResult<SimTime> Hftl::relocate(BlockId block, SimTime now) {
    ensure(recovered_, "recover() comes first");
    if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, now});
    Group& group = group_of(block);
    const auto in = [block](const OpenSuperblock& set) { return std::ranges::any_of(set.columns, [&](const OpenColumn& c) { return c.block == block; }); };
    if (in(group.open)) retire_open(group);
    if (in(group.closing)) close(group, now);
    if (tables_.state(block) != HftlBlockState::data || pinned_[block.value()] != 0) return now;
    return collect_now(group, block, false, now);
}

SimTime Hftl::idle(SimTime now) {
    if (read_only_ || !recovered_) return sim_never;
    SimTime next = sim_never;
    for (Group& g : groups_) next = std::min(next, idle_group(g, now));
    return next;
}

SimTime Hftl::idle_group(Group& group, SimTime now) {
    close_due(group, now);
    const SimTime close_at = group.closing.is_active() ? close_ready(group.closing) : sim_never;
    const std::uint32_t planes = array_.geometry().planes_per_die();
    if (!group.job.victim) {
        if (free_in(group) > planes + host_keeps_free) return close_at;
        const auto victim = choose_victim(group);
        // In the background only what frees a quarter of a block is worth its wear.
        if (!victim || valid_.count(*victim) * 4 > units_.units_per_block() * 3) return close_at;
        start_job(group, *victim, false, now);
    }
    if (group.job.next_slice > now) return std::min(close_at, group.job.next_slice);
    const auto run = run_job(group, now, now + std::chrono::microseconds{config_.gc_slice_us}, host_keeps_free);
    if (!run || !failed_.empty()) {
        if (run && !retire_failed(now)) return close_at;
        return read_only_ ? sim_never : std::min(close_at, now + std::chrono::microseconds{config_.gc_slice_us});
    }
    if (!group.job.victim) return *run ? std::min(close_at, now + std::chrono::microseconds{config_.gc_slice_us}) : close_at;
    group.job.next_slice = std::max(group.job.last_end, now);
    return std::min(close_at, group.job.next_slice);
}

} // namespace flashlab
