/// When blocks are collected, and how much of one at a time.
#include <algorithm>
#include <utility>

#include "ftl/blocks/collector.h"

namespace flashlab {

FtlResult<void> Collector::collect_for_host(GroupId group, FrontierId frontier, SimTime now) {
    const std::uint32_t planes = array_.geometry().planes_per_die();
    const std::uint32_t keep = frontiers_.writes_keep_free(host_frontier);
    const std::uint32_t units_per_block = ledger_.units().units_per_block();
    const OpenSuperblock& open = frontiers_.open(group, frontier);
    Job& job = jobs_[group.value()].job;
    SimTime at = now;
    for (std::uint32_t free = ledger_.free_in(group); free < planes + keep; free = ledger_.free_in(group)) {
        if (!job.victim) {
            auto victim = choose_victim(group, 0);
            if (!victim && free <= keep) {
                if (Job& fold = jobs_[group.value()].fold; fold.victim && !ledger_.is_cache(*fold.victim)) drop(fold); // at rest or not
                frontiers_.close_full(group, frontier, at);
                victim = choose_victim(group, 0);
            }
            if (!victim) break;
            // One free block beyond those kept suffices to go on; a whole row of planes is worth only cheap victims.
            if (free > keep && (units_per_block - ledger_.valid().count(*victim) < std::max(1u, units_per_block / 8) || host_empties(*victim))) break;
            start(job, *victim, false, at);
        }
        const BlockId victim = *job.victim;
        const auto end = run(job, at, {}, frontiers_.copies_keep_free(victim));
        if (!end) return std::unexpected(end.error());
        if (*end == JobEnd::no_room) {
            const auto compacted = compact(group, at);
            if (!compacted) return std::unexpected(compacted.error());
            if (!*compacted && frontiers_.copies_keep_free(victim) == 0) break;
            if (!*compacted) { // after a cut the blocks kept for others may be all there are
                start(job, victim, false, at);
                const auto last = run(job, at, {}, 0);
                if (!last) return std::unexpected(last.error());
                if (*last == JobEnd::no_room) break;
            }
        }
        at = std::max(at, open.ready);
        if (open.has_room() && ledger_.free_in(group) >= keep) break;
    }
    return {};
}

FtlResult<bool> Collector::keep_pace(GroupId group, FrontierId frontier, std::uint32_t host_units, SimTime now) {
    const UnitGeometry& units = ledger_.units();
    const OpenSuperblock& open = frontiers_.open(group, frontier);
    const std::uint32_t planes = units.geometry().planes_per_die();
    const std::uint32_t keep = frontiers_.writes_keep_free(host_frontier);
    const std::uint32_t secure = planes + keep, wanted = secure + (map_opens_soon(group) ? 1 : 0);
    line_at_ = std::max(line_at_, now);
    if (is_under_way()) return false;
    if (const auto ended = finish_ridden(group, now); !ended) return std::unexpected(ended.error());
    const std::uint32_t free = ledger_.free_in(group);
    if (free >= wanted || !open.has_room()) return false;
    if (!config_.is_paced(units, ledger_.spare_units())) return false; // too little to keep so much of it free
    Job& job = jobs_[group.value()].job;
    const auto victim = job.victim ? job.victim : choose_victim(group, 0);
    if (!victim || (!job.victim && host_empties(*victim))) return false;
    if (!job.victim) {
        if (ledger_.valid().count(*victim) == units.units_per_block()) return false;
        start(job, *victim, false, now);
    }
    if (rows_.takes_lines()) start_beside(group, now);
    const std::uint64_t left = left_of(group), each = (left + job.made) / job.victims;
    if (each == units.units_per_block()) return false;
    // The next victims are taken to be like these; as many as the open superblocks have room for.
    const std::uint64_t begun = 1 + jobs_[group.value()].beside.size(), missing = wanted - free, room = frontiers_.open_room(group, 0);
    const std::uint64_t more = room > left && each != 0 && missing > begun ? std::min(missing - begun, (room - left - 1) / each) : 0;
    const std::uint64_t copies = missing < begun ? left * missing / begun : left + more * each;
    const bool has_time = free >= secure; // until the next superblock is full
    const std::uint64_t beside = room > copies && !has_time ? room : room_for_copies(group, has_time);
    const std::uint64_t ready = copies + (rows_.takes_lines() ? 2 * rows_.most_at_once() : 0); // the last line is whole, too, in time
    const std::uint64_t host = std::min<std::uint64_t>(open.units - open.next, beside > ready ? beside - ready : 1);
    const auto share = static_cast<std::uint32_t>(std::min(left, (open.whole(host_units) * copies + host - 1) / host));
    const std::uint32_t made = std::min(share, job.ahead); // with an earlier word line
    job.ahead -= made;
    if (share != 0 && made == share) return false;
    if (take_riders(group, open, host_units) != 0) return true;
    const auto end = run(job, now, {.copies = share - made}, frontiers_.slices_keep_free(*victim));
    if (!end) return std::unexpected(end.error());
    return false;
}

/// A map on flash takes blocks when it will, not when the host's superblock is full.
bool Collector::map_opens_soon(GroupId group) const {
    return config_.own_kinds() > 1 && frontiers_.open_room(group, 1) < ledger_.units().units_per_block() / 2;
}

bool Collector::compacts_cheaply(GroupId group) const {
    if (!config_.is_paced(ledger_.units(), ledger_.spare_units())) return false; // there each free block counts
    const auto begun = jobs_[group.value()].inner.victim;
    const auto victim = begun ? begun : choose_victim(group, 1);
    return victim && ledger_.valid().count(*victim) <= ledger_.units().units_per_block() / 8;
}

FtlResult<bool> Collector::compact(GroupId group, SimTime now, Cause cause) {
    if (config_.own_kinds() == 1) return false;
    Job& job = jobs_[group.value()].inner;
    if (!job.victim) {
        const auto victim = choose_victim(group, 1);
        if (!victim) return false;
        start(job, *victim, false, now, cause);
    }
    const auto end = run(job, now, {}, frontiers_.copies_keep_free(*job.victim));
    if (!end) return std::unexpected(end.error());
    return *end == JobEnd::finished;
}

/// Random overwrites leave, among as many first units as are stale, a share valid that is the block's. In order they leave none; a quarter of that
/// share is let pass, for requests that overtook one another. The bits of a smaller block than 32 units say too little: chance alone orders them so.
bool Collector::host_empties(BlockId block) const {
    const ValidMap& map = ledger_.valid();
    const std::uint64_t all = ledger_.units_in(block), valid = map.count(block), stale = all - valid;
    if (valid == 0 || stale == 0 || all < 32) return false;
    std::uint64_t among = 0;
    for (std::uint32_t unit = map.next_set(block, 0); unit < stale; unit = map.next_set(block, unit + 1)) ++among;
    return 4 * among <= stale * valid / all;
}

bool Collector::waits_for_host(GroupId group, FrontierId frontier) const {
    if (config_.kind_of(frontier) != 0 || jobs_[group.value()].job.victim || ledger_.free_in(group) > frontiers_.writes_keep_free(frontier))
        return false;
    const auto victim = choose_victim(group, 0);
    return victim && host_empties(*victim);
}

SimTime Collector::idle(SimTime now) {
    if (ledger_.is_read_only()) return sim_never;
    const std::uint32_t enough =
        array_.geometry().planes_per_die() + frontiers_.writes_keep_free(host_frontier); // of every group: asked once, not by each
    SimTime next = sim_never;
    for (const GroupId group : ids<GroupId>(ledger_.groups())) next = std::min(next, idle_group(group, enough, now));
    if (!config_.has_cache()) return next;
    const std::uint64_t pages_read = array_.counters().reads[std::to_underlying(Cause::user)];
    if (std::exchange(pages_read_, pages_read) != pages_read) asked_at_ = std::max(asked_at_, now);
    for (const GroupId group : ids<GroupId>(ledger_.groups())) next = std::min(next, fold_idle(group, now));
    return next;
}

/// The block that was filled first, as long as what it holds needs no collection.
SimTime Collector::fold_idle(GroupId group, SimTime now) {
    if (ledger_.is_read_only()) return sim_never;
    Job& job = jobs_[group.value()].fold;
    if (const FrontierId part = config_.dynamic_frontier(); config_.has_dynamic_cache() && !frontiers_.open(group, part).has_room())
        frontiers_.retire_open(group, part);
    const auto empty = config_.has_dynamic_cache() && !job.victim ? empty_block(group) : std::nullopt; // could be lent
    const auto victim = job.victim ? job.victim : empty ? empty : oldest_to_fold(group);
    const std::uint32_t keep = frontiers_.writes_keep_free(host_frontier);
    if (!victim || (!empty && !frontiers_.open(group, host_frontier).has_room() && ledger_.free_in(group) <= keep)) return sim_never;
    const SimTime from = std::max(asked_at_ + config_.cache.fold_after, job.victim ? job.next_slice : sim_start);
    if (now < from && !empty) return from;
    if (!job.victim) start(job, *victim, false, now, ledger_.kind_of(*victim) == 0 ? Cause::gc : Cause::fold);
    const SimTime later = now + std::chrono::microseconds{config_.gc_slice_us};
    const auto end = run(job, now, {.until = later}, keep);
    if (has_failed() && !retire_failed(now)) return sim_never;
    if (!end || ledger_.is_read_only()) return sim_never;
    if (!job.victim) return *end == JobEnd::finished ? later : sim_never;
    return job.next_slice = std::max(job.last_end, now);
}

std::optional<BlockId> Collector::oldest_to_fold(GroupId group) const {
    std::optional<BlockId> oldest;
    std::uint64_t filled_at = 0;
    for (std::uint32_t kind = config_.kinds(); kind-- > config_.own_kinds();) {
        const FrontierId part{kind};
        if (!config_.cache.folds_at_rest && has_room_in(group, part)) continue;
        const FullBlocks& full = ledger_.full(part.value());
        for (std::uint32_t p = 0; p < array_.geometry().planes_per_die(); ++p) {
            const auto first = full.first_filled(array_.geometry().plane_at(ledger_.die_of(group), p));
            if (!first || (oldest && full.filled_at(*first) >= filled_at)) continue;
            oldest = first;
            filled_at = full.filled_at(*first);
        }
        if (oldest) break; // of the static part first: it has no other way to room
    }
    return oldest;
}

/// What a quarter of a block's units at most are valid in: fewer copies than the pages that the host then writes at the cache's speed.
std::optional<BlockId> Collector::cheapest_to_fold(GroupId group, FrontierId part) const {
    const FullBlocks& full = ledger_.full(part.value());
    std::optional<BlockId> best;
    for (std::uint32_t p = 0; p < array_.geometry().planes_per_die(); ++p)
        if (const auto one = full.fewest_valid(array_.geometry().plane_at(ledger_.die_of(group), p));
            one && (!best || full.valid_of(*one) < full.valid_of(*best)))
            best = one;
    if (best && full.valid_of(*best) * 4 <= config_.cache.units_a_block) return best;
    if (!config_.is_dynamic(part) || !may_lend(group)) return std::nullopt;
    const std::uint64_t of_full_drive = ledger_.spare_units() / ledger_.groups(), rows = 2 * array_.geometry().planes_per_die();
    return ledger_.room_in(group) >= of_full_drive + rows * ledger_.units().units_per_block() ? empty_block(group) : std::nullopt;
}

std::optional<BlockId> Collector::empty_block(GroupId group) const {
    for (const std::uint32_t kind : {0u, config_.dynamic_frontier().value()})
        for (std::uint32_t p = 0; p < array_.geometry().planes_per_die(); ++p)
            if (const auto one = ledger_.full(kind).fewest_valid(array_.geometry().plane_at(ledger_.die_of(group), p));
                one && ledger_.full(kind).valid_of(*one) == 0)
                return one;
    return std::nullopt;
}

bool Collector::can_lend(GroupId group) const {
    const std::uint32_t planes = array_.geometry().planes_per_die();
    return may_lend(group) && ledger_.free_in(group) >= 2 * planes + frontiers_.writes_keep_free(host_frontier);
}

bool Collector::has_room_in(GroupId group, FrontierId part) const {
    return frontiers_.open(group, part).has_room() ||
           (config_.is_dynamic(part) ? can_lend(group) : ledger_.free_of_cache().count_in(ledger_.die_of(group)) != 0);
}

FtlResult<void> Collector::fold_cheaply(GroupId group, FrontierId part, SimTime now) {
    Job& job = jobs_[group.value()].fold;
    const auto victim = job.victim ? job.victim : cheapest_to_fold(group, part);
    if (!victim) return {};
    if (!job.victim) start(job, *victim, false, now, ledger_.kind_of(*victim) == 0 ? Cause::gc : Cause::fold);
    const auto end = run(job, now, {}, frontiers_.writes_keep_free(host_frontier));
    if (!end) return std::unexpected(end.error());
    return {};
}

SimTime Collector::idle_group(GroupId group, std::uint32_t enough, SimTime now) {
    frontiers_.close_due(group, now);
    const SimTime close_at = frontiers_.next_close(group);
    const auto slice = std::chrono::microseconds{config_.gc_slice_us};
    Job& job = jobs_[group.value()].job;
    if (!job.victim) {
        if (ledger_.free_in(group) > enough) return close_at;
        const auto victim = choose_victim(group, 0);
        // In the background only what frees a quarter of a block is worth its wear.
        if (!victim || ledger_.valid().count(*victim) * 4 > ledger_.units().units_per_block() * 3) return close_at;
        constexpr auto has_stopped = std::chrono::seconds{1};
        if (const SimTime stopped = ledger_.settled_at(*victim) + has_stopped; stopped > now && host_empties(*victim))
            return std::min(close_at, stopped);
        start(job, *victim, false, now);
    }
    if (job.next_slice > now) return std::min(close_at, job.next_slice);
    constexpr auto has_paused = std::chrono::milliseconds{10};
    const bool in_lines = rows_.takes_lines() && line_at_ + has_paused > now;
    const auto end = run(job, now, {.until = now + slice, .in_lines = in_lines}, frontiers_.slices_keep_free(*job.victim));
    if (!end || has_failed()) {
        if (end && !retire_failed(now)) return close_at;
        return ledger_.is_read_only() ? sim_never : std::min(close_at, now + slice);
    }
    if (!job.victim) return *end == JobEnd::finished ? std::min(close_at, now + slice) : close_at;
    job.next_slice = std::max(job.last_end, now);
    if (in_lines && left_of(group) < rows_.most_at_once()) job.next_slice = std::max(job.next_slice, line_at_ + has_paused);
    return std::min(close_at, job.next_slice);
}

} // namespace flashlab
