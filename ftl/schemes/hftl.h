/// hFTL: a page map whose tables live in PRAM; NAND holds data only.
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

#include "ftl/blocks/row_writer.h"
#include "ftl/blocks/unit_reader.h"
#include "ftl/ftl.h"
#include "ftl/recovery/open_block_scan.h"
#include "ftl/schemes/hftl_overlay.h"
#include "ftl/schemes/hftl_tables.h"
#include "ftl/ssd_config.h"
#include "nand/nand_array.h"

namespace flashlab {

class Hftl final : public Ftl, private PageOwner {
public:
    Hftl(const PageBlocksConfig& config, NandArray& array, Pram& pram, const HftlLayout& layout, EventSink& events, BlockPolicies policies);

    std::string_view name() const override { return "hftl"; }
    bool durable_when_answered() const override { return true; }

    FtlCounters counters() const override;
    FtlSpace space() const override { return blocks_.space(); }

private:
    // Ftl
    FtlResult<FtlRecovery> do_recover(SimTime now) override;
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override;
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override;
    FtlResult<SimTime> do_flush(const Io& io) override;
    SimTime do_idle(SimTime now) override;
    FtlResult<SimTime> do_relocate(BlockId block, SimTime now) override;
    FtlResult<SimTime> do_shut_down(SimTime now) override;
    bool do_is_mapped(Lpn lpn) const override { return current(lpn).has_value(); }
    BlockStatus do_status_of(BlockId block) const override { return blocks_.status_of(block, BlockUse::data); }
    std::vector<CheckProblem> do_check() override;

    // hftl.cpp: requests
    [[nodiscard]] std::optional<UnitId> current(Lpn lpn) const;
    [[nodiscard]] bool is_lost(Lpn lpn) const { return tables_.is_damaged(lpn) && !overlay_.current(lpn); }
    void adopt(Lpn lpn, UnitId unit, std::uint32_t slot);

    // hftl_blocks.cpp: the durable side of opening, closing and collecting
    SimTime opened(OpenSuperblock& set, const OpenSuperblock& closing, SimTime ready) override;
    void closed(OpenSuperblock& set, SimTime at) override;
    void prefetch(Lpn lpn) const override { tables_.prefetch(lpn); }
    void moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn& column, SimTime end) override;
    FtlResult<SimTime> forget(BlockId victim, BlockFate fate, SimTime at, EventId job) override;
    SimTime condemned(BlockId block, SimTime now, EventId job) override;
    void settle_columns(const OpenSuperblock& set, SimTime now);
    /// Bad and without content. In an image of a version whose bad marks did not wait until PRAM had forgotten the block it may still hold its pages:
    /// it is data until it is collected again.
    [[nodiscard]] bool is_lost(BlockId block) const {
        const HftlBlockState state = tables_.state(block);
        const bool holds = state == HftlBlockState::data || state == HftlBlockState::open;
        return state == HftlBlockState::bad || (!holds && array_.is_bad(block));
    }

    /// Of an open block's two; the streams of data are the frontiers.
    [[nodiscard]] std::uint32_t first_slot(PlaneId plane, FrontierId frontier) const {
        return plane.value() * layout_.slots_a_plane + 2 * frontier.value();
    }

    // hftl_recovery.cpp
    void load_blocks();
    [[nodiscard]] bool find_open(std::vector<OpenSuperblock>& open) const;
    FtlResult<SimTime> close_open_slots(SimTime now, FtlRecovery& report);

    // hftl_check.cpp
    void check_map(std::vector<CheckProblem>& out);
    void check_blocks(std::vector<CheckProblem>& out);
    void check_pages(Lpn lpn, UnitId unit, std::vector<CheckProblem>& out);

    NandArray& array_;
    Pram& pram_;
    UnitGeometry units_;
    HftlLayout layout_;
    HftlTables tables_;
    HftlOverlay overlay_;
    PageBlocks blocks_;
    UnitReader reader_;
    FtlCounters counters_;
    std::uint64_t sequence_ceiling_ = 0;
    SimTime durable_at_ = sim_start;

    std::vector<HftlTables::DeadUnit> dead_units_;
};

} // namespace flashlab
