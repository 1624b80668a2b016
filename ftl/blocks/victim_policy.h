/// Which full block of a plane is worth reclaiming? One question; each answer is a file.
///
/// Idea       Asked once per collection, by plane: the caller takes the plane that is short of free blocks, else the lowest score of all planes.
/// Invariant  The answer is in `full`, and has a unit to gain; open, retired and pinned blocks never are.
/// Cost       One virtual call a plane and collection.
/// Power cut  Keeps nothing: a policy may forget what it remembers.
#pragma once

#include <optional>

#include "ftl/blocks/full_blocks.h"

namespace flashlab {

struct Victim {
    BlockId block;
    double score = 0; ///< lower is better, between planes too
};

class VictimPolicy {
public:
    virtual ~VictimPolicy() = default;
    [[nodiscard]] virtual std::optional<Victim> choose(const FullBlocks& full, PlaneId plane) = 0;
    /// Of two victims the one with fewer copies is rather taken. False: by age alone, so that a plane that is short of blocks loses nothing.
    [[nodiscard]] virtual bool minds_copies() const { return true; }
};

} // namespace flashlab
