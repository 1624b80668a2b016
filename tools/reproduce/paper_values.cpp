// What the papers print: shown beside ours, and used for nothing else. The paper's plots carry no numbers that could be read off reliably: only those of its text
// are here.
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
    std::string_view id, claim, paper;
};

// Kang et al. 2007. Section 5.1.1: +73 %, +164 %; 5.1.2: +84 %, +197 %; 5.1.3: +72 %, +37 %; 5.1.4: 23.3 and 16.0 MB/s, 2.3 and 3.6 times.
constexpr std::array values{
    Value{"mc-fig11", "read S4:I1 over S1:I1, times", 8192, 1.73},
    Value{"mc-fig11", "write S4:I1 over S1:I1, times", 8192, 2.64},
    Value{"mc-fig12", "read S1:I4 over S1:I1, times", 2048, 1.84},
    Value{"mc-fig12", "write S1:I4 over S1:I1, times", 2048, 2.97},
    Value{"mc-fig13", "read S1:I1 pipelined over S1:I1, times", 2048, 1.72},
    Value{"mc-fig13", "write S1:I1 pipelined over S1:I1, times", 2048, 1.37},
    Value{"mc-fig14", "read S2:I2 pipelined, MB/s", 4096, 23.3},
    Value{"mc-fig14", "write S2:I2 pipelined, MB/s", 4096, 16.0},
    Value{"mc-fig14", "read S2:I2 pipelined over S1:I1, times", 4096, 2.3},
    Value{"mc-fig14", "write S2:I2 pipelined over S1:I1, times", 4096, 3.6},
    Value{"mc-fig16", "read over raw, times", 131072, 0.8}, // section 5.2
    // Kim et al. 2008. Section 5.2.
    Value{"hy-fig11", "raw write, MB/s", 2048, 1.73},
    Value{"hy-fig11", "raw read, MB/s", 2048, 4.24},
    Value{"hy-fig11", "random write, hftl over log_block, times", 8192, 42},
    Value{"hy-fig12", "random write, hftl-FSMS over log_block, times", 8192, 3.9},
    Value{"hy-fig12", "random write, hftl over log_block-FSMS, times", 8192, 2.3},
    Value{"hy-fig12", "sequential write, log_block-FSMS over log_block, times", 8192, 1.63},
    Value{"hy-fig12", "sequential write, hftl-FSMS over hftl, times", 8192, 1.63},
    Value{"hy-fig3", "share of writes that change fewer words", 25, 0.80}, // section 3.1
    Value{"hy-fig3", "mean share of a sector that is changed", 256, 0.16},
    Value{"hy-fig9", "with logical-page-delete, 10 % over 0 % reserved, times", 10, 1.22}, // section 4.1
    Value{"hy-fig13", "hftl-FSMS over log_block, times", 1, 0.5}, // section 6, "up to"
    Value{"hy-fig14", "hftl, MiB", 1, 2.17}, // section 5.4
    Value{"hy-fig14", "log_block-FSMS, MiB", 1, 5.47},
    Value{"hy-fig14", "hftl-FSMS, MiB", 1, 7.64},
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

constexpr std::array words{
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
    Words{"mc-fig16", "asynchronous writes are roughly independent of the block size", "roughly the same throughput independent of the block size (5.2)"},
    Words{"mc-fig16", "asynchronous writes fall slightly with the block size", "the write operation shows the lower throughput as the block size increases (5.2)"},
    Words{"mc-fig16", "small synchronous writes cannot use the parallelism", "the small block size cannot fully exploit the parallelism (5.2)"},

    Words{"hy-fig11", "sequential writes reach raw speed on both translation layers", lld_level},
    Words{"hy-fig11", "sequential reads reach raw speed on both translation layers", lld_level},
    Words{"hy-fig11", "random writes of hftl do not depend on the request size", "our hFTL always shows stable performance (5.2)"},
    Words{"hy-fig11", "random writes of log_block fall with the request size", "the performance of LBFTL is getting lower as the I/O request unit size is getting smaller (5.2)"},
    Words{"hy-fig11", "random writes of 8 KB: hftl is 30 to 50 times as fast", "it shows up to 42 times better performance than that of LBFTL at the 8KB I/O request unit size (5.2)"},
    Words{"hy-fig12", "sequential write: FSMS gains 38 to 88 % on both translation layers", "better performance than LBFTL and hFTL by up to 63% (5.2)"},
    Words{"hy-fig12", "sequential write: log_block and hftl are almost the same", "they show almost same performance because of the simple access pattern (5.2)"},
    Words{"hy-fig12", "random write: hftl-FSMS gains 174 to 406 % over log_block", "increase the throughput up to 290% compared to LBFTL (5.2)"},
    Words{"hy-fig12", "random write: hftl gains 78 to 182 % over log_block-FSMS", "hFTL shows higher performance than LBFTL-FSMS up to 130% (5.2)"},
    Words{"hy-fig12", "random write: hftl-FSMS is the fastest at every request size", "the highest performance for the all I/O request unit sizes (5.2)"},
    Words{"hy-fig12", "random write: the gain becomes smaller as the request becomes larger", "the performance gain becomes smaller as the I/O request unit size becomes larger (5.2)"},
    Words{"hy-fig12", "random read: FSMS is slightly faster on both translation layers", "LBFTL-FSMS and hFTL-FSMS slightly outperform LBFTL and hFTL (5.2)"},
    Words{"hy-fig12", "sequential read: hftl is slightly faster than log_block", "slightly higher than those of LBFTL and LBFTL-FSMS (5.2)"},
    Words{"hy-fig3", "70 to 90 % of metadata writes change fewer than 25 of 256 words", "about 80% need to modify less than 25 words out of 256 words (3.1)"},
    Words{"hy-fig3", "on average 10 to 22 % of a metadata sector are changed", "only about 16% of a metadata block is actually updated (3.1)"},
    Words{"hy-fig9", "logical-page-delete helps at every reserve", "it improves our hFTL in every case (4.1)"},
    Words{"hy-fig9", "with it, 10 % reserved is 13 to 31 % faster than 0 %", "the performance of 10%-reserved block is 22% higher than that of 0%-reserved block (4.1)"},
    Words{"hy-fig9", "with it, 5 % reserved is enough (within 10 % of 10 % reserved)", "5%-reserved block seems enough to avoid severe performance degradation (4.1)"},
    Words{"hy-fig13", "hftl-FSMS erases at least 40 % less than log_block", "reduce the number of erase operations up to 50% (6)"},
    Words{"hy-fig13", "FSMS and hftl each lower the erase count", "both of FSMS and hFTL reduce the block erase count dramatically (5.3)"},
    Words{"hy-fig14", "hftl takes 1.84 to 2.50 MB", pram_sizes},
    Words{"hy-fig14", "FSMS takes 4.65 to 6.29 MB", pram_sizes},
    Words{"hy-fig14", "both take 6.49 to 8.79 MB", pram_sizes},
    Words{"hy-fig14", "larger mapping units halve and quarter the map", "decreases the demand of PRAM by half or a quarter (5.4)"},
};

} // namespace

std::optional<double> paper_value(std::string_view id, std::string_view series, double x) {
    const auto at = std::ranges::find_if(values, [&](const Value& v) { return v.id == id && v.series == series && v.x == x; });
    return at == values.end() ? std::nullopt : std::optional{at->paper};
}

std::string_view paper_words(std::string_view id, std::string_view claim) {
    const auto at = std::ranges::find_if(words, [&](const Words& w) { return w.id == id && w.claim == claim; });
    return at == words.end() ? std::string_view{} : at->paper;
}

} // namespace flashlab
