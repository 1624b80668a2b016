/// What the array knows of each block: the chip rules (N1) and when a block is ready (N2).
///
/// Idea       A few words a block. The write pointer is read from the page records when it is first needed.
///            The last programs are remembered by plane.
/// Invariant  N1: programs go to pages at or past the write pointer, of blocks that are not bad, and within the block's mode.
///            N2: ready times never go back.
/// Cost       O(1); one read of a block's records at its first use.
/// Power cut  Rebuilt from the store.
#pragma once

#include <algorithm>
#include <array>
#include <expected>
#include <span>
#include <vector>

#include "base/sim_time.h"
#include "nand/medium.h"
#include "nand/page_store.h"

namespace flashlab {

class BlockTable {
public:
    /// `media` lives as long.
    BlockTable(const Geometry& geometry, const NandConfig& config, const Media& media, PageStore& store);
    [[nodiscard]] std::expected<void, HostIoError> open();

    [[nodiscard]] bool is_factory_bad(BlockId block) const;
    [[nodiscard]] bool is_bad(BlockId block) const { return blocks_[block.value()].limit == 0; }
    [[nodiscard]] bool is_grown_bad(BlockId block) const { return blocks_[block.value()].grown_bad; }
    [[nodiscard]] CellType mode(BlockId block) const { return blocks_[block.value()].mode; }
    [[nodiscard]] BlockRecord record_of(BlockId block) const;
    [[nodiscard]] std::uint32_t erase_count(BlockId block) const { return blocks_[block.value()].erase_count; }
    /// The next page that may be programmed.
    [[nodiscard]] std::expected<std::uint32_t, HostIoError> write_pointer(BlockId block) {
        const Block& known = blocks_[block.value()];
        if (known.write_pointer != unknown) [[likely]]
            return known.write_pointer;
        return find_write_pointer(block);
    }
    /// False: some page before the write pointer was skipped, or is torn or garbage; its page record tells which. Valid after write_pointer().
    [[nodiscard]] bool all_programmed(BlockId block) const { return blocks_[block.value()].all_programmed; }

    /// True: some page reads erased but cannot be programmed; its page record tells which. Valid after write_pointer().
    [[nodiscard]] bool has_weak(BlockId block) const { return blocks_[block.value()].has_weak; }

    /// Throws ContractViolation when N1 forbids the program.
    void check_program(BlockId block, std::uint32_t page) const {
        const Block& known = blocks_[block.value()];
        if (page >= known.limit || page < known.write_pointer) [[unlikely]]
            refuse_program(block, page);
    }
    void check_erase(BlockId block) const;

    /// N2: the earliest a read of this page, a program or an erase of this block may start.
    [[nodiscard]] SimTime read_ready(BlockId block, std::uint32_t page, SimTime from) const {
        if (blocks_[block.value()].programmed_at <= from) [[likely]]
            return from;
        return end_of_program(block, page, from);
    }
    /// How many pages from this one on, `most` at most, have its read_ready().
    [[nodiscard]] std::uint32_t pages_ready_alike(BlockId block, std::uint32_t page, SimTime from, std::uint32_t most) const;
    [[nodiscard]] SimTime program_ready(BlockId block, SimTime from) const { return std::max(from, blocks_[block.value()].programmed_at); }
    [[nodiscard]] SimTime erase_ready(BlockId block, SimTime from) const { return std::max(from, blocks_[block.value()].idle_at); }

    void note_read(BlockId block, SimTime end) {
        Block& known = blocks_[block.value()];
        known.idle_at = std::max(known.idle_at, end);
    }
    /// All of it is 0 where the cells have no bit errors; these three are asked only where they have.
    [[nodiscard]] BlockAge age(BlockId block) const { return ages_.empty() ? BlockAge{} : ages_[block.value()]; }
    /// True: the count is to be stored.
    [[nodiscard]] bool note_sensed(BlockId block);
    [[nodiscard]] bool note_programmed(BlockId block, SimTime end);
    void grow_older(BlockId block, std::int64_t minutes);
    void note_program(BlockId block, std::uint32_t page, SimTime end, bool failed);
    /// For how many of a plane's last programs the end of each is known.
    static constexpr std::uint32_t recent_programs = 8; ///< a power of two
    /// note_program() for `count` pages in a row from `page` on. Page `page` + i ended at ends[i % recent_programs];
    /// only the last ones are looked at.
    void note_programs(BlockId block, std::uint32_t page, std::uint32_t count, std::span<const SimTime, recent_programs> ends);
    void note_erase(BlockId block, CellType mode, SimTime end, bool failed);
    /// N4: the mark counts as the block's last operation.
    void mark_grown_bad(BlockId block, SimTime at);
    void take_back_mark(BlockId block);

private:
    [[noreturn]] void refuse_program(BlockId block, std::uint32_t page) const;
    [[nodiscard]] SimTime end_of_program(BlockId block, std::uint32_t page, SimTime from) const;

    static constexpr std::uint32_t unknown = ~std::uint32_t{0};
    static constexpr std::uint32_t reads_stored_at_once = 1024;
    struct Block {
        SimTime programmed_at = sim_start; ///< end of the last program or erase
        SimTime idle_at = sim_start;       ///< end of the last operation of any kind
        std::uint32_t erase_count = 0;
        std::uint32_t write_pointer = unknown;
        std::uint32_t limit = 0; ///< pages that may be programmed: those of its mode; 0: it is bad
        CellType mode = CellType::slc;
        bool grown_bad = false;
        bool all_programmed = true;
        bool has_weak = false;
    };
    /// The last few programs of a plane: a read of one of these pages waits for that program, not for the block's last.
    struct Recent {
        static constexpr std::uint32_t size = recent_programs;
        std::array<std::uint32_t, size> block{};
        std::array<std::uint32_t, size> page{};
        std::array<SimTime, size> end{};
        std::uint32_t next = 0;
    };

    [[nodiscard]] std::expected<std::uint32_t, HostIoError> find_write_pointer(BlockId block);

    Geometry geometry_;
    const Media& media_;
    PageStore& store_;
    std::uint64_t seed_;
    std::uint32_t bad_per_million_;
    std::vector<Block> blocks_;
    std::vector<BlockAge> ages_; ///< by block; empty: the cells have no bit errors
    std::vector<Recent> recent_; ///< by plane
    std::vector<PageRecord> scratch_;
};

} // namespace flashlab
