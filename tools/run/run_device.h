/// The device of a run in virtual time, and where its events go: made in memory, or a drive on the host's disk.
///
/// Idea       In memory the run has the whole drive. Of a drive on disk it gets the pages of one file, replay.data, which takes nearly all free space: the
///            file system stays sound, other files stay as they are, and what is written stays on the flash.
/// Invariant  Without a log file nothing is logged; with one, only between begin_log() and close(), from where its
///            counters count, too; of the mount of a drive on disk `power` alone tells. A run is added to a log that is there, whose runs before stay
///            as they are; one that failed or was interrupted says so in its kind. A new log takes its name at close(), and is not left by such a run.
/// Cost       A sample each few thousand requests when there is a log; events as SqliteEventLog.
/// Power cut  A drive on disk is used like a mount: killed, it recovers at the next one.
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
    std::string kind;                    ///< of the run, in the log
    std::uint64_t default_bytes = 0;
    bool with_file_system = false;       ///< of a device in memory; a drive on disk has one
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
    /// The log's requests say which piece of a trace's request they are; null: they are whole.
    void tell_pieces_of(const AddressFit* fit);
    void sample(SimTime now);
    [[nodiscard]] bool has_log() const { return level_ != EventLevel::none; }
    /// Requests between two samples.
    static constexpr std::uint64_t sample_every = 4096;
    /// The last sample and the wear into the log; a drive on disk is closed cleanly. The device is gone then.
    [[nodiscard]] std::expected<void, std::string> close(SimTime now);

private:
    RunDevice() = default;
    [[nodiscard]] std::expected<void, Error> make(const DeviceChoice& choice, const RunDeviceOptions& options);
    [[nodiscard]] std::expected<void, Error> take(const DeviceChoice& choice, const RunDeviceOptions& options);
    [[nodiscard]] SqliteEventLog& log() { return directory_ ? directory_->log() : *log_; }

    /// What the last run left goes on, anything else is made aside; where the log is written.
    [[nodiscard]] std::expected<std::string, Error> place_log(const DeviceChoice& choice);
    [[nodiscard]] std::expected<void, std::string> close_device(SimTime now);

    EventLevel level_ = EventLevel::none;
    std::optional<AsideFile> new_log_; ///< outlives who writes it
    std::string directory_name_;
    std::unique_ptr<SqliteEventLog> log_; ///< of a device in memory
    std::unique_ptr<Device> memory_;
    std::unique_ptr<DeviceDirectory> directory_;
    std::unique_ptr<BlockDevice> file_;
    PayloadStamp payload_;
};

} // namespace flashlab
