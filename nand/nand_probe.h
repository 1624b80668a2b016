/// What looks into the flash, holds its clock and cuts its power: the second of the three parts of NandArray.
///
/// Idea       For who owns a drive, and for checks and tests. A translation layer that runs does none of this; its check() may look.
/// Invariant  Looking takes no simulated time and changes nothing.
/// Cost       open() reads one record a block; settle() is amortised O(1) an operation; a cut is linear in what is in flight.
/// Power cut  These functions make it.
#pragma once

#include "nand/nand_faults.h"
#include "nand/nand_flight.h"
#include "nand/nand_types.h"
#include "nand/page_store.h"

namespace flashlab {

class NandArray;

class NandProbe {
public:
    /// Reads the state of every block (erase count, bad mark) from the store, in one sequential pass over O(blocks) records. Call it once, before
    /// anything else. Write pointers are read later, when they are first needed.
    [[nodiscard]] std::expected<void, NandError> open();

    /// Decides which operations fail; null: none. The object must outlive the array, or be taken back with set_faults(nullptr).
    void set_faults(NandFaults* faults);

    /// State and OOB of a page as the cells hold them. Costs no simulated time: for check(), fsck and tests only.
    [[nodiscard]] std::expected<PageRecord, NandError> inspect(Ppn page) const;
    /// inspect() for all pages of a block. `to` has pages_per_block elements.
    [[nodiscard]] std::expected<void, NandError> inspect(BlockId block, std::span<PageRecord> to) const;

    /// The clock has passed `now`: undo records of ended operations are dropped, erased payload is given back to the host,
    /// past reservations are forgotten.
    void settle(SimTime now);
    /// The power fails at `at`, which must not lie before the last settle(). What has ended by then stands, also what ends at that very instant.
    /// What has not begun never happens. What is under way becomes what `outcomes` say.
    /// Afterwards no operation may be issued on this object: reopen the store.
    [[nodiscard]] std::expected<NandCutReport, NandError> cut(SimTime at, CutOutcomes& outcomes);

    /// cut() in two steps, for a caller that tries many cuts of one run, the latest first. rewind() undoes for good the operations that had not begun
    /// at `at`, and returns how many they were. tear() then applies to `target`, a copy of this array's store,
    /// what the cut does to the operations in flight.
    [[nodiscard]] std::expected<std::uint64_t, NandError> rewind(SimTime at);
    [[nodiscard]] std::expected<NandCutReport, NandError> tear(SimTime at, CutOutcomes& outcomes, PageStore& target);
    /// Appends the times at which the result of a cut changes: the times at which cells begin to change, and those at which they are done.
    void append_moments(std::vector<SimTime>& to) const;
    /// Appends the programs and erases that a cut may still tear, those that have not begun among them, in the order of their issue.
    void append_flights(std::vector<NandFlight>& to) const;

protected:
    NandProbe() = default;
    ~NandProbe() = default;

private:
    [[nodiscard]] NandArray& self();
    [[nodiscard]] const NandArray& self() const;
};

} // namespace flashlab
