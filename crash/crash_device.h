/// A whole device over stores in memory whose power can fail: what the explorer and the tests of every scheme stand on.
///
/// Idea       The stores outlive the array, the PRAM and the drive built on them; power_on() builds these anew, as a mount does.
/// Invariant  Nothing but the stores survives power_off(). A scheme that asks for no PRAM gets none.
/// Cost       A power_on() is what the scheme's own construction and recovery cost.
/// Power cut  cut(): at any instant since the last settle(). copy_stores(), rewind() and tear() make many cuts of one run: the latest first.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crash/sabotage.h"
#include "ftl/make_ftl.h"
#include "ftl/ssd.h"
#include "nand/memory_page_store.h"
#include "nand/nand_faults.h"
#include "pram/memory_pram_store.h"

namespace flashlab {

class CrashDevice {
public:
    /// Refused configurations carry the scheme's reason.
    [[nodiscard]] static std::expected<std::unique_ptr<CrashDevice>, std::string> make(const SsdConfig& config, Payload payload, UndoPolicy undo);

    /// Builds the device on its stores and recovers it. The error says what failed.
    [[nodiscard]] std::expected<FtlRecovery, std::string> power_on(SimTime now);
    /// kill -9: what was issued is complete, the rest is gone.
    void power_off();
    /// The power fails at `at`; the device is off afterwards.
    [[nodiscard]] std::expected<SsdCutReport, std::string> cut(SimTime at, CutOutcomes& nand, PramCutOutcomes& pram);

    /// Both have the same configuration; this one is off.
    void copy_stores(const CrashDevice& other);
    /// For good: what had not begun at `at` is undone, here. Only earlier times may follow.
    [[nodiscard]] std::expected<void, std::string> rewind(SimTime at);
    /// What a cut at `at` leaves of the operations in flight, done to `target`, whose stores are a copy of these.
    [[nodiscard]] std::expected<void, std::string> tear(SimTime at, CutOutcomes& nand, PramCutOutcomes& pram, CrashDevice& target);
    /// T4: what a cut left readable once is gone with the next one, whether anybody has read it or not. This device is off.
    void fade(std::span<const Ppn> unstable);
    /// Where what a cut leaves changes: unsorted.
    void append_moments(std::vector<SimTime>& to) const;
    /// Of all that survives a cut; payload of erased pages aside.
    [[nodiscard]] std::uint64_t fingerprint() const;

    [[nodiscard]] const SsdConfig& config() const { return config_; }
    [[nodiscard]] const FtlPlan& plan() const { return plan_; }
    [[nodiscard]] const Geometry& geometry() const { return geometry_; }
    [[nodiscard]] bool is_on() const { return ssd_ != nullptr; }
    [[nodiscard]] Ssd& ssd() { return *ssd_; }
    [[nodiscard]] Ftl& ftl() { return *ftl_; }
    [[nodiscard]] NandArray& array() { return *array_; }
    /// Faults of every array built from now on, and of the present one; null: none.
    void set_faults(NandFaults* faults);
    /// From the next power_on() on; null: none.
    void set_sabotage(Sabotage* sabotage) { sabotage_ = sabotage; }

private:
    CrashDevice(const SsdConfig& config, const FtlPlan& plan, const Geometry& geometry, Payload payload, UndoPolicy undo);

    SsdConfig config_;
    FtlPlan plan_;
    Geometry geometry_;
    UndoPolicy undo_;
    MemoryPageStore pages_;
    std::optional<MemoryPramStore> cells_; ///< none where the scheme needs none
    NandFaults* faults_ = nullptr;
    Sabotage* sabotage_ = nullptr;
    std::unique_ptr<PageStore> liar_; ///< the sabotage's, around pages_
    NullEventSink events_;
    std::unique_ptr<NandArray> array_;
    std::unique_ptr<Pram> pram_;
    std::unique_ptr<Ftl> ftl_;
    std::unique_ptr<Ssd> ssd_;
};

/// For messages: "read_only at sector 12".
[[nodiscard]] std::string describe(const DeviceError& error);

} // namespace flashlab
