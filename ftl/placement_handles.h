/// What a drive with placement handles can say of them: how much each may still take before its next reclaim unit is opened.
///
/// Idea       A handle is a stream of the host (ftl.separation = host), its reclaim unit an open superblock on each die. A scheme that has them has
///            this interface beside Ftl's; who wants to know asks by dynamic_cast.
/// Invariant  Asking changes nothing.
/// Cost       A look at each group's open superblock of each stream.
/// Power cut  Keeps nothing: what was open goes on after a mount (Frontiers::resume).
/// Source     NVM Express TP4146, Flexible Data Placement: Reclaim Unit Available Media Writes.
#pragma once

#include <cstdint>
#include <vector>

namespace flashlab {

class PlacementHandles {
public:
    virtual ~PlacementHandles() = default;
    /// That have an open superblock each.
    [[nodiscard]] virtual std::uint32_t groups() const = 0;
    /// By handle: logical pages. Copies that share superblocks of their own are no handle, but the last entry where they do.
    [[nodiscard]] virtual std::vector<std::uint64_t> writable_pages() const = 0;
};

} // namespace flashlab
