/// A drive over stores in the host's memory, which it owns: experiments, benches and tests whose power is not cut.
///
/// Idea       The plan of the configuration says what is there: as much PRAM as the scheme asks for. crash/crash_device.h is the one that is cut.
/// Invariant  V1 and V2 of drive.h; the stores end last.
/// Cost       The records of all pages; their payload where it is kept.
/// Power cut  Its stores end with it: there is nothing to come back to.
#pragma once

#include <optional>

#include "ftl/drive.h"
#include "ftl/make_ftl.h"
#include "nand/memory_page_store.h"
#include "pram/memory_pram_store.h"

namespace flashlab {

class MemoryDrive {
public:
    /// Made, not recovered. `events` outlives the drive. The error is the scheme's reason to refuse the configuration.
    [[nodiscard]] static std::expected<std::unique_ptr<MemoryDrive>, std::string> make(const SsdConfig& config, Payload payload, EventSink& events);

    [[nodiscard]] const SsdConfig& config() const { return drive_->config(); }
    [[nodiscard]] const FtlPlan& plan() const { return plan_; }
    [[nodiscard]] const Geometry& geometry() const { return geometry_; } ///< of the chips
    [[nodiscard]] NandArray& array() { return drive_->array(); }
    [[nodiscard]] const NandArray& array() const { return drive_->array(); }
    [[nodiscard]] Ftl& ftl() { return drive_->ftl(); }
    [[nodiscard]] const Ftl& ftl() const { return drive_->ftl(); }
    [[nodiscard]] Ssd& ssd() { return drive_->ssd(); }
    [[nodiscard]] Drive& parts() { return *drive_; }

private:
    MemoryDrive(const Geometry& geometry, FtlPlan plan, Payload payload);

    Geometry geometry_;
    FtlPlan plan_;
    MemoryPageStore pages_;
    std::optional<MemoryPramStore> cells_;
    std::unique_ptr<Drive> drive_;
};

} // namespace flashlab
