/// The flash as its controller sees it: channels of chips that obey the data sheet, in simulated time, with a past that can be undone.
///
/// Idea       Every call names when it may start and returns when it is done. State changes at the call; an undo record keeps the old state until
///            settle() passes the operation's end, so that cut(T) can put the flash into the state that a power loss at T leaves.
///            Its functions are in three parts: what schemes do (nand_operations.h), what looks and cuts (nand_probe.h), statistics.
/// Order      open() comes first, then operations, settle() and questions in any order; after cut(), or rewind(), only questions and tear().
///            Operations take effect in the order of the calls. `now` may lie before that of an earlier call, but not before the last settle().
///            What an operation's result depends on is its caller's business: the array knows the order on a block (N2), not what a mapping needs.
/// Invariant  N1 pages of a block are programmed in increasing order, each once since the erase.
///            N2 a read never starts before the program of its page ends; a program not before the block's previous program or erase ends;
///               an erase not before every reserved program and read of the block ends.
///            N3 no resource (bus, page buffer, plane, controller) serves two operations at one instant.
///            N4 a mark of a bad block stands from a time on, and not before every operation of the block that was issued has ended.
///            Breaking N1 knowingly, or an operation after a cut, is a ContractViolation; N2, N3 and N4 hold by construction and are checked.
/// Cost       O(1) amortised an operation: calendars drop what is past. No allocation in steady state.
/// Power cut  cut(T): what starts after T is undone in reverse order of issue, what spans T is torn as CutOutcomes says, the rest stays.
///            kill -9 leaves a prefix of the issue order in the page store.
/// Source     Kang et al. (DUMBO) 3.3 and 3.4 for the phases (MC2); docs/crash-model.md for the outcomes.
#pragma once

#include <memory>

#include "nand/nand_operations.h"
#include "nand/nand_probe.h"
#include "nand/nand_statistics.h"

namespace flashlab {

class NandArray final : public NandOperations, public NandProbe, public NandStatistics {
public:
    /// `geometry` is the geometry of the chips and of the store. With config.striping > 1, geometry() and all addresses are striped ones.
    NandArray(const Geometry& geometry, const NandConfig& config, PageStore& store, EventSink& events, UndoPolicy undo);
    ~NandArray();
    NandArray(const NandArray&) = delete;
    NandArray& operator=(const NandArray&) = delete;

private:
    friend class NandOperations;
    friend class NandProbe;
    friend class NandStatistics;
    class Addressing;
    class Impl;
    class Striped;
    class PairGuard;
    std::unique_ptr<Impl> impl_;
    std::unique_ptr<Striped> striped_; ///< null: S = 1
    Addressing& addressing_;           ///< one of the two
};

} // namespace flashlab
