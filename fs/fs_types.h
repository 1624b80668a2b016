/// The types of the file system's interface: errors, times, attributes, requests. There is no wall clock: the caller passes file times in.
#pragma once

#include <cerrno>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>

#include "base/id.h"
#include "base/sim_time.h"

namespace flashlab {

/// An errno as a type: what FUSE answers. ENOSPC, EIO, ENOENT ...
struct FsError {
    int error_number;
    SimTime again = sim_never; ///< EAGAIN only: nothing failed; what the call needs is under way. Make the same call again at this time
    [[nodiscard]] bool is_again() const { return again != sim_never; }
    friend bool operator==(FsError, FsError) = default;
};
[[nodiscard]] inline FsError again_at(SimTime when) { return FsError{EAGAIN, when}; }
template <class T>
using FsResult = std::expected<T, FsError>;

/// Nanoseconds since the Unix epoch (CLOCK_REALTIME at a mount, simulated time elsewhere).
struct FileTime {
    std::int64_t seconds = 0;
    std::uint32_t nanoseconds = 0;
    friend auto operator<=>(const FileTime&, const FileTime&) = default;
};

/// When a read moves the access time. relative: if it is older than the last change, or than a day.
enum class AccessTimes : std::uint8_t { relative, strict, kept };

/// The instant and the caller of one operation.
struct FsCall {
    SimTime now;
    FileTime wall;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::uint32_t umask = 0;
    bool may_override_suid = false; ///< CAP_FSETID: write and chmod keep suid/sgid
    bool from_page_cache = false;   ///< the kernel took this write from its caller earlier: flags of chattr(1) set since then do not stop it
    bool is_direct = false;         ///< a program's O_DIRECT: what is answered as less than it asked for, the kernel calls an I/O error
    AccessTimes access_times = AccessTimes::relative;
    std::uint64_t close_began = ~std::uint64_t{0}; ///< of close_file: what close_begins() said, or that it was not asked
    StreamId stream = no_stream;                   ///< what this caller writes goes there, where the file's attribute says nothing (fs/file_stream.h)
    /// Is `caller` in this group, apart from `gid`? Asked seldom, as it may take long. Null: the caller is in no further group.
    bool (*has_group)(const void* caller, std::uint32_t group) = nullptr;
    const void* caller = nullptr; ///< valid until the call is answered

    [[nodiscard]] bool is_in_group(std::uint32_t group) const { return gid == group || (has_group != nullptr && has_group(caller, group)); }
};

inline constexpr Ino root_ino{1};

struct Attributes {
    Ino ino{0};
    std::uint64_t generation = 1;
    std::uint32_t mode = 0; ///< type and permission bits as in st_mode
    std::uint32_t links = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::uint32_t rdev = 0;
    std::uint64_t size = 0;
    std::uint64_t blocks_512 = 0;
    FileTime accessed, modified, changed, born;
    std::uint32_t flags = 0; ///< FS_IOC_GETFLAGS bits
};

/// setattr: what is set is in `which`.
struct AttributeChange {
    enum Bit : std::uint32_t { mode = 1, uid = 2, gid = 4, size = 8, atime = 16, mtime = 32, ctime = 64, kill_suid_sgid = 128 };
    std::uint32_t which = 0;
    std::uint32_t new_mode = 0;
    std::uint32_t new_uid = 0;
    std::uint32_t new_gid = 0;
    std::uint64_t new_size = 0;
    FileTime new_atime, new_mtime, new_ctime;
    bool touches_now = false; ///< both times are set to the present and nothing else changes: utimes(2) without times
};

/// An answer, and the time at which the simulated device has it ready.
template <class T>
struct Timed {
    T value;
    SimTime done;
};

struct FsUsage {
    std::uint64_t block_bytes = 4096;
    std::uint64_t data_pages = 0, data_pages_free = 0;
    std::uint64_t inodes = 0, inodes_free = 0; ///< inodes_free: what PRAM space allows
    std::uint64_t metadata_bytes = 0, metadata_bytes_free = 0;
};

enum class HostCache : std::uint8_t { delayed, writethrough };

/// What a failed write-back leaves of the pages that it was to write, docs/faults.md.
/// retry: they stay dirty, the next sync writes them again. clean: they are clean although the drive has not got them; their bytes are seen until the
/// kernel drops its copy. reverted: their bytes are gone at once, and reads show what the drive has.
enum class FailedPages : std::uint8_t { retry, clean, reverted };

class UseObserver;
class WriteBackFaults;

inline constexpr std::uint16_t file_streams = 250; ///< as many as ftl.host_streams may say

struct FsOptions {
    std::uint64_t cache_bytes = 64u << 20;
    HostCache host_cache = HostCache::delayed;
    Duration dirty_age{5'000'000'000}; ///< older dirty data are written back by tick()
    bool read_only = false;
    /// Called for data that the device could not read: inode, first byte in the file, bytes asked for. It must not call the file system.
    std::function<void(Ino, std::uint64_t, std::uint64_t)> unreadable{};
    FailedPages failed_pages = FailedPages::retry;
    std::uint16_t streams = file_streams;         ///< of the drive: a file's attribute names one of them (fs/file_stream.h)
    UseObserver* use = nullptr;                   ///< outlives the file system; null: nobody asks whose data are written
    WriteBackFaults* write_back_faults = nullptr; ///< outlives the file system; null: no write-back fails that the device carries out
};

} // namespace flashlab
