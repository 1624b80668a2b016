/// Raw bit errors of pages, and how often a page is sensed until the ECC corrects them.
///
/// Idea       The share of wrong bits is e + a PE^k + b PE^m t^n + c PE^p r^q: program/erase cycles, days since the block's last program, reads of
///            the block by its pages. The worst code word of a page of the chip has mean + z sqrt(mean) wrong bits; z is the page's own until its
///            block is erased, so a page of a full block only gets worse. Each retry senses at other thresholds, and the ECC then corrects more.
/// Invariant  Same seed, page, life and age: same answer. Blocks in another mode than the cells' own have no errors: none are published for them.
/// Cost       None without nand.cell_errors. With it a look-up and a square root a read, and four powers when a block's minute, or its reads by 64,
///            changed; 24 bytes a block.
/// Power cut  Keeps nothing. Ages and reads lie in the block records (nand/FORMAT.md).
/// Source     Kim, Choi, Min, FAST 2019: formula and constants. That t counts days, and r the reads a page, is our reading (nand/DESIGN.md).
#pragma once

#include <optional>
#include <vector>

#include "base/sim_time.h"
#include "nand/nand_config.h"
#include "nand/page_store.h"

namespace flashlab {

/// Of all bits of a page, those that are wrong before any correction.
[[nodiscard]] double raw_bit_error_rate(CellErrors cells, double cycles, double days, double reads_a_page);

class BitErrors {
public:
    /// config.errors.cells is not `none`.
    BitErrors(const Geometry& geometry, const NandConfig& config);

    /// How often a page that was sensed once is sensed again until it is corrected; none: retries do not help.
    [[nodiscard]] std::optional<std::uint32_t> retries(Ppn page, BlockId block, const BlockRecord& record, SimTime now);
    /// The same, were the data written anew; at most what retries() says.
    [[nodiscard]] std::uint32_t retries_when_new(Ppn page, const BlockRecord& record) const;
    [[nodiscard]] static double days_since(const BlockAge& age, SimTime now) { return minutes_since(age, now) / (24.0 * 60); }

private:
    /// The mean of a code word, of a block whose age and reads were these.
    struct Computed {
        std::uint32_t minutes = ~0u; ///< since its last program
        std::uint32_t reads = ~0u;   ///< by 64
        std::uint32_t cycles = ~0u;
        float mean = 0;
    };
    [[nodiscard]] static std::uint32_t minutes_since(const BlockAge& age, SimTime now);
    [[nodiscard]] std::uint32_t cycles_of(const BlockRecord& record) const { return record.erase_count + cycles_before_; }
    /// None where the last one does not correct.
    [[nodiscard]] std::optional<std::uint32_t> retries_at(double mean, Ppn page, std::uint32_t erase_count) const;
    [[nodiscard]] double mean_of(BlockId block, const BlockRecord& record, SimTime now);

    CellErrors cells_;
    std::uint32_t pages_per_block_, subpages_;
    std::uint32_t cycles_before_;
    std::uint64_t seed_;
    std::vector<double> corrects_; ///< wrong bits of a code word, by retry
    std::vector<float> worst_;     ///< z of the worst of a page's code words, by its rank among all pages
    std::vector<Computed> computed_;
};

} // namespace flashlab
