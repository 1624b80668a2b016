/// A scheme's own records on flash: one checkpoint and the journal since, for schemes that have no PRAM.
///
/// Idea       A ring of rows of blocks set aside for it. A record is a run of pages of one sequence, written over the row's planes in turn; a
///            checkpoint is a record that makes everything before it worthless, so the ring's tail jumps to it. Small things (trims at a flush, a
///            merge that replaces blocks) are journal records; when the ring runs short the scheme is told to write a checkpoint.
///            A checkpoint may be written a few pages at a time: it says how things were when it began, and records written meanwhile have higher
///            numbers.
/// Invariant  M1 what recover() returns is the newest whole checkpoint and every whole record after it, in the order written, none left out: record n
///            + 1
///               is programmed after record n has ended, but for a checkpoint that is under way, which may end later than the records begun after it.
///            M2 the rows outside the live ones have room for a whole checkpoint: writing one can always be tried again after a cut. While one is
///            under way
///               its rows count as live: a record among its pages stays when a cut tears the checkpoint.
///            M3 after recover() the log goes on in a row of its own, erased first; what a cut left half written is never programmed over or
///            believed.
///            M4 a ring that moves (`anchor`) lies where the newest table in its anchor says. A table names a block only once nothing else durable
///            does, and
///               is durable before anything is done to a block that it brings in or leaves out.
/// Cost       A record takes ceil((payload + 16) / page) pages, spread over the row's planes; a row is erased for as many checkpoints as fit in it.
///            recover(): the first page's OOB of each block, those of the rows from the newest back to the newest whole checkpoint, then the live
///            pages. RAM: one page.
/// Power cut  As M1: an append is there as a whole once it has ended, else it is there or it is not. recover() programs and erases nothing.
/// Source     docs/crash-model.md, C6: the bound of recovery. Bytes: ftl/FORMAT.md, "Records on flash".
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ftl/blocks/block_exchange.h"
#include "ftl/ftl.h"
#include "ftl/ssd_config.h"
#include "nand/nand_array.h"

namespace flashlab {

/// The blocks of a ring: `rows` rows of `width` blocks, each on another plane, row by row.
struct MetaArea {
    std::uint32_t width = 0;
    std::uint32_t rows = 0;
    std::uint32_t checkpoint_pages = 0; ///< of the largest checkpoint: what M2 keeps room for
    std::vector<BlockId> blocks;
    std::vector<BlockId> anchor;    ///< three blocks of one plane that hold the ring's table; none: the ring stays where it is
    std::uint32_t journal_rows = 1; ///< between two checkpoints
    bool in_slc = false;            ///< its blocks are erased as SLC: a record does not pay for a word line of several bits
    [[nodiscard]] bool contains(BlockId block) const;
    /// Ring and anchor, sorted.
    [[nodiscard]] std::vector<BlockId> all() const;
};

enum class RingPlace : std::uint8_t { fixed, moves };

struct MetaNeeds {
    std::uint64_t checkpoint_bytes = 0; ///< of the largest
    std::uint64_t journal_bytes =
        0; ///< of records between two checkpoints; a row at least. A scheme with a long checkpoint and many records asks for as much again
    bool in_slc = false; ///< as in MetaArea; the chips have that mode
};

/// The first good blocks of the first `planes` planes, enough for such checkpoints and a journal between them.
/// Both a plan and its device compute it, from the configuration alone; empty when the planes have too few good blocks.
[[nodiscard]] MetaArea plan_meta_area(const NandConfig& nand, const Geometry& geometry, std::uint32_t planes, const MetaNeeds& needs,
                                      RingPlace place = RingPlace::fixed);

/// Before a record's payload: kind, CRC of the payload, its length (ftl/FORMAT.md, "Records on flash").
inline constexpr std::size_t meta_record_header_bytes = 16;

struct MetaRecord {
    std::uint32_t kind = 0;   ///< the scheme's own; 0 is the checkpoint
    std::uint64_t number = 0; ///< counts records from 1 over the device's life
    std::vector<std::byte> payload;
};

class MetaLog {
public:
    MetaLog(MetaArea area, NandArray& array);

    struct Recovered {
        std::optional<MetaRecord> checkpoint;
        std::vector<MetaRecord> records; ///< after it, oldest first
        std::uint64_t pages_read = 0;
        SimTime done;
    };
    /// A ring with an anchor gives blocks for less worn free ones from then on, when they are `margin` erases apart. To be called before recover().
    void move_by_wear(BlockExchange& exchange, std::uint32_t margin) {
        exchange_ = &exchange;
        margin_ = margin;
    }
    /// Blocks exchanged since the mount.
    [[nodiscard]] std::uint64_t moves() const { return moves_; }
    /// Call once before use, after array.open(). An empty ring (a new device) recovers to nothing. Fails with uncorrectable when a live record is
    /// there but does not read. A device without payload cannot be recovered: its records have no content.
    [[nodiscard]] std::expected<Recovered, NandError> recover(SimTime now);

    /// When the record is durable. kind > 0. Fails with no_free_block when failed blocks have used up the ring, host_io otherwise.
    /// ensure()s that the record fits: ask needs_checkpoint() first.
    [[nodiscard]] FtlResult<SimTime> append(std::uint32_t kind, std::span<const std::byte> payload, const Io& io);
    /// Everything before is worthless once this has ended.
    [[nodiscard]] FtlResult<SimTime> checkpoint(std::span<const std::byte> payload, const Io& io);
    /// The same where the array keeps no bytes: nobody has to make them.
    [[nodiscard]] FtlResult<SimTime> checkpoint_of(std::uint64_t payload_bytes, const Io& io);
    /// The same in parts: begins one of what is now, with its first page, and continues it. A record that is newer lies behind that page.
    /// `payload` (empty where the array keeps no bytes) must not change until it is whole.
    /// `now` is not before the end of anything that the checkpoint speaks of. None may be under way.
    [[nodiscard]] FtlResult<SimTime> begin_checkpoint(std::uint64_t bytes, std::span<const std::byte> payload, const Io& io);
    /// Its next pages, `pages` at most. Once it is whole, everything before its begin is worthless. Returns when what is written has ended.
    [[nodiscard]] FtlResult<SimTime> continue_checkpoint(std::uint32_t pages, SimTime now);
    [[nodiscard]] bool is_writing() const { return under_way_.pages != 0; }
    /// Pages that the checkpoint under way still lacks.
    [[nodiscard]] std::uint32_t pages_left() const { return under_way_.pages - under_way_.written; }
    [[nodiscard]] std::uint32_t pages_under_way() const { return under_way_.pages; }
    /// Pages of it to write with each record, so that it is whole before its row is full.
    [[nodiscard]] std::uint32_t share_of_record() const;
    /// True when a few records more would ask for a checkpoint: time to begin one.
    [[nodiscard]] bool is_short() const;
    /// True when a record of `payload_bytes` would touch the rows that M2 keeps: write a checkpoint first, or the rest of the one under way.
    [[nodiscard]] bool needs_checkpoint(std::size_t payload_bytes) const;

    // Of a log that has a mirror (mirrored_log.h)
    [[nodiscard]] std::uint64_t next_number() const { return next_number_; }
    /// The next record has this number at least.
    void number_from(std::uint64_t number) { next_number_ = std::max(next_number_, number); }
    /// Instead of a recover() that has failed since a record does not read: the ring counts as empty. The next write is a checkpoint, newer than
    /// anything in it.
    void start_over(SimTime now);

    /// No operation on the ring ends later.
    [[nodiscard]] SimTime last_end() const { return last_end_; }
    /// False once the ring has too few good blocks left: the device should become read-only.
    [[nodiscard]] bool can_write() const;
    /// False: such a checkpoint is larger than any that was planned for.
    [[nodiscard]] bool is_planned(std::uint64_t checkpoint_bytes) const { return pages_of(checkpoint_bytes) <= area_.checkpoint_pages; }
    /// After recover(): where the ring lies now.
    [[nodiscard]] const MetaArea& area() const { return area_; }
    [[nodiscard]] std::vector<CheckProblem> check() const;

private:
    [[nodiscard]] BlockId block_at(std::uint32_t row, std::uint32_t column) const { return area_.blocks[std::size_t{row} * area_.width + column]; }
    [[nodiscard]] std::uint32_t pages_of(std::size_t payload_bytes) const;
    [[nodiscard]] std::uint32_t room_in_row(std::uint32_t row) const;
    [[nodiscard]] std::uint32_t room_in_head() const;
    /// Whole rows, counted from `row` on, that `pages` pages take; more than are not live when they do not fit.
    [[nodiscard]] std::uint32_t rows_for(std::uint32_t first, std::uint32_t pages) const;
    [[nodiscard]] std::uint32_t spare_rows() const;
    [[nodiscard]] FtlResult<SimTime> take_row(const Io& io);
    // meta_log_move.cpp
    [[nodiscard]] std::vector<std::byte> encode_table() const;
    [[nodiscard]] bool adopt_table(std::span<const std::byte> table);
    [[nodiscard]] std::expected<SimTime, NandError> find_ring(SimTime now, std::uint64_t& pages_read);
    [[nodiscard]] std::optional<BlockExchange::Lent> best_offer(std::uint32_t row, std::uint32_t column) const;
    [[nodiscard]] FtlResult<SimTime> move_row(std::uint32_t row, const Io& io);
    [[nodiscard]] FtlResult<SimTime> program_page(const PageOob& oob, const Io& io);
    [[nodiscard]] FtlResult<SimTime> write_checkpoint(std::uint64_t bytes, std::span<const std::byte> payload, const Io& io);
    [[nodiscard]] FtlResult<SimTime> write_record(std::uint32_t kind, std::uint64_t bytes, std::span<const std::byte> payload, const Io& io);
    [[nodiscard]] FtlResult<SimTime> write_page(std::uint32_t kind, PageOob oob, std::span<const std::byte>& rest, const Io& io);
    void lay_out(std::uint32_t kind, bool is_first, std::span<const std::byte>& rest);
    [[nodiscard]] FtlResult<void> drop_block(BlockId block, SimTime now);

    struct UnderWay {
        std::uint64_t number = 0;
        std::uint32_t pages = 0; ///< 0: none is under way
        std::uint32_t written = 0;
        std::uint32_t rows_before = 0; ///< live rows that are worthless when it is whole
        std::span<const std::byte> rest;
        SimTime from;
        SimTime end;
        Origin origin{Cause::map};
    };

    MetaArea area_;
    NandArray& array_;
    UnderWay under_way_;
    std::uint32_t tail_ = 0; ///< first live row
    std::uint32_t live_rows_ = 0;
    std::vector<BlockId> head_; ///< the good blocks of the last live row; empty: the next page takes a new row
    std::uint32_t next_ = 0;    ///< page of the head row, over its columns in turn
    std::uint64_t next_number_ = 1;
    SimTime last_end_ = sim_start;
    const CellType mode_; ///< of its blocks
    const std::uint32_t pages_a_block_;
    const std::uint32_t subpages_; ///< of a page of the chip: a record has whole ones
    std::vector<std::byte> page_;  ///< of the chip
    std::vector<PageProgram> programs_;
    bool recovered_ = false;
    std::unique_ptr<MetaLog> anchor_;
    BlockExchange* exchange_ = nullptr;
    std::uint32_t margin_ = 0;
    std::uint64_t moves_ = 0;
};

} // namespace flashlab
