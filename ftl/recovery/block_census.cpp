#include "ftl/recovery/block_census.h"

#include <algorithm>

#include "ftl/blocks/open_superblock.h"

namespace flashlab {

std::expected<BlockCensus, NandError> BlockCensus::take(NandArray& array, const UnitGeometry& units, std::uint32_t blocks_in_use,
                                                        std::span<const BlockId> outside, const PageCheckpoint& checkpoint, SimTime now) {
    struct Open {
        std::uint32_t stamp = 0;
        std::uint32_t filled = 0;
        bool is = false;
    };
    std::vector<Open> open(blocks_in_use);
    for (const PageCheckpoint::Superblock& s : checkpoint.open) {
        const auto width = static_cast<std::uint32_t>(s.columns.size());
        for (std::uint32_t c = 0; c < width; ++c)
            open[s.columns[c].value()] = {s.stamp, OpenSuperblock::filled(s.next, width, array.config().options.subpages, c), true};
    }
    BlockCensus census;
    census.known_units_.assign(array.geometry().blocks(), 0);
    census.translation_.assign(array.geometry().blocks(), 0);
    census.next_sequence_ = checkpoint.next_sequence;
    census.next_stamp_ = checkpoint.next_stamp;
    census.done_ = now;
    auto next_outside = outside.begin();
    for (std::uint32_t b = 0; b < blocks_in_use; ++b) {
        const BlockId block{b};
        if (next_outside != outside.end() && *next_outside == block) {
            ++next_outside;
            continue;
        }
        if (array.is_factory_bad(block)) continue;
        const auto first = array.read_oob(units.page_of(units.unit_at(block, 0), 0), {now, {Cause::recovery, no_event}});
        if (!first) return std::unexpected(first.error());
        ++census.pages_read_;
        census.done_ = std::max(census.done_, first->done);
        // A block whose first page is torn holds nothing more: its programs end in order.
        if (first->state == CellState::erased || !first->oob) continue;
        if (first->oob->kind != PageKind::data && first->oob->kind != PageKind::translation) continue; // a ring that moves has left it
        const std::uint32_t stamp = first->oob->scheme_word;
        census.next_stamp_ = std::max(census.next_stamp_, stamp + 1);
        census.translation_[b] = first->oob->kind == PageKind::translation ? 1 : 0;
        std::uint32_t from = 0;
        if (open[b].is && open[b].stamp == stamp)
            from = open[b].filled;
        else if (stamp < checkpoint.next_stamp)
            from = units.units_per_block();
        census.known_units_[b] = from;
        if (from == units.units_per_block()) continue;
        const auto scan = scan_open_block(array, units, block, from, first->done, census.found_);
        if (!scan) return std::unexpected(scan.error());
        census.pages_read_ += scan->pages_read;
        census.done_ = std::max(census.done_, scan->done);
    }
    for (const FoundUnit& f : census.found_) census.next_sequence_ = std::max(census.next_sequence_, f.sequence.value() + 1);
    return census;
}

} // namespace flashlab
