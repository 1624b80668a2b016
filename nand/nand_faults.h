/// Failures of the flash itself, decided from outside: tests and fault rules say which program, erase or read fails.
///
/// Idea       The array asks once for each operation, when it is issued. Without such an object nothing fails.
/// Invariant  A failed program leaves its page unreadable, a failed erase leaves the block's pages unreadable; the caller retires the block.
/// Cost       A predicted branch when absent.
/// Power cut  A failing operation in flight is torn like any other.
#pragma once

#include "base/id.h"
#include "base/sim_time.h"

namespace flashlab {

class NandFaults {
public:
    virtual ~NandFaults() = default;
    [[nodiscard]] virtual bool program_fails(Ppn page) = 0;
    [[nodiscard]] virtual bool erase_fails(BlockId block) = 0;
    /// Bit errors beyond the ECC: this read of the page's data gets nothing. The cells stay as they are.
    [[nodiscard]] virtual bool read_fails(Ppn) { return false; }
    /// Nothing of the die works any more, and its controller knows. The three above say so, too.
    [[nodiscard]] virtual bool die_is_dead(DieId) const { return false; }
    /// For seeded bugs: the time from which the operation may start. A time earlier than `now` plays a caller that forgot what its operation depends
    /// on. The chip's own order (N2, N3) still holds.
    [[nodiscard]] virtual SimTime program_from(Ppn, SimTime now) { return now; }
    [[nodiscard]] virtual SimTime erase_from(BlockId, SimTime now) { return now; }
};

} // namespace flashlab
