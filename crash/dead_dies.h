/// Dies of which nothing works any more, by their numbers on the chips.
///
/// Idea       The set may change between two operations.
/// Invariant  Programs, erases and reads of such a die fail, and no others.
/// Cost       A look-up in the set an operation.
/// Power cut  Belongs to who holds it.
#pragma once

#include <set>
#include <utility>

#include "nand/geometry.h"
#include "nand/nand_faults.h"

namespace flashlab {

class DeadDies final : public NandFaults {
public:
    explicit DeadDies(const Geometry& chips, std::set<std::uint32_t> dead_ = {}) : dead{std::move(dead_)}, chips_{chips} {}
    bool program_fails(Ppn page) override { return has(chips_.block_of(page)); }
    bool erase_fails(BlockId block) override { return has(block); }
    bool read_fails(Ppn page) override { return has(chips_.block_of(page)); }
    bool die_is_dead(DieId die) const override { return are_known && dead.contains(die.value()); }
    std::set<std::uint32_t> dead;
    bool are_known = true; ///< false: each operation fails by itself

private:
    [[nodiscard]] bool has(BlockId block) const { return dead.contains(chips_.die_of(chips_.plane_of(block)).value()); }
    Geometry chips_;
};

} // namespace flashlab
