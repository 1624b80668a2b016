/// Where a page of the host is placed: which pages share superblocks? Each stream of data has a frontier of its own; each answer is a file.
///
/// Idea       Pages that become invalid at about the same time make cheap victims. A page that is written, or moved by a collection, is given a
///            stream; it is a wish: where the stream has no room and may open no superblock, the page goes to another.
/// Invariant  A stream is less than what the registry says of the policy; asking changes nothing, so that a page may be asked about again. The
///            stream lies in the page's OOB; a copy is asked about with it.
/// Cost       A virtual call a page written, one a page moved; none where nothing is separated.
/// Power cut  Each page still tells its stream; what else a policy remembers it may forget.
/// Source     Kim et al. (HY): more than one buffer block, to separate hot from cold data, is their future work (HY4).
#pragma once

#include <cstdint>

#include "base/events.h"
#include "base/id.h"

namespace flashlab {

class SeparationPolicy {
public:
    virtual ~SeparationPolicy() = default;
    /// `by`: the host's stream and queue.
    [[nodiscard]] virtual StreamId stream_of_write(Lpn lpn, const Origin& by) const = 0;
    /// `from`: the stream that the page was placed with.
    [[nodiscard]] virtual StreamId stream_of_copy(Lpn lpn, StreamId from) const = 0;
    /// The host has written the page.
    virtual void written(Lpn lpn) = 0;
};

} // namespace flashlab
