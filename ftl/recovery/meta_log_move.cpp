/// A ring that moves: which blocks it lies in now, and how a worn one is exchanged.
#include <algorithm>

#include "base/little_endian.h"
#include "ftl/recovery/meta_log.h"

namespace flashlab {

namespace {

constexpr std::uint32_t table_kind = 1; ///< of the anchor's records; its checkpoints hold the same

} // namespace

std::vector<std::byte> MetaLog::encode_table() const {
    std::vector<std::byte> out((area_.blocks.size() + 1) * 4);
    LittleEndianWriter writer{out};
    writer.u32(static_cast<std::uint32_t>(area_.blocks.size()));
    for (const BlockId block : area_.blocks) writer.u32(block.value());
    return out;
}

/// Only a table of this ring: as many blocks, each on its column's die, none twice, none of the anchor's.
bool MetaLog::adopt_table(std::span<const std::byte> table) {
    const Geometry& g = array_.geometry();
    if (table.size() != (area_.blocks.size() + 1) * 4) return false;
    LittleEndianReader reader{table};
    if (reader.u32() != area_.blocks.size()) return false;
    std::vector<BlockId> blocks;
    for (const BlockId planned : area_.blocks) {
        const BlockId block{reader.u32()};
        if (block.value() >= g.blocks() || g.die_of(g.plane_of(block)) != g.die_of(g.plane_of(planned)) ||
            std::ranges::find(area_.anchor, block) != area_.anchor.end())
            return false;
        blocks.push_back(block);
    }
    std::vector<BlockId> sorted = blocks;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) return false;
    area_.blocks = std::move(blocks);
    return true;
}

std::expected<SimTime, NandError> MetaLog::find_ring(SimTime now, std::uint64_t& pages_read) {
    if (!anchor_) return now;
    const auto kept = anchor_->recover(now);
    if (!kept) return std::unexpected(kept.error());
    pages_read += kept->pages_read;
    const std::vector<std::byte>* newest = !kept->records.empty() ? &kept->records.back().payload
                                           : kept->checkpoint     ? &kept->checkpoint->payload
                                                                  : nullptr;
    if (newest != nullptr && !adopt_table(*newest)) return std::unexpected(NandError{NandErrorKind::uncorrectable, Ppn{0}, kept->done});
    return kept->done;
}

/// Of the column's die, but on no plane that another column of the row lies on: the row's programs work side by side.
std::optional<BlockExchange::Lent> MetaLog::best_offer(std::uint32_t row, std::uint32_t column) const {
    const Geometry& g = array_.geometry();
    const DieId die = g.die_of(g.plane_of(block_at(row, column)));
    std::optional<BlockExchange::Lent> best;
    for (std::uint32_t p = 0; p < g.planes_per_die(); ++p) {
        const PlaneId plane = g.plane_at(die, p);
        bool is_taken = false;
        for (std::uint32_t other = 0; other < area_.width; ++other)
            is_taken = is_taken || (other != column && g.plane_of(block_at(row, other)) == plane);
        if (is_taken) continue;
        const auto offered = exchange_->offer(plane);
        if (offered && (!best || array_.erase_count(offered->block) < array_.erase_count(best->block))) best = offered;
    }
    return best;
}

/// Before the row is erased: its blocks that are worn for less worn free ones. Returns when the row may be erased.
FtlResult<SimTime> MetaLog::move_row(std::uint32_t row, const Io& io) {
    if (exchange_ == nullptr || !anchor_ || !anchor_->can_write()) return io.when;
    struct Moved {
        std::size_t place;
        BlockId old;
    };
    std::vector<Moved> moved;
    SimTime from = io.when;
    for (std::uint32_t column = 0; column < area_.width; ++column) {
        const std::size_t place = std::size_t{row} * area_.width + column;
        const BlockId old = area_.blocks[place];
        const std::uint32_t erases = array_.erase_count(old);
        if (array_.is_bad(old) || erases <= margin_) continue;
        const auto lent = best_offer(row, column);
        if (!lent || array_.erase_count(lent->block) >= erases - margin_) continue;
        exchange_->lend(lent->block);
        from = std::max(from, lent->ready);
        moved.push_back({place, old});
        area_.blocks[place] = lent->block;
    }
    if (moved.empty()) return io.when;
    const std::vector<std::byte> table = encode_table();
    const auto written =
        anchor_->needs_checkpoint(table.size()) ? anchor_->checkpoint(table, io.at(from)) : anchor_->append(table_kind, table, io.at(from));
    if (!written) {
        for (const Moved& m : moved) {
            exchange_->give(area_.blocks[m.place], from);
            area_.blocks[m.place] = m.old;
        }
        exchange_ = nullptr; // the ring stays where it is
        if (written.error().kind == FtlErrorKind::host_io) return written;
        return io.when;
    }
    for (const Moved& m : moved) exchange_->give(m.old, *written);
    moves_ += moved.size();
    return *written;
}

} // namespace flashlab
