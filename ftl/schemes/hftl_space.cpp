/// hFTL's open superblocks: when they are opened, when closed.
#include <algorithm>
#include <array>
#include <utility>

#include "ftl/schemes/hftl.h"

namespace flashlab {

Hftl::Group& Hftl::group_of(BlockId block) {
    const Geometry& g = array_.geometry();
    return groups_[g.die_of(g.plane_of(block)).value()];
}

std::uint32_t Hftl::free_in(const Group& group) const {
    std::uint32_t sum = 0;
    for (std::uint32_t p = 0; p < array_.geometry().planes_per_die(); ++p) sum += free_.count(array_.geometry().plane_at(group.die, p));
    return sum;
}

std::uint64_t Hftl::open_room() const {
    std::uint64_t room = 0;
    for (const Group& g : groups_) room += g.open.units - g.open.next;
    return room;
}

std::uint64_t Hftl::spare_units() const {
    std::uint64_t good = 0;
    for (const Group& g : groups_) good += g.good_units;
    return good > config_.logical_pages ? good - config_.logical_pages : 0;
}

void Hftl::lose_block(BlockId block) {
    group_of(block).good_units -= units_.units_per_block();
    ++bad_blocks_;
    ++counters_.retired_blocks;
    if (spare_units() < std::uint64_t{spare_blocks_a_group} * units_.units_per_block() * groups_.size()) read_only_ = true; // H6
}

FtlResult<SimTime> Hftl::room_for_host(Group& group, SimTime now) {
    close_due(group, now);
    if (group.open.has_room()) return std::max(now, group.open.ready);
    retire_open(group);
    const std::uint32_t planes = array_.geometry().planes_per_die();
    const std::uint32_t units_per_block = units_.units_per_block();
    SimTime at = now;
    while (free_in(group) < planes + host_keeps_free) {
        const std::uint32_t free = free_in(group);
        if (!group.job.victim) {
            auto victim = choose_victim(group);
            if (!victim && free <= host_keeps_free && group.closing.is_active()) {
                close(group, at);
                victim = choose_victim(group);
            }
            if (!victim) break;
            // One free block beyond those kept suffices to go on; a whole row of planes is worth only cheap victims.
            if (free > host_keeps_free && units_per_block - valid_.count(*victim) < std::max(1u, units_per_block / 8)) break;
            start_job(group, *victim, false, at);
        }
        const auto run = run_job(group, at, sim_never, 0);
        if (!run) return std::unexpected(run.error());
        if (!*run && free_in(group) == 0) break; // else: its victim cannot be read and is pinned, the next one is tried
        at = std::max(at, group.open.ready);
        if (group.open.has_room() && free_in(group) >= host_keeps_free) return std::max(now, group.open.ready);
    }
    if (group.open.has_room()) return std::max(now, group.open.ready);
    retire_open(group);
    SimTime failed_at = now;
    while (free_in(group) > host_keeps_free) {
        if (open_superblock(group, now, host_keeps_free, failed_at)) return std::max(now, group.open.ready);
        if (read_only_) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, failed_at});
    }
    return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, now});
}

/// Takes a free block on each plane, the planes with most free blocks first, and leaves `keep_free` in the group.
bool Hftl::open_superblock(Group& group, SimTime now, std::uint32_t keep_free, SimTime& failed_at) {
    ensure(!group.open.is_active(), "one superblock is open");
    const Geometry& g = array_.geometry();
    std::uint32_t left = free_in(group);
    group.open.reset();
    group.open.ready = now;
    while (left > keep_free && group.open.columns.size() < g.planes_per_die()) {
        std::optional<PlaneId> best;
        for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) {
            const PlaneId plane = g.plane_at(group.die, p);
            const auto on_plane = [&](const OpenColumn& c) { return g.plane_of(c.block) == plane; };
            if (free_.count(plane) == 0 || std::ranges::any_of(group.open.columns, on_plane)) continue;
            if (!best || free_.count(plane) > free_.count(*best)) best = plane;
        }
        if (!best) break;
        const FreeBlock taken = *free_.take(*best);
        --left;
        SimTime erased_at = settled_at_[taken.block.value()];
        if (!taken.erased) {
            const auto erased = array_.erase(taken.block, now, {Cause::gc, no_event});
            if (!erased) {
                failed_at = erased.error().done;
                if (erased.error().kind == NandErrorKind::host_io) {
                    read_only_ = true;
                    free_.add_garbage(taken.block);
                    break;
                }
                tables_.begin(now, no_event);
                tables_.set_state(taken.block, HftlBlockState::bad);
                durable_at_ = std::max(durable_at_, tables_.commit());
                if (!array_.mark_bad(taken.block)) read_only_ = true;
                lose_block(taken.block);
                continue;
            }
            erased_at = *erased;
        }
        group.open.ready = std::max(group.open.ready, erased_at);
        group.open.columns.push_back({taken.block, 0});
    }
    if (group.open.columns.empty()) return false;
    std::ranges::sort(group.open.columns, {}, &OpenColumn::block);
    group.open.units = static_cast<std::uint32_t>(group.open.columns.size()) * units_.units_per_block();
    sequence_ceiling_ = next_sequence_ + open_room();
    tables_.begin(group.open.ready, no_event);
    for (OpenColumn& c : group.open.columns) {
        c.slot = g.plane_of(c.block).value() * 2;
        for (const OpenColumn& other : group.closing.columns)
            if (other.slot == c.slot) ++c.slot;
        settled_at_[c.block.value()] = sim_start;
        overlay_.start_slot(c.slot);
        tables_.open_slot(c.slot, c.block, sequence_ceiling_);
    }
    group.open.ready = tables_.commit();
    return true;
}

/// The open superblock becomes the closing one; what was closing is closed first.
void Hftl::retire_open(Group& group) {
    if (!group.open.is_active()) return;
    if (group.closing.is_active()) close(group, sim_start);
    std::swap(group.open, group.closing);
    group.open.reset();
}

SimTime Hftl::close_ready(const OpenSuperblock& set) const {
    SimTime at = std::max(set.last_end, set.ready);
    for (const OpenColumn& c : set.columns) at = std::max(at, settled_at_[c.block.value()]);
    return at;
}

void Hftl::close_due(Group& group, SimTime now) {
    if (group.closing.is_active() && close_ready(group.closing) <= now) close(group, now);
}

/// Commits the mapping of the current units of the closing superblock, then makes its blocks data.
void Hftl::close(Group& group, SimTime now) {
    OpenSuperblock& set = group.closing;
    settle_columns(set, std::max(now, close_ready(set)));
    for (const OpenColumn& c : set.columns) {
        tables_.close_slot(c.slot, c.block, HftlBlockState::data);
        overlay_.end_slot(c.slot);
        full_.add(c.block, valid_.count(c.block));
    }
    (void)tables_.commit(); // nobody waits: until it is durable, recovery reads the OOB of these blocks
    set.reset();
}

void Hftl::settle_columns(OpenSuperblock& set, SimTime now) {
    tables_.begin(now, no_event);
    for (std::uint32_t c = 0; c < set.columns.size(); ++c) {
        const OpenColumn& column = set.columns[c];
        for (std::uint32_t i = 0; i < set.filled(c); ++i) {
            const auto lpn = overlay_.version(column.slot, i);
            const UnitId unit = units_.unit_at(column.block, i);
            if (!lpn || overlay_.current(*lpn) != unit) continue;
            if (const auto old = tables_.committed(*lpn); old && *old != unit) overlay_.drop_stale(*old);
            tables_.map(*lpn, unit);
            overlay_.drop_current(*lpn);
        }
    }
}

} // namespace flashlab
