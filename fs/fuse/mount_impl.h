/// The Mount, assembled: service, session, workers, control socket, and the thread that waits for the end.
///
/// Idea       run() starts the workers. Then its thread is the ticker: it sleeps until background work is due or something ends the mount.
/// Invariant  The session outlives its workers. The control socket ends before both.
/// Cost       See Service.
/// Power cut  The workers leave and the mount point is detached; after FS_IOC_SHUTDOWN the mount stays. When the device is closed, one worker comes
///            back and answers EIO. Closing /dev/fuse then aborts the calls that programs still wait for.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "fs/fuse/control_socket.h"
#include "fs/fuse/mount.h"
#include "fs/fuse/mount_table_watch.h"
#include "fs/fuse/operations.h"
#include "fs/fuse/service.h"
#include "fs/fuse/session_loop.h"
#include "fs/fuse/signal_watch.h"

namespace flashlab {

class MountImpl final : public Mount {
public:
    MountImpl(FileSystem& fs, DevicePower& power, EventSink& events, const MountConfig& config);
    ~MountImpl() override;

    [[nodiscard]] std::expected<void, std::string> set_up(ControlHandler control);

    [[nodiscard]] MountEnd run(const std::function<void()>& ready) override;
    void refuse_the_rest() override;
    void with_monitor(const std::function<void(SimTime)>& work) override;
    [[nodiscard]] FsResult<void> sync_all() override;
    [[nodiscard]] FsResult<void> follow_remount() override;
    [[nodiscard]] FsResult<Duration> run_background() override;
    [[nodiscard]] CutSummary power_cut(std::uint64_t seed, CutAt at) override;
    void set_latency(LatencyMode mode) override;
    [[nodiscard]] bool uses_io_uring() const override { return context_.ring.serves(); }
    void drop_kernel_pages(Ino ino, std::uint64_t offset, std::uint64_t bytes) override { page_dropper_.drop({ino, offset, bytes}); }
    void stop() override;
    [[nodiscard]] MountStats stats() override;
    [[nodiscard]] SimTime clock_now() override;

private:
    void serve_until_end(const SessionLoop& loop, const std::function<void()>& ready);
    void wait_for_unmount(const SessionLoop& loop);
    void calibrate();
    void look_for_rings();
    [[nodiscard]] std::string device_path() const;

    MountConfig config_;
    SignalWatch signals_;
    Service service_;
    PageDropper page_dropper_;
    SessionContext context_;
    fuse_session* session_ = nullptr;
    std::unique_ptr<ControlSocket> control_;
    std::atomic<bool> answering_{false};
    std::atomic<bool> stop_asked_{false};
    std::atomic<bool> stays_mounted_{false}; ///< cut by FS_IOC_SHUTDOWN
    MountTableWatch table_;
    int device_folder_ = -1; ///< names the folder wherever it is moved
};

} // namespace flashlab
