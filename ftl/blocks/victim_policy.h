/// Which full block of a plane is worth reclaiming? One question; each answer is a file.
///
/// Idea       Asked once per collection, by plane: the caller picks the plane that is short of free blocks.
/// Invariant  The answer is in `full`; open, retired and pinned blocks never are.
/// Cost       One virtual call a collection.
/// Power cut  Keeps nothing.
#pragma once

#include <optional>

#include "ftl/blocks/full_blocks.h"

namespace flashlab {

class VictimPolicy {
public:
    virtual ~VictimPolicy() = default;
    [[nodiscard]] virtual std::optional<BlockId> choose(const FullBlocks& full, PlaneId plane) const = 0;
};

} // namespace flashlab
