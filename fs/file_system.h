/// The file system: POSIX over metadata on PRAM and data on a BlockDevice.
///
/// Idea       Metadata are records in one ordered store with atomic transactions; data are extents of logical pages, allocated when written back.
/// Invariant  F1 a namespace or attribute operation is one transaction, durable and ordered when answered (C10, C11).
///            F2 size and extents commit only after their data are durable (C13).
///            F3 once trims have run, no page that is free here is valid in the FTL (C15).
///            F4 write() reserves room for data and metadata: write-back never meets ENOSPC.
/// Cost       A namespace operation: O(log n) nodes touched, some tens of PRAM words. A cached read or write: one hash look-up a page.
/// Power cut  fs/DESIGN.md, "What survives". An answered namespace operation survives; unsynced data may be lost.
/// Threading  No locks inside: callers hold their monitor.
/// Steps      A record enters the metadata's log only when the clock has reached its time. A call that always waits before it commits is a SlowCall:
///            its step() returns ResumeAt. A call that seldom has to wait (write, change_attributes, allocate, copy_range; marked "again") starts the
///            work that it needs and answers FsError::again with a time. The driver then makes the same call at that time.
///            fs/retry.h is this loop in virtual time.
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

/// A slow call in progress. begin_*() makes it, step() moves it forward.
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

/// Receives one directory entry. False: the sink is full and must not be called again. A listing from `next_offset` goes on behind this entry.
using EntrySink = std::function<bool(std::string_view name, Ino ino, std::uint32_t type_bits, std::uint64_t next_offset)>;

enum class RenameMode : std::uint8_t { replace, no_replace, exchange, whiteout };
enum class FallocateMode : std::uint8_t { allocate, keep_size, punch_hole, zero_range, zero_range_keep_size };
enum class XattrMode : std::uint8_t { any, create, replace, create_and_replace }; ///< the last one always fails
enum class SyncScope : std::uint8_t { data_and_metadata, data_only };
enum class SeekWhat : std::uint8_t { data, hole };

struct FsckProblem {
    std::string kind;
    std::string where;
    std::string detail;
};

/// Which failed write-backs of a file have been reported to one open of it. Each open gets each failure once.
struct WriteErrorMark {
    std::uint64_t told = 0;
};

/// The result of reading every page that holds a file's data.
struct DataCheck {
    std::uint64_t pages = 0;     ///< read
    std::uint64_t pages_bad = 0; ///< of these, unreadable
    bool complete = true;        ///< false: the visitor ended it
    std::vector<FsckProblem> problems;
};

struct UnsyncedRange {
    Ino ino{0};
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// What open(2) asked for. O_TRUNC is a change_attributes of its own, once the kernel admits it.
struct OpenMode {
    bool writes = false;
    bool appends = false; ///< O_APPEND: all that an append-only file admits
};

class FileSystem {
public:
    /// How much PRAM mkfs uses for a device with so many bytes of data: 64 MiB to 2 GiB, unless the user asks for another size.
    [[nodiscard]] static std::uint64_t suggested_pram_bytes(std::uint64_t data_bytes);
    /// Writes a superblock into all-zero cells: O(1).
    [[nodiscard]] static FsResult<void> format(Pram& pram, PramRange range, const BlockDevice& device, std::string_view label, FileTime wall);
    /// Recovers (redo log, orphans, pending trims) and opens. On a foreign or damaged image the error says what is wrong.
    [[nodiscard]] static std::expected<std::unique_ptr<FileSystem>, std::string> open(Pram& pram, PramRange range, BlockDevice& device,
                                                                                      EventSink& events, const FsOptions& options, SimTime now);
    /// format() and open() without PRAM: the metadata are in a journal at the device's start (--metadata journal). After a cut the operations on
    /// names and attributes are there up to some point in their order, at least up to the last finished sync.
    /// A commit is made durable after dirty_age at the latest.
    [[nodiscard]] static FsResult<void> format_journal(BlockDevice& device, std::string_view label, FileTime wall, SimTime now);
    [[nodiscard]] static std::expected<std::unique_ptr<FileSystem>, std::string> open_journal(BlockDevice& device, EventSink& events,
                                                                                              const FsOptions& options, SimTime now);
    virtual ~FileSystem() = default;

    // --- names -----------------------------------------------------------------------------------------------------------------
    /// "." and ".." work in any directory, and "." for any inode (EXPORT_SUPPORT). ENOENT when there is no such name. Takes one reference.
    [[nodiscard]] virtual FsResult<Timed<Attributes>> lookup(const FsCall&, Ino parent, std::string_view name) = 0;
    virtual void forget(Ino ino, std::uint64_t references, SimTime now) = 0;
    [[nodiscard]] virtual FsResult<Timed<Attributes>> make_node(const FsCall&, Ino parent, std::string_view name, std::uint32_t mode,
                                                                std::uint32_t rdev) = 0;
    /// A regular file without a name (O_TMPFILE), with the owner, mode and lists that a new file of `parent` has. Takes one reference. It goes with
    /// its last user, or with a power cut. `may_be_linked`: link() may give it a name, once.
    [[nodiscard]] virtual FsResult<Timed<Attributes>> make_unnamed(const FsCall&, Ino parent, std::uint32_t mode, bool may_be_linked) = 0;
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
    /// again: the size grows over a tail of the last page that is not yet zero on the device.
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
    /// A close(2) is under way, whose close_file() comes some time after it has returned: its FsCall::close_began. Nothing: it is the same to this
    /// file system when a close began.
    [[nodiscard]] virtual std::optional<std::uint64_t> close_begins() { return std::nullopt; }
    /// Returns the bytes read: short only at end of file.
    [[nodiscard]] virtual FsResult<Timed<std::size_t>> read(const FsCall&, Ino ino, std::uint64_t offset, std::span<std::byte> to) = 0;
    /// Returns the bytes written: fewer than asked when no more fit, ENOSPC when none fits. Data that the kernel took earlier (from_page_cache) are
    /// written as a whole or not at all, since the kernel does not look at the count. Durable only after a sync. again: the page cache is full.
    [[nodiscard]] virtual FsResult<Timed<std::size_t>> write(const FsCall&, Ino ino, std::uint64_t offset, std::span<const std::byte> from) = 0;
    /// The mark of a fresh open: every failure counts as reported to it, except one that has not been reported to anybody yet.
    [[nodiscard]] virtual WriteErrorMark write_error_mark(Ino ino) = 0;
    /// Fails when write-back fails now, or when it has failed since `mark`; then renews the mark. The mark must outlive the call. Null:
    /// only failures of now.
    [[nodiscard]] virtual FsResult<std::unique_ptr<SlowCall>> begin_sync(const FsCall&, Ino ino, SyncScope scope, WriteErrorMark* mark = nullptr) = 0;
    /// Syncs all files: for ctl flush and unmount.
    [[nodiscard]] virtual FsResult<std::unique_ptr<SlowCall>> begin_sync_all(const FsCall&) = 0;
    /// again: the file is not clean yet, or freed pages that the call needs are being trimmed.
    [[nodiscard]] virtual FsResult<SimTime> allocate(const FsCall&, Ino ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) = 0;
    [[nodiscard]] virtual FsResult<std::uint64_t> seek(const FsCall&, Ino ino, std::uint64_t offset, SeekWhat what) = 0;
    /// The pages of a file as a device. The file must be allocated in full and have nothing cached; EINVAL when it has holes. Valid as long as no
    /// other call changes the file.
    [[nodiscard]] virtual FsResult<std::unique_ptr<BlockDevice>> device_of(Ino ino) = 0;
    /// Copies at most 1 MiB a call; returns the bytes copied. again: as write.
    [[nodiscard]] virtual FsResult<Timed<std::uint64_t>> copy_range(const FsCall&, Ino from, std::uint64_t from_offset, Ino to,
                                                                    std::uint64_t to_offset, std::uint64_t bytes) = 0;

    // --- the whole ------------------------------------------------------------------------------------------------------------------
    [[nodiscard]] virtual FsUsage usage() const = 0;
    /// With writethrough the driver follows every write and every copy with a sync of the data. For a file with chattr +S it always does.
    [[nodiscard]] virtual HostCache host_cache() const = 0;
    [[nodiscard]] virtual std::string label() const = 0;
    [[nodiscard]] virtual FsResult<SimTime> set_label(const FsCall&, std::string_view label) = 0;
    /// FITRIM: afterwards no free page in [offset, offset + bytes) is mapped in the device. Returns the bytes of these pages, those that were trimmed
    /// in the background before, too.
    [[nodiscard]] virtual FsResult<Timed<std::uint64_t>> trim_free(const FsCall&, std::uint64_t offset, std::uint64_t bytes,
                                                                   std::uint64_t min_bytes) = 0;
    /// Write-back by age and pressure, background trims, idle work of the device. Returns the next wake-up time.
    [[nodiscard]] virtual SimTime tick(SimTime now) = 0;
    [[nodiscard]] virtual std::vector<UnsyncedRange> unsynced() const = 0; ///< written, and lost if the daemon were killed now; in order
    /// Writes everything back, finishes the trims and marks the superblock clean. It is the last call:
    /// nothing else runs, so it may run ahead of the clock.
    [[nodiscard]] virtual FsResult<SimTime> shut_down(SimTime now) = 0;
    /// Checks the structure, the link counts, the extents against the allocator, and the device's mapping against both.
    /// The caller runs the device's own check().
    [[nodiscard]] virtual std::vector<FsckProblem> check() = 0;
    /// Reads all data on the device, and reports file and offset of what cannot be read. It asks `go_on(pages)` now and then; false ends it.
    [[nodiscard]] virtual DataCheck check_data(const std::function<bool(std::uint64_t)>& go_on, SimTime now) = 0;
    /// The paths that lead to the inode from the root, `most` of them at most; none for an inode without a name. Looks through all names.
    [[nodiscard]] virtual std::vector<std::string> paths_of(Ino ino, std::size_t most) const = 0;
};

} // namespace flashlab
