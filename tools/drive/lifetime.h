/// How long a drive lives under a load: from its rated cycles, its size and what the load wears.
///
/// Idea       The flash can be programmed as often as `endurance_cycles` erases of every good block allow. A load wears it by the pages that it
///            programs, or by the blocks that it erases if those are more: a scheme that erases blocks before they are full pays for it here.
/// Invariant  Where nothing was written there is no projection: the members are null, not zero and not infinite.
/// Cost       A few divisions.
/// Source     TBW and drive writes a day as JEDEC JESD218 uses the words; the five years are the usual warranty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/text/json.h"

namespace flashlab {

inline constexpr double warranty_years = 5;

/// What a drive is, and what a load did to it.
struct LifetimeInput {
    std::uint64_t endurance_cycles = 0;
    std::uint64_t good_blocks = 0;
    std::uint64_t block_bytes = 0;
    std::uint64_t device_bytes = 0; ///< that the host sees
    double mean_erases = 0;         ///< of the blocks until now
    double erases_before = 0;       ///< of each block when the drive was made
    double worst_erases = 0;        ///< of the most worn block
    std::uint64_t host_bytes = 0;   ///< the load wrote
    std::uint64_t nand_bytes = 0;   ///< it had programmed
    std::uint64_t erases = 0;       ///< it had erased
};

struct Lifetime {
    double nand_budget_bytes = 0;    ///< that all good blocks take in their rated life
    double wear_bytes = 0;           ///< of this budget, that the load used
    double wear_per_host_byte = 0;   ///< 0: the host wrote nothing
    double rated_bytes_written = 0;  ///< by the host, in the drive's whole life under this load: TBW
    double drive_writes_per_day = 0; ///< for warranty_years
    double remaining_share = 0;      ///< of the rated cycles, on the mean
    double wear_evenness = 1;        ///< mean / worst: how much of the budget counts if the first dead block ends the drive

    [[nodiscard]] static Lifetime of(const LifetimeInput& input);
    /// Until the rated cycles are used up, if this load comes so often a day. 0: it wears nothing.
    [[nodiscard]] double years_at(double loads_per_day) const {
        return loads_per_day <= 0 || wear_bytes <= 0 ? 0 : nand_budget_bytes * remaining_share / (wear_bytes * loads_per_day) / 365.25;
    }
    /// The members that do not depend on how often the load comes; null where nothing can be said.
    [[nodiscard]] Json to_json() const;
};

/// What a projection takes for granted, a sentence each.
[[nodiscard]] std::vector<std::string> lifetime_assumptions();

} // namespace flashlab
