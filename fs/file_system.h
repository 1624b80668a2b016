/// The file system: POSIX over metadata on PRAM and data on a BlockDevice.
///
/// Idea       Metadata are records in one ordered store with atomic transactions; data are extents of logical pages, allocated when written back.
/// Invariant  F1 a namespace or attribute operation is one transaction, durable and ordered when answered (C10, C11).
///            F2 size and extents commit only after their data are durable (C13). F3 no logical page free here is valid in the FTL once trims ran (C15).
///            F4 a reserve of data and metadata is taken at write(): write-back never meets ENOSPC.
/// Cost       A namespace operation: O(log n) nodes touched, some tens of PRAM words. A cached read or write: one hash look-up a page.
/// Power cut  fs/DESIGN.md, "What survives". An answered namespace operation does, unsynced data may not.
/// Threading  None: the caller's monitor.
/// Steps      Nothing enters the metadata's log ahead of its time. Calls that always commit after something slow are SlowCalls: their step() returns
///            ResumeAt. Those that seldom do (write, change_attributes, allocate, copy_range, marked "again") issue what they need and answer
///            FsError::again: the driver makes the same call at that time. fs/retry.h is that loop in virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/events.h"
#include "fs/fs_types.h"
#include "ftl/block_device.h"
#include "pram/pram.h"
#include "pram/redo_log.h"

namespace flashlab {

/// A slow call in progress. Opaque; made by begin_*, moved forward by step().
struct Done {
    SimTime at;
};
struct ResumeAt {
    SimTime at;
};
using StepResult = FsResult<std::variant<Done, ResumeAt>>;

class SlowCall { ///< fsync, rename-over, truncate of dirty data ...
public:
    virtual ~SlowCall() = default;
    /// Issues what can be issued at `now`.
    [[nodiscard]] virtual StepResult step(SimTime now) = 0;
};

struct Entry {
    Attributes attributes; ///< ino 0: no such name (a negative entry)
};

/// Receives one directory entry; false = full, do not call again. `next_offset` resumes behind this entry.
using EntrySink = std::function<bool(std::string_view name, Ino ino, std::uint32_t type_bits, std::uint64_t next_offset)>;

enum class RenameMode : std::uint8_t { replace, no_replace, exchange, whiteout };
enum class FallocateMode : std::uint8_t { allocate, keep_size, punch_hole, zero_range, zero_range_keep_size };
enum class XattrMode : std::uint8_t { any, create, replace };
enum class SyncScope : std::uint8_t { data_and_metadata, data_only };
enum class SeekWhat : std::uint8_t { data, hole };

struct FsckProblem {
    std::string kind;
    std::string where;
    std::string detail;
};

/// Which failed write-backs of a file one open of it has been told of: each open learns of each failure once.
struct WriteErrorMark {
    std::uint64_t told = 0;
};

/// What reading every page that a file has data in came to.
struct DataCheck {
    std::uint64_t pages = 0;       ///< read
    std::uint64_t pages_bad = 0;   ///< of these, unreadable
    bool complete = true;          ///< false: the visitor ended it
    std::vector<FsckProblem> problems;
};

struct UnsyncedRange {
    Ino ino{0};
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// What open(2) asked for.
struct OpenMode {
    bool writes = false;
    bool appends = false;   ///< O_APPEND: all that an append-only file admits
    bool truncates = false; ///< O_TRUNC
};

class FileSystem {
public:
    /// What mkfs needs of the PRAM for a device of this many data pages; never below 64 MiB nor above 2 GiB unless asked.
    [[nodiscard]] static std::uint64_t suggested_pram_bytes(std::uint64_t data_bytes);
    /// Writes a superblock into all-zero cells: O(1).
    [[nodiscard]] static FsResult<void> format(Pram& pram, PramRange range, const BlockDevice& device, std::string_view label, FileTime wall);
    /// Recovers (redo log, orphans, pending trims) and opens. The error text says what is wrong with a foreign or damaged image.
    [[nodiscard]] static std::expected<std::unique_ptr<FileSystem>, std::string> open(Pram& pram, PramRange range, BlockDevice& device,
                                                                                      EventSink& events, const FsOptions& options, SimTime now);
    /// The same without PRAM: metadata in a journal at the device's start (--metadata journal). Names and attributes survive as some prefix of their order,
    /// at least up to the last finished sync; a commit is made durable after dirty_age at the latest.
    [[nodiscard]] static FsResult<void> format_journal(BlockDevice& device, std::string_view label, FileTime wall, SimTime now);
    [[nodiscard]] static std::expected<std::unique_ptr<FileSystem>, std::string> open_journal(BlockDevice& device, EventSink& events,
                                                                                              const FsOptions& options, SimTime now);
    virtual ~FileSystem() = default;

    // --- names -----------------------------------------------------------------------------------------------------------------
    /// "." and ".." work on any directory ino; "." on any ino (EXPORT_SUPPORT). ENOENT when missing. Takes one reference.
    [[nodiscard]] virtual FsResult<Timed<Attributes>> lookup(const FsCall&, Ino parent, std::string_view name) = 0;
    virtual void forget(Ino ino, std::uint64_t references, SimTime now) = 0;
    [[nodiscard]] virtual FsResult<Timed<Attributes>> make_node(const FsCall&, Ino parent, std::string_view name, std::uint32_t mode,
                                                                std::uint32_t rdev) = 0;
    [[nodiscard]] virtual FsResult<Timed<Attributes>> make_directory(const FsCall&, Ino parent, std::string_view name, std::uint32_t mode) = 0;
    [[nodiscard]] virtual FsResult<Timed<Attributes>> make_symlink(const FsCall&, Ino parent, std::string_view name, std::string_view target) = 0;
    [[nodiscard]] virtual FsResult<Timed<Attributes>> link(const FsCall&, Ino ino, Ino parent, std::string_view name) = 0;
    [[nodiscard]] virtual FsResult<SimTime> unlink(const FsCall&, Ino parent, std::string_view name) = 0;
    [[nodiscard]] virtual FsResult<SimTime> remove_directory(const FsCall&, Ino parent, std::string_view name) = 0;
    [[nodiscard]] virtual FsResult<std::unique_ptr<SlowCall>> begin_rename(const FsCall&, Ino from_parent, std::string_view from, Ino to_parent,
                                                                           std::string_view to, RenameMode mode) = 0;
    [[nodiscard]] virtual FsResult<Timed<std::string>> read_link(const FsCall&, Ino ino) = 0;

    // --- directories: offsets are stable under insertion and removal --------------------------------------------------------------
    [[nodiscard]] virtual FsResult<SimTime> read_directory(const FsCall&, Ino ino, std::uint64_t offset, const EntrySink& sink) = 0;

    // --- attributes -----------------------------------------------------------------------------------------------------------------
    [[nodiscard]] virtual FsResult<Timed<Attributes>> attributes(const FsCall&, Ino ino) = 0;
    /// again: before the size grows over a tail that is not zero on the device.
    [[nodiscard]] virtual FsResult<Timed<Attributes>> change_attributes(const FsCall&, Ino ino, const AttributeChange& change) = 0;
    [[nodiscard]] virtual FsResult<Timed<std::vector<std::byte>>> get_xattr(const FsCall&, Ino ino, std::string_view name) = 0;
    [[nodiscard]] virtual FsResult<SimTime> set_xattr(const FsCall&, Ino ino, std::string_view name, std::span<const std::byte> value,
                                                      XattrMode mode) = 0;
    [[nodiscard]] virtual FsResult<SimTime> remove_xattr(const FsCall&, Ino ino, std::string_view name) = 0;
    /// Names joined by NUL, as listxattr(2) gives them.
    [[nodiscard]] virtual FsResult<Timed<std::string>> list_xattrs(const FsCall&, Ino ino) = 0;
    [[nodiscard]] virtual FsResult<SimTime> set_file_flags(const FsCall&, Ino ino, std::uint32_t flags) = 0;

    // --- data -----------------------------------------------------------------------------------------------------------------------
    /// Counts an open. An unlinked inode lives until the last close and the last reference.
    [[nodiscard]] virtual FsResult<SimTime> open_file(const FsCall&, Ino ino, const OpenMode& mode) = 0;
    virtual void close_file(const FsCall&, Ino ino, bool for_writing) = 0;
    /// Returns the bytes read: short only at end of file.
    [[nodiscard]] virtual FsResult<Timed<std::size_t>> read(const FsCall&, Ino ino, std::uint64_t offset, std::span<std::byte> to) = 0;
    /// Returns the bytes written: fewer where no more fit, ENOSPC where none does. What the kernel took before (from_page_cache) is written whole or not at
    /// all, as nobody looks at the count. Durable only after a sync. again: the page cache is full.
    [[nodiscard]] virtual FsResult<Timed<std::size_t>> write(const FsCall&, Ino ino, std::uint64_t offset, std::span<const std::byte> from) = 0;
    /// What a fresh open of the file has been told: everything but a failure that nobody was told of yet.
    [[nodiscard]] virtual WriteErrorMark write_error_mark(Ino ino) = 0;
    /// Fails when write-back fails, or failed since `mark` says so; the mark is renewed. It outlives the call. Null: only what fails now.
    [[nodiscard]] virtual FsResult<std::unique_ptr<SlowCall>> begin_sync(const FsCall&, Ino ino, SyncScope scope, WriteErrorMark* mark = nullptr) = 0;
    /// Everything of everybody: ctl flush, unmount.
    [[nodiscard]] virtual FsResult<std::unique_ptr<SlowCall>> begin_sync_all(const FsCall&) = 0;
    /// again: until the file is clean, and while freed pages that it needs are being trimmed.
    [[nodiscard]] virtual FsResult<SimTime> allocate(const FsCall&, Ino ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) = 0;
    [[nodiscard]] virtual FsResult<std::uint64_t> seek(const FsCall&, Ino ino, std::uint64_t offset, SeekWhat what) = 0;
    /// The pages of a file that is allocated in full and has nothing cached, as a device; EINVAL where it has holes. Valid while nothing else touches the file.
    [[nodiscard]] virtual FsResult<std::unique_ptr<BlockDevice>> device_of(Ino ino) = 0;
    /// At most 1 MiB a call: returns what it copied. again: as write.
    [[nodiscard]] virtual FsResult<Timed<std::uint64_t>> copy_range(const FsCall&, Ino from, std::uint64_t from_offset, Ino to,
                                                                    std::uint64_t to_offset, std::uint64_t bytes) = 0;

    // --- the whole ------------------------------------------------------------------------------------------------------------------
    [[nodiscard]] virtual FsUsage usage() const = 0;
    /// writethrough: the driver follows every write and every copy with a sync of its data; those to a file with chattr +S always.
    [[nodiscard]] virtual HostCache host_cache() const = 0;
    [[nodiscard]] virtual std::string label() const = 0;
    [[nodiscard]] virtual FsResult<SimTime> set_label(const FsCall&, std::string_view label) = 0;
    /// FITRIM: trims every free page in [offset, offset + bytes) that the device has mapped; returns the bytes trimmed. What was freed is trimmed in the
    /// background anyway and is not counted, so this is seldom more than 0.
    [[nodiscard]] virtual FsResult<Timed<std::uint64_t>> trim_free(const FsCall&, std::uint64_t offset, std::uint64_t bytes,
                                                                   std::uint64_t min_bytes) = 0;
    /// Write-back by age and pressure, background trims, idle work of the device. Returns the next wake-up time.
    [[nodiscard]] virtual SimTime tick(SimTime now) = 0;
    [[nodiscard]] virtual std::vector<UnsyncedRange> unsynced() const = 0; ///< written, and lost if the daemon were killed now; in order
    /// Everything written back, trims done, a clean mark in the superblock. The last call: nothing else runs, so it goes ahead in simulated time.
    [[nodiscard]] virtual FsResult<SimTime> shut_down(SimTime now) = 0;
    /// Structure, link counts, extents against the allocator, the device's mapping against both; the device's own check() is the caller's.
    [[nodiscard]] virtual std::vector<FsckProblem> check() = 0;
    /// Reads all data on the device, and names file and offset of what does not read. `go_on(pages)` is asked every now and then.
    [[nodiscard]] virtual DataCheck check_data(const std::function<bool(std::uint64_t)>& go_on, SimTime now) = 0;
    /// Names that lead to the inode, from the root, at most `most`; none for one without a name. Looks through all names.
    [[nodiscard]] virtual std::vector<std::string> paths_of(Ino ino, std::size_t most) const = 0;
};

} // namespace flashlab
