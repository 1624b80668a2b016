/// What a mount needs of the whole device beside the file system: it settles the device, and it cuts the power.
///
/// Idea       The mount knows instants and the device knows what happens at them; neither includes the other.
/// Invariant  After cut() nothing else is called.
/// Power cut  cut() leaves the stores in the state of the instant `at`. `seed` draws the outcomes of the operations in flight.
#pragma once

#include <cstdint>

#include "base/sim_time.h"

namespace flashlab {

struct CutSummary {
    SimTime at;
    std::uint64_t operations_undone = 0;
    std::uint64_t operations_torn = 0;
};

class DevicePower {
public:
    virtual ~DevicePower() = default;
    virtual void settle(SimTime now) = 0;
    [[nodiscard]] virtual SimTime last_reserved_end() const = 0;
    [[nodiscard]] virtual CutSummary cut(SimTime at, std::uint64_t seed) = 0;
};

} // namespace flashlab
