/// A drive put together: array, PRAM, translation layer and Ssd, over stores that somebody else keeps.
///
/// Idea       The one place that builds these four. Mounts, runs in virtual time, crash rigs, experiments and tests bring the stores and an event
///            sink. They differ in the stores, and in what they put on top.
/// Invariant  V1 a Drive exists only when every part has accepted the configuration. V2 its parts end in reverse order: users before what they use.
///            The scheme gets the PRAM only where it asks for it or the stores have it.
/// Cost       NandArray::open() reads one record a block; the scheme allocates its tables. Nothing is read or written in simulated time.
/// Power cut  ssd().cut(); afterwards the Drive may only be destroyed. What survives is in the stores: another Drive over them recovers it.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ftl/ssd.h"
#include "pram/redo_log.h"

namespace flashlab {

struct FtlPlan;

/// What a drive stands on; all of it outlives the drive.
struct DriveBase {
    PageStore& pages;
    PramStore* cells = nullptr; ///< null: a drive without PRAM
    EventSink& events;
    UndoPolicy undo = UndoPolicy::none;      ///< keep: the power of the drive may be cut
    std::optional<PramRange> ftl_range = {}; ///< the scheme's part of the PRAM; none: all of it
    /// Puts something between the scheme and the Ssd; empty: nothing.
    std::function<std::unique_ptr<Ftl>(std::unique_ptr<Ftl>)> around_ftl = {};
};

struct DriveError {
    std::string why;    ///< for people
    int host_errno = 0; ///< not 0: the records in the page store cannot be read, and this is why
};

class Drive {
public:
    /// The drive is made, not recovered: ssd().recover() is the next call.
    [[nodiscard]] static std::expected<std::unique_ptr<Drive>, DriveError> assemble(const SsdConfig& config, const DriveBase& base);

    [[nodiscard]] const SsdConfig& config() const { return config_; }
    [[nodiscard]] NandArray& array() { return array_; }
    [[nodiscard]] const NandArray& array() const { return array_; }
    [[nodiscard]] Pram* pram() { return pram_.get(); } ///< null: there is none
    [[nodiscard]] Ftl& ftl() { return *ftl_; }
    [[nodiscard]] const Ftl& ftl() const { return *ftl_; }
    [[nodiscard]] Ssd& ssd() { return *ssd_; }
    [[nodiscard]] const Ssd& ssd() const { return *ssd_; }

    /// Another DRAM in front of a scheme that is running: a new Ssd, whose take_over() is the next call. The error says why not.
    [[nodiscard]] std::expected<void, std::string> change_dram(const DramConfig& dram);

private:
    Drive(const SsdConfig& config, const Geometry& geometry, const DriveBase& base);
    [[nodiscard]] std::expected<void, std::string> make_ssd();

    SsdConfig config_;
    EventSink& events_;
    PramRange buffer_range_; ///< of the PRAM, empty without a write buffer there
    NandArray array_;
    std::unique_ptr<Pram> pram_;
    std::unique_ptr<Ftl> ftl_;
    std::unique_ptr<Ssd> ssd_;
};

/// The PRAM of a drive in memory: as much as the scheme asks for, in whole pages of 4 KiB; none for a scheme that needs none.
[[nodiscard]] std::uint64_t pram_bytes_of(const FtlPlan& plan);

} // namespace flashlab
