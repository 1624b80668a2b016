/// A device on the host's disk: DIR/device.toml, nand.img, pram.img, events.db, counters.json, mount.log.
///
/// Idea       make_device_directory() builds the directory, or leaves nothing. DeviceDirectory::open() locks the images and assembles the device.
///            close() writes the history.
/// Invariant  A device has one user at a time, or several that only look; the locks of the images see to that. A refused open and a look change
///            nothing. Damaged images can be looked at, but not used.
/// Cost       mkfs takes the same time for any size: the images are sparse, and PRAM space is reserved.
/// Power cut  The images survive kill -9 at any instant.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/drive/device.h"
#include "tools/drive/device_history.h"
#include "tools/drive/device_images.h"
#include "tools/drive/device_plan.h"
#include "tools/drive/use_ledger.h"
#include "tools/host/folder_handle.h"

namespace flashlab {

/// What mkfs --precondition, and a load on a drive in a directory, write into.
inline constexpr const char* precondition_file = "replay.data";

class ImagePageStore;

enum class ExistingDevice : std::uint8_t { refuse, replace };

/// Whether make_device_directory() would accept the place. Nothing is written.
[[nodiscard]] std::expected<void, std::string> check_device_target(const std::string& directory, ExistingDevice existing);
/// A function that works on the new device before the device takes its place: mkfs --precondition uses it.
using FinishDevice = std::function<std::expected<void, std::string>(const std::string& made)>;
/// mkfs. After a failure or a signal nothing of the new device is left, and a device that was to be replaced is there as before.
[[nodiscard]] std::expected<void, std::string> make_device_directory(const std::string& directory, const DevicePlan& plan, const std::string& label,
                                                                     ExistingDevice existing, const FinishDevice& finish = {});

/// Who has the images locked: users that only look (info, a read-only mount), or one that writes (a mount, fsck).
enum class ImageUse : std::uint8_t { none, looked_at, written };
[[nodiscard]] ImageUse use_of_images(const std::string& directory);
[[nodiscard]] std::string said_in_use(const std::string& directory);
[[nodiscard]] inline bool is_in_use(const std::string& directory) { return use_of_images(directory) != ImageUse::none; }

/// The path of DIR/mount.log, where the daemons of this device's mounts write what goes wrong.
[[nodiscard]] std::string failure_log_path(const std::string& directory);
/// Adds failure_log and failure_log_bytes to a report, so that users look into the file.
void add_failure_log(Json& report, const std::string& directory);

/// use: a mount, which counts as a power cycle. check: recovers and closes like a mount, but is no power cycle (fsck).
/// look: recovery runs on private copies of what it changes, so the device stays as it is (info, smart, fsck -n, a read-only mount).
enum class DeviceAccess : std::uint8_t { use, check, look };

struct OpenOptions {
    DeviceAccess access = DeviceAccess::use;
    EventLevel log = EventLevel::none;
    std::string log_path{}; ///< empty: DIR/events.db
    std::uint64_t log_keep_bytes = std::uint64_t{1} << 30;
    std::string kind = "mount";
    bool counts_use = false;                    ///< by process and by file (use_ledger.h)
    DevicePast past = DevicePast::undoable;     ///< final: this run has no simulated power cuts; it survives kill -9 only
    bool tolerate_damage = false;               ///< open damaged images to look at what can be read, instead of refusing them
    std::vector<ImageDamage>* damage = nullptr; ///< out: the damage found, also if the open fails
    FsOptions fs;
    std::vector<std::string> settings; ///< key=value, of phase mount
    std::vector<std::pair<std::string, std::string>> environment;
    std::function<void(const std::string&)> complain; ///< called for a failure that does not stop the device
};

class DeviceDirectory {
public:
    [[nodiscard]] static std::expected<std::unique_ptr<DeviceDirectory>, std::string> open(const std::string& directory, const OpenOptions& options);
    /// Shuts the device down cleanly, unless its power was cut. Writes wear and the last sample into the log, makes the log a single file, and saves
    /// the history. After a look only the log is closed.
    [[nodiscard]] std::expected<void, std::string> close(SimTime now, const std::vector<FsLatencyRow>& latency);
    /// Closes the device without a clean mark, so that a damaged device is not declared sound.
    void abandon();

    [[nodiscard]] Device& device() { return *device_; }
    [[nodiscard]] DeviceAccess access() const { return access_; }
    [[nodiscard]] SqliteEventLog& log() { return *log_; }
    /// What the layers tell their events: the log, or the ledger in front of it.
    [[nodiscard]] EventSink& events() { return use_ ? static_cast<EventSink&>(*use_) : *log_; }
    /// Null where use is not counted. Inside the monitor.
    [[nodiscard]] UseLedger* use() { return use_.get(); }
    /// errno of the first write to nand.img that the host refused; 0: none. On a mount, to be called inside the monitor.
    [[nodiscard]] int host_errno() const;
    /// Who makes writes to nand.img fail (ImagePageStore::set_write_faults); empty: nobody. On a mount, to be called inside the monitor.
    void set_image_faults(std::function<int()> faults);
    /// Counters of the device's whole life, this mount included.
    [[nodiscard]] DeviceHistory history_now();
    /// Writes a sample into the log. To be called inside the monitor.
    void sample(SimTime now, const std::vector<FsLatencyRow>& latency);
    /// Writes erase counts and what the blocks hold into the log, instead of what this run said of them before. To be called inside the monitor.
    void note_wear();
    /// Writes the counters file. To be called outside the monitor.
    void save_history(const DeviceHistory& history);

private:
    DeviceDirectory() = default;
    /// device.toml with the settings of the environment and of this mount.
    [[nodiscard]] static std::expected<DeviceConfig, std::string> effective_config(const std::string& name, const OpenOptions& options);
    void open_log(const DeviceConfig& config, const OpenOptions& options);
    [[nodiscard]] std::expected<void, std::string> vouch_at_close(std::uint64_t history);
    [[nodiscard]] std::expected<void, std::string> start(const DeviceConfig& config, DeviceImages stores, const OpenOptions& options);
    void tell_outcomes(const CutSummary& cut);
    void tell_unreadable(Ino ino, std::uint64_t offset, std::uint64_t bytes);
    std::string directory_;
    FolderHandle folder_; ///< a handle, because a mounted folder may be moved, and another one put in its place
    std::function<void(const std::string&)> complain_;
    DeviceAccess access_ = DeviceAccess::use;
    DeviceHistory history_; ///< the history of the earlier mounts
    std::unique_ptr<SqliteEventLog> log_;
    std::unique_ptr<UseLedger> use_;
    ImagePageStore* image_ = nullptr; ///< owned by the device, valid as long as the device lives; null for a look
    std::unique_ptr<Device> device_;
    ImagePageStore* nand_ = nullptr; ///< owned by the device; null: not open for writing
    ImagePramStore* pram_ = nullptr;
    DeviceEvidence evidence_;      ///< of the images as they were when they were opened
    std::uint64_t unreadable_ = 0; ///< reads of data that the flash does not give back, reported or not
};

} // namespace flashlab
