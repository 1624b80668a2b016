/// What an operation on one logical page costs, for cost-benefit models: nanoseconds on an idle device.
#pragma once

#include "nand/nand_array.h"

namespace flashlab {

struct UnitCosts {
    double read = 0, write = 0, erase = 0;
};

/// `pages` of a unit are transferred one after the other, and read or programmed one after the other.
[[nodiscard]] inline UnitCosts unit_costs(const NandArray& array, std::uint32_t pages) {
    const NandTiming& t = array.config().timing;
    const double transfer = static_cast<double>(t.command.count()) + static_cast<double>(array.geometry().page_bytes()) * t.bus_ps_per_byte / 1000.0;
    const double n = pages;
    return {n * (transfer + static_cast<double>((t.page_read + t.controller_page_read).count())),
            n * (transfer + static_cast<double>((t.page_program + t.controller_page_program).count())), static_cast<double>(t.block_erase.count())};
}

} // namespace flashlab
