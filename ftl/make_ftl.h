/// The one place that knows every scheme by name.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "ftl/ftl.h"
#include "ftl/ssd_config.h"
#include "nand/nand_array.h"
#include "pram/pram.h"
#include "pram/redo_log.h"

namespace flashlab {

/// Names in the order of the documentation.
[[nodiscard]] std::vector<std::string> all_schemes();

/// What a configuration comes to, before anything is made: refused combinations carry the reason and the remedy.
struct FtlPlan {
    std::uint32_t groups = 0;
    std::uint32_t spare_blocks = 0;       ///< after raising; mkfs prints it
    std::uint32_t logical_pages = 0;      ///< of logical_page_bytes each
    std::uint32_t logical_page_bytes = 0;
    std::uint64_t pram_bytes = 0;         ///< what the scheme needs, redo log included
    std::vector<std::string> warnings;
};
[[nodiscard]] std::expected<FtlPlan, std::string> plan_ftl(const SsdConfig& config, const Geometry& geometry);

/// `pram_range` is the FTL's part of the PRAM (plan.pram_bytes); pram may be null for schemes that need none.
[[nodiscard]] std::expected<std::unique_ptr<Ftl>, std::string> make_ftl(const SsdConfig& config, NandArray& array, Pram* pram, PramRange pram_range,
                                                                        EventSink& events);

} // namespace flashlab
