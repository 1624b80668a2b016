#include "ftl/blocks/frontiers.h"

#include <algorithm>
#include <utility>

namespace flashlab {

Frontiers::Frontiers(const PageBlocksConfig& config, BlockLedger& ledger, NandArray& array, PageOwner& owner)
    : config_{config}, count_{config.frontier_count()}, ledger_{ledger}, array_{array}, owner_{owner}, all_(std::size_t{config.groups} * count_),
      closing_(config.groups, 0) {
    ensure(!config.frontiers.empty() && config.streams >= 1, "there is a frontier");
    ensure(count_ <= PageBlocksConfig::most_frontiers && config.kinds() <= 16,
           "a block has a byte for its frontier, a checkpoint four bits for its kind");
    for (Frontier& f : all_) {
        f.open.columns.reserve(array.geometry().planes_per_die());
        f.closing.columns.reserve(array.geometry().planes_per_die());
    }
}

std::optional<PlaneId> Frontiers::fullest_plane(GroupId group, const FreeBlocks& free, const OpenSuperblock& without) const {
    const Geometry& g = array_.geometry();
    std::optional<PlaneId> best;
    for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) {
        const PlaneId plane = g.plane_at(ledger_.die_of(group), p);
        const auto on_plane = [&](const OpenColumn& c) { return g.plane_of(c.block) == plane; };
        if (free.count(plane) == 0 || std::ranges::any_of(without.columns, on_plane)) continue;
        if (!best || free.count(plane) > free.count(*best)) best = plane;
    }
    return best;
}

bool Frontiers::open_superblock(GroupId group, FrontierId frontier, SimTime now, std::uint32_t keep_free, SimTime& failed_at) {
    Frontier& f = at(group, frontier);
    OpenSuperblock& set = f.open;
    ensure(!set.is_active(), "one superblock of a frontier is open");
    const std::uint32_t planes = array_.geometry().planes_per_die();
    const std::uint32_t asked = config_.rule_of(frontier).columns;
    const std::uint32_t most = asked == 0 ? planes : std::min(asked, planes);
    const bool is_cache = config_.is_of_cache(frontier) && !config_.is_dynamic(frontier);
    const CellType mode = ledger_.mode_for(frontier);
    const FreeBlocks& free = is_cache ? ledger_.free_of_cache() : ledger_.free();
    std::uint32_t left = free.count_in(ledger_.die_of(group));
    set.reset();
    set.ready = now;
    while (left > keep_free && set.columns.size() < most) {
        const auto best = fullest_plane(group, free, set);
        if (!best) break;
        const FreeBlock taken = is_cache ? ledger_.take_free_of_cache(*best) : ledger_.take_free(*best, mode);
        --left;
        const auto erased_at = take_erased(taken, mode, now, failed_at);
        if (!erased_at && ledger_.is_read_only()) break;
        if (!erased_at) continue;
        set.ready = std::max(set.ready, *erased_at);
        set.columns.push_back({taken.block, 0});
    }
    if (set.columns.empty()) return false;
    if (keep_free > 1) set.ready = forgotten_by(group, keep_free - 1, set.ready); // B5; the last one is kept for a block that fails
    std::ranges::sort(set.columns, {}, &OpenColumn::block);
    set_shape(set, frontier);
    set.stamp = next_stamp_++;
    for (const OpenColumn& c : set.columns) ledger_.set_open(c.block, frontier);
    set.ready = owner_.opened(set, f.closing, set.ready);
    return true;
}

void Frontiers::set_shape(OpenSuperblock& set, FrontierId frontier) const {
    set.units = static_cast<std::uint32_t>(set.columns.size()) * ledger_.units_for(frontier);
    set.frontier = frontier;
    set.has_lines = !config_.is_of_cache(frontier);
    set.depth = array_.config().options.subpages;
    if (config_.own_kinds() > 1) set.row_ends.assign(ledger_.units_for(frontier) / set.depth, sim_start);
}

/// When `blocks` of the group's free blocks are free on flash, too: before that a cut would find them full of what was to be forgotten. All, if it
/// has fewer.
SimTime Frontiers::forgotten_by(GroupId group, std::uint32_t blocks, SimTime now) const {
    const Geometry& g = array_.geometry();
    SimTime at = now;
    for (;;) {
        std::uint32_t by_then = 0;
        SimTime next = sim_never;
        for (std::uint32_t p = 0; p < g.planes_per_die() && by_then < blocks; ++p) {
            ledger_.free().visit(g.plane_at(ledger_.die_of(group), p), [&](BlockId block) {
                const SimTime forgotten = ledger_.forgotten_at(block);
                if (forgotten <= at)
                    ++by_then;
                else
                    next = std::min(next, forgotten);
                return by_then < blocks;
            });
        }
        if (by_then >= blocks || next == sim_never) break;
        at = next;
    }
    return at;
}

/// When the block may be programmed; nothing when its erase failed: then it is bad, or the host's image failed and the device is read-only.
std::optional<SimTime> Frontiers::take_erased(const FreeBlock& taken, CellType mode, SimTime now, SimTime& failed_at) {
    if (taken.erased && (!config_.has_dynamic_cache() || array_.mode_of(taken.block) == mode)) return ledger_.settled_at(taken.block);
    // What a ring has given back is not touched before the ring's table leaves it out; other garbage is from before the mount.
    const auto erased = array_.erase_as(taken.block, mode, {std::max(now, ledger_.forgotten_at(taken.block)), {Cause::gc, no_event}});
    ledger_.count_erase(taken.block, erased);
    if (erased) return *erased;
    failed_at = erased.error().done;
    if (erased.error().kind == NandErrorKind::host_io) {
        (void)ledger_.fail(erased.error(), Lpn{0});
        ledger_.take_back_garbage(taken.block);
        return std::nullopt;
    }
    const SimTime condemned = owner_.condemned(taken.block, failed_at, no_event);
    if (const auto marked = array_.mark_bad(taken.block, condemned); !marked) (void)ledger_.fail(marked.error(), Lpn{0});
    ledger_.lose(taken.block);
    return std::nullopt;
}

void Frontiers::retire_open(GroupId group, FrontierId frontier) {
    Frontier& f = at(group, frontier);
    if (!f.open.is_active()) return;
    if (f.open.has_room() && config_.kind_of(frontier) == 0)
        ledger_.note_placement({PlacementEvent::Kind::unit_not_full, f.open.last_end, config_.stream_of(frontier)});
    if (f.closing.is_active()) close(f.closing, sim_start);
    std::swap(f.open, f.closing);
    f.open.reset();
    ++closing_[group.value()];
    if (config_.closes_at_once) close(f.closing, sim_start);
}

void Frontiers::close(OpenSuperblock& set, SimTime now) {
    owner_.closed(set, std::max(now, close_ready(set)));
    for (const OpenColumn& c : set.columns) ledger_.set_data(c.block, set.last_end);
    --closing_[ledger_.group_of(set.columns.front().block).value()];
    set.reset();
}

void Frontiers::close_due(GroupId group, SimTime now) {
    if (closing_[group.value()] == 0) return;
    for (const FrontierId i : ids<FrontierId>(count()))
        if (Frontier& f = at(group, i); f.closing.is_active() && close_ready(f.closing) <= now) close(f.closing, now);
}

void Frontiers::close_full(GroupId group, FrontierId stream_frontier, SimTime now) {
    for (const FrontierId i : ids<FrontierId>(count())) {
        if (config_.kind_of(i) != 0 && !config_.is_dynamic(i)) continue;
        Frontier& f = at(group, i);
        if (config_.is_dynamic(i)) retire_open(group, i);
        if (i != stream_frontier && f.open.is_active() && !f.open.has_room()) retire_open(group, i);
        if (f.closing.is_active()) close(f.closing, now);
    }
}

bool Frontiers::close_holder(BlockId block, SimTime now) {
    const GroupId group = ledger_.group_of(block);
    for (const FrontierId i : ids<FrontierId>(count())) {
        Frontier& f = at(group, i);
        if (f.open.holds(block)) retire_open(group, i);
        if (f.closing.holds(block)) close(f.closing, now);
    }
    return ledger_.state(block) == BlockLedger::State::data && !ledger_.is_pinned(block);
}

void Frontiers::settle_down(GroupId group, SimTime now) {
    for (const FrontierId i : ids<FrontierId>(count())) {
        Frontier& f = at(group, i);
        if (f.open.is_active() && !f.open.has_room()) retire_open(group, i);
        if (f.closing.is_active()) close(f.closing, now);
    }
}

void Frontiers::resume(GroupId group, FrontierId frontier, std::span<const OpenColumn> columns, std::uint32_t next, std::uint32_t stamp) {
    OpenSuperblock& set = at(group, frontier).open;
    ensure(!set.is_active() && !columns.empty(), "a superblock is resumed once");
    set.columns.assign(columns.begin(), columns.end());
    set.next = next;
    set_shape(set, frontier);
    set.stamp = stamp;
    for (const OpenColumn& c : columns) ledger_.set_open(c.block, frontier);
}

void Frontiers::set_ready(SimTime ready) {
    for (Frontier& f : all_) f.open.ready = ready;
}

SimTime Frontiers::close_ready(const OpenSuperblock& set) const {
    SimTime at = std::max(set.last_end, set.ready);
    for (const OpenColumn& c : set.columns) at = std::max(at, ledger_.settled_at(c.block));
    return at;
}

SimTime Frontiers::next_close(GroupId group) const {
    SimTime next = sim_never;
    if (closing_[group.value()] == 0) return next;
    for (const FrontierId i : ids<FrontierId>(count()))
        if (const OpenSuperblock& set = closing(group, i); set.is_active()) next = std::min(next, close_ready(set));
    return next;
}

std::optional<FrontierId> Frontiers::other_with_room(GroupId group, FrontierId frontier) const {
    for (const FrontierId i : ids<FrontierId>(count()))
        if (i != frontier && config_.kind_of(i) == config_.kind_of(frontier) && open(group, i).has_room()) return i;
    return std::nullopt;
}

std::uint64_t Frontiers::open_room(GroupId group, std::uint32_t kind) const {
    std::uint64_t room = 0;
    for (const FrontierId i : ids<FrontierId>(count()))
        if (config_.kind_of(i) == kind) room += open(group, i).units - open(group, i).next;
    return room;
}

SimTime Frontiers::last_end(GroupId group, std::uint32_t kind) const {
    SimTime end = sim_start;
    for (const FrontierId i : ids<FrontierId>(count()))
        if (config_.kind_of(i) == kind) end = std::max(end, open(group, i).last_end);
    return end;
}

std::uint64_t Frontiers::open_room() const {
    std::uint64_t room = 0;
    for (const Frontier& f : all_) room += f.open.units - f.open.next;
    return room;
}

std::vector<BlockId> Frontiers::held_blocks() const {
    std::vector<BlockId> out;
    for (const Frontier& f : all_)
        for (const auto* set : {&f.open, &f.closing})
            for (const OpenColumn& c : set->columns) out.push_back(c.block);
    return out;
}

} // namespace flashlab
