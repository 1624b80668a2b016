/// What a drive with placement handles can say of them: how much each may still take before its next reclaim unit is opened, what befell them.
///
/// Idea       A handle is a stream of the host (ftl.separation = host), its reclaim unit an open superblock on each die. A scheme that has them has
///            this interface beside Ftl's; who wants to know asks by dynamic_cast.
/// Invariant  Asking changes nothing.
/// Cost       A look at each group's open superblock of each stream.
/// Power cut  Keeps nothing: what was open goes on after a mount (Frontiers::resume), and events are those since then.
/// Source     NVM Express TP4146, Flexible Data Placement: Reclaim Unit Available Media Writes, FDP events.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/sim_time.h"

namespace flashlab {

struct PlacementEvent {
    /// As NVMe numbers them.
    enum class Kind : std::uint8_t {
        unit_not_full = 0x00,  ///< a superblock was closed with room: a program of it failed, or its block had to move
        unknown_handle = 0x03, ///< a write named a stream that the drive does not have
        media_moved = 0x80     ///< pages of the handle were copied out of a block
    };
    Kind kind{};
    SimTime at;
    StreamId handle = no_stream; ///< for unknown_handle the one that was named
    std::uint64_t pages = 0;     ///< moved
};

/// The newest ones, as many as the log page holds.
class PlacementEvents {
public:
    void add(const PlacementEvent& event) { ring_[made_++ % ring_.size()] = event; }
    /// The oldest first.
    [[nodiscard]] std::vector<PlacementEvent> all() const {
        std::vector<PlacementEvent> events;
        for (std::uint64_t i = made_ - std::min<std::uint64_t>(made_, ring_.size()); i < made_; ++i) events.push_back(ring_[i % ring_.size()]);
        std::ranges::stable_sort(events, {}, &PlacementEvent::at); // dies tell of what ends then, each for itself
        return events;
    }

private:
    std::array<PlacementEvent, 63> ring_{};
    std::uint64_t made_ = 0;
};

class PlacementHandles {
public:
    virtual ~PlacementHandles() = default;
    /// That have an open superblock each.
    [[nodiscard]] virtual std::uint32_t groups() const = 0;
    /// By handle: logical pages. Copies that share superblocks of their own are no handle, but the last entry where they do.
    [[nodiscard]] virtual std::vector<std::uint64_t> writable_pages() const = 0;
    /// Since the mount; those of copies that share superblocks, too.
    [[nodiscard]] virtual std::vector<PlacementEvent> placement_events() const = 0;
};

} // namespace flashlab
