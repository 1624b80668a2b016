/// What a translation layer does with the flash: the first of the three parts of NandArray.
///
/// Idea       The commands of the chips, and what a scheme may ask about blocks. nand_array.h says in which order calls come, and what holds.
/// Invariant  N1 to N4 of nand_array.h.
/// Cost       One virtual call, which knows whether pages are striped, then what the command costs.
/// Power cut  Each operation is durable at the time that it returns; what a cut in the middle leaves stands at each.
#pragma once

#include "nand/geometry.h"
#include "nand/nand_config.h"
#include "nand/nand_types.h"
#include "nand/page_store.h"

namespace flashlab {

class NandArray;

class NandOperations {
public:
    using Result = std::expected<SimTime, NandError>;

    [[nodiscard]] const Geometry& geometry() const;
    [[nodiscard]] const NandConfig& config() const;
    /// False: pages have a state and an OOB, but no data. A scheme that keeps records of its own on flash must then remember their content itself.
    [[nodiscard]] bool keeps_payload() const;

    // Operations. Each reserves its time and changes the state at the call. A page whose data are on the link (Io::transfer) is programmed once they
    // have arrived, and one that is read for the host is noted there.
    // It is durable at the time returned: a cut from then on leaves it (cut()).

    /// Returns the time at which the data are out of the chip.
    /// Fails with erased_page on an erased page, and with uncorrectable on a torn or garbage page.
    /// A page that a cut left unstable can be read once more (T4): who wants to keep it writes it anew.
    [[nodiscard]] std::expected<SimTime, NandError> read(const PageRead& page, const Io& io);
    /// Issues independent reads together, each as a command of its own. All are issued, then the first failure is returned.
    [[nodiscard]] std::expected<SimTime, NandError> read(std::span<const PageRead> pages, const Io& io);
    /// Reads the OOB only: command, tR, transfer of the spare bytes. An erased or torn page is no error here: OobRead says it.
    [[nodiscard]] std::expected<OobRead, NandError> read_oob(Ppn page, const Io& io);
    /// Programs one page, or, as a multi-plane command, one page on each of several planes of one die, all with the same number in their block.
    /// All end together. Each page lies at or past its block's write pointer, and its block is not bad (N1).
    /// All pages are programmed, then the first failure is returned: the other pages hold their data.
    /// A cut in the middle leaves each page as T0 to T6 of docs/crash-model.md say.
    [[nodiscard]] std::expected<SimTime, NandError> program(std::span<const PageProgram> pages, const Io& io);
    /// Reads a page through the controller and programs it again with the same LPN, sequence and kind (no copy-back command).
    [[nodiscard]] std::expected<SimTime, NandError> copy(Ppn from, Ppn to, const Io& io);
    /// copy() with another scheme word. Returns the OOB that was written.
    [[nodiscard]] std::expected<CopiedPage, NandError> copy_as(Ppn from, Ppn to, std::uint32_t scheme_word, const Io& io);
    /// Copies `pages` consecutive pages to consecutive pages, one after another. Times, records and failures are those of single calls of copy().
    [[nodiscard]] CopiedRun copy_run(Ppn from, Ppn to, std::uint32_t pages, const Io& io);
    /// By `now` what must survive of the block is durable elsewhere: the caller sees to that. The array waits for the block's own operations only.
    /// The block is not bad (N1). A cut in the middle leaves E0 to E4.
    [[nodiscard]] std::expected<SimTime, NandError> erase(BlockId block, const Io& io);

    // Two-plane commands, on chips that have them (NandOptions::two_plane): one command does the same to a pair of planes, 2k and 2k + 1 of one
    // die, in the same block of its plane and, of a page, the same page of its block. Another pair, or chips without them, is a ContractViolation.
    // Each page and block keeps its own state: a cut, a bad block or a failure strikes each by itself. All is done, then the first failure is
    // returned.

    /// program() of two pages.
    [[nodiscard]] std::expected<SimTime, NandError> program_two_plane(std::span<const PageProgram, 2> pages, const Io& io);
    /// Both planes sense at once; then the data of one page after the other cross the bus.
    [[nodiscard]] std::expected<SimTime, NandError> read_two_plane(std::span<const PageRead, 2> pages, const Io& io);
    [[nodiscard]] std::expected<SimTime, NandError> erase_two_plane(std::span<const BlockId, 2> blocks, const Io& io);

    [[nodiscard]] bool is_bad(BlockId block) const; ///< factory or grown
    [[nodiscard]] bool is_factory_bad(BlockId block) const;
    /// Marks a block as grown bad. From the call on this array refuses to program or erase it (N1); it can still be read.
    /// `now` is when the mark's cause has ended: the failed operation is over, and what was valid in the block is durable elsewhere.
    /// Returns when the mark stands: `now`, or later when an operation of the block ends later (N4). It takes no time on bus or chip.
    /// A cut before that takes the mark back, with the copies that were made before it. From then on it survives everything.
    /// Marking a block that is marked changes nothing.
    [[nodiscard]] std::expected<SimTime, NandError> mark_bad(BlockId block, SimTime now);
    [[nodiscard]] std::uint32_t erase_count(BlockId block) const;
    /// The next page that may be programmed; pages_per_block when the block is full. Costs no simulated time: for check() and recovery.
    [[nodiscard]] std::uint32_t write_pointer(BlockId block) const;
    /// inspect() with the OOB parsed. A scheme may ask it about a page that it has just read or programmed.
    [[nodiscard]] std::expected<StoredOob, NandError> inspect_oob(Ppn page) const;

    /// All pages programmed until now must survive, even when a later program that shares their cells is cut (C5). Returns the earliest time at which
    /// a flush may be answered, or a record that relies on these pages may be written: `now` if no page is in danger. Costs nothing by itself.
    [[nodiscard]] SimTime note_durable(SimTime now);
    /// True: pages share cells, and the array protects the pages that note_durable() covers.
    /// Any other page may be lost, although its write was answered.
    [[nodiscard]] bool guards_pairs() const;
    /// Charges the time that finding backups takes. Call it after open(), before anything is read.
    [[nodiscard]] std::expected<SimTime, NandError> scan_backups(SimTime now);

    /// When the last reservation of this plane's cells ends: for "least busy" choices.
    [[nodiscard]] SimTime plane_free_at(PlaneId plane) const;
    /// The end of the last reservation anywhere.
    [[nodiscard]] SimTime last_reserved_end() const;

protected:
    NandOperations() = default;
    ~NandOperations() = default;

private:
    [[nodiscard]] NandArray& self();
    [[nodiscard]] const NandArray& self() const;
};

} // namespace flashlab
