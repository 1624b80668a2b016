/// A page table in PRAM; NAND holds data only. `hftl` is a PagedFtl with it.
///
/// Idea       Writes fill one open superblock a group. Its mapping stays in RAM and goes to PRAM, through a redo log, when it is full (a buffer block
///            becomes a data block). A greedy collector copies what is valid out of a victim and erases it. A trim changes PRAM at once.
/// Invariant  H1 PRAM: an entry names a unit of a data or open block whose bit is set, and no two entries name one unit (T1, T2).
///            H2 every mapped logical page has one current unit: the overlay's, else the committed one; the valid bits are exactly these units.
///            H3 the OOB of a current unit's pages names its logical page and a sequence below the ceiling kept in PRAM.
///            H4 PRAM's state of a block agrees with what PageBlocks does with it (B2).
///            H5 stale entries are exactly the committed bits that are not valid (O2).
/// Cost       RAM: 2 bits a unit, about 40 bytes a block, 40 bytes a unit of the open blocks. PRAM: hftl_layout.h. No allocation in steady state.
/// Power cut  PRAM is a map as of the last closes; recovery adds the OOB of the open blocks. Why that is enough: ftl/DESIGN-hftl.md, "Order".
/// Source     Kim et al., "A PRAM and NAND flash hybrid architecture for high-performance embedded storage subsystems" (HY); ftl/DESIGN-hftl.md.
#pragma once

#include "ftl/maps/hftl_overlay.h"
#include "ftl/maps/hftl_tables.h"
#include "ftl/maps/page_table.h"
#include "ftl/recovery/open_block_scan.h"

namespace flashlab {

class PramTable {
public:
    static constexpr bool durable_when_answered = true;

    PramTable(const TableParts& parts, Pram& pram, const HftlLayout& layout);
    PramTable(const PramTable&) = delete;
    PramTable& operator=(const PramTable&) = delete;

    // pram_table.cpp: requests
    [[nodiscard]] std::optional<UnitId> current(Lpn lpn) const {
        if (const auto open = overlay_.current(lpn)) return open;
        return tables_.committed(lpn);
    }
    [[nodiscard]] FtlResult<SimTime> look_up(Lpn first, std::uint32_t pages, const Io& io);
    [[nodiscard]] FtlResult<void> begin_write(Lpn first, const Io&) {
        tables_.prefetch(first);
        return {};
    }
    [[nodiscard]] static FtlResult<SimTime> before_row(const PagesToWrite&, std::uint32_t, std::uint32_t, const Io& io) { return io.when; }
    void adopt(Lpn lpn, UnitId unit, const OpenColumn& column, SimTime) {
        ensure(parts_.blocks.next_sequence() <= sequence_ceiling_, "sequences stay below the ceiling kept in PRAM");
        place(lpn, unit, column);
    }
    [[nodiscard]] static FtlResult<void> after_row(std::uint32_t, const Io&) { return {}; }
    void answered(SimTime at) { durable_at_ = std::max(durable_at_, at); }
    [[nodiscard]] FtlResult<SimTime> trim(Lpn first, std::uint32_t pages, const Io& io);
    [[nodiscard]] FtlResult<SimTime> flush(const Io& io) const { return std::max(io.when, durable_at_); }
    [[nodiscard]] SimTime idle(SimTime now) { return parts_.blocks.idle(now); }
    [[nodiscard]] static std::uint64_t own_pages() { return 0; }
    [[nodiscard]] static BlockUse use_of(BlockId) { return BlockUse::data; }
    [[nodiscard]] static MappingSpace* mapping_space() { return nullptr; }

    // pram_table_blocks.cpp: the durable side of opening, closing and collecting
    [[nodiscard]] SimTime opened(OpenSuperblock& set, const OpenSuperblock& closing, SimTime ready);
    void closed(OpenSuperblock& set, SimTime at);
    void prefetch(Lpn lpn) const { tables_.prefetch(lpn); }
    void moved(const PageOob& oob, UnitId, UnitId to, const OpenColumn& column, SimTime) { place(oob.lpn, to, column); }
    [[nodiscard]] FtlResult<SimTime> forget(BlockId victim, BlockFate fate, SimTime at, EventId job);
    [[nodiscard]] SimTime condemned(BlockId block, SimTime now, EventId job);

    // pram_table_recovery.cpp, pram_table_check.cpp
    [[nodiscard]] FtlResult<FtlRecovery> recover(SimTime now);
    [[nodiscard]] FtlResult<SimTime> shut_down(SimTime now);
    [[nodiscard]] std::vector<CheckProblem> check();

private:
    /// The unit holds the newest version from now on; the committed one, if it was the newest, is stale.
    void place(Lpn lpn, UnitId unit, const OpenColumn& column);
    [[nodiscard]] bool is_lost(Lpn lpn) const { return tables_.is_damaged(lpn) && !overlay_.current(lpn); }
    void settle_columns(const OpenSuperblock& set, SimTime now);
    /// Bad and without content. In an image of a version whose bad marks did not wait until PRAM had forgotten the block it may still hold its pages:
    /// it is data until it is collected again.
    [[nodiscard]] bool is_lost(BlockId block) const {
        const HftlBlockState state = tables_.state(block);
        const bool holds = state == HftlBlockState::data || state == HftlBlockState::open;
        return state == HftlBlockState::bad || (!holds && parts_.array.is_bad(block));
    }

    /// Of an open block's two; the streams of data are the frontiers.
    [[nodiscard]] std::uint32_t first_slot(PlaneId plane, FrontierId frontier) const {
        return plane.value() * layout_.slots_a_plane + 2 * frontier.value();
    }

    void load_blocks();
    [[nodiscard]] bool find_open(std::vector<OpenSuperblock>& open) const;
    FtlResult<SimTime> close_open_slots(SimTime now, FtlRecovery& report);
    void check_map(std::vector<CheckProblem>& out);
    void check_blocks(std::vector<CheckProblem>& out);
    void check_pages(Lpn lpn, UnitId unit, std::vector<CheckProblem>& out);

    const TableParts parts_;
    Pram& pram_;
    UnitGeometry units_;
    HftlLayout layout_;
    HftlTables tables_;
    HftlOverlay overlay_;
    std::uint64_t sequence_ceiling_ = 0;
    SimTime durable_at_ = sim_start;
    std::vector<HftlTables::DeadUnit> dead_units_;
};

} // namespace flashlab
