/// hFTL's committed metadata in PRAM: mapping table, valid bitmap, block states, slots of open blocks, header.
///
/// Idea       Reads are plain loads from the cells. Changes are gathered in one transaction and committed through the redo log; what does not fit
///            one record is split between steps, never inside one.
/// Invariant  T1 map[l] = u  <=>  bit u is set for l; no two entries name one unit.
///            T2 a set bit lies in a block that is data or named by a slot.
///            T3 each step (one call below) is whole or absent after a power cut, and steps keep their order.
/// Cost       A step is two to three PRAM words, twice (log and home). No allocation in steady state.
/// Power cut  T1, T2 hold after every prefix of steps; the caller orders its steps so that each prefix is a state it can recover from.
/// Source     Kim et al. (HY) 4.1: metadata in PRAM, "writes logs into the PRAM at every PRAM update" (HY5).
#pragma once

#include <optional>
#include <vector>

#include "base/little_endian.h"
#include "ftl/blocks/valid_map.h"
#include "ftl/maps/hftl_layout.h"
#include "ftl/maps/touched_parts.h"
#include "pram/redo_log.h"

namespace flashlab {

struct HftlSlot {
    std::optional<BlockId> block;
    std::uint32_t scan_from = 0; ///< units below are resolved by the mapping table alone
};

class HftlTables {
public:
    HftlTables(Pram& pram, const HftlLayout& layout, const UnitGeometry& units);

    /// Replays the log and loads the RAM copies of the bitmap and of the dead marks.
    SimTime recover(SimTime now);

    // What the device was made for, kept since the first open.
    [[nodiscard]] bool is_new() const;
    [[nodiscard]] bool matches() const; ///< header names this layout and version, and the slots name blocks that they can have
    [[nodiscard]] bool was_clean() const;
    [[nodiscard]] std::uint64_t sequence_ceiling() const;

    [[nodiscard]] std::optional<UnitId> committed(Lpn lpn) const {
        const std::uint32_t raw = raw_entry(lpn);
        return raw == 0 || raw > units_.units() ? std::nullopt : std::optional{UnitId{raw - 1}};
    }
    /// The first logical page of [from, end) whose entry is not empty; `end` when there is none. On a device that was new when it was opened, pages
    /// that nobody has mapped since are passed over unseen.
    [[nodiscard]] std::uint32_t next_entry(std::uint32_t from, std::uint32_t end) const;
    /// The entry will be asked for soon.
    void prefetch(Lpn lpn) const {
        if (const std::size_t at = std::size_t{lpn.value()} * entry_size; at < cells_.size()) __builtin_prefetch(cells_.data() + at);
    }
    /// The entry names no unit of this device: what the page held is lost, and it must not read as zeros.
    [[nodiscard]] bool is_damaged(Lpn lpn) const { return raw_entry(lpn) > units_.units(); }
    [[nodiscard]] const ValidMap& bits() const { return bits_; }
    [[nodiscard]] HftlBlockState state(BlockId block) const;
    [[nodiscard]] HftlSlot slot(std::uint32_t slot) const;
    [[nodiscard]] bool is_dead(std::uint32_t slot, std::uint32_t unit) const;

    /// A new transaction, issued at `now`, caused by `parent`.
    void begin(SimTime now, EventId parent);
    void set_header(bool clean, std::uint64_t sequence_ceiling);
    /// The entry, its new bit, and its old bit cleared.
    void map(Lpn lpn, UnitId to);
    void set_state(BlockId block, HftlBlockState state);
    void open_slot(std::uint32_t slot, BlockId block, std::uint64_t sequence_ceiling);
    /// The block leaves the slot, with its state: one step.
    void close_slot(std::uint32_t slot, BlockId block, HftlBlockState state);
    void set_scan_from(std::uint32_t slot, std::uint32_t unit);
    /// Entries [first, first + pages) become unmapped and the units named in `dead` are never to be believed: one step.
    struct DeadUnit {
        std::uint32_t slot;
        std::uint32_t unit;
    };
    void unmap(Lpn first, std::uint32_t pages, std::span<const DeadUnit> dead);
    /// The end of everything since begin().
    [[nodiscard]] SimTime commit();

    /// Bytes read of the mapping table for this many entries: what a lookup costs.
    [[nodiscard]] static constexpr std::uint64_t entry_bytes(std::uint32_t pages) { return std::uint64_t{pages} * 4; }
    static constexpr std::uint32_t pages_per_unmap = 256; ///< the most entries one unmap() step takes

private:
    [[nodiscard]] std::uint32_t raw_entry(Lpn lpn) const { return load_le<std::uint32_t>(cells_.subspan(std::size_t{lpn.value()} * entry_size)); }
    static constexpr std::size_t entry_size = 4;
    [[nodiscard]] PramAddress entry_at(Lpn lpn) const { return PramAddress{layout_.map.value() + std::uint64_t{lpn.value()} * entry_size}; }
    [[nodiscard]] PramAddress block_at(BlockId block) const;
    [[nodiscard]] PramAddress slot_at(std::uint32_t slot, std::uint64_t offset) const;
    /// The copies in RAM, from the PRAM.
    void load_copies();
    /// Makes room for a step of this many changed words.
    void step(std::size_t words);
    void touch_bit_word(UnitId unit) { touched_bits_.push_back(bits_.word_of(unit)); }
    void flush_transaction();

    Pram& pram_;
    HftlLayout layout_;
    UnitGeometry units_;
    RedoLog log_;
    ValidMap bits_;                   ///< as the PRAM will be after commit()
    std::vector<std::uint64_t> dead_; ///< a row a slot, likewise
    PramTransaction transaction_;
    std::vector<std::size_t> touched_bits_; ///< words of bits_ to write
    std::vector<std::size_t> touched_dead_;
    std::vector<std::byte> zeros_;
    TouchedParts touched_;             ///< of the mapping table, of a device that was new when it was opened; of another one, all
    std::span<const std::byte> cells_; ///< the mapping table
    std::size_t words_ = 0;            ///< bound of the words changed so far
    std::size_t words_at_most_ = 0;
    SimTime now_ = sim_start;
    SimTime end_ = sim_start;
    EventId parent_ = no_event;
};

} // namespace flashlab
