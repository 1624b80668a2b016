/// Open superblocks of a page-mapping scheme: when they are opened, when closed.
#include <algorithm>
#include <utility>

#include "ftl/blocks/less_worn.h"
#include "ftl/blocks/page_blocks.h"

namespace flashlab {

std::uint32_t PageBlocks::keep_free(const PageBlocksConfig& config, const UnitGeometry& units, std::uint64_t spare_units, std::uint32_t frontier) {
    constexpr std::uint64_t enough_rows = 8; // that one more is not felt, and that collections can make it (B4)
    const std::uint32_t least = config.frontiers[frontier].writes_keep_free;
    const std::uint32_t planes = units.geometry().planes_per_die();
    if (frontier != 0 || spare_units < enough_rows * planes * units.units_per_block() * config.groups) return least;
    return std::max(least, planes + 1);
}

bool PageBlocks::is_paced(const PageBlocksConfig& config, const UnitGeometry& units, std::uint64_t spare_units, std::uint32_t blocks) {
    return spare_units >= std::uint64_t{config.paced_from_spare} * blocks * units.units_per_block() * config.groups;
}

std::uint32_t PageBlocks::half_blocks_held(const PageBlocksConfig& config, const UnitGeometry& units, std::uint64_t spare_units) {
    const std::uint32_t planes = units.geometry().planes_per_die();
    const std::uint32_t keep = keep_free(config, units, spare_units, 0);
    // The open superblock is half written; while it fills, a paced collection frees the next row of planes, which is half there. Without pace superblocks are narrow.
    std::uint32_t halves = 2 * keep + (is_paced(config, units, spare_units, planes + keep) ? 2 * planes : 1);
    for (std::size_t f = 1; f < config.frontiers.size(); ++f) halves += config.frontiers[f].columns == 0 ? planes : config.frontiers[f].columns;
    return halves;
}

FtlResult<SimTime> PageBlocks::room(Group& group, std::uint32_t frontier, SimTime now) {
    close_due(group, now);
    Frontier& f = group.frontiers[frontier];
    if (f.open.has_room()) return std::max(now, f.open.ready);
    retire_open(group, frontier);
    const std::uint32_t keep = writes_keep_free(frontier);
    if (frontier != 0) {
        while (free_in(group) <= keep && !f.open.has_room()) {
            const auto compacted = compact(group, now);
            if (!compacted) return std::unexpected(compacted.error());
            if (!*compacted) break;
        }
    }
    if (frontier == 0 || (free_in(group) <= keep && !f.open.has_room() && jobs_under_way_ == 0)) {
        const auto collected = collect_for_host(group, now);
        if (!collected) return std::unexpected(collected.error());
    }
    if (f.open.has_room()) return std::max(now, f.open.ready);
    retire_open(group, frontier);
    SimTime failed_at = now;
    while (free_in(group) > keep) {
        if (open_superblock(group, frontier, now, keep, failed_at)) return std::max(now, f.open.ready);
        if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, failed_at});
    }
    return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, now});
}

/// Collects until a whole row of planes and what is kept are free, the collections' own superblock has room, or nothing is worth it.
FtlResult<bool> PageBlocks::collect_for_host(Group& group, SimTime now) {
    const std::uint32_t planes = units_.geometry().planes_per_die();
    const std::uint32_t keep = writes_keep_free(0);
    const std::uint32_t units_per_block = units_.units_per_block();
    Frontier& f = group.frontiers[0];
    SimTime at = now;
    for (std::uint32_t free = free_in(group); free < planes + keep; free = free_in(group)) {
        if (!group.job.victim) {
            auto victim = choose_victim(group, 0);
            if (!victim && free <= keep && f.closing.is_active()) {
                close(group, f.closing, at);
                victim = choose_victim(group, 0);
            }
            if (!victim) break;
            // One free block beyond those kept suffices to go on; a whole row of planes is worth only cheap victims.
            if (free > keep && units_per_block - valid_.count(*victim) < std::max(1u, units_per_block / 8)) break;
            start_job(group.job, *victim, false, at);
        }
        const BlockId victim = *group.job.victim;
        const auto run = run_job(group, group.job, at, {}, copies_keep_free(victim));
        if (!run) return std::unexpected(run.error());
        if (*run == JobEnd::no_room) {
            const auto compacted = compact(group, at);
            if (!compacted) return std::unexpected(compacted.error());
            if (!*compacted && copies_keep_free(victim) == 0) break;
            if (!*compacted) { // after a cut the blocks kept for others may be all there are
                start_job(group.job, victim, false, at);
                const auto last = run_job(group, group.job, at, {}, 0);
                if (!last) return std::unexpected(last.error());
                if (*last == JobEnd::no_room) break;
            }
        }
        at = std::max(at, f.open.ready);
        if (f.open.has_room() && free_in(group) >= keep) break;
    }
    return true;
}

/// A collection's share of the host's next pages: when the open superblock is full, which both fill, a whole row of planes shall be free. A collection that is
/// made in one go when nothing is free keeps everybody waiting for a whole block's copies, and, in a log's order, those of other dies, too.
FtlResult<void> PageBlocks::keep_pace(Group& group, std::uint32_t pages, SimTime now) {
    const OpenSuperblock& open = group.frontiers[0].open;
    const std::uint32_t planes = units_.geometry().planes_per_die();
    const std::uint32_t keep = writes_keep_free(0);
    const std::uint32_t wanted = planes + keep;
    const std::uint32_t free = free_in(group);
    if (free >= wanted || !open.has_room() || jobs_under_way_ != 0) return {};
    const std::uint32_t units = units_.units_per_block();
    if (!is_paced(config_, units_, spare_units(), wanted)) return {}; // too little to keep so much of it free
    Job& job = group.job;
    const auto victim = job.victim ? job.victim : choose_victim(group, 0);
    if (!victim) return {};
    const std::uint64_t left = valid_.count(*victim);
    const std::uint64_t each = left + (job.victim ? job.copied : 0);
    if (each == units) return {};
    if (!job.victim) start_job(job, *victim, false, now);
    // The next victims are taken to be like this one; as many as the superblock has room for.
    const std::uint64_t room = open.units - open.next;
    const std::uint64_t more = room > left && each != 0 ? std::min<std::uint64_t>(wanted - free - 1, (room - left - 1) / each) : 0;
    const std::uint64_t copies = left + more * each;
    const std::uint64_t host = room > copies ? room - copies : 1;
    const auto share = static_cast<std::uint32_t>(std::min(left, (std::min(pages, planes) * copies + host - 1) / host));
    const auto run = run_job(group, job, now, {.copies = share}, std::max(keep, copies_keep_free(*victim)));
    if (!run) return std::unexpected(run.error());
    return {};
}

/// Collects one block of the frontiers that have blocks of their own; true when that gained a page at least.
FtlResult<bool> PageBlocks::compact(Group& group, SimTime now) {
    if (config_.frontiers.size() == 1) return false;
    if (!group.inner.victim) {
        const auto victim = choose_victim(group, 1);
        if (!victim) return false;
        start_job(group.inner, *victim, false, now);
    }
    const auto run = run_job(group, group.inner, now, {}, copies_keep_free(*group.inner.victim));
    if (!run) return std::unexpected(run.error());
    return *run == JobEnd::finished;
}

/// Takes a free block on each plane, the planes with most free blocks first, and leaves `keep_free` in the group.
bool PageBlocks::open_superblock(Group& group, std::uint32_t frontier, SimTime now, std::uint32_t keep_free, SimTime& failed_at) {
    OpenSuperblock& set = group.frontiers[frontier].open;
    ensure(!set.is_active(), "one superblock of a frontier is open");
    const Geometry& g = units_.geometry();
    const std::uint32_t asked = config_.frontiers[frontier].columns;
    const std::uint32_t most = asked == 0 ? g.planes_per_die() : std::min(asked, g.planes_per_die());
    std::uint32_t left = free_in(group);
    set.reset();
    set.ready = now;
    while (left > keep_free && set.columns.size() < most) {
        std::optional<PlaneId> best;
        for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) {
            const PlaneId plane = g.plane_at(group.die, p);
            const auto on_plane = [&](const OpenColumn& c) { return g.plane_of(c.block) == plane; };
            if (free_.count(plane) == 0 || std::ranges::any_of(set.columns, on_plane)) continue;
            if (!best || free_.count(plane) > free_.count(*best)) best = plane;
        }
        if (!best) break;
        if (config_.wear_threshold != 0) free_.bring_forward(*best, LessWorn{array_});
        const FreeBlock taken = *free_.take(*best);
        --left;
        const auto erased_at = take_erased(taken, now, failed_at);
        if (!erased_at && read_only_) break;
        if (!erased_at) continue;
        set.ready = std::max(set.ready, *erased_at);
        set.columns.push_back({taken.block, 0});
    }
    if (set.columns.empty()) return false;
    if (keep_free > 1) set.ready = forgotten_by(group, keep_free - 1, set.ready); // B5; the last one is kept for a block that fails
    std::ranges::sort(set.columns, {}, &OpenColumn::block);
    set.units = static_cast<std::uint32_t>(set.columns.size()) * units_.units_per_block();
    set.stamp = next_stamp_++;
    for (const OpenColumn& c : set.columns) {
        state_[c.block.value()] = BlockState::open;
        frontier_of_[c.block.value()] = static_cast<std::uint8_t>(frontier);
        settled_at_[c.block.value()] = sim_start;
    }
    set.ready = owner_.opened(set, group.frontiers[frontier].closing, set.ready);
    return true;
}

/// When `blocks` of the group's free blocks are free on flash, too: before that a cut would find them full of what was to be forgotten. All, if it has fewer.
SimTime PageBlocks::forgotten_by(const Group& group, std::uint32_t blocks, SimTime now) const {
    SimTime at = now;
    for (;;) {
        std::uint32_t by_then = 0;
        SimTime next = sim_never;
        for (std::uint32_t p = 0; p < units_.geometry().planes_per_die() && by_then < blocks; ++p) {
            free_.visit(units_.geometry().plane_at(group.die, p), [&](BlockId block) {
                const SimTime forgotten = forgotten_at_[block.value()];
                if (forgotten <= at) ++by_then;
                else next = std::min(next, forgotten);
                return by_then < blocks;
            });
        }
        if (by_then >= blocks || next == sim_never) break;
        at = next;
    }
    return at;
}

/// When the block may be programmed; nothing when its erase failed: then it is bad, or the host's image failed and the device is read-only.
std::optional<SimTime> PageBlocks::take_erased(const FreeBlock& taken, SimTime now, SimTime& failed_at) {
    if (taken.erased) return settled_at_[taken.block.value()];
    // What a ring has given back is not touched before the ring's table leaves it out; other garbage is from before the mount.
    const auto erased = array_.erase(taken.block, std::max(now, forgotten_at_[taken.block.value()]), {Cause::gc, no_event});
    count_erase(taken.block, erased);
    if (erased) return *erased;
    failed_at = erased.error().done;
    if (erased.error().kind == NandErrorKind::host_io) {
        (void)fail(erased.error(), Lpn{0});
        free_.add_garbage(taken.block);
        return std::nullopt;
    }
    (void)owner_.condemned(taken.block, now, no_event);
    if (const auto marked = array_.mark_bad(taken.block); !marked) (void)fail(marked.error(), Lpn{0});
    lose_block(taken.block);
    return std::nullopt;
}

/// The open superblock becomes the closing one; what was closing is closed first.
void PageBlocks::retire_open(Group& group, std::uint32_t frontier) {
    Frontier& f = group.frontiers[frontier];
    if (!f.open.is_active()) return;
    if (f.closing.is_active()) close(group, f.closing, sim_start);
    std::swap(f.open, f.closing);
    f.open.reset();
    if (config_.closes_at_once) close(group, f.closing, sim_start);
}

SimTime PageBlocks::close_ready(const OpenSuperblock& set) const {
    SimTime at = std::max(set.last_end, set.ready);
    for (const OpenColumn& c : set.columns) at = std::max(at, settled_at_[c.block.value()]);
    return at;
}

SimTime PageBlocks::programmed_by(BlockId block) const {
    if (state_[block.value()] != BlockState::open) return closed_by_[block.value()];
    const Frontier& f = groups_[group_of(block)].frontiers[frontier_of_[block.value()]];
    return std::max(f.open.last_end, f.closing.last_end);
}

void PageBlocks::close_due(Group& group, SimTime now) {
    if (config_.closes_at_once) return;
    for (Frontier& f : group.frontiers)
        if (f.closing.is_active() && close_ready(f.closing) <= now) close(group, f.closing, now);
}

void PageBlocks::close(Group&, OpenSuperblock& set, SimTime now) {
    owner_.closed(set, std::max(now, close_ready(set)));
    for (const OpenColumn& c : set.columns) {
        state_[c.block.value()] = BlockState::data;
        closed_by_[c.block.value()] = set.last_end;
        list_full(c.block);
    }
    set.reset();
}

/// A block that is open or closing becomes data; false when it cannot be collected then either.
bool PageBlocks::close_holder(Group& group, BlockId block, SimTime now) {
    const auto holds = [block](const OpenSuperblock& set) { return std::ranges::any_of(set.columns, [&](const OpenColumn& c) { return c.block == block; }); };
    for (std::uint32_t i = 0; i < frontiers(); ++i) {
        Frontier& f = group.frontiers[i];
        if (holds(f.open)) retire_open(group, i);
        if (holds(f.closing)) close(group, f.closing, now);
    }
    return state_[block.value()] == BlockState::data && pinned_[block.value()] == 0;
}

void PageBlocks::settle_down(SimTime now) {
    for (Group& group : groups_) {
        if (group.job.victim) drop_job(group.job);
        if (group.inner.victim) drop_job(group.inner);
        for (std::uint32_t i = 0; i < frontiers(); ++i) {
            Frontier& f = group.frontiers[i];
            if (f.open.is_active() && !f.open.has_room()) retire_open(group, i);
            if (f.closing.is_active()) close(group, f.closing, now);
        }
    }
}

} // namespace flashlab
