/// What a live mount answers on its control socket.
///
/// Idea       A request is a JSON object with a `cmd`; the answer is another, with `error` where it went wrong. It knows the device and the mount's
///            interface, not the kernel: a test, or a fuzzer, gives it a mount of its own.
/// Invariant  Any line gets exactly one answer. The device is looked at inside the monitor.
/// Cost       That of the report that is asked for.
/// Power cut  It cuts on request. Afterwards it answers what needs no device.
/// Threading  answer() on the control thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs/fuse/mount.h"
#include "tools/drive/device_directory.h"
#include "tools/live/fault_control.h"
#include "tools/live/live_persistence.h"
#include "tools/text/json.h"

namespace flashlab {

/// "off", "real", or "Nx" with N between 0.001 and 1000000.
[[nodiscard]] std::optional<LatencyMode> parse_latency(const std::string& text);

class MountControl {
public:
    /// All of them outlive this object's last call. `persistence` may be null, and may become so. `sample` writes a sample of the device into its
    /// log.
    MountControl(std::string directory, DeviceDirectory& opened, Mount& mount, FaultControl& faults, StreamRules& streams,
                 const std::unique_ptr<LivePersistence>& persistence, SimTime started, std::function<void()> sample)
        : directory_{std::move(directory)}, opened_{opened}, mount_{mount}, faults_{faults}, streams_{streams}, persistence_{persistence},
          started_{started}, sample_{std::move(sample)} {}
    [[nodiscard]] std::string answer(std::string_view request);

private:
    [[nodiscard]] Json dispatch(const Json& request);
    [[nodiscard]] Json stats();
    [[nodiscard]] Json unsynced();
    [[nodiscard]] std::uint64_t unsynced_bytes();
    [[nodiscard]] Json power_cut(const Json& request);
    [[nodiscard]] Json use(bool with_drive); ///< with the counters of the same moment
    [[nodiscard]] Json set(const Json& request);
    [[nodiscard]] Json run_idle();
    [[nodiscard]] Json change_streams(const Json& request);
    [[nodiscard]] Json grow_older(const Json& request);

    std::string directory_;
    DeviceDirectory& opened_;
    Mount& mount_;
    FaultControl& faults_;
    StreamRules& streams_;
    const std::unique_ptr<LivePersistence>& persistence_;
    SimTime started_;
    std::function<void()> sample_;
};

} // namespace flashlab
