/// The device of a run in virtual time, and its event log. The device is made in memory, or it is a drive on the host's disk.
///
/// Idea       In memory the run has the whole drive. Of a drive on disk the run gets the pages of one file, replay.data, which takes nearly all free
///            space. So the file system stays sound, other files stay as they are, and what the run writes stays on the flash.
/// Invariant  Without a log file nothing is logged. With a log file, the run's events are logged between begin_log() and close(), and the counters of
///            the log begin at zero in begin_log(). A drive on disk is mounted before begin_log(): only the table `power` tells of that mount. An
///            existing log keeps its earlier runs, and this run is added; if the run failed or was interrupted, its `kind` says so. A new log takes
///            its name at close(); a run that failed or was interrupted leaves no new log.
/// Cost       With a log: a sample every few thousand requests, and the cost of SqliteEventLog for each event.
/// Power cut  A drive on disk is used as by a mount: after a kill it recovers at the next mount.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "nand/memory_page_store.h"
#include "tools/drive/device_directory.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/run/device_choice.h"
#include "tools/run/payload_stamp.h"
#include "tools/run/replay.h"

namespace flashlab {

struct RunDeviceOptions {
    std::string kind; ///< what the log calls the run
    std::uint64_t default_bytes = 0;
    bool with_file_system = false; ///< for a device in memory; a drive on disk always has one
    bool tells_warnings = false;   ///< of the plan of a device in memory, as mkfs does
    LoadRow load{};                ///< for the log; without a name: nothing
};

class RunDevice {
public:
    ~RunDevice();
    struct Error {
        std::string text;
        int code = exit_failed;
    };
    [[nodiscard]] static std::expected<std::unique_ptr<RunDevice>, Error> open(const DeviceChoice& choice, const RunDeviceOptions& options);

    [[nodiscard]] Device& device() { return directory_ ? directory_->device() : *memory_; }
    /// What a load on sectors may use.
    [[nodiscard]] std::expected<RunSpace, std::string> sectors();
    [[nodiscard]] std::uint64_t sectors_verified() const { return payload_.sectors_verified(); }
    [[nodiscard]] const std::string& directory() const { return directory_name_; }

    void begin_log(SimTime now);
    void sample(SimTime now);
    [[nodiscard]] bool has_log() const { return level_ != EventLevel::none; }
    /// Requests between two samples.
    static constexpr std::uint64_t sample_every = 4096;
    /// Writes the last sample and the wear into the log, and closes a drive on disk cleanly. Afterwards the device no longer exists.
    [[nodiscard]] std::expected<void, std::string> close(SimTime now);

private:
    RunDevice() = default;
    [[nodiscard]] std::expected<void, Error> make(const DeviceChoice& choice, const RunDeviceOptions& options);
    [[nodiscard]] std::expected<void, Error> take(const DeviceChoice& choice, const RunDeviceOptions& options);
    [[nodiscard]] SqliteEventLog& log() { return directory_ ? directory_->log() : *log_; }

    /// Returns the path to which the log is written: the log itself if it exists and is not empty, else a new file aside.
    [[nodiscard]] std::expected<std::string, Error> place_log(const DeviceChoice& choice);
    [[nodiscard]] std::expected<void, std::string> close_device(SimTime now);

    EventLevel level_ = EventLevel::none;
    LoadRow load_;
    std::optional<AsideFile> new_log_; ///< declared first, so that it outlives the writer of the log
    std::string directory_name_;
    std::unique_ptr<SqliteEventLog> log_; ///< the log of a device in memory
    std::unique_ptr<Device> memory_;
    std::unique_ptr<DeviceDirectory> directory_;
    std::unique_ptr<BlockDevice> file_;
    PayloadStamp payload_;
};

} // namespace flashlab
