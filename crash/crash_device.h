/// A whole device over stores in memory, whose power can fail. The explorer and the tests of every scheme use it.
///
/// Idea       The stores outlive the drive that is built on them. power_on() assembles it anew, as a mount does.
/// Invariant  Nothing but the stores survives power_off(). A scheme that asks for no PRAM gets none.
/// Cost       A power_on() costs what the scheme's construction and recovery cost.
/// Power cut  cut(): at any instant since the last settle(). copy_stores(), rewind() and tear() make many cuts of one run: the latest first.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crash/dead_dies.h"
#include "crash/sabotage.h"
#include "ftl/drive.h"
#include "ftl/make_ftl.h"
#include "nand/memory_page_store.h"
#include "nand/nand_faults.h"
#include "pram/memory_pram_store.h"

namespace flashlab {

/// How long the power stays off after a cut.
inline constexpr Duration off_for{1'000'000};

class CrashDevice {
public:
    /// The error is the scheme's reason to refuse the configuration.
    [[nodiscard]] static std::expected<std::unique_ptr<CrashDevice>, std::string> make(const SsdConfig& config, Payload payload, UndoPolicy undo);

    /// Builds the device on its stores and recovers it. The error says what failed.
    [[nodiscard]] std::expected<FtlRecovery, std::string> power_on(SimTime now);
    /// As kill -9: issued operations are complete, all else is gone.
    void power_off();
    /// The power fails at `at`; the device is off afterwards.
    [[nodiscard]] std::expected<SsdCutReport, std::string> cut(SimTime at, CutOutcomes& nand, PramCutOutcomes& pram);

    /// Copies the stores of `other`. Both must have the same configuration, and this device must be off.
    void copy_stores(const CrashDevice& other);
    /// Undoes for good, in this device, the operations that had not begun at `at`. Later calls must name earlier times.
    [[nodiscard]] std::expected<void, std::string> rewind(SimTime at);
    /// Applies to `target`, whose stores are a copy of this device's, what a cut at `at` does to the operations in flight.
    [[nodiscard]] std::expected<void, std::string> tear(SimTime at, CutOutcomes& nand, PramCutOutcomes& pram, CrashDevice& target);
    /// T4: pages that a cut left readable once are lost with the next cut, whether they were read or not. This device must be off.
    void fade(std::span<const Ppn> unstable);
    /// Appends the times at which the result of a cut changes, unsorted.
    void append_moments(std::vector<SimTime>& to) const;
    /// A hash of all that survives a cut, except the payload of erased pages.
    [[nodiscard]] std::uint64_t fingerprint() const;

    [[nodiscard]] const SsdConfig& config() const { return config_; }
    [[nodiscard]] const FtlPlan& plan() const { return plan_; }
    [[nodiscard]] const Geometry& geometry() const { return geometry_; }
    [[nodiscard]] bool is_on() const { return drive_ != nullptr; }
    [[nodiscard]] Ssd& ssd() { return drive_->ssd(); }
    [[nodiscard]] Ftl& ftl() { return drive_->ftl(); }
    [[nodiscard]] NandArray& array() { return drive_->array(); }
    /// What survives a power_off() on flash, for who damages it.
    [[nodiscard]] MemoryPageStore& page_store() { return pages_; }
    /// Sets the faults of the present array and of every later one; null: none.
    void set_faults(NandFaults* faults);
    /// Who hears the events, from the next power_on() on.
    void set_events(EventSink& events) { events_ = &events; }
    /// Sets the sabotage from the next power_on() on; null: none.
    void set_sabotage(Sabotage* sabotage) { sabotage_ = sabotage; }

private:
    CrashDevice(const SsdConfig& config, const FtlPlan& plan, const Geometry& geometry, Payload payload, UndoPolicy undo);

    /// Those of the sabotage or of set_faults(); of a drive with parity over dies that was used before, a die that is dead.
    void choose_faults();

    SsdConfig config_;
    FtlPlan plan_;
    Geometry geometry_;
    UndoPolicy undo_;
    std::optional<DeadDies> dead_;
    MemoryPageStore pages_;
    std::optional<MemoryPramStore> cells_; ///< none where the scheme needs none
    NandFaults* faults_ = nullptr;
    Sabotage* sabotage_ = nullptr;
    std::unique_ptr<PageStore> liar_; ///< the sabotage's, around pages_
    NullEventSink nobody_;
    EventSink* events_ = &nobody_;
    std::unique_ptr<Drive> drive_;
};

/// For messages: "read_only at sector 12".
[[nodiscard]] std::string describe(const DeviceError& error);

} // namespace flashlab
