/// The tables of the event log, one descriptor each.
///
/// Idea       The order here is that of the SQL. `flashlab query --schema`, the inserts, the rows that --log-keep deletes, what older logs
///            lack and the tables of docs/event-log.md follow from it.
/// Invariant  Every event of base/events.h has a table. What is added carries the version that it makes: `since`, one more than the greatest.
/// Cost       None at run time.
#pragma once

#include "tools/log/event_level.h"
#include "tools/log/event_table.h"
#include "tools/log/log_rows.h"

namespace flashlab {

// Names of the small numbers, by enumeration.
enum class PageKindNumber : std::uint8_t {}; ///< nand/page_oob.h has the kinds; the log sees numbers
inline constexpr std::array<std::string_view, 9> page_kind_names{"unknown", "data",   "translation", "checkpoint", "journal",
                                                                 "summary", "backup", "padding",     "parity"};

template <>
inline constexpr NameTable name_table<HostOp>{"host_op_name", "op", host_op_names};
template <>
inline constexpr NameTable name_table<NandOp>{"nand_op_name", "op", nand_op_names};
template <>
inline constexpr NameTable name_table<Cause>{"cause_name", "cause", cause_names};
template <>
inline constexpr NameTable name_table<FsOp>{"fs_op_name", "op", fs_op_names};
enum class BlockUseNumber : std::uint8_t {}; ///< ftl/ftl.h has the uses
inline constexpr std::array<std::string_view, 7> block_use_names{"free", "open", "data", "log", "translation", "bad", "other"};

template <>
inline constexpr NameTable name_table<BlockUseNumber>{"block_use_name", "use", block_use_names, 7};
template <>
inline constexpr NameTable name_table<PageKindNumber>{"page_kind_name", "page_kind", page_kind_names, 4};
template <>
inline constexpr NameTable name_table<PramUser>{"pram_user_name", "user", pram_user_names};
template <>
inline constexpr NameTable name_table<PowerEventKind>{"power_kind_name", "kind", power_kind_names};
inline constexpr std::array<std::string_view, 12> outcome_names{"T0", "T1", "T2", "T3", "T4", "T5", "T6", "E0", "E1", "E2", "E3", "E4"};
template <>
inline constexpr NameTable name_table<CutOutcomeNumber>{"cut_outcome_name", "outcome", outcome_names, 8};
inline constexpr std::array<std::string_view, 3> fault_action_names{"set", "struck", "cleared"};
template <>
inline constexpr NameTable name_table<FaultAction>{"fault_action_name", "action", fault_action_names, 8};
template <>
inline constexpr NameTable name_table<EventLevel>{"event_level_name", "level", event_level_names, 20};
inline constexpr std::array name_tables{name_table<HostOp>,           name_table<NandOp>,      name_table<Cause>,          name_table<FsOp>,
                                        name_table<PageKindNumber>,   name_table<PramUser>,    name_table<PowerEventKind>, name_table<BlockUseNumber>,
                                        name_table<CutOutcomeNumber>, name_table<FaultAction>, name_table<EventLevel>};

// Columns that several tables have, with what the page says of them.
inline constexpr std::string_view event_number = "number of the event; parents refer to it";
inline constexpr std::string_view who_caused_it = "id of the host_request, fs_op or gc_job that caused it; NULL: nobody asked";
inline constexpr ColumnText began_at{"ts_ns", "", "when it began"}, told_at{"ts_ns", "", "when"}, took{"dur_ns", "", "how long it took"};
inline constexpr ColumnText which_op{"op", "", "which operation"}, which_cause{"cause", "", "why"}, which_sample{"sample", "", "which sample"};
/// From `start` to `end` of an event.
template <class Event>
constexpr auto duration_column() {
    return column(took, [](const Event& e) { return e.end - e.start; });
}

// clang-format off: one column a line
inline constexpr auto run_table = made_table<RunRow>(
    {.name = "run", .about = "one mount, or one run in virtual time; its ids are greater than first_id, up to the next run's"},
    numbered({"run", "", "which run"}),
    column({"kind", "mount, bench ...", "mount, bench ...; ` (partial)` is added to a run that failed or was ended by a signal"}, &RunRow::kind),
    column({"version", "of flashlab"}, &RunRow::version), column({"config_toml", "the effective configuration"}, &RunRow::config_toml),
    column({"config_hash", "", "tells configurations apart; the same as in the JSON of bench"}, &RunRow::config_hash),
    column({"seed", "", "of the device"}, &RunRow::seed), column({"first_id", "", "ids of this run are greater"}, &RunRow::first_id),
    column({"start_ns", "the device's clock at the beginning"}, &RunRow::start),
    column({"page_bytes", "of a NAND page", "", "bytes"}, &RunRow::page_bytes),
    column({"rows_dropped", "oldest rows deleted since then to keep within --log-keep", "", "rows"}, &RunRow::rows_dropped),
    column({"first_op", "n of its rows in nand_op are greater", "n of this run's rows in `nand_op` are greater; NULL: written before version 10", "",
            10},
           &RunRow::first_op),
    column({"first_pram_write", "the same of pram_write", "the same of `pram_write`", "", 10}, &RunRow::first_pram_write));

inline constexpr auto host_request_table = event_table<HostRequestEvent>(
    {.name = "host_request", .level = EventLevel::requests, .about = "a request at the device's link", .sheds = true},
    key({"id", "", event_number}, &HostRequestEvent::id),
    column({"ts_ns", "arrival", "arrival at the drive: of a queued one when it was fetched"}, &HostRequestEvent::arrival),
    column({"dur_ns", "until the answer"}, [](const HostRequestEvent& e) { return e.completion - e.arrival; }),
    column(which_op, &HostRequestEvent::op), column({"first_sector", "of 512 bytes", "where", "512 bytes"}, &HostRequestEvent::first),
    column({"sectors", "", "how many", "512 bytes"}, &HostRequestEvent::sectors), column({"fua", "1: durable when answered"}, &HostRequestEvent::fua),
    column({"failed", "", "1: answered with an error"}, &HostRequestEvent::failed),
    column({.name = "piece", .comment = "of a trace's request that --compact or --wrap splits: 1, 2 ...; 0: a request as it came", .since = 5},
           &HostRequestEvent::piece),
    column({.name = "queue", .comment = "submission queue of the host; a mount has one, 0", .since = 13}, &HostRequestEvent::queue),
    column({.name = "waited_ns", .comment = "from its submission, or the time planned for it, until ts_ns", .since = 13}, &HostRequestEvent::waited),
    column({.name = "stream", .comment = "that the host named, a placement handle; 0: none", .since = 21}, &HostRequestEvent::stream));

inline constexpr auto fs_op_table = event_table<FsOpEvent>(
    {.name = "fs_op", .level = EventLevel::requests, .about = "a call of an application", .sheds = true},
    key({"id", "", event_number}, &FsOpEvent::id), column({"ts_ns", "the call"}, &FsOpEvent::start),
    column({"dur_ns", "until its answer"}, [](const FsOpEvent& e) { return e.end - e.start; }), column(which_op, &FsOpEvent::op),
    column({"ino", "the inode, as stat shows it"}, &FsOpEvent::ino), column({"offset_bytes", "in the file", "", "bytes"}, &FsOpEvent::offset),
    column({"bytes", "asked for", "", "bytes"}, &FsOpEvent::bytes), column({"error", "errno, 0: done", "0: done", "errno"}, &FsOpEvent::error));

/// The number of a page of one kind: of a data page (1) or of another one.
template <bool is_of_data>
inline constexpr auto page_number =
    [](const NandOpEvent& e) { return e.lpn && (e.page_kind == 1) == is_of_data ? std::optional<std::uint64_t>{e.lpn->value()} : std::nullopt; };
/// A phase: from when to when.
template <SimTime NandPhases::*begin>
inline constexpr auto after_start = [](const NandOpEvent& e) { return e.phases.*begin - e.start; };
template <SimTime NandPhases::*begin, SimTime NandPhases::*end>
inline constexpr auto phase = [](const NandOpEvent& e) { return e.phases.*end - e.phases.*begin; };

inline constexpr auto nand_op_table = event_table<NandOpEvent>(
    {.name = "nand_op", .level = EventLevel::all, .about = "what a chip did; a run of pages is one row", .sheds = true},
    numbered({"n", "", "number of the row"}), column(began_at, &NandOpEvent::start), duration_column<NandOpEvent>(),
    column(which_op, &NandOpEvent::op), column(which_cause, [](const NandOpEvent& e) { return e.origin.cause; }),
    column({"parent", "NULL: nobody asked", who_caused_it}, [](const NandOpEvent& e) { return e.origin.parent; }),
    column({"channel", "", "number of the channel"}, &NandOpEvent::channel),
    column({"chip", "", "numbered over the whole device"}, &NandOpEvent::chip),
    column({"die", "", "numbered over the whole device"}, &NandOpEvent::die),
    column({"plane", "", "numbered over the whole device"}, &NandOpEvent::plane),
    column({"block", "numbered over the whole device, as chip, die and plane", "erase unit, numbered over the whole device"}, &NandOpEvent::block),
    column({"page", "within the block"}, &NandOpEvent::page),
    column({"pages", "", "consecutive pages of one block; a run is one row", "pages"}, &NandOpEvent::pages),
    column({"lpn", "logical page, if it holds data of one"}, page_number<true>),
    column({"bus_in_at_ns", "phases, from ts_ns on: command, and data of a program, on the bus",
            "after `ts_ns`: the command, and the data of a program, begin to cross the bus"},
           after_start<&NandPhases::bus_in>),
    column({"bus_in_ns", "", "how long they do; of a program of several pages, the page's share"},
           phase<&NandPhases::bus_in, &NandPhases::bus_in_end>),
    column({"cells_at_ns", "the cells sense, program or erase", "after `ts_ns`: the cells begin to sense, program or erase"},
           after_start<&NandPhases::cells>),
    column({"cells_ns", "", "how long they do; 0: the page goes along with the one before it"}, phase<&NandPhases::cells, &NandPhases::cells_end>),
    column({"bus_out_at_ns", "data of a read on the bus; 0 long: none", "after `ts_ns`: the data of a read begin to cross the bus"},
           after_start<&NandPhases::bus_out>),
    column({"bus_out_ns", "", "how long they do; 0: no data"}, phase<&NandPhases::bus_out, &NandPhases::bus_out_end>),
    column({.name = "page_kind",
            .comment = "what the page holds: data, or what the translation layer writes for itself; of an erase unknown",
            .since = 4},
           [](const NandOpEvent& e) {
               constexpr std::uint8_t parity = 128; // nand/page_oob.h
               return PageKindNumber{e.page_kind == parity ? static_cast<std::uint8_t>(page_kind_names.size() - 1) : e.page_kind};
           }),
    column({.name = "own_page",
            .comment = "number of a page that is not data, among those of its kind",
            .meaning = "number of a page that is not data, among those of its kind: which translation page, say",
            .since = 4},
           page_number<false>));

inline constexpr auto gc_job_table = event_table<GcJobEvent>(
    {.name = "gc_job",
     .level = EventLevel::all,
     .about = "the collection of one victim block, or the merge of a logical block; parent of its copies and its erases",
     .more = "One that was given up is there if it had copied.",
     .sheds = true},
    key({"id", "", event_number}, &GcJobEvent::id), column(began_at, &GcJobEvent::start), duration_column<GcJobEvent>(),
    column(which_cause, &GcJobEvent::cause), column({"group_no", "", "which group collected"}, &GcJobEvent::group),
    column({"victim_block", "", "block that was collected; with `nand.striping` or `nand.rain` a block of several dies, with a number of its own"},
           &GcJobEvent::victim),
    column({"valid_pages", "", "pages that had to be copied", "pages"}, &GcJobEvent::valid_pages),
    column({.name = "victim_pages", .meaning = "pages that the block has; 0: `nand.pages_per_block`", .unit = "pages", .since = 16},
           &GcJobEvent::victim_pages));

inline constexpr auto pram_write_table = event_table<PramWriteEvent>(
    {.name = "pram_write", .level = EventLevel::all, .about = "a committed transaction on the PRAM", .sheds = true},
    numbered({"n", "", "number of the row"}), column(began_at, &PramWriteEvent::start), duration_column<PramWriteEvent>(),
    column({"user", "", "whose transaction"}, &PramWriteEvent::user), column({"parent", "", who_caused_it}, &PramWriteEvent::parent),
    column({"log_words", "written to the redo log", "", "words"}, &PramWriteEvent::log_words),
    column({"home_words", "written in place, after the diff", "", "words"}, &PramWriteEvent::home_words),
    column({"compared_words", "handed to the diff", "", "words"}, &PramWriteEvent::compared_words));

inline constexpr auto power_table = event_table<PowerEvent>(
    {.name = "power", .level = EventLevel::summary, .about = "mounts, cuts, recoveries"}, numbered({"n", "", "number of the row"}), run_column(),
    column(told_at, &PowerEvent::at), column({"kind", "", "what happened"}, &PowerEvent::kind),
    column({"recovery_ns", "the drive's and the file system's; 0 but for a recovery"}, &PowerEvent::recovery),
    column({"pages_scanned", "spare areas that the recovery read", "", "pages"}, &PowerEvent::pages_scanned),
    column({"operations_torn", "programs and erases that the cut interrupted", "", "operations"}, &PowerEvent::operations_torn),
    column({"operations_undone", "NAND operations that were due after the cut", "", "operations"}, &PowerEvent::operations_undone),
    column({"words_torn", "of the PRAM", "PRAM words that the cut interrupted", "words"}, &PowerEvent::words_torn),
    column({"words_undone", "", "of the PRAM, due after the cut", "words"}, &PowerEvent::words_undone));

inline constexpr auto sample_table = made_table<SampleEvent>(
    {.name = "sample", .level = EventLevel::summary, .about = "the device's counters since the run began, once a second and at its end"},
    numbered(which_sample), run_column(), column(told_at, &SampleEvent::at),
    column({"host_reads", "", "requests", "count"}, &SampleEvent::host_reads),
    column({"host_writes", "", "requests", "count"}, &SampleEvent::host_writes),
    column({"host_trims", "", "requests", "count"}, &SampleEvent::host_trims),
    column({"host_flushes", "", "requests", "count"}, &SampleEvent::host_flushes),
    column({"host_read_bytes", "", "read by the host", "bytes"}, &SampleEvent::host_read_bytes),
    column({"host_write_bytes", "", "written by the host", "bytes"}, &SampleEvent::host_write_bytes),
    column({"pram_words_written", "", "log and home", "words"}, &SampleEvent::pram_words_written),
    column({"free_blocks", "", "erased or reclaimable at once", "blocks"}, &SampleEvent::free_blocks));

inline constexpr auto sample_nand_table = made_table<SampleNandRow>(
    {.name = "sample_nand", .level = EventLevel::summary, .more = "NAND operations of a sample, by cause.", .primary_key = "sample, cause"},
    column(which_sample, &SampleNandRow::sample), column(which_cause, &SampleNandRow::cause),
    column({"page_reads", "", "pages read", "pages"}, &SampleNandRow::page_reads),
    column({"page_programs", "", "pages programmed", "pages"}, &SampleNandRow::page_programs),
    column({"block_erases", "", "blocks erased", "blocks"}, &SampleNandRow::block_erases));

inline constexpr auto sample_channel_table = made_table<SampleChannelRow>(
    {.name = "sample_channel", .level = EventLevel::summary, .more = "The buses at a sample.", .primary_key = "sample, channel"},
    column(which_sample, &SampleChannelRow::sample), column({"channel", "", "number of the channel"}, &SampleChannelRow::channel),
    column({"busy_ns", "of its bus, since the run began"}, &SampleChannelRow::busy));

inline constexpr auto fs_latency_table = made_table<SampleLatencyRow>(
    {.name = "fs_latency",
     .level = EventLevel::summary,
     .about = "latency since the run began, from streaming histograms",
     .primary_key = "sample, op"},
    column(which_sample, &SampleLatencyRow::sample), column(which_op, &SampleLatencyRow::op),
    column({"calls", "", "calls so far", "count"}, &SampleLatencyRow::calls),
    column({"errors", "", "calls that failed", "count"}, &SampleLatencyRow::errors), column({"p50_ns", "", "median latency"}, &SampleLatencyRow::p50),
    column({"p99_ns", "", "99th percentile"}, &SampleLatencyRow::p99), column({"max_ns", "", "longest"}, &SampleLatencyRow::max));

inline constexpr auto partition_table = event_table<PartitionEvent>(
    {.name = "partition_decision",
     .level = EventLevel::summary,
     .about = "decisions on the drive's DRAM, where dram.partition is curve or ghost: the richer side grows",
     .sheds = true},
    numbered({"n", "", "in order"}), run_column(), column({"ts_ns", "after which request it was taken"}, &PartitionEvent::at),
    column({"buffer_benefit", "ns that a byte more of write buffer would have saved since the last decision", "", "ns a byte"},
           &PartitionEvent::buffer_benefit),
    column({"map_benefit", "the same of the maps", "", "ns a byte"}, &PartitionEvent::map_benefit),
    column({"buffer_ghost_reads", "pages read that a larger buffer would have held",
            "pages read that a larger buffer would have held; those read to complete partial writes count, too", "pages"},
           &PartitionEvent::buffer_ghost_reads),
    column({"buffer_ghost_writes", "pages written that it would have held", "", "pages"}, &PartitionEvent::buffer_ghost_writes),
    column({"map_ghost_reads", "mapping entries read that larger maps would have held",
            "mapping entries read that larger maps would have held; reads for partial writes count, too", "entries"},
           &PartitionEvent::map_ghost_reads),
    column({"map_ghost_writes", "mapping entries written that they would have held",
            "mapping entries written that they would have held; of fast: merges that its oldest eighth of log blocks saved, a mean", "entries"},
           &PartitionEvent::map_ghost_writes),
    column({"buffer_ghost_bytes", "of the data that the ghost buffer stands for", "", "bytes"}, &PartitionEvent::buffer_ghost_bytes),
    column({"map_ghost_bytes", "of the entries that the ghost mapping cache stands for",
            "of the entries that the ghost mapping cache stands for; of fast: the page maps of that eighth", "bytes"},
           &PartitionEvent::map_ghost_bytes),
    column({"map_bytes_before", "the share of the maps until now", "", "bytes"}, &PartitionEvent::map_bytes_before),
    column({"map_bytes", "and from now on", "", "bytes"}, &PartitionEvent::map_bytes),
    column({"buffer_bytes", "of the write buffer from now on", "", "bytes"}, &PartitionEvent::buffer_bytes));

inline constexpr auto wear_table = made_table<WearRow>(
    {.name = "wear", .level = EventLevel::summary, .about = "erase counts of the blocks at the end of a run", .primary_key = "run, erase_count"},
    run_column(), column({"erase_count", "", "erases", "erases"}, &WearRow::erase_count),
    column({"blocks", "", "blocks with that many erases", "blocks"}, &WearRow::blocks));

inline constexpr auto uncorrectable_read_table = event_table<UncorrectableReadEvent>(
    {.name = "uncorrectable_read",
     .level = EventLevel::summary,
     .about = "a request that failed because the flash does not give back data that it needs",
     .sheds = true,
     .since = 6},
    key({"request", "id of the host_request"}, &UncorrectableReadEvent::request), run_column(),
    column({"ts_ns", "the answer"}, &UncorrectableReadEvent::at),
    column({"op", "a write and a trim read the rest of a page", "which operation; a write and a trim read the rest of a page"},
           &UncorrectableReadEvent::op),
    column({"first_sector", "of the request", "", "512 bytes"}, &UncorrectableReadEvent::first),
    column({"sectors", "", "of the request", "512 bytes"}, &UncorrectableReadEvent::sectors),
    column({"bad_sector", "of the request, the first in a page that does not read", "", "512 bytes"}, &UncorrectableReadEvent::bad));

inline constexpr auto unreadable_file_table = event_table<UnreadableFile>(
    {.name = "unreadable_file",
     .level = EventLevel::summary,
     .about = "the place in a file that such a request was for, as far as the file system knows",
     .sheds = true,
     .since = 6},
    numbered({"n", "", "number of the row"}), run_column(),
    column({"request", "of uncorrectable_read", "the `uncorrectable_read`; NULL: the drive did not say which"}, &UnreadableFile::request),
    column({"ino", "", "the inode, as stat shows it"}, &UnreadableFile::ino),
    column({"offset_bytes", "in the file", "", "bytes"}, &UnreadableFile::offset),
    column({"bytes", "so many could not be read", "", "bytes"}, &UnreadableFile::bytes),
    column({"path", "one name of the file; NULL: it has none any more, or a hundred were told in this mount"},
           [](const UnreadableFile& f) { return f.path.empty() ? std::nullopt : std::optional<std::string_view>{f.path}; }));
template <std::uint64_t SchemeCounts::*member>
inline constexpr auto count = [](const SampleSchemeRow& r) { return r.counts.*member; };
inline constexpr auto sample_scheme_table = made_table<SampleSchemeRow>(
    {.name = "sample_scheme",
     .level = EventLevel::summary,
     .about = "what caches hit and what collections and merges did, since the run began; zero: the drive has no such part",
     .primary_key = "sample",
     .since = 7},
    column(which_sample, &SampleSchemeRow::sample),
    column({"buffer_read_hits", "pages read that the write buffer held", "", "pages"}, count<&SchemeCounts::buffer_read_hits>),
    column({"buffer_read_misses", "pages read that it did not hold", "", "pages"}, count<&SchemeCounts::buffer_read_misses>),
    column({"buffer_write_hits", "pages written that it held already", "", "pages"}, count<&SchemeCounts::buffer_write_hits>),
    column({"buffer_write_misses", "pages written that it did not hold", "", "pages"}, count<&SchemeCounts::buffer_write_misses>),
    column({"map_read_hits", "map entries looked up for reads, found in DRAM", "", "entries"}, count<&SchemeCounts::map_read_hits>),
    column({"map_read_misses", "the same, not found: fetched, unless the page is unmapped", "", "entries"}, count<&SchemeCounts::map_read_misses>),
    column({"map_write_hits", "map entries looked up for writes, found in DRAM", "", "entries"}, count<&SchemeCounts::map_write_hits>),
    column({"map_write_misses", "the same, not found", "", "entries"}, count<&SchemeCounts::map_write_misses>),
    column({"gc_jobs", "collections", "", "count"}, count<&SchemeCounts::gc_jobs>),
    column({"gc_page_copies", "pages that they copied", "", "pages"}, count<&SchemeCounts::gc_page_copies>),
    column({"switch_merges", "merges that copied nothing: the log block became the data block", "", "count"}, count<&SchemeCounts::switch_merges>),
    column({"partial_merges", "merges that filled the rest of a log block", "", "count"}, count<&SchemeCounts::partial_merges>),
    column({"full_merges", "merges that copied all valid pages into a new block", "", "count"}, count<&SchemeCounts::full_merges>),
    column({.name = "read_pages", .meaning = "logical pages that read requests asked for", .unit = "pages", .since = 11},
           count<&SchemeCounts::read_pages>),
    column({.name = "unmapped_reads", .comment = "of these: never written, or trimmed; no flash is read for them", .unit = "pages", .since = 11},
           count<&SchemeCounts::unmapped_reads>));
inline constexpr auto block_table = made_table<BlockRow>(
    {.name = "block",
     .level = EventLevel::summary,
     .about = "what each block held at the end of a run, or when `query` last asked a mount; of a drive of at most 16,384 blocks",
     .primary_key = "run, block",
     .since = 7},
    run_column(), column({"block", "erase unit, numbered over the whole device"}, &BlockRow::block),
    column({"erase_count", "", "erases", "erases"}, &BlockRow::erase_count),
    column({"use", "", "what it is used for"}, [](const BlockRow& b) { return BlockUseNumber{b.use}; }),
    column({"written_pages", "programmed since its last erase", "", "pages"}, &BlockRow::written_pages),
    column({"valid_pages", "of these: still wanted", "", "pages"}, &BlockRow::valid_pages),
    column({.name = "pages", .meaning = "that the block has; 0: `nand.pages_per_block`", .unit = "pages", .since = 16}, &BlockRow::pages));

inline constexpr auto cut_outcome_table = event_table<CutOutcomeRow>(
    {.name = "cut_outcome", .level = EventLevel::summary, .about = "what became of the operations in flight at a power cut", .since = 8},
    numbered({"n", "", "number of the row"}), run_column(), column(told_at, &CutOutcomeRow::at),
    column({"outcome", "", "T0 to T6 of programs, E0 to E4 of erases: docs/crash-model.md"}, &CutOutcomeRow::outcome),
    column({"operations", "", "so many had it", "operations"}, &CutOutcomeRow::operations));

inline constexpr auto fault_table = event_table<FaultRow>(
    {.name = "fault", .level = EventLevel::summary, .about = "faults that a user asked for: set, struck, cleared", .sheds = true, .since = 8},
    numbered({"n", "", "number of the row"}), run_column(), column(told_at, &FaultRow::at),
    column({"action", "", "what happened"}, &FaultRow::action),
    column({"rule", "", "number of the fault, as `ctl fault list` shows it"}, &FaultRow::rule),
    column({"text", "the fault, as it can be given again"}, &FaultRow::text),
    column({"ino", "of the file that it struck; 0: no file"}, &FaultRow::ino),
    column({"path", "of that file; NULL: unknown"},
           [](const FaultRow& f) { return f.path.empty() ? std::nullopt : std::optional<std::string_view>{f.path}; }),
    column({"error", "that the call got", "that the call got; 0: none", "errno"}, &FaultRow::error));

inline constexpr auto counter_table =
    made_table<OwnCount>({.name = "counter",
                          .level = EventLevel::summary,
                          .about = "what a run's translation layer counts besides what all do",
                          .primary_key = "run, name",
                          .since = 12},
                         run_column(), column({"name", "", "of the counter"}, &OwnCount::name),
                         column({"unit", "", "what it counts"}, &OwnCount::unit), column({"meaning", "", "in a sentence"}, &OwnCount::help));
inline constexpr auto sample_counter_table = made_table<SampleCounterRow>(
    {.name = "sample_counter", .level = EventLevel::summary, .more = "These counters at a sample.", .primary_key = "sample, name", .since = 12},
    column(which_sample, &SampleCounterRow::sample), column({"name", "", "of a row of `counter`"}, &SampleCounterRow::name),
    column({"value", "since the run began"}, &SampleCounterRow::value));

inline constexpr auto logged_table = event_table<LevelRow>(
    {.name = "logged", .level = EventLevel::summary, .about = "how detailed the log is, from then on", .since = 20},
    numbered({"n", "", "number of the row"}), run_column(), column(told_at, &LevelRow::at), column({"level", "", "how detailed"}, &LevelRow::level));
inline constexpr auto load_table = event_table<LoadRow>(
    {.name = "load", .level = EventLevel::summary, .about = "what a run in virtual time was asked to do", .primary_key = "run", .since = 20},
    run_column(), column({"name", "of the trace or load, as in the JSON of bench"}, &LoadRow::name),
    column({"seed", "", "of the load"}, &LoadRow::seed), column({"details", "JSON: what its name leaves out"}, &LoadRow::details));
// clang-format on

/// In the order of the SQL.
inline constexpr auto all_tables = std::tuple{run_table,
                                              host_request_table,
                                              fs_op_table,
                                              nand_op_table,
                                              gc_job_table,
                                              pram_write_table,
                                              power_table,
                                              sample_table,
                                              sample_nand_table,
                                              sample_channel_table,
                                              fs_latency_table,
                                              partition_table,
                                              wear_table,
                                              uncorrectable_read_table,
                                              unreadable_file_table,
                                              sample_scheme_table,
                                              block_table,
                                              cut_outcome_table,
                                              fault_table,
                                              counter_table,
                                              sample_counter_table,
                                              logged_table,
                                              load_table};

/// The table whose rows are of that type.
template <class Row, std::size_t at = 0>
constexpr const auto& table_of() {
    static_assert(at < std::tuple_size_v<decltype(all_tables)>, "each event has a table in all_tables");
    using Table = std::remove_cvref_t<decltype(std::get<at>(all_tables))>;
    if constexpr (std::is_same_v<typename Table::Row, Row>)
        return std::get<at>(all_tables);
    else
        return table_of<Row, at + 1>();
}

} // namespace flashlab
