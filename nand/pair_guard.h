/// Keeps alive what a cut program of a paired page would destroy (C5). Internal to nand/.
///
/// Idea       Before a page is programmed that shares cells with earlier ones, those of them that must survive are copied to a backup block of their die; the
///            program waits for the copies. After a cut a damaged page is read from its backup instead, until its block is erased: nobody above notices.
///            What must survive: everything programmed before the last note_durable(), erase, or program of other than data. All else may be lost together
///            with its partner, as nothing older was given up for it and no host was told.
/// Invariant  P1 an endangered page that must survive is intact, or its backup is.
///            P2 an erase, and what note_durable() speaks of, comes after the programs under way that endanger pages without a backup.
///            P3 a backup counts only while the origin's block is in the same life and the origin itself cannot be read.
/// Cost       Nothing for pages of one bit. Else a lookup a program, and a read and a program for each page that must survive and is still in danger:
///            about the pages of an open block's unfinished lines for each flush or erase.
/// Power cut  load() finds the backups again by their OOB; recovery waits scan() for it.
/// Source     docs/crash-model.md, C5. A page is always copied, never padded, as a pad costs as many programs as the line is long.
#pragma once

#include <map>
#include <vector>

#include "nand/nand_array_impl.h"
#include "nand/pair_backup.h"

namespace flashlab {

class NandArray::PairGuard {
public:
    explicit PairGuard(Impl& chips);

    /// Finds the backups that are still needed. No time passes: see scan().
    [[nodiscard]] std::expected<void, HostIoError> load();
    /// The time that load() takes on the chips: the OOBs of all backups.
    [[nodiscard]] std::expected<SimTime, NandError> scan(SimTime now);

    /// Makes the copies that programming `page` asks for; from when on it may be programmed.
    [[nodiscard]] std::expected<SimTime, NandError> before_program(Ppn page, PageKind kind, SimTime now);
    void after_program(Ppn page, SimTime end);
    [[nodiscard]] SimTime before_erase(SimTime now) { return note_durable(now); }
    /// `end`: of the erase; until then a cut may bring the block's pages back.
    void after_erase(BlockId block, SimTime end);
    [[nodiscard]] SimTime note_durable(SimTime now);

    struct Backup {
        BackupOob oob;
        Ppn at;
        bool is_read_here = false; ///< the origin is damaged
    };
    /// Where to read this damaged page; null: nowhere.
    [[nodiscard]] const Backup* backup_of(Ppn page) const;

private:
    struct Endangered {
        std::uint32_t page;   ///< in its block
        std::uint64_t number; ///< of its program; 0: before the power came on
        bool backed_up = false;
    };
    struct Die {
        std::vector<BlockId> blocks;     ///< that hold backups
        std::optional<BlockId> active;
        std::uint32_t next = 0;          ///< in safe_pages_
        SimTime ready = sim_start;       ///< the active block is erased
    };
    using Done = std::expected<SimTime, NandError>;

    [[nodiscard]] Done back_up(Ppn page, const PageOob& oob, SimTime now);
    [[nodiscard]] Done copy_to_next(Die& die, Ppn from, const BackupOob& oob, SimTime now, Ppn& at);
    /// An erased block becomes active; what the fullest-of-dead one still holds moves to it.
    [[nodiscard]] Done open_block(Die& die, SimTime now);
    [[nodiscard]] std::size_t backups_in(BlockId block) const;
    [[nodiscard]] std::uint16_t life_of(BlockId block) const { return static_cast<std::uint16_t>(chips_.blocks.erase_count(block)); }

    Impl& chips_;
    std::vector<std::uint32_t> safe_pages_; ///< of a backup block
    std::vector<Die> dies_;
    std::vector<Backup> backups_;
    std::map<std::uint32_t, std::vector<Endangered>> open_; ///< by block
    std::uint64_t programs_ = 1; ///< number of the next one
    std::uint64_t durable_ = 1;         ///< programs before this number must survive
    SimTime needed_until_ = sim_start;  ///< backups that were dropped may be asked for by a cut before then: no backup block is erased earlier
    SimTime unsafe_until_ = sim_start;  ///< the end of the last program that endangers a page without a backup
    std::vector<std::byte> page_;
};

} // namespace flashlab
