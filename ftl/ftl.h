/// A flash translation layer: logical pages onto a NandArray.
///
/// Idea       Each scheme owns its mapping, its RAM and its recovery; what two schemes share lives in ftl/blocks, ftl/cache, ftl/recovery.
/// Invariant  check() states each scheme's own; all keep D1..D3 of block_device.h at the level of logical pages.
/// Cost       Calls take runs of logical pages: one virtual call a request, none a page.
/// Power cut  recover() brings the mapping back from flash and PRAM; it is idempotent and may itself be cut.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <vector>

#include "base/events.h"
#include "base/id.h"
#include "base/sim_time.h"
#include "ftl/block_device.h"

namespace flashlab {

enum class FtlErrorKind : std::uint8_t {
    lost_page,
    no_free_block,
    read_only,
    foreign,  ///< of recover(): its own records do not parse; damaged, or another version of FlashLab wrote them
    host_io,
};
struct FtlError {
    FtlErrorKind kind;
    Lpn lpn{0};
    SimTime done;
    int host_errno = 0;
};
template <class T>
using FtlResult = std::expected<T, FtlError>;

struct FtlCounters {
    std::uint64_t host_pages_read = 0;
    std::uint64_t host_pages_written = 0;
    std::uint64_t host_pages_trimmed = 0;
    std::uint64_t gc_jobs = 0;
    std::uint64_t gc_page_copies = 0;
    std::uint64_t switch_merges = 0;
    std::uint64_t partial_merges = 0;
    std::uint64_t full_merges = 0;
    std::uint64_t retired_blocks = 0;
    // Schemes whose map lies on flash (DFTL): logical pages looked up, and what that cost.
    std::uint64_t map_read_hits = 0;
    std::uint64_t map_read_misses = 0;
    std::uint64_t map_write_hits = 0;
    std::uint64_t map_write_misses = 0;
    std::uint64_t map_evictions = 0;        ///< entries that left the mapping cache for another
    std::uint64_t map_dirty_evictions = 0;  ///< of these: had to be written first
    std::uint64_t batch_updates = 0;        ///< translation pages written for dirty entries
    std::uint64_t batch_entries = 0;        ///< dirty entries written by them
    std::uint64_t translation_reads = 0;
    std::uint64_t translation_writes = 0;   ///< without copies by collections
};

struct FtlSpace {
    std::uint32_t free_blocks = 0;    ///< garbage included: erased or to be erased
    std::uint32_t spare_blocks = 0;   ///< outside the logical space
    std::uint32_t bad_blocks = 0;
    std::uint64_t mapped_pages = 0;
};

struct FtlRecovery {
    bool was_clean = false;
    std::uint64_t pages_scanned = 0;
    SimTime done;
};

/// Which of the writes before one still show in where things lie: what a drive's ageing must play (tools/run/precondition.h).
struct WriteMemory {
    enum class Kind : std::uint8_t {
        turnover,   ///< after so many random writes nothing is left of what was before them but where the data lie
        history,    ///< a page map: so many pages are written between a page and the collection of its block, copies included
        shared_log, ///< a log of so many pages, emptied from its oldest block on
    };
    Kind kind = Kind::turnover;
    std::uint64_t pages = 0; ///< logical ones
};

enum class BlockUse : std::uint8_t { free, open, data, log, translation, bad, other };
struct BlockStatus {
    BlockUse use = BlockUse::free;
    std::uint32_t valid_pages = 0;
};

class MappingSpace;

class Ftl {
public:
    virtual ~Ftl() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual std::uint32_t logical_page_bytes() const = 0;
    [[nodiscard]] virtual std::uint32_t logical_pages() const = 0;
    /// True: whatever has been answered, trims too, is durable without a flush. Else only what a completed flush() covers is promised.
    [[nodiscard]] virtual bool durable_when_answered() const { return false; }

    /// First call on a device, new or old: mkfs leaves all-zero tables, which are an empty device.
    [[nodiscard]] virtual FtlResult<FtlRecovery> recover(SimTime now) = 0;
    /// Unmapped pages read zeros. `to` is pages * logical_page_bytes(), or empty.
    [[nodiscard]] virtual FtlResult<SimTime> read(Lpn first, std::uint32_t pages, std::span<std::byte> to, SimTime now, Origin origin) = 0;
    /// Part of one logical page.
    [[nodiscard]] virtual FtlResult<SimTime> read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, SimTime now, Origin origin) = 0;
    [[nodiscard]] virtual FtlResult<SimTime> write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, SimTime now, Origin origin) = 0;
    [[nodiscard]] virtual FtlResult<SimTime> trim(Lpn first, std::uint32_t pages, SimTime now, Origin origin) = 0;
    /// When everything answered so far is durable.
    [[nodiscard]] virtual FtlResult<SimTime> flush(SimTime now, Origin origin) = 0;
    /// A slice of background work; next wake-up time, sim_never when there is nothing to do.
    [[nodiscard]] virtual SimTime idle(SimTime now) = 0;
    /// Moves what is valid elsewhere and frees the block (wear levelling, read disturb).
    [[nodiscard]] virtual FtlResult<SimTime> relocate(BlockId block, SimTime now) = 0;
    /// Clean shutdown: the next recover() finds everything in place.
    [[nodiscard]] virtual FtlResult<SimTime> shut_down(SimTime now) = 0;

    [[nodiscard]] virtual bool is_mapped(Lpn lpn) const = 0;
    [[nodiscard]] virtual FtlCounters counters() const = 0;
    [[nodiscard]] virtual FtlSpace space() const = 0;
    [[nodiscard]] virtual BlockStatus status_of(BlockId block) const = 0;
    /// Of a device on which nothing lies yet.
    [[nodiscard]] virtual WriteMemory write_memory() const = 0;
    [[nodiscard]] virtual std::vector<CheckProblem> check() = 0;
    /// The maps that share the drive's DRAM with the write buffer (ftl/cache/mapping_space.h); null where they lie elsewhere, or always whole in DRAM.
    [[nodiscard]] virtual MappingSpace* mapping_space() { return nullptr; }
};

} // namespace flashlab
