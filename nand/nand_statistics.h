/// What the flash has done since it was opened: the third of the three parts of NandArray.
///
/// Idea       Counts by cause and busy times of the chips themselves, for reports.
/// Invariant  Never decreasing. What a cut undoes stays counted: it was done.
/// Cost       None: counted along the way.
/// Power cut  RAM only.
#pragma once

#include "nand/geometry.h"
#include "nand/nand_types.h"

namespace flashlab {

class NandArray;

class NandStatistics {
public:
    /// The geometry of the chips themselves. channel_busy(), plane_busy() and events use its ids.
    [[nodiscard]] const Geometry& chip_geometry() const;
    [[nodiscard]] const NandCounters& counters() const;
    /// Busy nanoseconds since open() of each channel's bus and of each plane, for utilisation.
    [[nodiscard]] Duration channel_busy(ChannelId channel) const;
    [[nodiscard]] Duration plane_busy(PlaneId plane) const;
    /// Busy time of the controller and the serial host interface.
    [[nodiscard]] Duration front_busy() const;
    /// How many reads have suspended an erase or a program since open().
    [[nodiscard]] std::uint64_t suspensions() const;

protected:
    NandStatistics() = default;
    ~NandStatistics() = default;

private:
    [[nodiscard]] const NandArray& self() const;
};

} // namespace flashlab
