#include "nand/medium.h"

#include <algorithm>

#include "nand/paired_pages.h"

namespace flashlab {

namespace {

constexpr Duration none{0};

std::uint32_t bits_of(CellType cell) { return std::to_underlying(cell) + 1u; }

/// tPROG of each page of a block; empty: one time for all.
std::vector<Duration> program_times(const NandConfig& config) {
    const NandTiming& timing = config.timing;
    if (timing.lsb_program + timing.csb_program + timing.msb_program == none) return {};
    const std::uint32_t subpages = config.options.subpages;
    GeometryConfig whole = config.geometry;
    whole.pages_per_block /= subpages;
    const PairedPages pairs{whole};
    const std::uint32_t last = std::to_underlying(config.geometry.cell);
    std::vector<Duration> times(config.geometry.pages_per_block);
    for (std::uint32_t page = 0; page < times.size(); ++page) {
        const std::uint32_t pass = pairs.pass_of(page / subpages);
        const Duration own = pass == 0 ? timing.lsb_program : pass == last ? timing.msb_program : timing.csb_program;
        times[page] = own == none ? timing.page_program : own;
    }
    return times;
}

} // namespace

Media::Media(const NandConfig& config) : own_{config.geometry.cell} {
    const std::uint32_t pages = config.geometry.pages_per_block;
    const NandTiming& t = config.timing;
    media_.fill({pages, t.page_read, t.page_program, program_times(config), t.block_erase, config.endurance_cycles});
    has_[std::to_underlying(own_)] = true;
    for (std::size_t i = 0; i < std::to_underlying(own_); ++i) {
        const CellMode& mode = config.modes[i];
        if (mode.page_program == none) continue;
        const auto or_own = [](auto value, auto own) { return value == decltype(value){0} ? own : value; };
        const std::uint32_t subpages = config.options.subpages;
        media_[i] = {.pages = pages / subpages * static_cast<std::uint32_t>(i + 1) / bits_of(own_) * subpages,
                     .page_read = or_own(mode.page_read, t.page_read),
                     .page_program = mode.page_program,
                     .block_erase = or_own(mode.block_erase, t.block_erase),
                     .endurance_cycles = or_own(mode.endurance_cycles, config.endurance_cycles)};
        has_[i] = true;
        is_single_ = false;
    }
}

Duration Media::shortest() const {
    Duration shortest = Duration::max();
    for (const Medium& medium : media_) {
        shortest = std::min({shortest, medium.page_read, medium.page_program, medium.block_erase});
        for (const Duration time : medium.program_times) shortest = std::min(shortest, time);
    }
    return shortest;
}

} // namespace flashlab
