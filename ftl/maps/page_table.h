/// A page table: which unit holds the newest version of each logical page, wherever the table itself lies.
///
/// Idea       PagedFtl is what page-mapping schemes share: requests, rows of new pages, counters, blocks. A table says where a page is, is told of
///            new places, and brings itself back. It is a template argument: a look-up is inlined, and a table may be new without one virtual call a
///            page. Three lie here: in DRAM (dram_table.h), on flash with a cache of entries (demand_table.h), in PRAM (pram_table.h).
/// Invariant  current() names a valid unit, no two pages name one, and all valid units of data are named.
/// Cost       A call of the table a request or row, and one an adopted or moved page.
/// Power cut  recover() of a table answers for C1 to C7 (docs/crash-model.md).
#pragma once

#include <concepts>
#include <optional>
#include <vector>

#include "ftl/blocks/page_blocks.h"

namespace flashlab {

/// How tables hold a place: the unit's number + 1.
namespace map_entry {
inline constexpr std::uint32_t unmapped = 0;
[[nodiscard]] constexpr std::uint32_t of(UnitId unit) { return unit.value() + 1; }
[[nodiscard]] constexpr std::optional<UnitId> unit(std::uint32_t entry) {
    return entry == unmapped ? std::nullopt : std::optional{UnitId{entry - 1}};
}
} // namespace map_entry

/// What a table is made of, beside what is its own. All outlive it.
struct TableParts {
    NandArray& array;
    PageBlocks& blocks;
    FtlCounters& counters; ///< host_pages_trimmed is the table's to count
    std::uint32_t logical_pages = 0;
};

template <class T>
concept PageTable = requires(T& table, const T& asked, Lpn lpn, std::uint32_t pages, UnitId unit, const PageOob& oob, const OpenColumn& column,
                             const PagesToWrite& what, OpenSuperblock& set, BlockId block, BlockFate fate, SimTime at, EventId job, const Io& io) {
    { T::durable_when_answered } -> std::convertible_to<bool>;
    { asked.current(lpn) } -> std::same_as<std::optional<UnitId>>;
    /// The entries of the run can be asked for from then on; until the next call that changes the table. Here a table charges for its look-up.
    { table.look_up(lpn, pages, io) } -> std::same_as<FtlResult<SimTime>>;
    // A write: before all, before each row (so many pages at most, from this one on), for each page, after each row, when it is answered.
    { table.begin_write(lpn, io) } -> std::same_as<FtlResult<void>>;
    { table.before_row(what, pages, pages, io) } -> std::same_as<FtlResult<SimTime>>;
    { table.adopt(lpn, unit, column, at) };
    { table.after_row(pages, io) } -> std::same_as<FtlResult<void>>;
    { table.answered(at) };
    // Requests that are the table's alone; counters.host_pages_trimmed.
    { table.trim(lpn, pages, io) } -> std::same_as<FtlResult<SimTime>>;
    { table.flush(io) } -> std::same_as<FtlResult<SimTime>>;
    { table.idle(at) } -> std::same_as<SimTime>;
    { table.recover(at) } -> std::same_as<FtlResult<FtlRecovery>>;
    { table.shut_down(at) } -> std::same_as<FtlResult<SimTime>>;
    // As PageOwner's.
    { table.opened(set, set, at) } -> std::same_as<SimTime>;
    { table.closed(set, at) };
    { asked.prefetch(lpn) };
    { table.moved(oob, unit, unit, column, at) };
    { table.forget(block, fate, at, job) } -> std::same_as<FtlResult<SimTime>>;
    { table.condemned(block, at, job) } -> std::same_as<SimTime>;
    /// Valid pages that hold the table itself; what such a block is used for.
    { asked.own_pages() } -> std::same_as<std::uint64_t>;
    { asked.use_of(block) } -> std::same_as<BlockUse>;
    { table.mapping_space() } -> std::same_as<MappingSpace*>;
    { table.check() } -> std::same_as<std::vector<CheckProblem>>;
};

} // namespace flashlab
