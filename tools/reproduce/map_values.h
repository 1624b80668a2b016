/// The maps that lie on flash: what their papers print, and what a claim must meet. maps-* has the papers' own figures, beyond-maps all maps on one
/// drive.
///
/// Invariant  A bound was set before its first run, from the paper's number, on both sides where there is one; none was moved afterwards.
/// Source     Zhou et al., EuroSys 2015 (TPFTL); Sun et al., ASPLOS 2023 (LeaFTL), and its artefact's plots; Wang et al., HPCA 2024 (LearnedFTL).
#pragma once

#include <array>

#include "tools/reproduce/bounds.h"
#include "tools/reproduce/claim.h"

namespace flashlab::map_values {

using enum ClaimKind;
using namespace bounds; // NOLINT: the words of this page

inline constexpr std::array rows{
    QuotedValue{"maps-tpftl", "translation pages written, tpftl over dftl, mean of the loads, times", 1.5625, 0.38, "abstract, \"62 % fewer\""},
    QuotedValue{"maps-tpftl", "response time, tpftl over dftl, the least of the loads, times", 1.5625, 0.76, "abstract, \"up to\" 24 % less"},
    QuotedValue{"maps-leaftl", "table, S-FTL's over leaftl's, mean of the loads, times", 0, 2.9, "abstract, on average"},
    QuotedValue{"maps-leaftl", "response time, sftl over leaftl, mean of the loads, times", 10, 1.4, "abstract, on average"},
    // What was changed after these had failed.
    QuotedValue{"maps-tpftl", "translation pages written, tpftl over dftl with an entry a write, mean of the loads, times", 1.5625, 0.38,
                "abstract, \"62 % fewer\"", fitted},
    QuotedValue{"maps-tpftl", "response time, tpftl over dftl with an entry a write, the least of the loads, times", 1.5625, 0.76,
                "abstract, \"up to\" 24 % less", fitted},
    QuotedValue{"maps-leaftl", "table, S-FTL's of dftl's places over leaftl's, mean of the loads, times", 0, 2.9, "abstract, on average", fitted},
    QuotedValue{"maps-learnedftl", "double reads, learnedftl over tpftl, the least of the loads, times", 0.2, 0.445,
                "abstract, \"up to\" 55.5 % fewer"},
    QuotedValue{"maps-learnedftl", "p99, tpftl over learnedftl, mean of the loads, times", 0.2, 5.5, "abstract"},
    QuotedValue{"maps-learnedftl", "p99, leaftl over learnedftl, mean of the loads, times", 0.2, 8.2, "abstract"},
};

inline constexpr std::string_view fewer_dirty =
    "to increase the cache hit ratio and reduce the writebacks of replaced dirty entries (TPFTL, abstract)";
inline constexpr std::string_view sooner = "improves the response time by up to 24 % (TPFTL, abstract)";
inline constexpr std::string_view artefact = "the artefact's plots over seven traces, gamma 0 (LeaFTL)";
inline constexpr std::string_view double_reads = "up to 55.5 % fewer double reads (LearnedFTL, abstract)";
inline constexpr std::string_view p99 = "p99 2.9 to 12.2 times lower than TPFTL's and LeaFTL's (LearnedFTL, abstract)";

inline constexpr std::array specs{
    ClaimSpec{"maps-tpftl", "dftl: few entries of a cached translation page are used", result, percents(0, 0.15, "of them on each load"),
              "less than 15 % of a cached page's entries are used (TPFTL)"},
    ClaimSpec{"maps-tpftl", "dftl: many cached translation pages have more than one dirty entry", result, percents(0.53, 0.71, "on each load"),
              "53 to 71 % of cached pages have more than one dirty entry (TPFTL)"},
    ClaimSpec{"maps-tpftl", "tpftl hits more often than dftl", result, above(1, "times dftl's part of the look-ups on each load"), fewer_dirty},
    ClaimSpec{"maps-tpftl", "tpftl's prefetches raise its hits", result, above(1, "times those without on each load"), fewer_dirty},
    ClaimSpec{"maps-tpftl", "tpftl writes fewer translation pages than dftl", result, at_most(0.999, "times dftl's on each load"), fewer_dirty},
    ClaimSpec{"maps-tpftl", "tpftl answers sooner than dftl", result, at_most(0.999, "times dftl's mean on each load"), sooner},
    ClaimSpec{"maps-tpftl", "tpftl's write amplification is below dftl's", result, at_most(0.999, "times dftl's on each load"),
              "extra operations degrade the performance and lifetime (TPFTL, abstract)"},
    ClaimSpec{"maps-tpftl", "tpftl answers no sooner than a page map in DRAM", result, at_least(0.99, "times its mean on each load"),
              "ours: expected, since its map costs nothing"},
    ClaimSpec{"maps-leaftl", "leaftl's table is smaller than dftl's, as the paper's", result, between(6, 17.5, "times on each load"), artefact},
    ClaimSpec{"maps-leaftl", "S-FTL's table is smaller than dftl's, as the paper's", result, between(2.8, 9.8, "times on each load"), artefact},
    ClaimSpec{"maps-leaftl", "leaftl answers sooner than dftl, as the paper's", result, between(0.02, 0.73, "times dftl's mean on each load"),
              artefact},
    ClaimSpec{"maps-leaftl", "sftl answers sooner than dftl, as the paper's", result, between(0.04, 0.86, "times dftl's mean on each load"),
              artefact},
    ClaimSpec{"maps-leaftl", "gamma 0: nothing is predicted wrongly", by_construction, at_most(0, "of the pages read on each load"),
              "none at gamma 0 (LeaFTL)"},
    ClaimSpec{"maps-leaftl", "gamma 4: little is predicted wrongly", result, percents(0, 0.056, "of the pages read on each load"),
              "at most 5.6 % at gamma 4 (LeaFTL)"},
    ClaimSpec{"maps-leaftl", "gamma 16: little is predicted wrongly", result, percents(0, 0.07, "of the pages read on each load"),
              "at most 7 % at gamma 16 (LeaFTL)"},
    ClaimSpec{"maps-leaftl", "a larger gamma makes the table no larger", result, at_most(1, "times that of gamma 0 on each load"),
              "ours: expected, since a line may miss by gamma"},
    ClaimSpec{"maps-learnedftl", "learnedftl has fewer double reads than tpftl", result, at_most(0.999, "times tpftl's on each load"), double_reads},
    ClaimSpec{"maps-learnedftl", "learnedftl's p99 is below *", result, between(2.9, 12.2, "times learnedftl's on each load"), p99},
    ClaimSpec{"maps-learnedftl", "learnedftl serves more reads a second than tpftl", result, above(1, "times tpftl's on each load"),
              "considerably speeds up address translation (LearnedFTL, abstract)"},
    ClaimSpec{"maps-learnedftl", "learnedftl reads in order and writes as fast as tpftl", result, between(0.9, 1.1, "times tpftl's on each load"),
              "ours: expected, since models save reads of translation pages only"},
    ClaimSpec{"maps-learnedftl", "with equal DRAM, learnedftl has fewer double reads than tpftl", result,
              at_most(0.999, "times tpftl's on each load"), "ours: the paper does not charge the models"},
    ClaimSpec{"maps-learnedftl", "with equal DRAM, learnedftl's p99 is below tpftl's", result, above(1, "times learnedftl's on each load"),
              "ours: the paper does not charge the models"},
    ClaimSpec{"beyond-maps", "written *, learnedftl has fewer double reads than tpftl", result, at_most(0.999, "times tpftl's, at each DRAM"),
              "up to 55.5 % fewer double reads (LearnedFTL, abstract)"},
    ClaimSpec{"beyond-maps", "with copies apart, *", result, at_most(0.999, "times tpftl's, at each DRAM"),
              "ours: copies between the host's rows put its pages out of line"},
    ClaimSpec{"beyond-maps", "learnedftl's p99 under random reads is far below tpftl's", result, at_least(2.9, "times learnedftl's, at each DRAM"),
              "p99 2.9 to 12.2 times lower, in the mean 5.5 against TPFTL (LearnedFTL)"},
    ClaimSpec{"beyond-maps", "learnedftl's p99 under random reads is below leaftl's", result, above(1, "times learnedftl's, at each DRAM"),
              "p99 in the mean 8.2 times lower than LeaFTL's (LearnedFTL)"},
    ClaimSpec{"beyond-maps", "tpftl writes fewer translation pages than dftl", result, at_most(0.999, "times dftl's, at each DRAM"),
              "translation writes 62 % fewer on average (TPFTL, abstract)"},
    ClaimSpec{"beyond-maps", "tpftl answers sooner than dftl", result, at_most(0.999, "times dftl's mean, at each DRAM"),
              "response time up to 24 % lower than DFTL's (TPFTL, abstract)"},
    ClaimSpec{"beyond-maps", "leaftl's table is smaller than a page table", result, at_least(2.9, "times leaftl's"),
              "2.9 times smaller on average than S-FTL's, which is no larger than a page table (LeaFTL, abstract)"},
    ClaimSpec{"beyond-maps", "leaftl answers reads sooner than dftl", result, at_most(0.999, "times dftl's mean, at each DRAM"),
              "1.4 times as fast on average as the next (LeaFTL, abstract)"},
    ClaimSpec{"beyond-maps", "leaftl answers reads sooner than sftl", result, at_most(0.999, "times sftl's mean, at each DRAM"),
              "1.4 times as fast on average as the next (LeaFTL, abstract)"},
    ClaimSpec{"beyond-groups", "*fewer double reads than tpftl", result, at_most(0.445, "times tpftl's"),
              "up to 55.5 % fewer double reads (LearnedFTL, abstract)"},
    ClaimSpec{"beyond-groups", "*fewer double reads than leaftl", result, at_most(0.999, "times leaftl's"),
              "p99 in the mean 8.2 times lower than LeaFTL's (LearnedFTL)"},
    ClaimSpec{"beyond-groups", "*p99 of reads is below *", result, between(2.9, 12.2, "times learnedftl's"), p99},
    ClaimSpec{"beyond-groups", "*writes no more flash *", result, at_most(1.1, "times that without groups"),
              "ours: the paper says nothing of a price"},
    ClaimSpec{"beyond-maps", "* answers no sooner than a page map in DRAM", result, at_least(0.99, "times its mean, at each DRAM"),
              "ours: expected, since its map costs nothing"},
};

inline constexpr std::string_view alone = "maps-tpftl: ours writes all dirty entries of the page; it holds beside one that writes an entry alone";
inline constexpr std::string_view sorted =
    "maps-leaftl: leaftl sorts what it writes; of dftl's places S-FTL's is 1.7 times leaftl's, 2.8 if its runs "
    "did not know how pages are striped";
inline constexpr std::string_view few_entries =
    "maps-leaftl: double reads are gone, but each write-back of a translation page is for a few entries, as dftl's";
inline constexpr std::string_view arrivals =
    "maps-learnedftl: where requests wait for each other p99 is the queue's; where they arrive it is 4 times at 80 thousand a second, more above";
inline constexpr std::string_view few_models =
    "beyond-maps: at 0.1 % of the table no model fits, at 0.5 % one or two; from 2 % on it has with copies apart";

inline constexpr std::array causes{
    ClaimCause{"maps-tpftl", "tpftl writes fewer *", alone},
    ClaimCause{"maps-tpftl", "tpftl answers sooner *", alone},
    ClaimCause{"maps-tpftl", "tpftl's write amplification *", alone},
    ClaimCause{"maps-tpftl", "translation pages written, tpftl *", alone},
    ClaimCause{"maps-tpftl", "response time, tpftl *", alone},
    ClaimCause{"maps-leaftl", "leaftl's table *", "maps-leaftl: with eight times the buffer a segment holds a third to two thirds more pages"},
    ClaimCause{"maps-leaftl", "S-FTL's table *", sorted},
    ClaimCause{"maps-leaftl", "table, S-FTL's *", sorted},
    ClaimCause{"maps-leaftl", "leaftl answers *", "maps-leaftl: with gamma 4 it does on each load"},
    ClaimCause{"maps-leaftl", "sftl answers sooner *", few_entries},
    ClaimCause{"maps-leaftl", "response time, sftl *", few_entries},
    ClaimCause{"beyond-maps", "leaftl answers reads sooner than sftl",
               "beyond-maps: a run takes 4 bytes, a segment 8; what was written at random has neither"},
    ClaimCause{"maps-leaftl", "a larger gamma *", "maps-leaftl: segments hold more pages, but each page of a line is named, a byte each"},
    ClaimCause{"maps-learnedftl", "learnedftl reads in order and writes *",
               "maps-learnedftl at 6.45 %: DRAM that models do not fill is its entries'; with as much for all it is"},
    ClaimCause{"maps-learnedftl", "with equal DRAM, learnedftl has *", "maps-learnedftl, pages predicted: none that was written at random"},
    ClaimCause{"maps-learnedftl", "learnedftl serves more reads *", "maps-learnedftl, pages predicted: none that was written at random"},
    ClaimCause{"maps-learnedftl", "*p99*", arrivals},
    ClaimCause{"maps-learnedftl", "double reads, *",
               "maps-learnedftl: written in order 0.32, in pieces 0.89; the paper does not say what its drive had been through"},
    ClaimCause{"beyond-maps", "leaftl's table *", "beyond-maps: without a buffer each page that is written at random is a segment of 8 bytes"},
    ClaimCause{"beyond-maps", "written in order, *", few_models},
    ClaimCause{"beyond-maps", "with copies apart, *", few_models},
    ClaimCause{"beyond-maps", "written at random, *",
               "beyond-groups: single pages have no neighbours; where groups are put in order it has a sixth of tpftl's"},
    ClaimCause{"beyond-groups", "*writes no more *",
               "beyond-groups in full: on four times the blocks less of the spare is in logs that are half empty"},
    ClaimCause{"beyond-maps", "tpftl writes fewer *", "beyond-maps: at 0.5 % its nodes leave room for fewer entries than dftl's"},
};

} // namespace flashlab::map_values
