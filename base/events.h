/// What happened, as typed fixed-size events: the only way the layers tell a story.
///
/// Idea       Layers emit structs to an EventSink; tools/log/sqlite_event_log.h turns them into rows. The null sink costs one compare.
///            A new event is a struct here, its name in AllEvents, and its table in tools/log/event_tables.h (docs/event-log.md, "A new event").
/// Invariant  The parent of an event is the host request or background job that caused the event. A parent's id comes from next_id().
/// Cost       level() is a plain load: ask wants() before filling an event.
/// Threading  Called inside the monitor, one caller at a time; a sink must not call back.
/// Power cut  The log belongs to the observer, not to the device: it survives.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/id.h"
#include "base/sim_time.h"

namespace flashlab {

enum class EventLevel : std::uint8_t { none, summary, requests, all };

enum class HostOp : std::uint8_t { read, write, trim, flush };
inline constexpr std::array<std::string_view, 4> host_op_names{"read", "write", "trim", "flush"};
enum class NandOp : std::uint8_t { read, program, erase };
inline constexpr std::array<std::string_view, 3> nand_op_names{"read", "program", "erase"};
/// Why a NAND operation was done. The write amplification factor (WAF) is always split by cause.
enum class Cause : std::uint8_t { user, gc, merge, map, wear, recovery, backup, fold, scrub, parity };
inline constexpr std::array<std::string_view, 10> cause_names{"user", "gc", "merge", "map", "wear", "recovery", "backup", "fold", "scrub", "parity"};
inline constexpr std::size_t cause_count = cause_names.size();

/// Who asked for an operation. The origin is passed down with the operation.
struct Origin {
    constexpr Origin(Cause cause_ = Cause::user, EventId parent_ = no_event, StreamId stream_ = no_stream, QueueId queue_ = first_queue)
        : cause{cause_}, stream{stream_}, queue{queue_}, parent{parent_} {}
    Cause cause;
    StreamId stream; ///< of the host's request
    QueueId queue;
    EventId parent;
    friend bool operator==(const Origin&, const Origin&) = default;
};

/// A request as the host saw it at the device's link. Level requests. Its id is the parent of the events that it causes.
struct HostRequestEvent {
    EventId id = no_event;
    SimTime arrival;
    SimTime completion;
    HostOp op = HostOp::read;
    Sector first{0};
    std::uint64_t sectors = 0;
    bool fua = false;
    bool failed = false;
    std::uint32_t piece = 0; ///< number of a piece of a trace's request that a replay splits: 1, 2 ...; 0: whole
    QueueId queue = first_queue;
    Duration waited{0}; ///< in its queue, before `arrival`
    StreamId stream = no_stream;
    [[nodiscard]] Duration latency() const { return completion - arrival + waited; } ///< as the host sees it
};

/// A host request failed because the flash does not give back data that the request needs. Writes and trims, too, read the rest of a page.
/// Emitted after the request. Level summary.
struct UncorrectableReadEvent {
    EventId request = no_event;
    SimTime at; ///< the answer
    HostOp op = HostOp::read;
    Sector first{0}; ///< of the request
    std::uint64_t sectors = 0;
    Sector bad{0}; ///< first sector of the request in the first logical page that does not read
};

/// When a NAND operation had the bus and the cells. A phase that the operation lacks is empty.
struct NandPhases {
    SimTime bus_in; ///< command, and data of a program
    SimTime bus_in_end;
    SimTime cells; ///< tR, tPROG or tBERS
    SimTime cells_end;
    SimTime bus_out; ///< data of a read
    SimTime bus_out_end;
};

/// A NAND operation on `pages` consecutive pages of one block. `pages` is 1 except for runs; the phases of a run are those of its first page.
/// Each page of a program of several has an event: start and end are the program's, the bus its share, and the cells are told of the first page on
/// each plane. Level all.
struct NandOpEvent {
    SimTime start;
    SimTime end;
    NandOp op = NandOp::read;
    Origin origin;
    ChannelId channel{0};
    ChipId chip{0};
    DieId die{0};
    PlaneId plane{0};
    BlockId block{0};
    std::uint32_t page = 0;
    std::uint32_t pages = 1;
    std::optional<Lpn> lpn;     ///< of a data page; a page of the translation layer's own has its number there
    std::uint8_t page_kind = 1; ///< what the number counts: nand/page_oob.h's PageKind, 1 data, 2 translation ...; 0 unknown
    NandPhases phases{};
};

/// One collection of one victim block, or one merge of a logical block. The victim of a merge is the first block that the merge frees. Level all.
/// Also emitted for a job that was given up after it had copied pages, and for the copies that block_map makes before a write.
/// Its id is the parent of its copies and erases.
struct GcJobEvent {
    EventId id = no_event;
    SimTime start;
    SimTime end;
    GroupId group{0};
    BlockId victim{0}; ///< as the translation layer numbers blocks: with stripes or parity over dies, one of several dies
    std::uint32_t valid_pages = 0;
    Cause cause = Cause::gc;
    std::uint32_t victim_pages = 0; ///< that it has; 0: as all blocks
};

enum class PramUser : std::uint8_t { ftl, fs };
inline constexpr std::array<std::string_view, 2> pram_user_names{"ftl", "fs"};

/// One committed PRAM transaction. Level all.
struct PramWriteEvent {
    SimTime start;
    SimTime end;
    PramUser user = PramUser::ftl;
    EventId parent = no_event;
    std::uint32_t log_words = 0;      ///< written to the redo log
    std::uint32_t home_words = 0;     ///< written in place, after the diff
    std::uint32_t compared_words = 0; ///< handed to the diff (HY2)
};

enum class FsOp : std::uint8_t {
    lookup,
    getattr,
    setattr,
    readlink,
    mknod,
    mkdir,
    symlink,
    unlink,
    rmdir,
    rename,
    link,
    create,
    open,
    read,
    write,
    flush,
    release,
    fsync,
    opendir,
    readdir,
    releasedir,
    fsyncdir,
    statfs,
    getxattr,
    setxattr,
    listxattr,
    removexattr,
    fallocate,
    lseek,
    copy_file_range,
    ioctl,
    writeback,
    forget
};
inline constexpr std::array<std::string_view, 33> fs_op_names{
    "lookup", "getattr",  "setattr",  "readlink",  "mknod",       "mkdir",     "symlink", "unlink",          "rmdir",   "rename",     "link",
    "create", "open",     "read",     "write",     "flush",       "release",   "fsync",   "opendir",         "readdir", "releasedir", "fsyncdir",
    "statfs", "getxattr", "setxattr", "listxattr", "removexattr", "fallocate", "lseek",   "copy_file_range", "ioctl",   "writeback",  "forget"};
inline constexpr std::size_t fs_op_count = fs_op_names.size();

/// A file system operation as the application saw it. Level requests.
struct FsOpEvent {
    EventId id = no_event;
    SimTime start;
    SimTime end;
    FsOp op = FsOp::lookup;
    Ino ino{0};
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    int error = 0; ///< errno, 0 = done
};

enum class PowerEventKind : std::uint8_t { mount, clean_unmount, cut, recovery };
inline constexpr std::array<std::string_view, 4> power_kind_names{"mount", "clean_unmount", "cut", "recovery"};

/// Power came on or went off. Emitted by the code that switches a device on and off, since a recovery covers the drive and the file system.
/// Level summary.
struct PowerEvent {
    PowerEventKind kind = PowerEventKind::mount;
    SimTime at;
    Duration recovery{0};
    std::uint64_t pages_scanned = 0;
    std::uint64_t operations_torn = 0;   ///< programs and erases that a cut interrupted
    std::uint64_t operations_undone = 0; ///< NAND operations issued for later than the cut
    std::uint64_t words_torn = 0;        ///< of the PRAM
    std::uint64_t words_undone = 0;
};

/// The cumulative counters of a running device at one instant; a log writes what a run added to them. Level summary.
struct SampleEvent {
    SimTime at;
    std::uint64_t host_reads = 0, host_writes = 0, host_trims = 0, host_flushes = 0;
    std::uint64_t host_read_bytes = 0, host_write_bytes = 0;
    std::uint64_t nand_reads[cause_count] = {};
    std::uint64_t nand_programs[cause_count] = {};
    std::uint64_t nand_erases[cause_count] = {};
    std::uint64_t pram_words_written = 0;
    std::uint32_t free_blocks = 0;
};

/// A decision on the division of the drive's DRAM: what the ghosts of its two caches were worth, and how the DRAM was divided. Level summary.
struct PartitionEvent {
    SimTime at;
    double buffer_benefit = 0; ///< ns that a byte more would have saved in the interval
    double map_benefit = 0;
    std::uint64_t buffer_ghost_reads = 0; ///< hits of the interval
    std::uint64_t buffer_ghost_writes = 0;
    std::uint64_t map_ghost_reads = 0;
    std::uint64_t map_ghost_writes = 0;   ///< of fast: merges that its oldest log blocks saved, a mean over some intervals
    std::uint64_t buffer_ghost_bytes = 0; ///< of the data that the ghost stands for
    std::uint64_t map_ghost_bytes = 0;    ///< of fast: of those log blocks
    std::uint64_t map_bytes_before = 0;
    std::uint64_t map_bytes = 0;
    std::uint64_t buffer_bytes = 0;
};

/// Every event there is. A sink has an on() for each, the log a table (tools/log/event_tables.h).
template <class... Event>
struct EventList {};
using AllEvents =
    EventList<HostRequestEvent, UncorrectableReadEvent, NandOpEvent, GcJobEvent, PramWriteEvent, FsOpEvent, PowerEvent, SampleEvent, PartitionEvent>;

/// An on() for each event of a list. It does nothing: a listener overrides the functions that it wants.
template <class List>
class EventHearer;
template <class Last>
class EventHearer<EventList<Last>> {
public:
    virtual ~EventHearer() = default;
    virtual void on(const Last&) {}
};
template <class First, class Second, class... Rest>
class EventHearer<EventList<First, Second, Rest...>> : public EventHearer<EventList<Second, Rest...>> {
public:
    using EventHearer<EventList<Second, Rest...>>::on;
    virtual void on(const First&) {}
};

class EventSink : public EventHearer<AllEvents> {
public:
    [[nodiscard]] EventLevel level() const { return level_; }
    [[nodiscard]] bool wants(EventLevel at_least) const { return level_ >= at_least; }
    /// Ids are dense and start at 1. They are drawn at every level, so that an id does not depend on the level.
    [[nodiscard]] EventId next_id() { return EventId{++last_id_}; }

protected:
    explicit EventSink(EventLevel level) : level_{level} {}
    void set_level(EventLevel level) { level_ = level; }

private:
    EventLevel level_;
    std::uint64_t last_id_ = 0;
};

/// Wants nothing.
class NullEventSink final : public EventSink {
public:
    NullEventSink() : EventSink{EventLevel::none} {}
};

} // namespace flashlab
