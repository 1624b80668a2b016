/// Failures and delays of requests, decided from outside.
///
/// Idea       The mount asks once for each request, when it arrives. The request is then refused with an errno, or its answer comes late. A sync that
///            is to fail runs, so that its write-back fails in the way of fs/write_back_faults.h, and answers the errno whatever it found.
/// Invariant  A refused request changes nothing.
/// Cost       A predicted branch for each request when absent.
/// Threading  Called inside the monitor.
/// Power cut  Keeps nothing. A cut answers EIO to who still waits.
#pragma once

#include "base/events.h"
#include "base/id.h"
#include "base/sim_time.h"

namespace flashlab {

class RequestFaults {
public:
    struct Verdict {
        int error = 0;     ///< errno; 0: none
        Duration stall{0}; ///< the answer comes later by this much: wall time at latency off, else simulated time
    };
    virtual ~RequestFaults() = default;
    [[nodiscard]] virtual Verdict on_request(FsOp op, Ino ino, SimTime now) = 0;
    /// The sync that was to fail is over.
    virtual void sync_over() = 0;
};

} // namespace flashlab
