/// hFTL: a page map whose tables live in PRAM; NAND holds data only.
///
/// Idea       Writes fill one open superblock a group. Its mapping stays in RAM and goes to PRAM, through a redo log, when it is full (a buffer block
///            becomes a data block). A greedy collector copies what is valid out of a victim and erases it. A trim changes PRAM at once.
/// Invariant  H1 PRAM: an entry names a unit of a data or open block whose bit is set, and no two entries name one unit (T1, T2).
///            H2 every mapped logical page has one current unit: the overlay's, else the committed one; the valid bits are exactly these units.
///            H3 the OOB of a current unit's pages names its logical page and a sequence below the ceiling kept in PRAM.
///            H4 every good block is in exactly one set: free, open or closing, collectable, being collected, pinned; PRAM's state agrees.
///            H5 stale entries are exactly the committed bits that are not valid (O2).
///            H6 units that are not valid come to at least three blocks a group, else the device is read-only: no write can deadlock (DESIGN.md).
/// Cost       RAM: 2 bits a unit, about 40 bytes a block, 40 bytes a unit of the open blocks. PRAM: hftl_layout.h. No allocation in steady state.
/// Power cut  PRAM is a map as of the last closes; recovery adds the OOB of the open blocks. Why that is enough: DESIGN.md, "Order".
/// Source     Kim et al., "A PRAM and NAND flash hybrid architecture for high-performance embedded storage subsystems" (HY); differences: DESIGN.md.
#pragma once

#include "ftl/blocks/free_blocks.h"
#include "ftl/blocks/greedy_victim.h"
#include "ftl/blocks/open_superblock.h"
#include "ftl/blocks/valid_map.h"
#include "ftl/ftl.h"
#include "ftl/recovery/open_block_scan.h"
#include "ftl/schemes/hftl_overlay.h"
#include "ftl/schemes/hftl_tables.h"
#include "ftl/ssd_config.h"
#include "nand/nand_array.h"

namespace flashlab {

struct HftlConfig {
    std::uint32_t groups = 1;              ///< dies used: the first ones
    std::uint32_t pages_per_unit = 1;
    std::uint32_t logical_pages = 0;
    std::uint32_t gc_slice_us = 2000;
};

class Hftl final : public Ftl {
public:
    Hftl(const HftlConfig& config, NandArray& array, Pram& pram, const HftlLayout& layout, EventSink& events);

    std::string_view name() const override { return "hftl"; }
    std::uint32_t logical_page_bytes() const override { return units_.bytes_per_unit(); }
    std::uint32_t logical_pages() const override { return config_.logical_pages; }
    bool durable_when_answered() const override { return true; }

    FtlResult<FtlRecovery> recover(SimTime now) override;
    FtlResult<SimTime> read(Lpn first, std::uint32_t pages, std::span<std::byte> to, SimTime now, Origin origin) override;
    FtlResult<SimTime> read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, SimTime now, Origin origin) override;
    FtlResult<SimTime> write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, SimTime now, Origin origin) override;
    FtlResult<SimTime> trim(Lpn first, std::uint32_t pages, SimTime now, Origin origin) override;
    FtlResult<SimTime> flush(SimTime now, Origin origin) override;
    SimTime idle(SimTime now) override;
    FtlResult<SimTime> relocate(BlockId block, SimTime now) override;
    FtlResult<SimTime> shut_down(SimTime now) override;

    bool is_mapped(Lpn lpn) const override { return current(lpn).has_value(); }
    FtlCounters counters() const override { return counters_; }
    FtlSpace space() const override;
    BlockStatus status_of(BlockId block) const override;
    std::vector<CheckProblem> check() override;

private:
    static constexpr std::uint32_t host_keeps_free = 2;       ///< one for a collection, one for a block that fails in it
    static constexpr std::uint32_t spare_blocks_a_group = 3;  ///< H6

    /// One collection; survives between slices.
    struct Job {
        std::optional<BlockId> victim;
        bool retire = false;             ///< mark bad instead of erasing
        std::uint32_t next = 0;          ///< unit to look at
        SimTime start = sim_start;
        SimTime last_end = sim_start;    ///< of its copies
        SimTime next_slice = sim_start;
        std::uint32_t copied = 0;
        EventId id = no_event;
    };
    struct Group {
        DieId die{0};
        OpenSuperblock open;
        OpenSuperblock closing;
        Job job;
        std::uint64_t good_units = 0;
        std::uint64_t valid_units = 0;
    };

    // hftl.cpp: requests
    [[nodiscard]] std::optional<UnitId> current(Lpn lpn) const;
    FtlResult<std::uint32_t> write_row(Lpn first, std::uint32_t pages, std::span<const std::byte> from, SimTime now, Origin origin, SimTime& done);
    FtlResult<SimTime> read_units(Lpn first, std::uint32_t pages, std::span<std::byte> to, SimTime now, Origin origin);
    void adopt(Group& group, Lpn lpn, UnitId unit, std::uint32_t slot, SimTime end);
    void supersede(Lpn lpn, SimTime end);
    void invalidate(UnitId unit, SimTime end);
    [[nodiscard]] std::uint32_t choose_group(SimTime now);
    FtlError fail(const NandError& error, Lpn lpn);

    // hftl_space.cpp: open superblocks
    [[nodiscard]] FtlResult<SimTime> room_for_host(Group& group, SimTime now);
    [[nodiscard]] bool open_superblock(Group& group, SimTime now, std::uint32_t keep_free, SimTime& failed_at);
    void retire_open(Group& group);
    void close(Group& group, SimTime now);
    void close_due(Group& group, SimTime now);
    [[nodiscard]] SimTime close_ready(const OpenSuperblock& set) const;
    void settle_columns(OpenSuperblock& set, SimTime now);
    [[nodiscard]] std::uint32_t free_in(const Group& group) const;
    [[nodiscard]] Group& group_of(BlockId block);
    [[nodiscard]] std::uint64_t open_room() const;
    [[nodiscard]] std::uint64_t spare_units() const;
    void lose_block(BlockId block);
    /// Bad and without content. A block that was marked bad while a power cut took back that PRAM forgot it still holds its pages: it is data until
    /// it is collected again.
    [[nodiscard]] bool is_lost(BlockId block) const {
        const HftlBlockState state = tables_.state(block);
        const bool holds = state == HftlBlockState::data || state == HftlBlockState::open;
        return state == HftlBlockState::bad || (!holds && array_.is_bad(block));
    }

    // hftl_gc.cpp: collection
    [[nodiscard]] std::optional<BlockId> choose_victim(const Group& group) const;
    void start_job(Group& group, BlockId victim, bool retire, SimTime now);
    /// Runs the job until `until` has been reserved; true when it is finished.
    [[nodiscard]] FtlResult<bool> run_job(Group& group, SimTime now, SimTime until, std::uint32_t keep_free);
    [[nodiscard]] FtlResult<bool> copy_unit(Group& group, UnitId from, SimTime now, std::uint32_t keep_free);
    [[nodiscard]] FtlResult<SimTime> finish_job(Group& group, SimTime now);
    void drop_job(Group& group);
    [[nodiscard]] FtlResult<SimTime> collect_now(Group& group, BlockId victim, bool retire, SimTime now);
    [[nodiscard]] FtlResult<SimTime> retire_failed(SimTime now);
    SimTime idle_group(Group& group, SimTime now);

    // hftl_recovery.cpp
    void load_blocks();
    [[nodiscard]] bool resume_open();
    FtlResult<SimTime> close_open_slots(SimTime now, FtlRecovery& report);

    // hftl_check.cpp
    void check_map(std::vector<CheckProblem>& out);
    void check_blocks(std::vector<CheckProblem>& out);
    void check_pages(Lpn lpn, UnitId unit, std::vector<CheckProblem>& out);

    HftlConfig config_;
    NandArray& array_;
    Pram& pram_;
    EventSink& events_;
    UnitGeometry units_;
    HftlLayout layout_;
    HftlTables tables_;
    HftlOverlay overlay_;
    ValidMap valid_;
    FullBlocks full_;
    FreeBlocks free_;
    GreedyVictim policy_;
    std::vector<Group> groups_;
    std::vector<SimTime> settled_at_;  ///< a block: end of what made its units invalid; of its erase while it is free
    std::vector<std::uint8_t> pinned_; ///< data blocks with a page that cannot be read: kept until nothing in them is valid
    std::vector<BlockId> failed_;      ///< a program failed: to be retired
    FtlCounters counters_;
    std::uint64_t next_sequence_ = 1;
    std::uint64_t sequence_ceiling_ = 0;
    std::uint32_t last_group_ = 0;
    std::uint32_t bad_blocks_ = 0;
    SimTime durable_at_ = sim_start;
    bool recovered_ = false;
    bool read_only_ = false;

    std::vector<PageProgram> programs_;
    std::vector<PageRead> reads_;
    std::vector<HftlTables::DeadUnit> dead_units_;
};

} // namespace flashlab
