/// What the event log is told in addition to the events of the layers.
///
/// Idea       Some rows are known only above the drive: latencies of a mount, erase counts, names of files.
/// Invariant  Such a row follows the event that it belongs to.
/// Cost       A few numbers each.
/// Power cut  These rows belong to the observer, not to the drive: a simulated power cut takes none away.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/events.h"

namespace flashlab {

struct FsLatencyRow {
    FsOp op = FsOp::lookup;
    std::uint64_t calls = 0, errors = 0;
    std::int64_t p50_ns = 0, p99_ns = 0, max_ns = 0;
};

/// What caches hit, and what collections and merges did, since power-on. All zero: the drive has no such part.
struct SchemeCounts {
    std::uint64_t buffer_read_hits = 0, buffer_read_misses = 0, buffer_write_hits = 0, buffer_write_misses = 0; ///< pages
    std::uint64_t map_read_hits = 0, map_read_misses = 0, map_write_hits = 0, map_write_misses = 0;             ///< entries looked up
    std::uint64_t gc_jobs = 0, gc_page_copies = 0;
    std::uint64_t switch_merges = 0, partial_merges = 0, full_merges = 0;
    std::uint64_t read_pages = 0, unmapped_reads = 0; ///< pages that read requests asked for; of these: nothing was written there
    [[nodiscard]] SchemeCounts since(const SchemeCounts& before) const;
};

/// A counter that the scheme declares for itself (ftl/counters.h).
struct OwnCount {
    std::string name, unit, help;
    std::uint64_t value = 0;
};

/// What goes with a sample but is not an event of a layer: follows the last SampleEvent given.
struct SampleDetails {
    std::vector<std::uint64_t> channel_busy_ns; ///< by channel
    std::vector<FsLatencyRow> latency;
    SchemeCounts counts;
    std::vector<OwnCount> own_counts{}; ///< those that have counted something: later samples may have more
};
/// What a block of the array held. The use is a BlockUse of ftl/ftl.h; the log sees numbers.
struct BlockRow {
    BlockId block{0};
    std::uint32_t erase_count = 0;
    std::uint8_t use = 0;
    std::uint32_t written_pages = 0, valid_pages = 0;
    std::uint32_t pages = 0; ///< that it has
};
struct WearHistogram {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks_by_erase_count;
    std::vector<BlockRow> blocks{}; ///< empty: too many to be told one by one, or nobody wants them
};

/// A place of a file that the flash does not give back: what the file system knows beside an UncorrectableReadEvent.
struct UnreadableFile {
    Ino ino{0};
    std::uint64_t offset = 0, bytes = 0;
    std::string path{};         ///< empty: it has none, or nobody looked
    EventId request = no_event; ///< filled in by the log
};

/// How many of the operations in flight at a power cut had this outcome. It follows the PowerEvent of the cut.
enum class CutOutcomeNumber : std::uint8_t {}; ///< T0 to T6 of programs, E0 to E4 of erases
struct CutOutcomeRow {
    SimTime at;
    CutOutcomeNumber outcome{};
    std::uint64_t operations = 0;
};

/// A fault of `flashlab ctl MNT fault` came into force, struck, or was taken back.
enum class FaultAction : std::uint8_t { set, struck, cleared };
struct FaultRow {
    SimTime at;
    FaultAction action = FaultAction::set;
    std::uint64_t rule = 0;
    std::string text{}; ///< the rule, as it can be given again
    Ino ino{0};         ///< of the file that it struck; 0: none
    std::string path{}; ///< of that file; empty: unknown
    int error = 0;      ///< errno that it answered; 0: none
};

/// How detailed the rows are from then on.
struct LevelRow {
    SimTime at;
    EventLevel level = EventLevel::none;
};

/// What a run in virtual time was asked to do.
struct LoadRow {
    std::string name; ///< of the trace or of the made-up load
    std::uint64_t seed = 0;
    std::string details; ///< JSON: what the name leaves out
};

// Rows that the writer makes out of larger things.
struct SampleNumber {
    std::int64_t n; ///< of a sample in this file
};
struct RunRow {
    std::string_view kind, version, config_toml, config_hash;
    std::uint64_t seed = 0, first_id = 0;
    SimTime start;
    std::uint32_t page_bytes = 0;
    std::uint64_t rows_dropped = 0;
    std::optional<std::int64_t> first_op{}, first_pram_write{};
};
struct SampleNandRow {
    SampleNumber sample;
    Cause cause;
    std::uint64_t page_reads, page_programs, block_erases;
};
struct SampleChannelRow {
    SampleNumber sample;
    std::uint32_t channel;
    Duration busy;
};
struct SampleLatencyRow {
    SampleNumber sample;
    FsOp op;
    std::uint64_t calls, errors;
    Duration p50, p99, max;
};
struct SampleSchemeRow {
    SampleNumber sample;
    SchemeCounts counts;
};
struct SampleCounterRow {
    SampleNumber sample;
    std::string_view name;
    std::uint64_t value;
};
struct WearRow {
    std::uint32_t erase_count, blocks;
};

} // namespace flashlab
