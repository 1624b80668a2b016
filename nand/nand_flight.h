/// An operation that changes cells, as a power cut sees it: when its cells change, and why.
///
/// Idea       Who chooses the instant of a cut asks for these, so that the cut meets the operations that it is meant to meet.
/// Invariant  A cut at T tears the operation exactly when cells < T < end.
/// Cost       None: the undo log has all of it.
/// Power cut  Nothing is kept here.
#pragma once

#include "base/events.h"
#include "base/sim_time.h"

namespace flashlab {

struct NandFlight {
    NandOp op = NandOp::program; ///< program or erase
    Cause cause = Cause::user;
    SimTime cells; ///< when the cells begin to change
    SimTime end;   ///< when they are done
};

} // namespace flashlab
