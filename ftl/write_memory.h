/// Which of the writes before one still show in where things lie: what a drive's ageing must play (tools/run/precondition.h).
///
/// Idea       A scheme's entry (ftl/scheme.h) tells how much of its past a new device will remember, so that a short load stands in for a long one.
///            It is an option of the entry: of a scheme that tells nothing, every write of the ageing is written.
/// Invariant  Told of a device that was recovered and holds nothing yet.
/// Cost       Once an ageing.
/// Power cut  Keeps nothing.
#pragma once

#include <cstdint>

#include "ftl/ftl.h"

namespace flashlab {

struct WriteMemory {
    enum class Kind : std::uint8_t {
        everything, ///< nothing is known: any write may still show
        turnover,   ///< after `pages` random writes nothing is left of what was before them but where the data lie
        history,    ///< a page map: `pages` are written between a page and the collection of its block, copies included
        shared_log, ///< a log of `pages`, emptied from its oldest block on
    };
    Kind kind = Kind::everything;
    std::uint64_t pages = 0; ///< logical ones
};

} // namespace flashlab
