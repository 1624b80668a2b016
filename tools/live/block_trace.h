/// Which process wrote what to a disk of the kernel's, within which sync: the kernel's block trace, joined with the drive's own log.
///
/// Idea       tracefs tells of each write when a file system hands it on, and of each call that syncs. A write belongs to the sync
///            in which its process is; what threads of the kernel write (a journal), to the oldest sync under way of a file that is for sure on
///            this disk. A synced write outside of such a call is one of a file that was opened O_DSYNC or O_SYNC, if its process has one. A loop
///            device with direct I/O keeps the order of the writes of a sector, so its n-th write in the trace is its n-th in the drive's log.
/// Invariant  A write of the trace is joined with requests that wrote its sectors, and with no others.
/// Cost       Some microseconds a write; sectors written, 20 bytes each while they are joined. It wants root.
/// Power cut  Keeps nothing on the drive.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

struct TracedSync {
    std::uint32_t pid = 0;
    std::string command, call, path; ///< path: empty where the call names no file, or the process had closed it
};
struct TracedWrite {
    std::uint32_t pid = 0;
    std::string command, flags; ///< as the kernel writes them: W, S sync, M metadata, F flush before, A ahead
    std::uint64_t first_sector = 0;
    std::uint32_t sectors = 0; ///< of 512 bytes
    std::optional<std::size_t> sync{};
};

/// Of a file: is it of a file system on the disk, or the disk itself? Unknown: it is closed by now.
enum class OnDisk : std::uint8_t { no, yes, unknown };

/// A write that is a sync of its own, of a file that was opened so.
struct SyncedWrite {
    std::string call, path;
};

/// What the trace does not say of a process.
struct ProcessFacts {
    std::function<std::string(std::uint32_t pid, std::uint32_t descriptor)> path_of;
    std::function<bool(std::uint32_t pid)> is_of_kernel;
    std::function<OnDisk(std::uint32_t pid, std::uint32_t descriptor)> where;
    std::function<std::optional<SyncedWrite>(std::uint32_t pid)> synced_write; ///< which it may be in; nothing: none, or one of several
};

/// Reads the lines of a trace.
class BlockTrace {
public:
    /// `device` as the trace names it: "7,0".
    BlockTrace(std::string device, ProcessFacts facts) : device_{std::move(device)}, facts_{std::move(facts)} {}
    void take(std::string_view line);
    [[nodiscard]] const std::vector<TracedWrite>& writes() const { return writes_; }
    [[nodiscard]] const std::vector<TracedSync>& syncs() const { return syncs_; }
    /// Some lines are lost or cannot be read: what is joined would be wrong.
    [[nodiscard]] bool has_gaps() const { return has_gaps_; }

private:
    struct Line {
        std::uint32_t pid;
        std::string_view command, event; ///< with what it says
    };
    [[nodiscard]] static std::optional<Line> parsed(std::string_view line);
    void take_write(std::uint32_t pid, std::string_view command, std::string_view what);
    void take_call(std::uint32_t pid, std::string_view command, std::string_view what);

    std::string device_;
    ProcessFacts facts_;
    std::vector<TracedWrite> writes_;
    std::vector<TracedSync> syncs_;
    struct UnderWay {
        std::size_t sync;
        bool is_of_disk; ///< for sure
    };
    std::map<std::uint32_t, UnderWay> under_way_; ///< by pid
    bool has_gaps_ = false;
};

/// A write of the drive's log.
struct LoggedWrite {
    std::int64_t request = 0;
    std::uint64_t first_sector = 0;
    std::uint32_t sectors = 0;
};
struct JoinedWrite {
    std::size_t write; ///< of the trace
    std::int64_t request;
};
/// Both in their order. A request may hold several writes of the trace, and the reverse.
[[nodiscard]] std::vector<JoinedWrite> join_writes(std::span<const TracedWrite> traced, std::span<const LoggedWrite> logged);

} // namespace flashlab
