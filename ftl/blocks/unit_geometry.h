/// Mapping units: what a page-mapping scheme hands out, 1, 2 or 4 consecutive pages of one block.
///
/// Idea       Geometry divides page addresses, this divides them once more; no other place does.
/// Invariant  block_of(unit_at(b, i)) == b; a unit never spans two blocks (pages_per_block is a multiple of the unit).
/// Cost       A multiplication each (Divider).
/// Power cut  Keeps nothing.
/// Source     Kim et al. (HY) 5.4, HY9: a larger unit halves or quarters the mapping table.
#pragma once

#include <cstdint>

#include "base/contract.h"
#include "base/divider.h"
#include "base/id.h"
#include "nand/geometry.h"

namespace flashlab {

using UnitId = Id<struct UnitTag, std::uint32_t>; ///< physical mapping unit, device-wide

class UnitGeometry {
public:
    UnitGeometry(const Geometry& geometry, std::uint32_t pages_per_unit)
        : geometry_{geometry}, pages_per_unit_{pages_per_unit}, units_per_block_{geometry.pages_per_block() / pages_per_unit},
          to_block_{units_per_block_}, to_unit_{pages_per_unit} {
        ensure(geometry.pages_per_block() % pages_per_unit == 0, "a block is a whole number of mapping units");
    }
    [[nodiscard]] const Geometry& geometry() const { return geometry_; }
    [[nodiscard]] std::uint32_t pages_per_unit() const { return pages_per_unit_; }
    [[nodiscard]] std::uint32_t units_per_block() const { return units_per_block_; }
    [[nodiscard]] std::uint32_t units() const { return units_per_block_ * geometry_.blocks(); }
    [[nodiscard]] std::uint32_t bytes_per_unit() const { return pages_per_unit_ * geometry_.page_bytes(); }
    /// 64-bit words of a row with one bit a unit of a block.
    [[nodiscard]] std::uint32_t words_per_row() const { return (units_per_block_ + 63) / 64; }

    [[nodiscard]] BlockId block_of(UnitId u) const { return BlockId{to_block_.divide(u.value())}; }
    [[nodiscard]] std::uint32_t index_in_block(UnitId u) const { return to_block_.remainder(u.value()); }
    [[nodiscard]] UnitId unit_at(BlockId b, std::uint32_t index) const { return UnitId{b.value() * units_per_block_ + index}; }
    [[nodiscard]] Ppn page_of(UnitId u, std::uint32_t page) const { return Ppn{u.value() * pages_per_unit_ + page}; }
    [[nodiscard]] UnitId unit_of(Ppn p) const { return UnitId{to_unit_.divide(p.value())}; }

private:
    Geometry geometry_;
    std::uint32_t pages_per_unit_;
    std::uint32_t units_per_block_;
    Divider to_block_;
    Divider to_unit_;
};

} // namespace flashlab
