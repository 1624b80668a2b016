// What the papers print: shown beside ours, and used for nothing else. The paper's plots carry no numbers that could be read off reliably: only those
// of its text are here.
#include <algorithm>
#include <array>

#include "tools/reproduce/experiment.h"

namespace flashlab {
namespace {

struct Value {
    std::string_view id, series;
    double x;
    double paper;
};
struct Words {
    std::string_view id, claim, paper; ///< without a claim: of all others of the experiment
};

// Kang et al. 2007. Section 5.1.1: +73 %, +164 %; 5.1.2: +84 %, +197 %; 5.1.3: +72 %, +37 %; 5.1.4: 23.3 and 16.0 MB/s, 2.3 and 3.6 times.
constexpr std::array values{
    Value{"mc-fig11", "read S4:I1 over S1:I1, times", 8192, 1.73}, Value{"mc-fig11", "write S4:I1 over S1:I1, times", 8192, 2.64},
    Value{"mc-fig12", "read S1:I4 over S1:I1, times", 2048, 1.84}, Value{"mc-fig12", "write S1:I4 over S1:I1, times", 2048, 2.97},
    Value{"mc-fig13", "read S1:I1 pipelined over S1:I1, times", 2048, 1.72}, Value{"mc-fig13", "write S1:I1 pipelined over S1:I1, times", 2048, 1.37},
    Value{"mc-fig14", "read S2:I2 pipelined, MB/s", 4096, 23.3}, Value{"mc-fig14", "write S2:I2 pipelined, MB/s", 4096, 16.0},
    Value{"mc-fig14", "read S2:I2 pipelined over S1:I1, times", 4096, 2.3}, Value{"mc-fig14", "write S2:I2 pipelined over S1:I1, times", 4096, 3.6},
    Value{"mc-fig16", "read over raw, times", 131072, 0.8}, // section 5.2
    // Kim et al. 2008. Section 5.2.
    Value{"hy-fig11", "raw write, MB/s", 2048, 1.73}, Value{"hy-fig11", "raw read, MB/s", 2048, 4.24},
    Value{"hy-fig11", "random write, hftl over log_block, times", 8192, 42},
    Value{"hy-fig12", "random write, hftl-FSMS over log_block, times", 8192, 3.9},
    Value{"hy-fig12", "random write, hftl over log_block-FSMS, times", 8192, 2.3},
    Value{"hy-fig12", "sequential write, log_block-FSMS over log_block, times", 8192, 1.63},
    Value{"hy-fig12", "sequential write, hftl-FSMS over hftl, times", 8192, 1.63},
    Value{"hy-fig3", "share of writes that change fewer words", 25, 0.80}, // section 3.1
    Value{"hy-fig3", "mean share of a sector that is changed", 256, 0.16},
    Value{"hy-fig9", "with logical-page-delete, 10 % over 0 % reserved, times", 10, 1.22}, // section 4.1
    Value{"hy-fig13", "hftl-FSMS over log_block, times", 1, 0.5},                          // section 6, "up to"
    Value{"hy-fig14", "hftl, MiB", 1, 2.17},                                               // section 5.4
    Value{"hy-fig14", "log_block-FSMS, MiB", 1, 5.47}, Value{"hy-fig14", "hftl-FSMS, MiB", 1, 7.64},
    Value{"ap-fig8", "dftl: largest gain over a static partition, %", 16, 41.9}, // Shim et al. 2010, section I
};

constexpr std::string_view below_a_page = "striping is effective only when the sub-request size is equal to or greater than the page size (5.1.1)";
constexpr std::string_view less_than_linear = "the read and the write throughput do not improve linearly (5.1.1)";
constexpr std::string_view flat = "a larger request does not improve the throughput further from the page size on (5.1.2)";
constexpr std::string_view worst = "1 Kbytes shows consistently worse throughput than the other cases (5.1.2)";
constexpr std::string_view level = "the larger interleaving level causes the smaller improvement (5.1.2)";
constexpr std::string_view pipelined_flat = "no added benefit if the request size is equal to or greater than 2 Kbytes (5.1.3)";
constexpr std::string_view pipelined_small = "for the smaller request size, the throughput is decreased (5.1.3)";
constexpr std::string_view always = "S1:I4 always performs well regardless of the request size (5.1.4)";
constexpr std::string_view same = "both exhibit the same maximum throughput (5.1.4)";
constexpr std::string_view degraded = "with a sub-request below the page size the throughput is degraded (5.1.4)";
constexpr std::string_view effective = "striping is very effective in reducing the average service time (5.1.4)";
constexpr std::string_view no_reduction = "interleaving does not reduce the service time of individual requests (5.1.4)";
constexpr std::string_view pram_sizes = "LBFTL+FSMS, hFTL and hFTL+FSMS require 5.47MB, 2.17MB, 7.64MB of PRAM (5.4)";
constexpr std::string_view lld_level = "the performance of both FTLs reaches LLD level performance for sequential access patterns (5.2)";

constexpr std::string_view blocks = "the performance of COFTL was significantly improved as the number of blocks per virtual block increased (IV-B1)";
constexpr std::string_view saturated = "the performance of COFTL became saturated when the cache size was no less than 16MB (IV-B2)";
constexpr std::string_view ap_best = "the performance of the adaptive partitioning scheme approximates the best performance very closely (IV B)";
constexpr std::string_view ap_best_fast = "the proposed scheme tracks the most cost-beneficial point between buffering and mapping (IV C)";
constexpr std::string_view ap_third = "the best performance is achieved when the ratio of mapping space is about 30% or 50% (IV B)";
constexpr std::string_view ap_quarter = "the best performance is achieved at around 25% (IV B)";
constexpr std::string_view ap_all =
    "the TPC-C trace requires large mapping space for the best performance; flash reads are reduced as it reaches almost 100% (IV B)";
constexpr std::string_view ap_small =
    "the best performance is obtained at the small mapping ratio; from zero to around 25% the log blocks' hits are dramatically raised (IV C)";
constexpr std::string_view ap_high =
    "the proposed scheme autonomously moves the BM ratio to the higher mapping ratio, and achieves the best performance (IV C)";
constexpr std::string_view ap_gain = "enhanced the throughput by up to 41.9% more with 16MB DRAM when using the DFTL scheme (I)";
constexpr std::string_view ap_follow =
    "the throughput of the proposed scheme approximates the throughput of the best result of the static partitioning scheme for each period (IV D)";
constexpr std::string_view ap_erases =
    "the results of the adaptive partitioning scheme come near the lowest erase counts under the static partitioning policy (IV E)";

constexpr std::array words{
    Words{"co-fig7", "the throughput grows with the blocks of a virtual block", blocks},
    Words{"co-fig7", "COFTL is far above BL at every size of a virtual block",
          "COFTL could greatly improve the access performance, compared to BL (IV-B1)"},
    Words{"co-fig8", "the throughput grows with the cache up to 16 MB", "when the cache size increased, the throughput increased as well (IV-B2)"},
    Words{"co-fig8", "it is saturated from 16 MB on", saturated},
    Words{"co-fig9", "the throughput grows with the channels", "significant improvement due to the increased degree of parallelism (IV-B2)"},
    Words{"co-fig9", "COFTL is far above BL with every number of channels",
          "COFTL could greatly improve the access performance, compared to BL (IV-B1)"},
    Words{"beyond-ftls", "no layer without a data cache is faster than a page map in DRAM", "none: expected, since its map costs nothing"},
    Words{"beyond-ftls", "no layer writes less flash than a page map in DRAM",
          "none: expected, since it collects the emptiest block and writes no map"},
    Words{"beyond-ftls", "block mapping is the slowest on every load and cell", "none: expected, since it copies a block for nearly every write"},
    Words{"beyond-recovery", "COFTL's recovery is bounded by its free list, not by the capacity",
          "CO, section III-C2: the time on the crash recovery is limited by the number of the free sets"},
    Words{"beyond-ftls", "dftl keeps less of its map in DRAM than a page map, and a block map least",
          "none: expected, from what each keeps an entry for"},
    Words{"beyond-phases", "", "not tried; the optimal ratio changes according to workload characteristics, the scheme adaptively tunes it (AP, I)"},
    Words{"beyond-coftl-partition", "", "not tried; the approach can be also applied to various caching-based FTL schemes (AP, V)"},
    Words{"beyond-sensitivity", "", "none: it does not vary these values"},
    Words{"beyond-causes", "ap-fig5, Financial: beside the same buffer the CMT hits at a third of the DRAM as often as it ever will", ap_third},
    Words{"beyond-causes", "ap-fig7, SYSmark: with the block map inside the DRAM the buffer's hits hardly change up to a quarter", ap_small},
    Words{"beyond-causes", "", ap_erases},
    Words{"beyond-overheads",
          "mc-fig11, read: no gain at 2 KB and +73 % at 8 KB go together only when a part of the driver's cost is each sub-request's", below_a_page},
    Words{"beyond-overheads", "mc-fig16, asynchronous writes: the oftener the driver's threads compete for the CPU, the slower",
          "as the block size increases, the competition between two channel manager groups is exacerbated (5.2)"},
    Words{"beyond-overheads", "hy-fig12, sequential read: with look-ups of 1 ns a word hftl is as fast as log_block",
          "slightly higher than those of LBFTL and LBFTL-FSMS (5.2)"},
    Words{"mc-fig11", "read: no gain while the sub-request is below a page", below_a_page},
    Words{"mc-fig11", "write: no gain while the sub-request is below a page", below_a_page},
    Words{"mc-fig11", "read: striping pays most when the sub-request is a page", below_a_page},
    Words{"mc-fig11", "write: striping pays most when the sub-request is a page", below_a_page},
    Words{"mc-fig11", "read: the gain is less than linear", less_than_linear},
    Words{"mc-fig11", "write: the gain is less than linear", less_than_linear},
    Words{"mc-fig11", "reads gain less than writes", "the read operation is more affected by the control overhead (5.1.1)"},
    Words{"mc-fig11", "reads are about twice as fast as writes", "the read throughput is about twice the write throughput (5.1.1)"},
    Words{"mc-fig12", "read: the throughput is flat from one page up", flat},
    Words{"mc-fig12", "write: the throughput is flat from one page up", flat},
    Words{"mc-fig12", "read: 1 KB is always the worst", worst},
    Words{"mc-fig12", "write: 1 KB is always the worst", worst},
    Words{"mc-fig12", "read: each doubling of the level gains less", level},
    Words{"mc-fig12", "write: each doubling of the level gains less", level},
    Words{"mc-fig13", "read: the throughput is flat from one page up", pipelined_flat},
    Words{"mc-fig13", "write: the throughput is flat from one page up", pipelined_flat},
    Words{"mc-fig13", "read: smaller requests are slower", pipelined_small},
    Words{"mc-fig13", "write: smaller requests are slower", pipelined_small},
    Words{"mc-fig13", "reads gain more than writes", "the write throughput is improved slightly since WN and NP are much longer than WD (5.1.3)"},
    Words{"mc-fig14", "read: S1:I4 is good at every request size", always},
    Words{"mc-fig14", "write: S1:I4 is good at every request size", always},
    Words{"mc-fig14", "read: S4:I1 at 8 KB and S2:I2 at 4 KB reach the same maximum", same},
    Words{"mc-fig14", "write: S4:I1 at 8 KB and S2:I2 at 4 KB reach the same maximum", same},
    Words{"mc-fig14", "read: small requests suffer from striping", degraded},
    Words{"mc-fig14", "write: small requests suffer from striping", degraded},
    Words{"mc-fig15", "read: striping lowers the service time", effective},
    Words{"mc-fig15", "write: striping lowers the service time", effective},
    Words{"mc-fig15", "read: interleaving does not lower it", no_reduction},
    Words{"mc-fig15", "write: interleaving does not lower it", no_reduction},
    Words{"mc-fig16", "reads do not reach the raw throughput", "the practical throughput is limited to 80% of the raw throughput (5.2)"},
    Words{"mc-fig16", "asynchronous writes are roughly independent of the block size",
          "roughly the same throughput independent of the block size (5.2)"},
    Words{"mc-fig16", "asynchronous writes fall slightly with the block size",
          "the write operation shows the lower throughput as the block size increases (5.2)"},
    Words{"mc-fig16", "small synchronous writes cannot use the parallelism", "the small block size cannot fully exploit the parallelism (5.2)"},

    Words{"hy-fig11", "sequential writes reach raw speed on both translation layers", lld_level},
    Words{"hy-fig11", "sequential reads reach raw speed on both translation layers", lld_level},
    Words{"hy-fig11", "random writes of hftl do not depend on the request size", "our hFTL always shows stable performance (5.2)"},
    Words{"hy-fig11", "random writes of log_block fall with the request size",
          "the performance of LBFTL is getting lower as the I/O request unit size is getting smaller (5.2)"},
    Words{"hy-fig11", "random writes of 8 KB: hftl is 30 to 50 times as fast",
          "it shows up to 42 times better performance than that of LBFTL at the 8KB I/O request unit size (5.2)"},
    Words{"hy-fig12", "sequential write: FSMS gains 38 to 88 % on both translation layers",
          "better performance than LBFTL and hFTL by up to 63% (5.2)"},
    Words{"hy-fig12", "sequential write: log_block and hftl are almost the same",
          "they show almost same performance because of the simple access pattern (5.2)"},
    Words{"hy-fig12", "random write: hftl-FSMS gains 174 to 406 % over log_block", "increase the throughput up to 290% compared to LBFTL (5.2)"},
    Words{"hy-fig12", "random write: hftl gains 78 to 182 % over log_block-FSMS", "hFTL shows higher performance than LBFTL-FSMS up to 130% (5.2)"},
    Words{"hy-fig12", "random write: hftl-FSMS is the fastest at every request size",
          "the highest performance for the all I/O request unit sizes (5.2)"},
    Words{"hy-fig12", "random write: the gain becomes smaller as the request becomes larger",
          "the performance gain becomes smaller as the I/O request unit size becomes larger (5.2)"},
    Words{"hy-fig12", "random read: FSMS is slightly faster on both translation layers",
          "LBFTL-FSMS and hFTL-FSMS slightly outperform LBFTL and hFTL (5.2)"},
    Words{"hy-fig12", "sequential read: hftl is slightly faster than log_block", "slightly higher than those of LBFTL and LBFTL-FSMS (5.2)"},
    Words{"hy-fig3", "70 to 90 % of metadata writes change fewer than 25 of 256 words",
          "about 80% need to modify less than 25 words out of 256 words (3.1)"},
    Words{"hy-fig3", "on average 10 to 22 % of a metadata sector are changed", "only about 16% of a metadata block is actually updated (3.1)"},
    Words{"hy-fig9", "logical-page-delete helps at every reserve", "it improves our hFTL in every case (4.1)"},
    Words{"hy-fig9", "with it, 10 % reserved is 13 to 31 % faster than 0 %",
          "the performance of 10%-reserved block is 22% higher than that of 0%-reserved block (4.1)"},
    Words{"hy-fig9", "with it, 5 % reserved is enough (within 10 % of 10 % reserved)",
          "5%-reserved block seems enough to avoid severe performance degradation (4.1)"},
    Words{"hy-fig13", "hftl-FSMS erases at least 40 % less than log_block", "reduce the number of erase operations up to 50% (6)"},
    Words{"hy-fig13", "FSMS and hftl each lower the erase count", "both of FSMS and hFTL reduce the block erase count dramatically (5.3)"},
    Words{"hy-fig14", "hftl takes 1.84 to 2.50 MB", pram_sizes},
    Words{"hy-fig14", "FSMS takes 4.65 to 6.29 MB", pram_sizes},
    Words{"hy-fig14", "larger mapping units halve and quarter the map", "decreases the demand of PRAM by half or a quarter (5.4)"},
    Words{"hy-fig11", "random writes of 8 KB: hftl is some 40 times as fast (30 to 50)",
          "it shows up to 42 times better performance than that of LBFTL at the 8KB I/O request unit size (5.2)"},
    // Shim et al. 2010, section IV; figure 2: section III A
    Words{"ap-fig2", "PC: a larger buffer saves more than larger maps",
          "PC: increasing the buffer space is more effective in enhancing the performance than increasing the mapping space (III A)"},
    Words{"ap-fig2", "TPC-C: larger maps save more than a larger buffer",
          "TPC-C: increasing the mapping space is more effective in reducing the operation time (III A)"},
    Words{"ap-fig4", "SYSmark, 8 MB, dftl: adaptive within 3 % of the best static", ap_best},
    Words{"ap-fig6", "SYSmark, 8 MB, fast: adaptive within 3 % of the best static", ap_best_fast},
    Words{"ap-fig4", "Financial, 8 MB, dftl: adaptive within 3 % of the best static", ap_best},
    Words{"ap-fig6", "Financial, 8 MB, fast: adaptive within 3 % of the best static", ap_best_fast},
    Words{"ap-fig4", "PC, 8 MB, dftl: adaptive within 3 % of the best static", ap_best},
    Words{"ap-fig6", "PC, 8 MB, fast: adaptive within 3 % of the best static", ap_best_fast},
    Words{"ap-fig4", "TPC-C, 8 MB, dftl: adaptive within 3 % of the best static", ap_best},
    Words{"ap-fig6", "TPC-C, 8 MB, fast: adaptive within 3 % of the best static", ap_best_fast},
    Words{"ap-fig4", "SYSmark, 8 MB, dftl: best static share near 30 to 50 %", ap_third},
    Words{"ap-fig6", "SYSmark, 8 MB, fast: best static share near 25 %", ap_small},
    Words{"ap-fig4", "Financial, 8 MB, dftl: best static share near 30 to 50 %", ap_third},
    Words{"ap-fig6", "Financial, 8 MB, fast: best static share near 25 %", ap_small},
    Words{"ap-fig4", "PC, 8 MB, dftl: best static share near 25 %", ap_quarter},
    Words{"ap-fig4", "TPC-C, 8 MB, dftl: best static share near 100 %", ap_all},
    Words{"ap-fig6", "TPC-C, 8 MB, fast: best static share near 65 to 100 %", ap_high},
    Words{"ap-fig4", "SYSmark, 16 MB, dftl: adaptive within 3 % of the best static", ap_best},
    Words{"ap-fig6", "SYSmark, 16 MB, fast: adaptive within 3 % of the best static", ap_best_fast},
    Words{"ap-fig4", "Financial, 16 MB, dftl: adaptive within 3 % of the best static", ap_best},
    Words{"ap-fig6", "Financial, 16 MB, fast: adaptive within 3 % of the best static", ap_best_fast},
    Words{"ap-fig4", "PC, 16 MB, dftl: adaptive within 3 % of the best static", ap_best},
    Words{"ap-fig6", "PC, 16 MB, fast: adaptive within 3 % of the best static", ap_best_fast},
    Words{"ap-fig4", "TPC-C, 16 MB, dftl: adaptive within 3 % of the best static", ap_best},
    Words{"ap-fig6", "TPC-C, 16 MB, fast: adaptive within 3 % of the best static", ap_best_fast},
    Words{"ap-fig4", "SYSmark, 16 MB, dftl: best static share near 30 to 50 %", ap_third},
    Words{"ap-fig6", "SYSmark, 16 MB, fast: best static share near 25 %", ap_small},
    Words{"ap-fig4", "Financial, 16 MB, dftl: best static share near 30 to 50 %", ap_third},
    Words{"ap-fig6", "Financial, 16 MB, fast: best static share near 25 %", ap_small},
    Words{"ap-fig4", "PC, 16 MB, dftl: best static share near 25 %", ap_quarter},
    Words{"ap-fig4", "TPC-C, 16 MB, dftl: best static share near 100 %", ap_all},
    Words{"ap-fig6", "TPC-C, 16 MB, fast: best static share near 65 to 100 %", ap_high},
    Words{"ap-fig4", "adaptive is never slower than the worst static", ap_best},
    Words{"ap-fig4", "adaptive gains 40 % or more over the worst static somewhere", ap_gain},
    Words{"ap-fig6", "adaptive is never slower than the worst static", ap_best_fast},
    Words{"ap-fig6", "adaptive gains 40 % or more over the worst static somewhere", ap_gain},
    Words{"ap-fig5", "SYSmark: at a third of the DRAM the CMT hits as often as it ever will",
          "as the ratio increases from zero to more than 30%, the hit ratios in CMT rapidly reach almost 100% (IV B)"},
    Words{"ap-fig5", "SYSmark: the buffer's hits fall little at first and sharply at the end",
          "the hit ratios in the data buffer are slightly decreased; below 30% of buffer they sharply drop (IV B)"},
    Words{"ap-fig7", "SYSmark: a quarter of the DRAM brings most of the log blocks' hits", ap_small},
    Words{"ap-fig7", "SYSmark: meanwhile the buffer's hits hardly change",
          "the read and write hit ratios are nearly unchanged in spite of the diminished buffering space (IV C)"},
    Words{"ap-fig5", "Financial: at a third of the DRAM the CMT hits as often as it ever will",
          "as the ratio increases from zero to more than 30%, the hit ratios in CMT rapidly reach almost 100% (IV B)"},
    Words{"ap-fig5", "Financial: the buffer's hits fall little at first and sharply at the end",
          "the hit ratios in the data buffer are slightly decreased; below 30% of buffer they sharply drop (IV B)"},
    Words{"ap-fig7", "Financial: a quarter of the DRAM brings most of the log blocks' hits", ap_small},
    Words{"ap-fig7", "Financial: meanwhile the buffer's hits hardly change",
          "the read and write hit ratios are nearly unchanged in spite of the diminished buffering space (IV C)"},
    Words{"ap-fig5", "PC: larger maps raise the valid page copies",
          "the number of valid page copies in data blocks increases due to the reduced write hit ratio in the data buffer (IV B)"},
    Words{"ap-fig5", "TPC-C: larger maps save flash reads all the way", ap_all},
    Words{"ap-fig7", "PC: more log blocks, fewer pages copied",
          "the operation time for merge operations is reduced as the number of log blocks increases (IV C)"},
    Words{"ap-fig7", "TPC-C: the buffer's hits are low and almost unchanged",
          "the buffer hit ratios are quite low and almost unchanged even with the very small buffering space (IV C)"},
    Words{"ap-fig8", "PC, dftl: adaptive follows the best static", ap_follow},
    Words{"ap-fig8", "TPC-C, dftl: adaptive follows the best static", ap_follow},
    Words{"ap-fig8", "PC, fast: adaptive follows the best static", ap_follow},
    Words{"ap-fig8", "TPC-C, fast: adaptive follows the best static", ap_follow},
    Words{"ap-fig9", "SYSmark, dftl: erases within 5 % of the lowest static", ap_erases},
    Words{"ap-fig10", "SYSmark, fast: erases within 5 % of the lowest static", ap_erases},
    Words{"ap-fig9", "Financial, dftl: erases within 5 % of the lowest static", ap_erases},
    Words{"ap-fig10", "Financial, fast: erases within 5 % of the lowest static", ap_erases},
    Words{"ap-fig9", "PC, dftl: erases within 5 % of the lowest static", ap_erases},
    Words{"ap-fig10", "PC, fast: erases within 5 % of the lowest static", ap_erases},
    Words{"ap-fig9", "TPC-C, dftl: erases within 5 % of the lowest static", ap_erases},
    Words{"ap-fig10", "TPC-C, fast: erases within 5 % of the lowest static", ap_erases},
};

} // namespace

std::optional<double> paper_value(std::string_view id, std::string_view series, double x) {
    const auto at = std::ranges::find_if(values, [&](const Value& v) { return v.id == id && v.series == series && v.x == x; });
    return at == values.end() ? std::nullopt : std::optional{at->paper};
}

std::string_view paper_words(std::string_view id, std::string_view claim) {
    const auto of = [&](std::string_view text) { return std::ranges::find_if(words, [&](const Words& w) { return w.id == id && w.claim == text; }); };
    const auto own = of(claim), at = own != words.end() ? own : of("");
    return at == words.end() ? std::string_view{} : at->paper;
}

} // namespace flashlab
