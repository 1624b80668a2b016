/// Which pages of the host share superblocks? Each stream of data has a frontier of its own; each answer is a file.
///
/// Idea       Pages that become invalid at about the same time make cheap victims. A page that is written, or moved by a collection, is given a
///            stream; it is a wish: where the stream has no room and may open no superblock, the page goes to another.
/// Invariant  A stream is less than what the registry says of the policy; asking changes nothing, so that a page may be asked about again.
/// Cost       A virtual call a page written, one a page moved; none where nothing is separated.
/// Power cut  Keeps nothing: a policy may forget what it remembers.
/// Source     Kim et al. (HY): more than one buffer block, to separate hot from cold data, is their future work (HY4).
#pragma once

#include <cstdint>

#include "base/id.h"

namespace flashlab {

class SeparationPolicy {
public:
    virtual ~SeparationPolicy() = default;
    [[nodiscard]] virtual std::uint32_t stream_of_write(Lpn lpn) const = 0;
    [[nodiscard]] virtual std::uint32_t stream_of_copy(Lpn lpn) const = 0;
    /// The host has written the page.
    virtual void written(Lpn lpn) = 0;
};

} // namespace flashlab
