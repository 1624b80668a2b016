/// Saves the pages that a cut program of a paired page would destroy (C5). Internal to nand/.
///
/// Idea       A program may share cells with earlier pages. Those of them that must survive are first copied to a backup block of their die, and the
///            program waits for the copies. After a cut, a damaged page is read from its backup until its block is erased. The layers above do not
///            notice. The pages that must survive are those programmed before the last note_durable(), the last erase, or the last program of a page
///            that is not data. Any other page may be lost with its partner:
///            nothing older was given up for it, and no host was told that it is durable.
/// Invariant  P1 an endangered page that must survive is intact, or its backup is intact.
///            P2 an erase, and the time that note_durable() returns, come after the programs under way that endanger pages without a backup.
///            P3 a backup counts only while the origin's block has not been erased since, and only if the origin itself cannot be read.
/// Cost       Nothing for cells of one bit. Otherwise a look-up a program, and a read and a program for each page that must survive and is still in
///            danger: for each flush or erase about the pages of an open block's unfinished word lines.
/// Power cut  load() finds the backups again by their OOB. scan() charges the time for this to recovery.
/// Source     docs/crash-model.md, C5. A page is always copied. Padding the word line would cost as many programs as the line is long.
#pragma once

#include <map>
#include <vector>

#include "nand/nand_array_impl.h"
#include "nand/pair_backup.h"

namespace flashlab {

class NandArray::PairGuard {
public:
    explicit PairGuard(Impl& chips);

    /// Finds the backups that are still needed. No simulated time passes: see scan().
    [[nodiscard]] std::expected<void, HostIoError> load();
    /// Charges the time that load() takes on the chips: reading the OOBs of all backups.
    [[nodiscard]] std::expected<SimTime, NandError> scan(SimTime now);

    /// Makes the backups that are needed before `page` is programmed. Returns the time from which it may be programmed.
    [[nodiscard]] std::expected<SimTime, NandError> before_program(Ppn page, PageKind kind, SimTime now);
    void after_program(Ppn page, SimTime end);
    [[nodiscard]] SimTime before_erase(SimTime now) { return note_durable(now); }
    /// `end`: the end of the erase. A cut before it may bring the block's pages back.
    void after_erase(BlockId block, SimTime end);
    [[nodiscard]] SimTime note_durable(SimTime now);

    struct Backup {
        BackupOob oob;
        Ppn at;
        bool is_read_here = false; ///< the origin is damaged
    };
    /// The backup from which this damaged page is read; null: there is none.
    [[nodiscard]] const Backup* backup_of(Ppn page) const;

private:
    struct Endangered {
        std::uint32_t page;   ///< in its block
        std::uint64_t number; ///< of its program; 0: before the power came on
        bool backed_up = false;
    };
    struct Die {
        std::vector<BlockId> blocks; ///< that hold backups
        std::optional<BlockId> active;
        std::uint32_t next = 0;    ///< in safe_pages_
        SimTime ready = sim_start; ///< the active block is erased
    };
    using Done = std::expected<SimTime, NandError>;

    [[nodiscard]] Done back_up(Ppn page, const PageOob& oob, SimTime now);
    [[nodiscard]] Done copy_to_next(Die& die, Ppn from, const BackupOob& oob, SimTime now, Ppn& at);
    /// Erases a block without backups and makes it the active one.
    /// If no other free block is left, the backups of the block with the fewest move there.
    [[nodiscard]] Done open_block(Die& die, SimTime now);
    [[nodiscard]] std::size_t backups_in(BlockId block) const;
    [[nodiscard]] std::uint16_t life_of(BlockId block) const { return static_cast<std::uint16_t>(chips_.blocks.erase_count(block)); }

    Impl& chips_;
    std::vector<std::uint32_t> safe_pages_; ///< of a backup block
    std::vector<Die> dies_;
    std::vector<Backup> backups_;
    std::map<std::uint32_t, std::vector<Endangered>> open_; ///< by block
    std::uint64_t programs_ = 1;                            ///< number of the next one
    std::uint64_t durable_ = 1;                             ///< programs before this number must survive
    SimTime needed_until_ = sim_start; ///< a cut before this time may need backups that were dropped: no backup block is erased earlier
    SimTime unsafe_until_ = sim_start; ///< the end of the last program that endangers a page without a backup
    std::vector<std::byte> page_;
};

} // namespace flashlab
