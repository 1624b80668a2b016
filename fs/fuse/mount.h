/// A live mount: libfuse's low-level session, the one monitor, the clock, the control socket.
///
/// Idea       A request becomes a FileSystem call inside the monitor, where `now` is read, too.
///            Its answer waits until the clock reaches its completion.
/// Invariant  No code below this folder reads a wall clock or takes a lock. The time T of a cut is never before a completion that was answered.
/// Cost       Its own work beside libfuse is about 1 us a request.
/// Power cut  power_cut() puts the device into the state of an instant and ends the mount as if the plug were pulled:
///            open calls get EIO, nothing is flushed.
/// Threading  Public functions may be called from any thread, except run().
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/events.h"
#include "base/sim_time.h"
#include "fs/device_power.h"
#include "fs/file_system.h"
#include "fs/fuse/request_faults.h"
#include "fs/fuse/stream_rules.h"

namespace flashlab {

class DiskFile;

/// off: requests are answered at once, and the clock jumps to their completion. Otherwise simulated time passes `rate` times as fast as wall time.
struct LatencyMode {
    bool off = true;
    double rate = 1.0;
    friend bool operator==(const LatencyMode&, const LatencyMode&) = default;
};

/// How requests come: by rings of io_uring where the host has them, or by /dev/fuse. chosen: as measured (DESIGN.md, "Rings").
enum class IoRingUse : std::uint8_t { chosen, on, off };

/// Answers one line of JSON with one line of JSON (only tools/ knows JSON). Called on the control thread, outside the monitor.
using ControlHandler = std::function<std::string(std::string_view request)>;

struct MountConfig {
    std::string mount_point;
    std::string device_directory; ///< the file system's source name in /proc/mounts
    std::string control_socket;   ///< path; owner-only
    LatencyMode latency;
    SimTime clock_start = sim_start; ///< where the clock was at the last unmount
    bool read_only = false;
    AccessTimes access_times = AccessTimes::relative;
    bool kernel_writeback = false;         ///< -o writeback
    unsigned threads = 0;                  ///< 0 = chosen by measurement
    IoRingUse io_ring = IoRingUse::chosen; ///< with latency off only
    std::function<int()> host_errno;       ///< in the monitor: errno of the first write to the image that the host refused, 0: none
    RequestFaults* faults = nullptr;       ///< outlives the mount; null: none
    StreamRules* streams = nullptr;        ///< outlives the mount; null: none
    DiskFile* disk = nullptr;              ///< the file system is a raw drive: it makes a synced write durable by itself; null: it is not
    UseObserver* use = nullptr;            ///< outlives the mount; null: nobody asks who calls
    std::vector<std::string> fuse_options; ///< passed through: allow_other, default_permissions is always on ...
};

/// broken: a promise was broken (guard.h), so nothing may be written any more, and above all no clean mark.
enum class MountEnd : std::uint8_t { clean, power_cut, failed, broken };

struct OperationStats {
    FsOp op;
    std::uint64_t count = 0, errors = 0;
    std::int64_t p50_ns = 0, p99_ns = 0, max_ns = 0;
};
struct MountStats {
    SimTime now;
    LatencyMode latency;
    std::uint64_t late_answers = 0;
    std::uint64_t waiting_answers = 0; ///< calls that wait for their time: answers, and next steps
    std::vector<OperationStats> operations;
};

class Mount {
public:
    virtual ~Mount() = default;
    /// Mounts. The mount answers requests once run() is called. The error is a whole sentence with the remedy.
    [[nodiscard]] static std::expected<std::unique_ptr<Mount>, std::string> make(FileSystem& fs, DevicePower& power, EventSink& events,
                                                                                 const MountConfig& config, ControlHandler control);
    /// Serves until unmounted (fusermount3 -u, umount, SIGINT, SIGTERM, stop()) or the power is cut.
    /// `ready` is called once requests are being answered.
    [[nodiscard]] virtual MountEnd run(const std::function<void()>& ready) = 0;
    /// After a power cut, when the device is closed: answers EIO to programs that still have files open, until none has, but for a few seconds at
    /// most. If FS_IOC_SHUTDOWN cut the power, it does so until the mount is unmounted. It uses neither the file system nor the device.
    virtual void refuse_the_rest() = 0;

    /// Runs `work` inside the monitor with the present simulated time. The control handler looks at the device in this way.
    virtual void with_monitor(const std::function<void(SimTime now)>& work) = 0;
    /// Writes everything back and waits until it is durable.
    [[nodiscard]] virtual FsResult<void> sync_all() = 0;
    /// Follows a remount, of which the kernel tells the daemon nothing: a mount that became read-only is written back.
    [[nodiscard]] virtual FsResult<void> follow_remount() = 0;
    /// Does the background work that is due. Returns the time until more is due; Duration::max(): never.
    /// EROFS after an internal error, EIO after a power cut.
    [[nodiscard]] virtual FsResult<Duration> run_background() = 0;
    [[nodiscard]] virtual CutSummary power_cut(std::uint64_t seed, CutAt at = CutAt::work) = 0;
    virtual void set_latency(LatencyMode mode) = 0;
    /// Requests come through io_uring: answers cannot wait for simulated time, so the latency stays off.
    [[nodiscard]] virtual bool uses_io_uring() const { return false; }
    /// Makes the kernel drop what it keeps of this file: its bytes are no longer what the kernel was given. Returns at once. May be called inside the
    /// monitor.
    virtual void drop_kernel_pages(Ino ino, std::uint64_t offset, std::uint64_t bytes) = 0;
    virtual void stop() = 0;
    [[nodiscard]] virtual MountStats stats() = 0;
    [[nodiscard]] virtual SimTime clock_now() = 0;
};

} // namespace flashlab
