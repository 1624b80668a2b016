/// A live mount from the tools' side: the device directory, the mount, the sampler.
///
/// Idea       make() opens the device and mounts it. serve() reports that the mount is ready, runs until its end and closes the device. The two are
///            the whole life of the daemon.
/// Invariant  The device is closed after the mount has ended, never before.
/// Cost       A thread that wakes once a second.
/// Threading  The control handler runs on the control socket's thread, the sampler on its own thread. Both enter the monitor through the mount.
#pragma once

#include <atomic>
#include <condition_variable>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "fs/fuse/mount.h"
#include "tools/drive/device_directory.h"
#include "tools/live/fault_control.h"
#include "tools/live/live_persistence.h"
#include "tools/live/mount_control.h"
#include "tools/live/recording.h"

namespace flashlab {

struct MountSessionConfig {
    std::string directory;
    MountConfig mount;
    OpenOptions open;
    std::vector<FaultRule> faults;            ///< in force from the first request on
    std::optional<Persistence> persistence{}; ///< what a cut may lose; nothing: what the drive's own file system loses
    bool as_file = false;                     ///< a raw drive, as one file
    std::string record{};                     ///< the file to which every change is recorded; empty: none
};

class MountSession {
public:
    /// Opens the device and mounts. The error is a whole sentence.
    [[nodiscard]] static std::expected<std::unique_ptr<MountSession>, std::string> make(const MountSessionConfig& config);
    ~MountSession();
    /// Serves until the mount ends, then closes the device. The error says what was not closed cleanly.
    [[nodiscard]] std::expected<MountEnd, std::string> serve(const std::function<void()>& ready);

private:
    MountSession() = default;
    [[nodiscard]] std::expected<void, std::string> close_after_cut(SimTime now, const std::vector<FsLatencyRow>& latency);
    [[nodiscard]] std::vector<FsLatencyRow> latency_rows();
    void sample_once();
    void sample_until_stopped();
    void tell_full_host();
    void stop_sampler();

    std::string directory_;
    std::function<void(const std::string&)> complain_;
    std::atomic<bool> told_host_errno_{false};
    FaultControl faults_; ///< outlives device and mount, which ask it
    StreamRules streams_;
    std::unique_ptr<DeviceDirectory> opened_;
    std::unique_ptr<Recording> recording_;         ///< null: nothing is recorded
    std::unique_ptr<LivePersistence> persistence_; ///< null: strict
    OpenOptions reopen_;
    std::unique_ptr<Mount> mount_;
    std::optional<MountControl> control_; ///< what the mount's control socket answers
    std::mutex mutex_;                    ///< protects stopping_ only
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread sampler_;
};

} // namespace flashlab
