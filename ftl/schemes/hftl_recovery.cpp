/// hFTL across power cuts and clean shutdowns.
#include <algorithm>
#include <tuple>

#include "ftl/schemes/hftl.h"

namespace flashlab {

FtlResult<FtlRecovery> Hftl::recover(SimTime now) {
    ensure(!recovered_, "recover() is called once");
    FtlRecovery report;
    SimTime at = tables_.recover(now);
    if (!tables_.is_new() && !tables_.matches()) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, at});
    report.was_clean = tables_.is_new() || tables_.was_clean();
    next_sequence_ = std::max<std::uint64_t>(1, tables_.sequence_ceiling());
    if (!report.was_clean || !resume_open()) {
        report.was_clean = false;
        const auto closed = close_open_slots(at, report);
        if (!closed) return std::unexpected(closed.error());
        at = *closed;
    }
    load_blocks();
    sequence_ceiling_ = next_sequence_ + open_room();
    tables_.begin(at, no_event);
    tables_.set_header(false, sequence_ceiling_);
    report.done = tables_.commit();
    durable_at_ = report.done;
    for (Group& g : groups_) g.open.ready = report.done;
    recovered_ = true;
    return report;
}

/// After a clean shutdown the open superblocks go on where they were.
bool Hftl::resume_open() {
    const Geometry& g = array_.geometry();
    for (Group& group : groups_) {
        for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) {
            const std::uint32_t first_slot = g.plane_at(group.die, p).value() * 2;
            for (std::uint32_t s = first_slot; s < first_slot + 2; ++s) {
                const HftlSlot slot = tables_.slot(s);
                if (!slot.block) continue;
                group.open.columns.push_back({*slot.block, s});
                group.open.next += slot.scan_from;
            }
        }
        group.open.units = static_cast<std::uint32_t>(group.open.columns.size()) * units_.units_per_block();
        for (std::uint32_t c = 0; c < group.open.columns.size(); ++c) {
            const OpenColumn& column = group.open.columns[c];
            const bool alone = c == 0 || g.plane_of(group.open.columns[c - 1].block) != g.plane_of(column.block);
            if (!alone || tables_.slot(column.slot).scan_from != group.open.filled(c)) {
                for (Group& each : groups_) each.open.reset();
                return false;
            }
            overlay_.start_slot(column.slot);
        }
    }
    return true;
}

/// What the open blocks' pages say is compared with the committed map; then these blocks are data, their rest unused.
FtlResult<SimTime> Hftl::close_open_slots(SimTime now, FtlRecovery& report) {
    std::vector<FoundUnit> found;
    SimTime done = now;
    for (std::uint32_t s = 0; s < layout_.slot_count; ++s) {
        const HftlSlot slot = tables_.slot(s);
        if (!slot.block) continue;
        const auto before = static_cast<std::ptrdiff_t>(found.size());
        const auto scan = scan_open_block(array_, units_, *slot.block, slot.scan_from, now, found);
        if (!scan) return std::unexpected(fail(scan.error(), Lpn{0}));
        report.pages_scanned += scan->pages_read;
        done = std::max(done, scan->done);
        const auto not_to_believe = [&](const FoundUnit& f) {
            return f.lpn.value() >= config_.logical_pages || tables_.is_dead(s, units_.index_in_block(f.unit));
        };
        found.erase(std::remove_if(found.begin() + before, found.end(), not_to_believe), found.end());
    }
    for (const FoundUnit& f : found) next_sequence_ = std::max(next_sequence_, f.sequence.value() + 1);
    std::ranges::sort(found, [](const FoundUnit& a, const FoundUnit& b) {
        return std::tuple{a.lpn, b.sequence, a.unit} < std::tuple{b.lpn, a.sequence, b.unit};
    });
    const auto same_page = std::ranges::unique(found, {}, &FoundUnit::lpn); // the newest of each page stays
    found.erase(same_page.begin(), same_page.end());

    // The committed version wins a tie: a copy whose original is intact is not needed, and its block may be the last free one (DESIGN.md, "Reserve").
    const auto loses = [&](const FoundUnit& f) -> FtlResult<bool> {
        const auto committed = tables_.committed(f.lpn);
        if (!committed) return false;
        if (*committed == f.unit) return true;
        const auto read = array_.read_oob(units_.page_of(*committed, 0), done, {Cause::recovery, no_event});
        if (!read) return std::unexpected(fail(read.error(), f.lpn));
        ++report.pages_scanned;
        done = std::max(done, read->done);
        return read->state == CellState::programmed && read->oob && read->oob->lpn == f.lpn && read->oob->sequence >= f.sequence;
    };
    std::vector<FoundUnit> winners;
    for (const FoundUnit& f : found) {
        const auto lost = loses(f);
        if (!lost) return std::unexpected(lost.error());
        if (!*lost) winners.push_back(f);
    }
    tables_.begin(done, no_event);
    for (const FoundUnit& f : winners) tables_.map(f.lpn, f.unit);
    for (std::uint32_t s = 0; s < layout_.slot_count; ++s) {
        const HftlSlot slot = tables_.slot(s);
        if (!slot.block) continue;
        tables_.close_slot(s, *slot.block, tables_.bits().count(*slot.block) != 0 ? HftlBlockState::data : HftlBlockState::garbage);
    }
    return tables_.commit();
}

void Hftl::load_blocks() {
    const Geometry& g = array_.geometry();
    const std::uint32_t used = static_cast<std::uint32_t>(groups_.size()) * g.planes_per_die() * g.blocks_per_plane();
    for (std::uint32_t b = 0; b < used; ++b) {
        const BlockId block{b};
        Group& group = group_of(block);
        valid_.load_row(block, tables_.bits().row(block));
        const HftlBlockState state = tables_.state(block);
        if (is_lost(block)) {
            ++bad_blocks_;
            continue;
        }
        group.good_units += units_.units_per_block();
        group.valid_units += valid_.count(block);
        switch (state) {
        case HftlBlockState::free_erased: free_.add_erased(block); break;
        case HftlBlockState::garbage: free_.add_garbage(block); break;
        case HftlBlockState::data: full_.add(block, valid_.count(block)); break;
        case HftlBlockState::open:
        case HftlBlockState::bad: break;
        }
    }
    if (spare_units() < std::uint64_t{spare_blocks_a_group} * units_.units_per_block() * groups_.size()) read_only_ = true; // H6
}

FtlResult<SimTime> Hftl::shut_down(SimTime now) {
    ensure(recovered_, "recover() comes first");
    recovered_ = false;
    if (read_only_) return std::max(now, durable_at_);
    SimTime at = std::max(now, durable_at_);
    for (Group& group : groups_) {
        if (group.job.victim) drop_job(group);
        if (group.open.is_active() && !group.open.has_room()) retire_open(group);
        if (group.closing.is_active()) close(group, now);
    }
    for (Group& group : groups_) {
        settle_columns(group.open, std::max(now, close_ready(group.open)));
        for (std::uint32_t c = 0; c < group.open.columns.size(); ++c) tables_.set_scan_from(group.open.columns[c].slot, group.open.filled(c));
        at = std::max(at, tables_.commit());
    }
    const Geometry& g = array_.geometry();
    for (std::uint32_t p = 0; p < groups_.size() * g.planes_per_die(); ++p)
        for (const BlockId block : free_.erased_of(PlaneId{p})) at = std::max(at, settled_at_[block.value()]);
    tables_.begin(at, no_event);
    for (std::uint32_t p = 0; p < groups_.size() * g.planes_per_die(); ++p)
        for (const BlockId block : free_.erased_of(PlaneId{p}))
            if (tables_.state(block) != HftlBlockState::free_erased) tables_.set_state(block, HftlBlockState::free_erased);
    tables_.set_header(true, next_sequence_);
    return std::max(at, tables_.commit());
}

} // namespace flashlab
