/// The ideal page table: whole in DRAM. `page_map` is a PagedFtl with it.
///
/// Idea       Writes fill open superblocks and are answered when programmed; each page's OOB carries its logical page, write sequence and superblock
///            number. A lookup costs nothing, whatever the device's size: the yardstick for every scheme that has less RAM.
/// Invariant  P1 the entry of l names a unit whose valid bit is set, no two entries name one unit, and the valid bits are exactly these units.
///            P2 the OOB of that unit's pages names l and a sequence below the next one.
///            P3 blocks, superblocks and reserve: B1 to B5 of ftl/blocks/page_blocks.h; checkpoints: J1 to J4 of ftl/recovery/page_journal.h.
/// Cost       RAM: 4 bytes a logical page, 1 bit a unit, about 70 bytes a block. Flash: checkpoints of the map, one page in a hundred.
/// Power cut  Answered writes are durable, trims once flushed. Recovery: newest checkpoint, one OOB read a block, OOB of the blocks programmed since.
/// Source     Ban's page mapping, US patent 5,404,485 (1995), is the ancestor; Birrell et al., MSR 2005, for a map wholly in RAM rebuilt from spare
///            areas.
#pragma once

#include "base/zeroed_allocator.h"
#include "ftl/maps/journaled_table.h"
#include "ftl/maps/touched_parts.h"

namespace flashlab {

class DramTable final : public JournaledTable {
public:
    DramTable(const TableParts& parts, const PageJournalConfig& journal)
        : JournaledTable{parts, journal}, map_(parts.logical_pages), touched_{parts.logical_pages} {}

    [[nodiscard]] std::optional<UnitId> current(Lpn lpn) const { return map_entry::unit(map_[lpn.value()]); }
    [[nodiscard]] static FtlResult<SimTime> look_up(Lpn, std::uint32_t, const Io& io) { return io.when; }
    [[nodiscard]] FtlResult<void> begin_write(Lpn first, const Io& io) {
        prefetch(first);
        return pace_checkpoint(io);
    }
    [[nodiscard]] static FtlResult<SimTime> before_row(const PagesToWrite&, std::uint32_t, std::uint32_t, const Io& io) { return io.when; }
    void adopt(Lpn lpn, UnitId unit, const OpenColumn&, SimTime end) {
        map_[lpn.value()] = map_entry::of(unit);
        touched_.touch(lpn.value());
        programmed(end); // a collection before the next row may have to write a checkpoint
    }
    [[nodiscard]] static FtlResult<void> after_row(std::uint32_t, const Io&) { return {}; }
    [[nodiscard]] FtlResult<SimTime> trim(Lpn first, std::uint32_t pages, const Io& io);
    void prefetch(Lpn lpn) const {
        if (lpn.value() < map_.size()) __builtin_prefetch(map_.data() + lpn.value());
    }
    void moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn& column, SimTime end) {
        ensure(current(oob.lpn) == from, "a valid unit is its page's newest version");
        adopt(oob.lpn, to, column, end);
    }
    [[nodiscard]] static std::uint64_t own_pages() { return 0; }
    [[nodiscard]] static BlockUse use_of(BlockId) { return BlockUse::data; }
    [[nodiscard]] static MappingSpace* mapping_space() { return nullptr; }
    [[nodiscard]] std::vector<CheckProblem> check();

private:
    /// The map up to its last mapped page.
    std::span<const std::byte> recorded() override;
    FtlResult<void> load(PageJournal::Start& start, FtlRecovery& report) override;

    ZeroedVector<std::uint32_t> map_;
    TouchedParts touched_; ///< of the map: what lies elsewhere is unmapped
};

} // namespace flashlab
