/// Options of the schemes with a map on demand.
#pragma once

#include "ftl/options.h"

namespace flashlab {

namespace demand_option {
inline constexpr OptionOf<std::uint64_t> mapping_cache_bytes{{.key = "ftl.mapping_cache_bytes",
                                                              .help = "DRAM for cached mapping entries; 0: a 32nd of the map.",
                                                              .max = std::uint64_t{1} << 34,
                                                              .is_size = true,
                                                              .behind = "ftl.checkpoint_blocks"}};
inline constexpr OptionOf<std::uint32_t> mapping_entry_bytes{
    {.key = "ftl.mapping_entry_bytes",
     .help = "DRAM that a cached mapping entry takes: 8, logical and physical page number; 16 with the links of the LRU list.",
     .initial = 8,
     .min = 4,
     .max = 64,
     .behind = "ftl.mapping_cache_bytes"}};
inline constexpr OptionOf<bool> fetch_on_write_miss{
    {.key = "dftl.fetch_on_write_miss",
     .help = "1: a write whose mapping entry is not cached reads its translation page first, once for a request, as Gupta et al. have it; 0: it "
             "makes a dirty entry (Shim et al.).",
     .phase = OptionPhase::mount,
     .max = 1}};
} // namespace demand_option

} // namespace flashlab
