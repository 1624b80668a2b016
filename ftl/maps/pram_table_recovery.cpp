/// hFTL across power cuts and clean shutdowns.
#include <algorithm>
#include <tuple>

#include "ftl/maps/pram_table.h"

namespace flashlab {

FtlResult<FtlRecovery> PramTable::recover(SimTime now) {
    FtlRecovery report;
    SimTime at = tables_.recover(now);
    if (!tables_.is_new() && !tables_.matches()) return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{0}, at});
    report.was_clean = tables_.is_new() || tables_.was_clean();
    parts_.blocks.set_next(std::max<std::uint64_t>(1, tables_.sequence_ceiling()), 1);
    std::vector<OpenSuperblock> open;
    if (!report.was_clean || !find_open(open)) {
        report.was_clean = false;
        open.clear();
        const auto closed = close_open_slots(at, report);
        if (!closed) return std::unexpected(closed.error());
        at = *closed;
    }
    load_blocks();
    for (std::uint32_t i = 0; i < open.size(); ++i)
        if (open[i].is_active()) parts_.blocks.resume(GroupId{i / parts_.blocks.frontiers()}, open[i].frontier, open[i].columns, open[i].next, 0);
    sequence_ceiling_ = parts_.blocks.next_sequence() + parts_.blocks.open_room();
    tables_.begin(at, no_event);
    tables_.set_header(false, sequence_ceiling_);
    report.done = tables_.commit();
    durable_at_ = report.done;
    parts_.blocks.finish_loading(report.done);
    return report;
}

/// After a clean shutdown the open superblocks go on where they were; false when the slots do not say so.
bool PramTable::find_open(std::vector<OpenSuperblock>& open) const {
    const Geometry& g = parts_.array.geometry();
    open.resize(std::size_t{parts_.blocks.groups()} * parts_.blocks.frontiers());
    for (std::uint32_t i = 0; i < open.size(); ++i) {
        const DieId group{i / parts_.blocks.frontiers()};
        OpenSuperblock& set = open[i];
        set.frontier = FrontierId{i % parts_.blocks.frontiers()};
        set.depth = parts_.array.config().options.subpages;
        for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) {
            const std::uint32_t first = first_slot(g.plane_at(group, p), set.frontier);
            for (std::uint32_t s = first; s < first + 2; ++s) {
                const HftlSlot slot = tables_.slot(s);
                if (!slot.block) continue;
                set.columns.push_back({*slot.block, s});
                set.next += slot.scan_from;
            }
        }
        for (std::uint32_t c = 0; c < set.columns.size(); ++c) {
            const bool alone = c == 0 || g.plane_of(set.columns[c - 1].block) != g.plane_of(set.columns[c].block);
            if (!alone || tables_.slot(set.columns[c].slot).scan_from != set.filled(c)) return false;
        }
    }
    return true;
}

/// What the open blocks' pages say is compared with the committed map; then these blocks are data, their rest unused.
FtlResult<SimTime> PramTable::close_open_slots(SimTime now, FtlRecovery& report) {
    std::vector<FoundUnit> found;
    SimTime done = now;
    for (std::uint32_t s = 0; s < layout_.slot_count; ++s) {
        const HftlSlot slot = tables_.slot(s);
        if (!slot.block) continue;
        const auto before = static_cast<std::ptrdiff_t>(found.size());
        const auto scan = scan_open_block(parts_.array, units_, *slot.block, slot.scan_from, now, found);
        if (!scan) return std::unexpected(parts_.blocks.fail(scan.error(), Lpn{0}));
        report.pages_scanned += scan->pages_read;
        done = std::max(done, scan->done);
        const auto not_to_believe = [&](const FoundUnit& f) {
            return f.kind != PageKind::data || f.lpn.value() >= layout_.logical_pages || tables_.is_dead(s, units_.index_in_block(f.unit));
        };
        found.erase(std::remove_if(found.begin() + before, found.end(), not_to_believe), found.end());
    }
    for (const FoundUnit& f : found) parts_.blocks.set_next(std::max(parts_.blocks.next_sequence(), f.sequence.value() + 1), 1);
    std::ranges::sort(found, [](const FoundUnit& a, const FoundUnit& b) {
        return std::tuple{a.lpn, b.sequence, a.unit} < std::tuple{b.lpn, a.sequence, b.unit};
    });
    const auto same_page = std::ranges::unique(found, {}, &FoundUnit::lpn); // the newest of each page stays
    found.erase(same_page.begin(), same_page.end());

    // The committed version wins a tie: a copy whose original is intact is not needed, its block may be the last free one (ftl/DESIGN-pages.md,
    // "Reserve").
    const auto loses = [&](const FoundUnit& f) -> FtlResult<bool> {
        const auto committed = tables_.committed(f.lpn);
        if (!committed) return false;
        if (*committed == f.unit) return true;
        const auto read = parts_.array.read_oob(units_.page_of(*committed, 0), {done, {Cause::recovery, no_event}});
        if (!read) return std::unexpected(parts_.blocks.fail(read.error(), f.lpn));
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
    // First the ceiling: a page may be newer than the one kept (it was programmed beside the commit that raised it), and once its slot is closed
    // nobody scans it.
    tables_.set_header(false, parts_.blocks.next_sequence());
    for (const FoundUnit& f : winners) tables_.map(f.lpn, f.unit);
    for (std::uint32_t s = 0; s < layout_.slot_count; ++s) {
        const HftlSlot slot = tables_.slot(s);
        if (!slot.block) continue;
        tables_.close_slot(s, *slot.block, tables_.bits().count(*slot.block) != 0 ? HftlBlockState::data : HftlBlockState::garbage);
    }
    return tables_.commit();
}

void PramTable::load_blocks() {
    for (std::uint32_t b = 0; b < parts_.blocks.blocks_in_use(); ++b) {
        const BlockId block{b};
        parts_.blocks.valid_to_load().load_row(block, tables_.bits().row(block));
        auto as = PageBlocks::LoadAs::bad;
        if (!is_lost(block)) {
            switch (tables_.state(block)) {
            case HftlBlockState::free_erased:
                as = PageBlocks::LoadAs::erased;
                break;
            case HftlBlockState::garbage:
                as = PageBlocks::LoadAs::garbage;
                break;
            case HftlBlockState::data:
                as = PageBlocks::LoadAs::data;
                break;
            case HftlBlockState::open:
                as = PageBlocks::LoadAs::open;
                for (std::uint32_t s = 0; s < layout_.slot_count; ++s)
                    if (tables_.slot(s).block == block) overlay_.start_slot(s);
                break;
            case HftlBlockState::bad:
                break;
            }
        }
        parts_.blocks.load_block(block, as, host_frontier);
    }
}

FtlResult<SimTime> PramTable::shut_down(SimTime now) {
    if (parts_.blocks.is_read_only()) return std::max(now, durable_at_);
    SimTime at = std::max(now, durable_at_);
    parts_.blocks.settle_down(now);
    for (std::uint32_t i = 0; i < parts_.blocks.groups() * parts_.blocks.frontiers(); ++i) {
        const OpenSuperblock& open = parts_.blocks.open(GroupId{i / parts_.blocks.frontiers()}, FrontierId{i % parts_.blocks.frontiers()});
        settle_columns(open, std::max(now, parts_.blocks.close_ready(open)));
        for (std::uint32_t c = 0; c < open.columns.size(); ++c) tables_.set_scan_from(open.columns[c].slot, open.filled(c));
        at = std::max(at, tables_.commit());
    }
    const FreeBlocks& free = parts_.blocks.free_blocks();
    for (std::uint32_t p = 0; p < parts_.blocks.planes_in_use(); ++p)
        for (const BlockId block : free.erased_of(PlaneId{p})) at = std::max(at, parts_.blocks.settled_at(block));
    tables_.begin(at, no_event);
    for (std::uint32_t p = 0; p < parts_.blocks.planes_in_use(); ++p)
        for (const BlockId block : free.erased_of(PlaneId{p}))
            if (tables_.state(block) != HftlBlockState::free_erased) tables_.set_state(block, HftlBlockState::free_erased);
    tables_.set_header(true, parts_.blocks.next_sequence());
    return std::max(at, tables_.commit());
}

} // namespace flashlab
