/// What a map on demand counts, and what its misses cost: its part in the partition of the DRAM (AP4).
#pragma once

#include "ftl/cache/mapping_space.h"
#include "ftl/cache/running_mean.h"
#include "ftl/maps/translation_pages.h"

namespace flashlab {

class DemandCosts {
public:
    /// A collection copied a page of that frontier's; it has given up a block of it.
    void copied(FrontierId frontier) { ++collected_[frontier.value()].copies; }
    void collected(FrontierId frontier);
    void batch_update(std::uint32_t entries) { batch_.add(entries); }
    /// Table IV. A page that is read misses as often as a translation page is read for it: one read serves the pages of a request.
    /// T_two where the paper's text explains the cost of writing a data page is read as T_dwo. Misses count since the last call.
    [[nodiscard]] ProfitFactors factors(const DemandCounters& counted, const TableParts& parts);

private:
    struct Collected {
        std::uint32_t copies = 0;   ///< of the collection under way
        RunningMean copies_a_block; ///< by what a collected block held
    };
    Collected collected_[2];                    ///< by frontier
    RunningMean batch_;                         ///< entries of a batch update
    DemandCounters seen_;                       ///< at the last call
    double read_misses_ = 0, write_misses_ = 0; ///< ratios, of the last interval that had any
};

} // namespace flashlab
