/// What a preset or a TOML file says of the flash: geometry, timing, endurance, factory state. Plain data, validated by Geometry::make and NandTiming::validate.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "base/sim_time.h"
#include "nand/geometry.h"

namespace flashlab {

/// Every duration of DESIGN.md's phases (MC2). Integer picoseconds a byte, so that no rounding depends on the host.
struct NandTiming {
    Duration page_read{60'000};        ///< tR: cells to page register; the plane is busy, the bus free
    Duration page_program{700'000};    ///< tPROG, mean over the page types of the cell
    Duration block_erase{3'000'000};   ///< tBERS
    Duration command{100};             ///< command and address cycles on the bus, for each plane addressed
    std::uint32_t bus_ps_per_byte = 833; ///< 1.2 GB/s; the page's data cross the bus, the spare bytes are not charged
    Duration controller_page_read{0};    ///< controller CPU for each page read, GC copies included (HY: 362 us)
    Duration controller_page_program{0}; ///< controller CPU for each page programmed (HY: 323 us)

    [[nodiscard]] std::expected<void, std::string> validate() const;
    friend bool operator==(const NandTiming&, const NandTiming&) = default;
};

struct NandConfig {
    GeometryConfig geometry;
    NandTiming timing;
    std::uint32_t endurance_cycles = 3000;   ///< rated P/E cycles; percent_used is relative to it
    std::uint32_t factory_bad_per_million = 1000; ///< factory bad blocks, placed by the seed
    std::uint64_t seed = 1;
    std::uint32_t page_buffers_per_channel = 2; ///< MC5: 1 = no pipelining; 0 = the CPU moves pages itself, bus and register held (HY)
    friend bool operator==(const NandConfig&, const NandConfig&) = default;
};

} // namespace flashlab
