/// Options of the schemes with a map on demand.
#pragma once

#include "ftl/options.h"

namespace flashlab {

namespace demand_option {
inline constexpr OptionOf<std::uint64_t> mapping_cache_bytes{
    {.key = "ftl.mapping_cache_bytes",
     .help = "DRAM for cached mapping entries, in bytes. Larger: fewer reads and writes of translation pages. 0: a 32nd of the map.",
     .max = std::uint64_t{1} << 34,
     .is_size = true,
     .behind = "ftl.checkpoint_blocks"}};
inline constexpr OptionOf<std::uint32_t> mapping_entry_bytes{
    {.key = "ftl.mapping_entry_bytes",
     .help = "DRAM charged for a cached mapping entry, in bytes: 8 for two page numbers, 16 with the links of an LRU list. Larger: fewer fit.",
     .initial = 8,
     .min = 4,
     .max = 64,
     .behind = "ftl.mapping_cache_bytes"}};
inline constexpr OptionOf<bool> fetch_on_write_miss{{.key = "dftl.fetch_on_write_miss",
                                                     .help = "1: a write that misses the mapping cache reads its translation page first, once for "
                                                             "what comes together: a request, a page of a write buffer (Gupta et al.). 0: it makes a "
                                                             "dirty entry (Shim et al.).",
                                                     .phase = OptionPhase::mount,
                                                     .max = 1}};
inline constexpr OptionOf<bool> batch_update{{.key = "dftl.batch_update",
                                              .help =
                                                  "1: the eviction of a dirty entry writes all dirty entries of its translation page (Gupta et al.). "
                                                  "0: that entry alone, as the DFTL that TPFTL is compared with (Zhou et al.).",
                                              .phase = OptionPhase::mount,
                                              .initial = 1,
                                              .max = 1}};
} // namespace demand_option

namespace tpftl_option {
inline constexpr OptionOf<std::uint32_t> entry_bytes{
    {.key = "tpftl.entry_bytes",
     .help = "DRAM charged for a cached mapping entry, in bytes: place in its translation page and physical page number. Larger: fewer fit.",
     .initial = 6,
     .min = 4,
     .max = 64}};
inline constexpr OptionOf<std::uint32_t> node_bytes{
    {.key = "tpftl.node_bytes", .help = "DRAM charged for a translation page with cached entries, in bytes.", .initial = 12, .max = 64}};
inline constexpr OptionOf<bool> request_prefetch{
    {.key = "tpftl.request_prefetch",
     .help = "1: a read that misses the mapping cache brings the entries of its whole request. 0: one entry.",
     .phase = OptionPhase::mount,
     .initial = 1,
     .max = 1}};
inline constexpr OptionOf<bool> selective_prefetch{
    {.key = "tpftl.selective_prefetch",
     .help = "1: while ever fewer translation pages have cached entries, a miss brings as many entries behind it as are cached before it. 0: never.",
     .phase = OptionPhase::mount,
     .initial = 1,
     .max = 1}};
inline constexpr OptionOf<bool> fetch_on_write_miss{{.key = "tpftl.fetch_on_write_miss",
                                                     .help = "1: a write miss reads its translation page. 0: it does not.",
                                                     .phase = OptionPhase::mount,
                                                     .max = 1}};
} // namespace tpftl_option

namespace sftl_option {
inline constexpr OptionOf<std::uint32_t> buffer_permille{
    {.key = "sftl.buffer_permille",
     .help = "Permille of the mapping cache for changed entries of translation pages that are not in it. Larger: fewer writes of translation pages "
             "after scattered writes, and fewer pages in the cache.",
     .phase = OptionPhase::mount,
     .initial = 100,
     .max = 900}};
inline constexpr OptionOf<std::uint32_t> sparse_entries{
    {.key = "sftl.sparse_entries",
     .help = "A translation page with no more changed entries than this leaves the cache without being written: they go to the buffer. Larger: fewer "
             "writes of such pages, and a buffer that fills sooner.",
     .phase = OptionPhase::mount,
     .initial = 4,
     .max = 1024}};
} // namespace sftl_option

namespace learnedftl_option {
inline constexpr OptionOf<std::uint32_t> model_permille{
    {.key = "learnedftl.model_permille",
     .help = "Permille of the mapping cache that learned models may take. Larger: more pages whose place is predicted, and fewer cached entries.",
     .phase = OptionPhase::mount,
     .initial = 500,
     .max = 1000}};
inline constexpr OptionOf<std::uint32_t> intervals{
    {.key = "learnedftl.intervals",
     .help = "Intervals in the model of a translation page, at most, 16 bytes each. Larger: more pieces of it can be predicted.",
     .phase = OptionPhase::mount,
     .initial = 8,
     .min = 1,
     .max = 64}};
inline constexpr OptionOf<std::uint32_t> train_pages{
    {.key = "learnedftl.train_pages",
     .help = "Pages that the host writes one behind the other, or a collection moves, before a model is trained on them. Larger: only longer runs.",
     .phase = OptionPhase::mount,
     .initial = 32,
     .min = 2,
     .max = 1u << 16}};
inline constexpr OptionOf<std::uint32_t> groups{
    {.key = "learnedftl.groups",
     .help = "Groups of neighbouring pages whose short writes share superblocks; collections put pages in order, group after group, so that models "
             "know them. More: less of the spare is lost to stale pages, more to open superblocks. 0: blocks are collected one by one.",
     .max = 64}};
} // namespace learnedftl_option

namespace leaftl_option {
inline constexpr OptionOf<std::uint32_t> gamma{
    {.key = "leaftl.gamma",
     .help = "Units by which a learned segment may miss a page. Larger: fewer and longer segments, and more reads of "
             "a wrong page. 0: segments are exact.",
     .max = 16}};
inline constexpr OptionOf<std::uint32_t> batch_pages{
    {.key = "leaftl.batch_pages",
     .help = "Pages that are learned from together, 8 bytes of DRAM each until then; a write buffer gives the "
             "flash so many at a time. Larger: longer segments, and longer waits for the buffer.",
     .phase = OptionPhase::mount,
     .initial = 256,
     .min = 1,
     .max = 1u << 16}};
inline constexpr OptionOf<std::uint64_t> compaction_pages{
    {.key = "leaftl.compaction_pages",
     .help = "Pages that the host writes between compactions of the segments in DRAM. Larger: more hidden "
             "segments. 0: only with their translation page.",
     .phase = OptionPhase::mount,
     .initial = 1'000'000,
     .max = std::uint64_t{1} << 40}};
} // namespace leaftl_option

} // namespace flashlab
