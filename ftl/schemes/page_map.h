/// The ideal page map: one table in DRAM says where every logical page is.
///
/// Idea       Writes fill open superblocks and are answered when programmed; each page's OOB carries its logical page, write sequence and superblock
///            number. A lookup costs nothing, whatever the device's size: the yardstick for every scheme that has less RAM.
/// Invariant  P1 map_[l] names a unit whose valid bit is set, no two entries name one unit, and the valid bits are exactly these units.
///            P2 the OOB of that unit's pages names l and a sequence below the next one.
///            P3 blocks, superblocks and reserve: B1 to B5 of ftl/blocks/page_blocks.h; checkpoints: J1 to J4 of ftl/recovery/page_journal.h.
/// Cost       RAM: 4 bytes a logical page, 1 bit a unit, about 70 bytes a block. Flash: checkpoints of the map, one page in a hundred.
/// Power cut  Answered writes are durable, trims once flushed. Recovery: newest checkpoint, one OOB read a block, OOB of the blocks programmed since.
/// Source     Ban's page mapping, US patent 5,404,485 (1995), is the ancestor; Birrell et al., MSR 2005, for a map wholly in RAM rebuilt from spare
///            areas.
#pragma once

#include <memory>
#include <optional>

#include "base/zeroed_allocator.h"
#include "ftl/blocks/page_owner.h"

namespace flashlab {

class NandArray;
class PageBlocks;
class PageJournal;
class UnitReader;
struct BlockPolicies;
struct PageBlocksConfig;
struct PageJournalConfig;

class PageMap final : public Ftl, private PageOwner {
public:
    PageMap(const PageBlocksConfig& blocks, const PageJournalConfig& journal, NandArray& array, EventSink& events, BlockPolicies policies);
    ~PageMap() override;

    std::string_view name() const override { return "page_map"; }
    FtlCounters counters() const override;
    FtlSpace space() const override;

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
    bool do_is_mapped(Lpn lpn) const override { return map_[lpn.value()] != unmapped; }
    BlockStatus do_status_of(BlockId block) const override;
    std::vector<CheckProblem> do_check() override;

    static constexpr std::uint32_t unmapped = 0; ///< an entry is its unit's number + 1

    [[nodiscard]] std::optional<UnitId> current(Lpn lpn) const {
        const std::uint32_t entry = map_[lpn.value()];
        return entry == unmapped ? std::nullopt : std::optional{UnitId{entry - 1}};
    }
    SimTime opened(OpenSuperblock& set, const OpenSuperblock& closing, SimTime ready) override;
    void closed(OpenSuperblock& set, SimTime at) override;
    void prefetch(Lpn lpn) const override {
        if (lpn.value() < map_.size()) __builtin_prefetch(map_.data() + lpn.value());
    }
    void moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn& column, SimTime end) override;
    FtlResult<SimTime> forget(BlockId victim, BlockFate fate, SimTime at, EventId job) override;
    SimTime condemned(BlockId block, SimTime now, EventId job) override;
    [[nodiscard]] FtlResult<void> pace_checkpoint(const Io& io);
    /// The map up to its last mapped page.
    [[nodiscard]] std::span<const std::byte> map_bytes() const;

    NandArray& array_;
    ZeroedVector<std::uint32_t> map_;
    // Behind pointers: what includes this header does not compile anew when they change.
    const std::unique_ptr<PageBlocks> blocks_;
    const std::unique_ptr<PageJournal> journal_;
    const std::unique_ptr<UnitReader> reader_;
    FtlCounters counters_;
    SimTime programmed_at_ = sim_start; ///< end of the last program that the map names
    SimTime durable_at_ = sim_start;    ///< of the host's writes
};

} // namespace flashlab
