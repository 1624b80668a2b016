/// Queues in turn, each for a burst of commands: what round robin does, and weighted arbitration within a class.
#pragma once

#include <cstdint>
#include <span>

#include "ftl/host/arbiter.h"

namespace flashlab {

namespace arbiter_option {
/// Of round-robin and weighted: as the Arbitration Burst of NVMe.
inline constexpr OptionOf<std::uint32_t> burst{
    {.key = "host_link.burst",
     .help = "Commands fetched from one queue before the next queue's turn. Larger: a queue can wait longer.",
     .phase = OptionPhase::mount,
     .initial = 1,
     .min = 1,
     .max = 65535}};
} // namespace arbiter_option

class Turns {
public:
    explicit Turns(std::uint32_t burst) : burst_{burst} {}
    /// `waiting` is in the order of the numbers, and not empty.
    [[nodiscard]] QueueId next(std::span<const WaitingQueue> waiting);

private:
    std::uint32_t burst_;
    std::uint32_t left_ = 0; ///< of the burst of `last_`
    QueueId last_{static_cast<std::uint16_t>(~0u)};
};

} // namespace flashlab
