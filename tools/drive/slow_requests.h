/// The slowest requests of a mount, and whose they were.
///
/// Idea       A heap of bounded size whose top is the fastest one kept. The log knows what each of them waited for (view v_blame_part), by its id.
/// Invariant  No request that was left out took longer than one that is kept; of equally long ones the earlier are kept.
/// Cost       One compare a request once it is full; 40 bytes for each that is kept.
/// Power cut  Belongs to the mount and ends with it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/events.h"

namespace flashlab {

struct SlowRequest {
    EventId id = no_event;
    HostOp op = HostOp::read;
    SimTime arrival;
    Duration took{0};
    std::uint32_t process = 0, file = 0; ///< as the ledger numbers them
};

class SlowRequests {
public:
    static constexpr std::size_t most = 1000;
    void add(const SlowRequest& request);
    [[nodiscard]] std::vector<SlowRequest> slowest_first() const;

private:
    std::vector<SlowRequest> heap_;
};

} // namespace flashlab
