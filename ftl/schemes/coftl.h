/// COFTL: chains of striped block sets behind a cache of large pages; recovery without a version number for each write.
///
/// Idea       A virtual page is a page set: one page on each of `width` channels. A virtual block owns a chain: a primary set and up to `width`
///            replacement sets. Writes go in order into the last set; when it is full its page table is committed to a summary page of the primary
///            and a replacement page points to the next set. When the chain is full, or free sets run short, what is valid is merged into a fresh
///            primary; where all of it lies in the last set, that set becomes the primary as it is, and nothing is copied.
///            Small writes and reads stay in a cache of whole virtual pages, evicted through two heaps.
/// Invariant  X1 a chain has at most width + 1 sets; the page sets of a set are written in order, those before next_row at least begun.
///            X2 all sets of a chain but the last are committed: the summary of set i is durable before set i + 1 is programmed (O1).
///            X3 a virtual page's place is its newest whole page set in the chain, unless a trim came after it; its pages say so themselves.
///            X4 only sets listed in the log's newest version are taken (S1, S2); each is in one chain, in the free ring, or lost.
///            X5 a cached slot and the entry of its virtual block's table name each other; a table that is not in RAM names no slot.
///            X6 sets that are not needed for one a virtual block number at least three, and one of all is free, else the device is read-only: no
///            write can deadlock.
/// Cost       RAM: 24 bytes a set, 48 bytes a virtual block, 1 bit a virtual page; a cached table 8 bytes an entry; the cache's slots.
/// Power cut  The cache is gone; chains come from the log's version and the sets it lists, tables at the first touch. Why: ftl/DESIGN-coftl.md.
/// Source     Chang et al., "An efficient FTL design for multi-chipped solid-state drives" (CO1 to CO12); departures: ftl/DESIGN-coftl.md.
#pragma once

#include "ftl/cache/ghost_bitmap.h"
#include "ftl/cache/mapping_space.h"
#include "ftl/cache/running_mean.h"
#include "ftl/ftl.h"
#include "ftl/recovery/mirrored_log.h"
#include "ftl/schemes/coftl_cache.h"
#include "ftl/schemes/coftl_circle.h"
#include "ftl/schemes/coftl_format.h"
#include "ftl/schemes/coftl_mapped.h"
#include "ftl/schemes/coftl_sets.h"
#include "ftl/schemes/coftl_shape.h"
#include "ftl/schemes/coftl_swap.h"
#include "ftl/schemes/coftl_tables.h"
#include "ftl/ssd_config.h"
#include "nand/nand_array.h"

namespace flashlab {

namespace coftl_option {
inline constexpr OptionOf<std::uint64_t> cache_bytes{
    {.key = "coftl.cache_bytes",
     .help = "Data cache of coftl in bytes, in slots of a virtual page. Larger: more overwrites never reach flash. 0: none.",
     .phase = OptionPhase::mount,
     .initial = 16u << 20,
     .max = std::uint64_t{1} << 40,
     .is_size = true}};
inline constexpr OptionOf<std::uint32_t> cached_tables{
    {.key = "coftl.cached_tables",
     .help = "Virtual page tables that coftl keeps in RAM. More: fewer are loaded and committed again.",
     .phase = OptionPhase::mount,
     .initial = 1024,
     .min = 1,
     .max = 1u << 24}};
/// CO9: N, kept free and listed in a log version; 0 = min(256, half of the spare sets)
inline constexpr OptionOf<std::uint32_t> free_sets{{.key = "coftl.free_sets",
                                                    .help = "Block sets that coftl keeps free and lists in a version of its log. More: fewer "
                                                            "versions, a longer recovery. 0: 256, at most half the spare.",
                                                    .phase = OptionPhase::mount,
                                                    .max = 1u << 24}};
/// CO8: block sets for page tables that leave RAM before their set is full
inline constexpr OptionOf<std::uint32_t> swap_sets{
    {.key = "coftl.swap_sets", .help = "Block sets for page tables that leave RAM early, at least 2. 0: none.", .max = 1u << 16}};
/// CO9: the versions of the virtual block table and the free list
inline constexpr OptionOf<bool> mirrored_log{
    {.key = "coftl.mirrored_log", .help = "1: coftl writes its log twice, on two planes. 0: once.", .max = 1}};
/// CO11
inline constexpr OptionOf<std::uint32_t> wear_period{
    {.key = "coftl.wear_period",
     .help = "Erased block sets between two reclaims of a set that nobody rewrites. Smaller: more even wear, more copies. 0: never.",
     .phase = OptionPhase::mount,
     .initial = 32,
     .max = 1u << 30}};
} // namespace coftl_option

struct CoftlConfig {
    std::uint32_t width = 1; ///< blocks of a set: n_b
    std::uint32_t virtual_blocks = 0;
    std::uint32_t free_sets = 3;   ///< the cleaner keeps so many free; a log version lists so many
    std::uint32_t cache_slots = 0; ///< 0 = no data cache: every write goes to flash directly
    std::uint32_t cached_tables = 2;
    std::uint32_t wear_period = 0;  ///< CO11: block sets erased between two reclaims of a virtual block that nobody rewrites; 0 = never
    std::vector<BlockId> swap_area; ///< CO8; empty = none
    std::optional<MetaArea> mirror; ///< CO9: where the log is written a second time; none = it is not
};

struct CoftlCounters {
    std::uint64_t clean_evictions = 0;
    std::uint64_t dirty_evictions = 0;
    std::uint64_t cache_hits = 0;
    std::uint64_t cache_misses = 0;
    std::uint64_t commits = 0;
    std::uint64_t skipped_page_sets = 0; ///< lost to commits before a set was full
    std::uint64_t merges = 0;
    std::uint64_t switches = 0; ///< merges that copied nothing
    std::uint64_t log_versions = 0;
    std::uint64_t table_loads = 0;
    std::uint64_t swap_outs = 0;
    std::uint64_t swap_ins = 0;
    std::uint64_t wear_reclaims = 0;
};

class Coftl final : public Ftl, public MappingSpace {
public:
    Coftl(const CoftlConfig& config, NandArray& array, BlockSets sets, MetaArea log_area, EventSink& events);

    std::string_view name() const override { return "coftl"; }
    FtlCounters counters() const override { return counters_; }
    FtlSpace space() const override;
    [[nodiscard]] const CoftlCounters& coftl_counters() const { return own_; }

    // coftl_dram.cpp: its share of the drive's DRAM. Virtual block table and page tables; unit: a page table.
    MappingSpace* mapping_space() override { return this; }
    MappingSpaceShape map_shape() const override;
    std::uint64_t map_bytes_used() const override;
    FtlResult<SimTime> set_map_bytes(std::uint64_t bytes, SimTime now) override;
    ProfitFactors profit_factors() override;
    void watch(GhostBitmap& ghost) override { ghost_ = &ghost; }
    void measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) override;
    double take_misses(std::span<MissCount> counts) override { return curve_->take(counts); }
    /// Of the device, where a page table names no slot of an own cache.
    static constexpr std::uint32_t device_bytes_per_place = 4;

    static constexpr std::uint32_t least_spare_sets = 3; ///< X6

private:
    // Ftl
    FtlResult<FtlRecovery> do_recover(SimTime now) override;
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override;
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override;
    FtlResult<SimTime> do_flush(const Io& io) override;
    SimTime do_idle(SimTime now) override;
    FtlResult<SimTime> do_relocate(BlockId block, SimTime now, Cause cause) override;
    FtlResult<SimTime> do_shut_down(SimTime now) override;
    bool do_is_mapped(Lpn lpn) const override;
    BlockStatus do_status_of(BlockId block) const override;
    std::vector<CheckProblem> do_check() override;

    static constexpr std::uint32_t wear_window = 256; ///< virtual blocks looked at for one reclaim
    static constexpr std::uint32_t keeps_free = 2;    ///< one for a merge, one for a set that fails in it
    struct VirtualBlock {
        SetId primary = no_set;
        SetId last = no_set;
        std::uint32_t length = 0;
        RowId next_row = first_row; ///< of the last set
        TableId table = no_table;
        bool settled = true;          ///< false: a power cut came between; next_row and the flags below are not known yet
        bool committed = false;       ///< the last set's summary is written
        bool closed = false;          ///< nothing more goes into the last set
        bool sealed = false;          ///< no replacement set can be added: its summary or replacement page is spoilt; the next write merges
        bool stated = false;          ///< something was trimmed since the last merge: versions and flushes say what is mapped
        bool pending = false;         ///< ... and not flushed yet
        SimTime ready = sim_start;    ///< nothing is programmed in the last set before
        SimTime last_end = sim_start; ///< of the programs of the last set
        [[nodiscard]] ChainIndex last_index() const { return ChainIndex{length - 1}; }
        [[nodiscard]] bool has_table() const { return table != no_table; }
    };
    static_assert(sizeof(VirtualBlock) == 48, "the bytes a virtual block that Cost tells of");
    [[nodiscard]] VirtualBlock& block(VirtualBlockId vb) { return blocks_[vb.value()]; }
    [[nodiscard]] const VirtualBlock& block(VirtualBlockId vb) const { return blocks_[vb.value()]; }
    using Buffer = std::span<const std::byte>;

    // coftl.cpp: requests through the cache
    FtlResult<SimTime> read_page(CoftlShape::Address at, std::span<std::byte> to, const Io& io);
    FtlResult<SimTime> write_cached(VirtualBlockId vb, VirtualPage page, Buffer from, const Io& io);
    struct FreeSlot {
        SlotId slot;
        SimTime ready; ///< what had to leave for it has left
    };
    FtlResult<FreeSlot> free_slot(VirtualBlockId vb, VirtualPage page, bool dirty, const Io& io);
    FtlResult<SimTime> evict_slot(SlotId slot, const Io& io);
    void drop_slot(VirtualBlockId vb, VirtualPage page, SimTime now);
    FtlError fail(const NandError& error, Lpn lpn);

    // coftl_tables.cpp: page tables in and out of RAM
    enum class TableUse : std::uint8_t { read, write, other };
    FtlResult<SimTime> table_of(VirtualBlockId vb, const Io& io, TableUse use);
    FtlResult<SimTime> evict_table(TableId table, const Io& io);
    FtlResult<SimTime> retire_places(VirtualBlockId vb, TableId table, SimTime now);
    FtlResult<SimTime> load_table(VirtualBlockId vb, TableId table, SimTime now);
    FtlResult<SimTime> settle(VirtualBlockId vb, TableId table, SimTime now);
    enum class Summary : std::uint8_t { loaded, absent, spoilt };
    struct LoadedSummary {
        Summary state;
        SimTime done;
    };
    FtlResult<LoadedSummary> load_summary(VirtualBlockId vb, ChainIndex commit, TableId table, SimTime now);
    FtlResult<LoadedSummary> load_last_summary(VirtualBlockId vb, TableId table, SimTime now);
    /// The places before the last set: its predecessor's summary, or their pages' own word where that cannot be read.
    FtlResult<SimTime> load_before_last(VirtualBlockId vb, TableId table, SimTime now);
    struct ScannedSet {
        RowId end; ///< the first page set that was never begun
        SimTime done;
    };
    FtlResult<ScannedSet> scan_set(SetId set, RowId end, TableId table, SimTime now);
    struct RowOob {
        std::optional<PageOob> oob; ///< nullopt: its pages do not all tell the same
        bool erased;
        SimTime done;
    };
    FtlResult<RowOob> read_row_oob(SetId set, RowId row, SimTime now);
    void set_places(TableId table, std::span<const CoftlPlace> places);
    [[nodiscard]] bool speaks_for(const PageOob& oob, SetId set) const;
    [[nodiscard]] const CoftlStatement* recovered_statement(VirtualBlockId vb) const;
    void apply_statement(VirtualBlockId vb, std::span<CoftlPlace> places) const;
    /// Into a buffer of the caller, as a question allocates nothing.
    [[nodiscard]] bool peek(VirtualBlockId vb, std::span<CoftlPlace> places) const;
    [[nodiscard]] bool know_bits(VirtualBlockId vb) const;

    // coftl_chain.cpp: the flash side of a virtual block
    FtlResult<SimTime> program_page(VirtualBlockId vb, TableId table, VirtualPage page, Buffer data, const Io& io);
    [[nodiscard]] bool can_switch(VirtualBlockId vb, TableId table) const;
    FtlResult<SimTime> switch_to_last(VirtualBlockId vb, TableId table, SimTime now, Cause cause);
    FtlResult<SimTime> make_room(VirtualBlockId vb, TableId table, SimTime now);
    FtlResult<SimTime> add_replacement(VirtualBlockId vb, SimTime now);
    FtlResult<SimTime> commit(VirtualBlockId vb, TableId table, SimTime now);
    FtlResult<SimTime> merge(VirtualBlockId vb, TableId table, SimTime now, Cause cause);
    struct Copied {
        bool whole; ///< false: a program failed
        SimTime done;
    };
    struct Merge {
        SetId target;
        VirtualBlockId vb;
        TableId table;
        std::uint32_t valid; ///< page sets that it copies
        Io io;
    };
    FtlResult<Copied> copy_into(const Merge& merge);
    [[nodiscard]] std::uint32_t run_from(TableId table, VirtualPage page) const;
    [[nodiscard]] PageOob oob_of_copy(const Merge& merge, VirtualPage page, PageKind kind) const;
    CopiedRun rewrite(const Merge& merge, VirtualPage page, RowId row, std::uint32_t sets);
    FtlResult<Copied> copy_page(const Merge& merge, VirtualPage page, RowId row);
    /// Columns of a set that one command reaches; two are a pair of planes.
    [[nodiscard]] std::uint32_t at_once() const { return BlockSets::planes_at_once(array_.config()); }
    /// Erases the set's blocks from this column on that one command reaches.
    std::expected<SimTime, NandError> erase_columns(SetId set, std::uint32_t column, const Io& io);
    std::expected<SimTime, NandError> program_row(SetId set, RowId row, const PageOob& oob, Buffer data, const Io& io);
    std::expected<SimTime, NandError> read_row(SetId set, RowId row, std::span<std::byte> to, const Io& io);
    void begin_chain(VirtualBlockId vb, SetId set, SimTime now);
    void set_place(VirtualBlockId vb, TableId table, VirtualPage page, CoftlPlace place);
    [[nodiscard]] SetId set_at(VirtualBlockId vb, ChainIndex index) const;
    [[nodiscard]] Ppn summary_page(VirtualBlockId vb, ChainIndex index) const;
    [[nodiscard]] Ppn pointer_page(VirtualBlockId vb, ChainIndex index) const;

    // coftl_space.cpp: free sets, the cleaner, the log
    struct TakenSet {
        SetId set;
        SimTime ready; ///< it may be programmed
    };
    FtlResult<TakenSet> take_set(SimTime now, SimTime earliest);
    FtlResult<bool> clean_one(SimTime now);
    FtlResult<SimTime> reclaim(VirtualBlockId vb, SimTime now, Cause cause);
    FtlResult<SimTime> level_wear(SimTime now);
    FtlResult<SimTime> make_free(SimTime now);
    FtlResult<SimTime> release(std::span<const SetId> sets, const Io& io);
    FtlResult<SimTime> write_version(SimTime now, bool clean);
    FtlResult<SimTime> flush_trims(const Io& io);
    FtlResult<SimTime> drop_chain(VirtualBlockId vb, SimTime now, Cause cause);
    [[nodiscard]] bool has_records(BlockId block) const { return log_.contains(block) || swap_.contains(block); }
    void tell(const Origin& origin, SimTime start, SimTime end, BlockId first_old, std::uint32_t valid);
    FtlResult<SimTime> log_record(std::uint32_t kind, const CoftlRecord& record, const Io& io);
    FtlResult<void> mark_bad(BlockId block, SimTime now);
    /// The sets it had, newest first: a span of gone_, until the next call, so that a merge allocates nothing.
    std::span<const SetId> detach(VirtualBlockId vb);
    /// The last set becomes the primary; the older ones, as detach() gives them.
    std::span<const SetId> keep_last(VirtualBlockId vb);
    void note_length(VirtualBlockId vb);
    FtlError log_failed(const FtlError& error);
    [[nodiscard]] CoftlStatement statement_of(VirtualBlockId vb) const;
    [[nodiscard]] std::uint32_t good_sets() const { return sets_.count() - info_.lost(); }
    void lose(SetId set);
    [[nodiscard]] FtlError out_of_sets(SimTime now);

    // coftl_recovery.cpp
    using Births = std::vector<std::uint64_t>; ///< by virtual block; 0 = none
    FtlResult<FtlRecovery> take_over(const MetaLog::Recovered& log);
    void adopt(const CoftlVersion& version, bool clean);
    /// What the records after a version say of each virtual block's chain; grows from record to record.
    struct Since {
        Births dropped;  ///< this primary and all before it
        Births switched; ///< this set is the primary, though its pages name another
    };
    void replay(const CoftlRecord& record, Since& since);
    void replay_switch(const CoftlRecord& record, Since& since);
    struct Scan {
        SimTime done;
        std::uint64_t pages_read;
    };
    FtlResult<Scan> scan_listed(const CoftlVersion& version, const Since& since, SimTime now);
    void collect_free(const CoftlVersion& version, bool erased);

    [[nodiscard]] std::uint32_t mapped_count(VirtualBlockId vb) const;

    // coftl_check.cpp
    void check_sets(std::vector<CheckProblem>& out) const;
    void check_tables(std::vector<CheckProblem>& out) const;
    void check_block(VirtualBlockId vb, std::vector<CoftlPlace>& scratch, std::vector<CheckProblem>& out) const;

    CoftlConfig config_;
    NandArray& array_;
    EventSink& events_;
    BlockSets sets_;
    CoftlShape shape_;
    CoftlSets info_;
    MirroredLog log_;
    CoftlTables tables_;
    CoftlCache cache_;
    CoftlSwap swap_;
    std::vector<VirtualBlock> blocks_;
    mutable CoftlMapped mapped_; ///< a question after a power cut makes bits known
    CoftlCircle chained_;
    std::vector<VirtualBlockId> pending_;         ///< virtual blocks with trims that are not flushed
    std::vector<CoftlStatement> recovered_;       ///< of virtual blocks not settled yet, by virtual block
    std::vector<std::vector<CoftlPlace>> shadow_; ///< without payload: what the newest summary page would say
    std::vector<BlockId> failed_;                 ///< a program failed: marked bad when their set has nothing left
    VirtualBlockId wear_hand_{0};                 ///< the wear levelling's place in its own
    std::uint64_t total_wear_ = 0;                ///< erases of all sets
    std::uint64_t erased_sets_ = 0;               ///< since the last reclaim for wear
    SimTime list_ready_ = sim_start;              ///< the newest version is durable
    SimTime durable_at_ = sim_start;              ///< no program ends later
    std::uint32_t bad_blocks_ = 0;
    FtlCounters counters_;
    CoftlCounters own_;
    bool read_only_ = false;

    // For the partition of the DRAM
    struct TableUses {
        std::uint64_t reads = 0, read_misses = 0, writes = 0, write_misses = 0; ///< since the last call of profit_factors()
    };
    void count_use(VirtualBlockId vb, TableUse use, bool is_miss);
    GhostBitmap* ghost_ = nullptr;    ///< of virtual blocks whose tables left
    std::optional<ReuseCurve> curve_; ///< of page tables
    TableUses uses_;
    double read_misses_ = 0, write_misses_ = 0; ///< ratios, of the last interval that had any
    RunningMean load_ns_;                       ///< of a table
    RunningMean retire_ns_;                     ///< of a dirty table that leaves
    RunningMean skipped_;                       ///< page sets that it costs
    RunningMean merge_ns_;                      ///< of a chain

    std::vector<PageRead> reads_;
    std::vector<Ppn> from_, to_;    ///< of the run of page sets at hand
    std::vector<SetId> gone_;       ///< what detach() gave last
    std::vector<std::byte> row_;    ///< a page set, for merges
    std::vector<std::byte> page_;   ///< a page, for summaries
    std::vector<std::byte> record_; ///< for the log
    mutable std::vector<CoftlPlace> places_;
    mutable std::vector<PageRecord> cells_;
};

} // namespace flashlab
