/// A scheme whose maps have a ghost of their own keeps records for it, where others have a bitmap.
///
/// Idea       Beside MappingSpace, for a scheme whose shape has_own_ghost: the partition lends it part of the DRAM, charges that, and makes no
///            bitmap.
/// Cost       Called once.
/// Power cut  Lost; they are a statistic.
#pragma once

#include <cstdint>

namespace flashlab {

class GhostRecords {
public:
    virtual ~GhostRecords() = default;
    /// From now on its records take `bytes` of the DRAM: a power of two, at least 8. Earlier ones are forgotten.
    virtual void keep_records(std::uint64_t bytes) = 0;
};

} // namespace flashlab
