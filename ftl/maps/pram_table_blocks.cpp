/// What hFTL makes durable in PRAM when superblocks are opened and closed and when a victim is given up.
#include <algorithm>

#include "ftl/maps/pram_table.h"

namespace flashlab {

SimTime PramTable::opened(OpenSuperblock& set, const OpenSuperblock& closing, SimTime ready) {
    sequence_ceiling_ = parts_.blocks.next_sequence() + parts_.blocks.open_room();
    tables_.begin(ready, no_event);
    for (OpenColumn& c : set.columns) {
        c.slot = first_slot(units_.geometry().plane_of(c.block), set.frontier);
        for (const OpenColumn& other : closing.columns)
            if (other.slot == c.slot) ++c.slot;
        overlay_.start_slot(c.slot);
        tables_.open_slot(c.slot, c.block, sequence_ceiling_);
    }
    return tables_.commit();
}

/// Commits the mapping of the current units of the closing superblock, then makes its blocks data.
void PramTable::closed(OpenSuperblock& set, SimTime at) {
    settle_columns(set, at);
    for (const OpenColumn& c : set.columns) {
        tables_.close_slot(c.slot, c.block, HftlBlockState::data);
        overlay_.end_slot(c.slot);
    }
    (void)tables_.commit(); // nobody waits: until it is durable, recovery reads the OOB of these blocks
}

void PramTable::settle_columns(const OpenSuperblock& set, SimTime now) {
    tables_.begin(parts_.array.note_durable(now), no_event);
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

/// PRAM forgets the victim once every newer version is durable.
FtlResult<SimTime> PramTable::forget(BlockId victim, BlockFate fate, SimTime at, EventId job) {
    const ValidMap& bits = tables_.bits();
    for (std::uint32_t i = bits.next_set(victim, 0); i < units_.units_per_block(); i = bits.next_set(victim, i + 1)) {
        const auto lpn = overlay_.stale_lpn(units_.unit_at(victim, i));
        ensure(lpn.has_value(), "a committed unit that is not valid is stale");
        const GroupId group = parts_.blocks.group_of(units_.block_of(*overlay_.current(*lpn)));
        for (const FrontierId f : ids<FrontierId>(parts_.blocks.frontiers()))
            at = std::max({at, parts_.blocks.open(group, f).last_end, parts_.blocks.closing(group, f).last_end});
    }
    tables_.begin(parts_.array.note_durable(at), job);
    for (std::uint32_t i = bits.next_set(victim, 0); i < units_.units_per_block(); i = bits.next_set(victim, i + 1)) {
        const UnitId old = units_.unit_at(victim, i);
        const Lpn lpn = *overlay_.stale_lpn(old);
        tables_.map(lpn, *overlay_.current(lpn));
        overlay_.drop_stale(old);
    }
    tables_.set_state(victim, fate == BlockFate::retired ? HftlBlockState::bad : HftlBlockState::garbage);
    return tables_.commit();
}

SimTime PramTable::condemned(BlockId block, SimTime now, EventId job) {
    tables_.begin(now, job);
    tables_.set_state(block, HftlBlockState::bad);
    const SimTime done = tables_.commit();
    durable_at_ = std::max(durable_at_, done);
    return done;
}

} // namespace flashlab
