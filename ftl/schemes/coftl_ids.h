/// The ids of COFTL: what its tables, its chains and its cache are addressed by.
///
/// Idea       Each thing that is counted has an id of its own: a virtual block is never taken for a table, nor a place in a chain for a page set.
///            "None" is std::optional, or the named constant of the type where a record for each set, virtual block or page holds it.
/// Invariant  Calculations with logical pages stand in CoftlShape; an id goes up by one in next() only.
/// Cost       4 bytes an id.
/// Power cut  Ids are written to the media field by field: coftl_format.h.
#pragma once

#include "base/id.h"
#include "ftl/blocks/block_sets.h"

namespace flashlab {

using VirtualBlockId = Id<struct VirtualBlockTag, std::uint32_t>; ///< virtual block, device-wide
using VirtualPage = Id<struct VirtualPageTag, std::uint32_t>;     ///< virtual page within its virtual block
using ChainIndex = Id<struct ChainIndexTag, std::uint32_t>;       ///< place of a set in its chain; 0 = primary. Also the number of its commit
using RowId = Id<struct RowTag, std::uint32_t>;                   ///< page set within its block set: the same page of each of its blocks
using TableId = Id<struct TableTag, std::uint32_t>;               ///< place in RAM for the page table of a virtual block
using SlotId = Id<struct SlotTag, std::uint32_t>;                 ///< slot of the data cache

inline constexpr std::uint32_t no_id = 0xffff'ffff;
inline constexpr SetId no_set{no_id};
inline constexpr VirtualBlockId no_virtual_block{no_id};
inline constexpr TableId no_table{no_id};
inline constexpr ChainIndex primary_index{0};
inline constexpr RowId first_row{0};

template <class IdType>
[[nodiscard]] constexpr IdType next(IdType id) {
    return IdType{id.value() + 1};
}

/// The ids 0 to count - 1, for loops.
template <class IdType>
class FirstIds {
public:
    class Iterator {
    public:
        constexpr explicit Iterator(std::uint32_t at) : at_{at} {}
        constexpr IdType operator*() const { return IdType{at_}; }
        constexpr Iterator& operator++() {
            ++at_;
            return *this;
        }
        friend constexpr bool operator==(Iterator, Iterator) = default;

    private:
        std::uint32_t at_;
    };
    constexpr explicit FirstIds(std::uint32_t count) : count_{count} {}
    [[nodiscard]] constexpr Iterator begin() const { return Iterator{0}; }
    [[nodiscard]] constexpr Iterator end() const { return Iterator{count_}; }

private:
    std::uint32_t count_;
};

} // namespace flashlab
