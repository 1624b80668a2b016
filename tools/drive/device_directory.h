/// A device on the host's disk: DIR/device.toml, nand.img, pram.img, events.db, counters.json, mount.log.
///
/// Idea       make() builds it or leaves nothing; DeviceDirectory::open() locks the images and assembles; close() writes the history.
/// Invariant  One user at a time, or several lookers (the images' locks). A refused open and a look change nothing; damaged images are looked at at most.
/// Cost       make() is O(1) in the size: the images are sparse, PRAM space is reserved.
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
#include "tools/host/folder_handle.h"

namespace flashlab {

class ImagePageStore;

enum class ExistingDevice : std::uint8_t { refuse, replace };

/// Whether make_device_directory would take the place: nothing is written.
[[nodiscard]] std::expected<void, std::string> check_device_target(const std::string& directory, ExistingDevice existing);
/// Works on the new device before it takes its place: what mkfs --precondition does.
using FinishDevice = std::function<std::expected<void, std::string>(const std::string& made)>;
/// mkfs. On failure, and when a signal came, nothing of it is left, and a device that was to be replaced is there as before.
[[nodiscard]] std::expected<void, std::string> make_device_directory(const std::string& directory, const DevicePlan& plan, const std::string& label,
                                                                     ExistingDevice existing, const FinishDevice& finish = {});

/// Who has the images locked: lookers (info, a read-only mount), or one that writes (a mount, fsck).
enum class ImageUse : std::uint8_t { none, looked_at, written };
[[nodiscard]] ImageUse use_of_images(const std::string& directory);
[[nodiscard]] inline bool is_in_use(const std::string& directory) { return use_of_images(directory) != ImageUse::none; }

/// What went wrong in the daemons of this device's mounts: DIR/mount.log.
[[nodiscard]] std::string failure_log_path(const std::string& directory);
/// Adds failure_log and failure_log_bytes, so that somebody looks into it.
void add_failure_log(Json& report, const std::string& directory);

/// use: a mount, which counts as a power cycle. check: recovers and closes like a mount, but is no power cycle (fsck).
/// look: recovery runs on private copies of what it changes; the device stays as it is (info, smart, fsck -n, a read-only mount).
enum class DeviceAccess : std::uint8_t { use, check, look };

struct OpenOptions {
    DeviceAccess access = DeviceAccess::use;
    EventLevel log = EventLevel::none;
    std::string log_path{};                         ///< empty: DIR/events.db
    std::uint64_t log_keep_bytes = std::uint64_t{1} << 30;
    std::string kind = "mount";
    DevicePast past = DevicePast::undoable;         ///< final: no cut of this run is to be undone, only kill -9 survived
    bool tolerate_damage = false;                   ///< damaged images are looked at, with what can be read of them, instead of refused
    std::vector<ImageDamage>* damage = nullptr;     ///< out: what was found, also where the open fails
    FsOptions fs;
    std::vector<std::string> settings;              ///< key=value, of phase mount
    std::vector<std::pair<std::string, std::string>> environment;
    std::function<void(const std::string&)> complain; ///< what goes wrong without stopping the device
};

class DeviceDirectory {
public:
    [[nodiscard]] static std::expected<std::unique_ptr<DeviceDirectory>, std::string> open(const std::string& directory, const OpenOptions& options);
    /// Clean shutdown of a device that was not cut, wear and last sample into the log, history, single-file log. After a look: the log only.
    [[nodiscard]] std::expected<void, std::string> close(SimTime now, const std::vector<FsLatencyRow>& latency);
    /// Lets go of the device without a clean mark: what was found damaged is not declared sound.
    void abandon();

    [[nodiscard]] Device& device() { return *device_; }
    [[nodiscard]] SqliteEventLog& log() { return *log_; }
    /// errno of the first write to nand.img that the host refused; 0: none. In the monitor of a mount.
    [[nodiscard]] int host_errno() const;
    /// Counters of the device's whole life, this mount included.
    [[nodiscard]] DeviceHistory history_now();
    /// Inside the monitor: a sample into the log.
    void sample(SimTime now, const std::vector<FsLatencyRow>& latency);
    /// Outside the monitor: the counters file.
    void save_history(const DeviceHistory& history);

private:
    DeviceDirectory() = default;
    void tell_unreadable(Ino ino, std::uint64_t offset, std::uint64_t bytes);
    std::string directory_;
    FolderHandle folder_; ///< it may be moved under a mount, and another one put in its place
    std::function<void(const std::string&)> complain_;
    DeviceAccess access_ = DeviceAccess::use;
    DeviceHistory history_; ///< of the earlier mounts
    std::unique_ptr<SqliteEventLog> log_;
    const ImagePageStore* image_ = nullptr; ///< the device's, as long as there is one; null for a look
    std::unique_ptr<Device> device_;
    ImagePageStore* nand_ = nullptr; ///< owned by the device; null: not open for writing, or nothing to pair
    ImagePramStore* pram_ = nullptr;
    std::uint64_t unreadable_ = 0; ///< reads that failed so, told or not
};

} // namespace flashlab
