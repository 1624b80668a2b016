#include "ftl/blocks/collector.h"

#include <algorithm>

namespace flashlab {

Collector::Collector(const PageBlocksConfig& config, BlockLedger& ledger, Frontiers& frontiers, RowProgrammer& rows, NandArray& array,
                     EventSink& events, PageOwner& owner, std::unique_ptr<VictimPolicy> policy, const SeparationPolicy* separation)
    : config_{config}, ledger_{ledger}, frontiers_{frontiers}, rows_{rows}, array_{array}, events_{events}, owner_{owner}, policy_{std::move(policy)},
      separation_{separation}, jobs_(config.groups),
      folder_free_(config.cache.fold_page == Duration{0} ? 0 : array.geometry().config().channels, sim_start) {
    ensure(policy_ != nullptr, "there is a victim policy");
}

std::optional<BlockId> Collector::choose_victim(GroupId group, std::uint32_t first_kind) const {
    const Geometry& g = array_.geometry();
    std::optional<Victim> best;
    std::optional<BlockId> on_shortest;
    std::uint32_t fewest = ~0u;
    std::uint32_t most = 0;
    const std::uint32_t end = config_.main_kinds();
    for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) {
        const PlaneId plane = g.plane_at(ledger_.die_of(group), p);
        const std::uint32_t free = ledger_.free().count(plane);
        most = std::max(most, free);
        std::optional<Victim> here;
        for (std::uint32_t kind = first_kind; kind < end; ++kind) {
            const auto victim = policy_->choose(ledger_.full(kind), plane);
            if (victim && (!here || victim->score < here->score)) here = victim;
        }
        if (!here) continue;
        if (!best || here->score < best->score) best = here;
        if (free < fewest) {
            fewest = free;
            on_shortest = here->block;
        }
    }
    // A plane that falls behind narrows every superblock: its own best victim goes first. With word lines, which lose a plane's share of their time,
    // where it is one behind, too, unless its victim is dearer: on a drive of few blocks that costs more than it gains.
    const ValidMap& valid = ledger_.valid();
    const auto is_as_cheap = [&] {
        return !policy_->minds_copies() || valid.count(*on_shortest) <= valid.count(best->block) + ledger_.units().units_per_block() / 64;
    };
    if (on_shortest && (most >= fewest + 2 || (rows_.takes_lines() && most > fewest && is_as_cheap()))) return on_shortest;
    return best ? std::optional{best->block} : std::nullopt;
}

void Collector::start(Job& job, BlockId victim, bool retire, SimTime now, Cause cause) {
    ensure(!job.victim, "one collection at a time");
    ledger_.unlist(victim);
    if (cause == Cause::gc && ledger_.is_lent(victim)) cause = Cause::fold; // its space is needed
    job = Job{.victim = victim,
              .retire = retire || array_.is_bad(victim) || is_failing(victim), // a room that is made of it would fail again
              .start = now,
              .last_end = now,
              .next_slice = now,
              .id = events_.next_id(),
              .cause = cause,
              .pages = array_.pages_in(victim)};
    job.into.set(config_.copies_to(ledger_.kind_of(victim)));
}

/// The collection is given up; the victim stays as it is.
void Collector::drop(Job& job) {
    const BlockId victim = *job.victim;
    if (job.copied != 0) tell(job, job.last_end, ledger_.frontier_of(victim));
    job.victim.reset();
    if (!ledger_.is_pinned(victim)) ledger_.relist(victim);
}

void Collector::give_up(GroupId group) {
    Jobs& jobs = jobs_[group.value()];
    drop_beside(group);
    for (Job* job : {&jobs.job, &jobs.inner, &jobs.fold})
        if (job->victim) drop(*job);
}

FtlResult<Collector::JobEnd> Collector::run(Job& job, SimTime now, Slice slice, std::uint32_t keep_free) {
    const BlockId victim = *job.victim;
    const UnitGeometry& units = ledger_.units();
    const bool takes_lines = rows_.takes_lines();
    const bool looks_ahead = !array_.keeps_payload() && !takes_lines; // with payload the copies themselves take longer than a miss
    for (const std::uint32_t before = job.made;;) {
        job.next = ledger_.valid().next_set(victim, job.next);
        if (job.next == units.units_per_block()) break;
        if (job.last_end >= slice.until || job.made - before >= slice.copies) {
            job.ahead = job.made - before - std::min(job.made - before, slice.copies);
            return JobEnd::paused;
        }
        if (takes_lines && &job == &jobs_of(victim).job) start_beside(ledger_.group_of(victim), now);
        if (slice.in_lines && left_of(ledger_.group_of(victim)) < rows_.most_at_once()) return JobEnd::paused;
        if (looks_ahead) look_ahead(victim, job.next + 1);
        const UnitId from = units.unit_at(victim, job.next);
        const auto copied = takes_lines ? copy_line(job, from, now, keep_free) : copy_unit(job, from, now, keep_free);
        if (copied && *copied == JobEnd::finished) continue;
        const GroupId group = ledger_.group_of(victim);
        if (&job == &jobs_[group.value()].job) drop_beside(group);
        drop(job);
        return copied;
    }
    const auto done = finish(job, now);
    if (!done) return std::unexpected(done.error());
    go_on_beside(job, ledger_.group_of(victim));
    return JobEnd::finished;
}

/// The mapping of the unit that is copied next is on its way while this one is.
void Collector::look_ahead(BlockId victim, std::uint32_t from) const {
    const UnitGeometry& units = ledger_.units();
    const std::uint32_t next = ledger_.valid().next_set(victim, from);
    if (next == units.units_per_block()) return;
    const auto known = array_.inspect_oob(units.page_of(units.unit_at(victim, next), 0));
    if (known && known->oob) owner_.prefetch(known->oob->lpn);
}

SimTime Collector::fold_from(BlockId victim, std::size_t units, SimTime now) {
    const Geometry& g = array_.geometry();
    SimTime& free = folder_free_[g.channel_of(g.chip_of(ledger_.die_of(ledger_.group_of(victim)))).value()];
    const SimTime from = std::max(now, free);
    free = from + config_.cache.fold_page * static_cast<std::int64_t>(units);
    return from;
}

/// finished: copied; no_room; unreadable: the unit cannot be read and its block stays.
FtlResult<Collector::JobEnd> Collector::copy_unit(Job& job, UnitId from, SimTime now, std::uint32_t keep_free) {
    const BlockId victim = *job.victim;
    const GroupId group = ledger_.group_of(victim);
    const FrontierId wished = frontier_for_copy(victim, from);
    if (job.cause == Cause::fold && !folder_free_.empty()) now = fold_from(victim, 1, now);
    for (;;) {
        const auto frontier = room_for_copy(group, wished, now, keep_free);
        if (!frontier) return std::unexpected(frontier.error());
        if (!*frontier) return JobEnd::no_room;
        OpenSuperblock& set = frontiers_.open(group, **frontier);
        const OpenColumn column = set.columns[set.column()];
        const UnitId to = ledger_.units().unit_at(column.block, set.row());
        const auto made = program_copy(set, from, to, config_.stream_of(wished), {now, {job.cause, job.id}});
        if (!made) [[unlikely]] {
            const auto again = failed_copy(made.error(), group, **frontier, victim);
            if (!again) return std::unexpected(again.error());
            if (*again) continue;
            return JobEnd::unreadable;
        }
        note_copy(job, set, made->oob, from, to, column, made->done);
        ++job.made;
        ++set.next;
        return JobEnd::finished;
    }
}

FtlResult<bool> Collector::failed_copy(const NandError& error, GroupId group, FrontierId frontier, BlockId victim) {
    if (error.kind == NandErrorKind::host_io) return std::unexpected(ledger_.fail(error, Lpn{0}));
    if (error.kind == NandErrorKind::program_failed) {
        note_failed(array_.geometry().block_of(error.page));
        frontiers_.retire_open(group, frontier);
        return true;
    }
    ledger_.pin(victim); // cannot be read: reads of it go on failing, nothing else does
    return false;
}

/// Of a drive with streams. The controller has read the page, and knows from its spare bytes which one it is, before it programs the copy.
FrontierId Collector::frontier_by_policy(BlockId victim, UnitId from) const {
    const std::uint32_t kind = config_.copies_to(ledger_.kind_of(victim));
    if (kind != 0) return FrontierId{kind};
    const auto known = array_.inspect_oob(ledger_.units().page_of(from, 0));
    return known && known->oob ? config_.frontier_of_stream(separation_->stream_of_copy(known->oob->lpn, known->oob->stream)) : host_frontier;
}

FtlResult<std::optional<FrontierId>> Collector::open_for_copy(GroupId group, FrontierId wished, SimTime now, std::uint32_t keep_free) {
    frontiers_.retire_open(group, wished);
    do {
        SimTime failed_at = now;
        // One block stays back where it can: a program that fails in the new superblock must find another.
        if (frontiers_.open_superblock(group, wished, now, std::max(keep_free, ledger_.free_in(group) >= 2 ? 1u : 0u), failed_at)) return wished;
        if (ledger_.is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, failed_at});
    } while (ledger_.free_in(group) > keep_free);
    return frontiers_.other_with_room(group, wished);
}

/// Answers with the unit's last page.
std::expected<CopiedPage, NandError> Collector::program_copy(const OpenSuperblock& set, UnitId from, UnitId to, StreamId stream, const Io& io) {
    const UnitGeometry& units = ledger_.units();
    const SimTime at = std::max(io.when, set.ready);
    const auto copy = [&](std::uint32_t p) {
        return array_.copy_as(units.page_of(from, p), units.page_of(to, p), {config_.stamps_pages ? set.stamp : p, stream}, io.at(at));
    };
    auto copied = copy(0); // the one object that is returned: no copy of it waits for its fields (nand/copy_fields.h)
    SimTime done = io.when;
    for (std::uint32_t p = 1; copied && p < units.pages_per_unit(); ++p) {
        done = std::max(done, copied->done);
        copied = copy(p);
    }
    if (copied) copied->done = std::max(done, copied->done);
    return copied;
}

/// No valid unit is left: the scheme forgets the victim once every newer version is durable, then it is erased.
FtlResult<SimTime> Collector::finish(Job& job, SimTime now) {
    const BlockId victim = *job.victim;
    ensure(ledger_.valid().count(victim) == 0, "a victim is erased when nothing in it is valid");
    const SimTime at = std::max({now, job.last_end, ledger_.settled_at(victim)});
    ++under_way_;
    const auto forgotten = owner_.forget(victim, job.retire ? BlockFate::retired : BlockFate::erased, at, job.id);
    --under_way_;
    if (!forgotten) {
        drop(job);
        return std::unexpected(forgotten.error());
    }
    const FrontierId of_victim = ledger_.frontier_of(victim); // given back it is of none
    const auto done = give_back(job, *forgotten);
    if (done) tell(job, *done, of_victim);
    job.victim.reset();
    if (!done) return done;
    // The copies may have taken the last free block: until the victim is forgotten, no host page may make them worth it (ftl/DESIGN-pages.md,
    // "Reserve").
    for (const FrontierId i : ids<FrontierId>(frontiers_.count())) {
        if (!job.into[i.value()]) continue;
        OpenSuperblock& open = frontiers_.open(ledger_.group_of(victim), i);
        open.ready = std::max(open.ready, *forgotten);
    }
    return done;
}

/// Counts the job, too. One that was given up is told if it has copied: its copies name it.
void Collector::tell(const Job& job, SimTime end, FrontierId of_victim) {
    ++jobs_made_;
    if (job.copied != 0 && config_.kind_of(of_victim) == 0)
        ledger_.note_placement({PlacementEvent::Kind::media_moved, end, config_.stream_of(of_victim), job.copied});
    if (!events_.wants(EventLevel::all)) return;
    events_.on(GcJobEvent{job.id, job.start, end, ledger_.group_of(*job.victim), *job.victim, job.copied * ledger_.units().pages_per_unit(),
                          job.cause, job.pages});
}

FtlResult<SimTime> Collector::give_back(Job& job, SimTime forgotten) {
    const BlockId victim = *job.victim;
    SimTime done = forgotten;
    if (!job.retire) {
        const bool stays =
            config_.has_cache() && (ledger_.is_cache(victim) || can_lend(ledger_.group_of(victim))); // erased as who takes it next will want it
        const auto erased = array_.erase_as(victim, stays ? config_.cache.mode : array_.media().own(), {forgotten, {job.cause, job.id}});
        ledger_.count_erase(victim, erased);
        if (erased || erased.error().kind == NandErrorKind::host_io) {
            ledger_.set_free(victim, forgotten, erased);
            if (!erased) return std::unexpected(ledger_.fail(erased.error(), Lpn{0}));
            return *erased;
        }
        done = owner_.condemned(victim, erased.error().done, job.id);
    }
    const auto marked = array_.mark_bad(victim, done);
    if (!marked) return std::unexpected(ledger_.fail(marked.error(), Lpn{0}));
    ledger_.lose(victim);
    return done;
}

FtlResult<SimTime> Collector::collect_now(BlockId victim, bool retire, SimTime now, Cause cause) {
    const GroupId group = ledger_.group_of(victim);
    Job& job = job_for(victim);
    if (jobs_[group.value()].inner.victim == victim) drop(jobs_[group.value()].inner);
    drop_beside(group);
    for (;;) {
        if (job.victim && job.victim != victim) drop(job);
        if (job.victim)
            job.retire = job.retire || retire;
        else
            start(job, victim, retire, now, cause);
        const auto end = run(job, now, {}, keeps_free(victim));
        if (!end) return std::unexpected(end.error());
        if (*end != JobEnd::no_room) break;
        const auto gained = ledger_.is_cache(victim) ? gain_for_fold(group, now) : compact(group, now, cause);
        if (!gained) return std::unexpected(gained.error());
        if (!*gained) break;
    }
    return std::max(now, frontiers_.last_end(group, config_.copies_to(ledger_.kind_of(victim))));
}

/// Folded pages take the room of data as new pages do: true when a collection has made some.
FtlResult<bool> Collector::gain_for_fold(GroupId group, SimTime now) {
    const auto collected = collect_for_host(group, host_frontier, now);
    if (!collected) return std::unexpected(collected.error());
    return ledger_.free_in(group) > frontiers_.writes_keep_free(host_frontier) || frontiers_.open(group, host_frontier).has_room();
}

FtlResult<SimTime> Collector::retire_failed(SimTime now) {
    if (is_under_way()) return now; // whoever called the outermost collection comes here when it has ended
    SimTime done = now;
    while (!failed_.empty()) {
        const BlockId block = failed_.back();
        failed_.pop_back();
        if (!frontiers_.close_holder(block, now)) continue; // collected meanwhile: it fails again when it is used again
        const auto moved = collect_now(block, true, now, ledger_.is_cache(block) ? Cause::fold : Cause::gc);
        if (!moved) return std::unexpected(moved.error());
        done = std::max(done, *moved);
    }
    return done;
}

FtlResult<SimTime> Collector::relocate(BlockId block, SimTime now, Cause cause) {
    if (ledger_.is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, now});
    if (ledger_.state(block) == BlockLedger::State::outside || ledger_.is_cache(block)) return now;
    if (!frontiers_.close_holder(block, now)) return now;
    // The group's own collection first: given up half-way again and again it falls behind, and the drive's dies drift apart.
    if (Job& job = job_for(block); job.victim && job.victim != block) {
        if (const auto ended = run(job, now, {}, keeps_free(*job.victim)); !ended) return std::unexpected(ended.error());
        if (ledger_.state(block) != BlockLedger::State::data) return now;
    }
    return collect_now(block, false, now, cause);
}

std::vector<BlockId> Collector::victims() const {
    std::vector<BlockId> out;
    for (const Jobs& jobs : jobs_)
        for (const Job* job : {&jobs.job, &jobs.inner, &jobs.fold})
            if (job->victim) out.push_back(*job->victim);
    for (const Jobs& jobs : jobs_)
        for (const Job& job : jobs.beside) out.push_back(*job.victim);
    return out;
}

} // namespace flashlab
