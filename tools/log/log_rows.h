/// What the event log is told in addition to the events of the layers.
///
/// Idea       Some rows are known only above the drive: latencies of a mount, erase counts, names of files.
/// Invariant  Such a row follows the event that it belongs to.
/// Cost       A few numbers each.
/// Power cut  These rows belong to the observer, not to the drive: a simulated power cut takes none away.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/events.h"

namespace flashlab {

struct FsLatencyRow {
    FsOp op = FsOp::lookup;
    std::uint64_t calls = 0, errors = 0;
    std::int64_t p50_ns = 0, p99_ns = 0, max_ns = 0;
};

/// What goes with a sample but is not an event of a layer: follows the last SampleEvent given.
struct SampleDetails {
    std::vector<std::uint64_t> channel_busy_ns; ///< by channel
    std::vector<FsLatencyRow> latency;
};
struct WearHistogram {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks_by_erase_count;
};

/// A place of a file that the flash does not give back: what the file system knows beside an UncorrectableReadEvent.
struct UnreadableFile {
    Ino ino{0};
    std::uint64_t offset = 0, bytes = 0;
    std::string path{};         ///< empty: it has none, or nobody looked
    EventId request = no_event; ///< filled in by the log
};

} // namespace flashlab
