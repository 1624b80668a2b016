/// Arbiters: which submission queue's next command the drive fetches when it has room for one.
///
/// Idea       A drive works on so many commands at once (host_link.slots). When one is answered, an arbiter says whose command follows. An arbiter
///            is one file and one line in ftl/host/arbiters.def; it may declare options.
/// Invariant  choose() names one of the queues that it is shown, and depends on nothing but what it was shown and chose before.
/// Cost       One virtual call a command, where there are slots.
/// Power cut  An arbiter's memory is the drive's: it begins anew.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/id.h"
#include "base/sim_time.h"
#include "ftl/named.h"
#include "ftl/options.h"

namespace flashlab {

/// As NVMe's classes for submission queues.
enum class QueuePriority : std::uint8_t { urgent, high, medium, low };
inline constexpr std::string_view queue_priority_names[] = {"urgent", "high", "medium", "low"};

/// A queue with a command that has been submitted.
struct WaitingQueue {
    QueueId queue;
    QueuePriority priority = QueuePriority::medium;
    SimTime submitted; ///< its first command
};

class Arbiter {
public:
    virtual ~Arbiter() = default;
    /// `waiting` is not empty, and in the order of the queues' numbers.
    [[nodiscard]] virtual QueueId choose(std::span<const WaitingQueue> waiting) = 0;
};

struct ArbiterEntry {
    std::string_view name;
    std::string_view idea;
    std::unique_ptr<Arbiter> (*make)(const OptionSet& options);
    OptionList options{};
};
/// In the order of the documentation.
[[nodiscard]] std::span<const ArbiterEntry> arbiters();

} // namespace flashlab
