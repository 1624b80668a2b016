/// One whole device: a drive (ftl/drive.h) with stores below it and a file system on top.
///
/// Idea       A Device owns the stores, the drive and the file system, in the order in which they need each other.
/// Invariant  V1 a Device exists only when every part has accepted the configuration. V2 members are destroyed in reverse order: users before what
///            they use.
/// Cost       Construction reads block records once.
/// Power cut  cut() leaves the stores in the state of that instant. Afterwards the Device may only be destroyed.
/// Threading  The mount's monitor, or one thread.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "fs/device_power.h"
#include "fs/disk_file.h"
#include "fs/file_system.h"
#include "ftl/drive.h"
#include "tools/drive/device_config.h"
#include "tools/log/sqlite_event_log.h"

namespace flashlab {

/// Whether the past can be undone. A device whose power may fail keeps undo records. A run in virtual time needs none.
enum class DevicePast : std::uint8_t { undoable, final };

class Device final : public DevicePower {
public:
    /// `events` must outlive the device.
    [[nodiscard]] static std::expected<std::unique_ptr<Device>, std::string>
    assemble(const DeviceConfig& config, std::unique_ptr<PageStore> store, std::unique_ptr<PramStore> pram_store, EventSink& events, DevicePast past);
    ~Device() override;

    /// Recovers the drive: mapping and logs. It must be the first call on the drive.
    [[nodiscard]] std::expected<void, std::string> start(SimTime now);
    /// Writes an empty file system: into an empty PRAM, or, with metadata in a journal, onto a started device. A raw drive gets none.
    [[nodiscard]] std::expected<void, std::string> format(const std::string& label, FileTime wall);
    /// Recovers and opens the file system of a started device; of a raw drive, the file that it is.
    [[nodiscard]] std::expected<void, std::string> open_file_system(const FsOptions& options);
    /// Makes everything durable and marks the drive as clean.
    [[nodiscard]] std::expected<void, std::string> shut_down(SimTime now);

    [[nodiscard]] const DeviceConfig& config() const { return config_; }
    [[nodiscard]] Ssd& ssd() { return drive_->ssd(); }
    [[nodiscard]] const Ssd& ssd() const { return drive_->ssd(); }
    [[nodiscard]] FileSystem& fs();
    [[nodiscard]] DiskFile* disk_file() { return disk_file_; } ///< what fs() is on a raw drive, else null
    /// Throws ContractViolation if the device has no PRAM.
    [[nodiscard]] Pram& pram();
    [[nodiscard]] const NandArray& array() const { return drive_->array(); }
    [[nodiscard]] const Ftl& ftl() const { return drive_->ftl(); }
    [[nodiscard]] Ftl& ftl() { return drive_->ftl(); }
    [[nodiscard]] const FtlRecovery& recovery() const { return recovery_; }
    /// The time at which start() and open_file_system() were done.
    [[nodiscard]] SimTime ready_at() const { return ready_at_; }
    [[nodiscard]] bool was_cut() const { return was_cut_; }
    /// Of the cut that ended this device.
    [[nodiscard]] const CutSummary& last_cut() const { return last_cut_; }
    /// Decides which operations of the flash fail; null: none. The object outlives the device, or is taken back.
    void set_faults(NandFaults* faults) { drive_->array().set_faults(faults); }

    [[nodiscard]] SampleDetails sample_details(SimTime now) const; ///< channel busy times until then; the mount adds the latencies
    [[nodiscard]] WearHistogram wear() const;
    /// The same for the log, with what each block holds: on a drive of at most 16,384 blocks whose power was not cut.
    [[nodiscard]] WearHistogram wear_and_blocks() const;

    void settle(SimTime now) override;
    [[nodiscard]] SimTime last_reserved_end() const override;
    [[nodiscard]] std::optional<SimTime> instant_in_flight(CutAt kind, SimTime earliest, std::uint64_t draw) override;
    [[nodiscard]] CutSummary cut(SimTime at, std::uint64_t seed) override;

private:
    explicit Device(const DeviceConfig& config, EventSink& events) : config_{config}, events_{events} {}
    [[nodiscard]] PramRange fs_range() const;
    void tell_start();

    DeviceConfig config_;
    EventSink& events_;
    std::unique_ptr<PageStore> store_;
    std::unique_ptr<PramStore> pram_store_;
    std::unique_ptr<Drive> drive_; ///< without PRAM if neither the translation layer nor the file system needs it
    std::unique_ptr<FileSystem> fs_;
    FtlRecovery recovery_;
    SimTime started_at_ = sim_start;
    SimTime ready_at_ = sim_start;
    bool was_cut_ = false;
    CutSummary last_cut_{};
    DiskFile* disk_file_ = nullptr; ///< what fs_ is on a raw drive
};

/// "uncorrectable at sector 8" and so on, for messages.
[[nodiscard]] std::string to_text(const DeviceError& error);

} // namespace flashlab
