/// Wear under a skewed load, a tenth of the pages takes nine writes of ten: the test and `ftl_bench wear` print the same experiment.
///
/// Idea       Fill the device once, then write as many pages again as many times as wanted, and look at the erase counts. Factory-bad blocks, and
///            those of a scheme's checkpoints and journal, count like any other.
/// Source     Ours: (max - mean) <= 20 % of the mean erase count after 100 fills of 256 MiB, with levelling on.
#pragma once

#include <algorithm>
#include <expected>
#include <string>

#include <fmt/format.h>

#include "base/random.h"
#include "crash/crash_device.h"
#include "tests/support/device_shapes.h"

namespace flashlab::test {

struct WearPoint {
    std::string scheme;
    std::uint32_t fills = 0;
    std::uint32_t threshold = 0;
    double mean = 0;
    double max = 0;
    double min = 1e18;
    double max_of_ring = 0; ///< among the blocks that hold no data of the host's: checkpoints and journal
    std::uint64_t relocated = 0;
    std::uint64_t wear_programs = 0;
    std::uint64_t all_programs = 0;
    std::uint64_t host_pages = 0; ///< physical pages of what the host wrote
    bool is_sound = false;
    [[nodiscard]] double above_mean() const { return (max - mean) / mean; }
    [[nodiscard]] std::string text() const {
        return fmt::format("{}, {} fills, threshold {}: erases of a block min {:.0f}, mean {:.1f}, max {:.0f} ({:+.1f} %), of a checkpoint's {:.0f}; "
                           "{} blocks relocated, {:.2f} % of programs "
                           "are levelling's, write amplification {:.2f}",
                           scheme, fills, threshold, min, mean, max, 100 * above_mean(), max_of_ring, relocated,
                           100.0 * static_cast<double>(wear_programs) / static_cast<double>(all_programs),
                           static_cast<double>(all_programs) / static_cast<double>(host_pages));
    }
};

inline std::expected<WearPoint, std::string> measure_wear(SsdConfig config, std::uint32_t fills, std::uint32_t threshold) {
    config.ftl.wear_threshold = threshold;
    config.ftl.moving_ring = threshold != 0;
    const auto made = CrashDevice::make(config, Payload::none, UndoPolicy::none);
    if (!made) return std::unexpected(made.error());
    CrashDevice& device = **made;
    const auto on = device.power_on(sim_start);
    if (!on) return std::unexpected(on.error());
    const std::uint32_t units = device.plan().logical_pages;
    const std::uint32_t sectors = device.plan().logical_page_bytes / sector_bytes;
    Random random{5};
    SimTime now = on->done;
    SimTime wake = now;
    const auto write = [&](std::uint64_t unit) -> bool {
        const auto done = device.ssd().write(Sector{unit * sectors}, sectors, {}, WriteDurability::volatile_ok, now);
        if (!done) return false;
        now = std::max(now, *done);
        if (now >= wake) wake = device.ssd().tick(now);
        device.ssd().settle(now);
        return true;
    };
    for (std::uint64_t i = 0; i < std::uint64_t{units} * fills; ++i) {
        const std::uint64_t unit = i < units ? i : random.chance(9, 10) ? random.below(units / 10) : random.below(units);
        if (!write(unit)) return std::unexpected(fmt::format("write {} failed", i));
    }
    WearPoint point;
    point.scheme = config.ftl.scheme;
    point.fills = fills;
    point.threshold = threshold;
    point.is_sound = device.ssd().check().empty();
    const std::uint32_t blocks = device.geometry().blocks();
    for (std::uint32_t b = 0; b < blocks; ++b) {
        const double count = device.array().erase_count(BlockId{b});
        point.mean += count / blocks;
        point.max = std::max(point.max, count);
        point.min = std::min(point.min, count);
        if (device.ftl().status_of(BlockId{b}).use == BlockUse::other) point.max_of_ring = std::max(point.max_of_ring, count);
    }
    point.relocated = device.ssd().wear_leveler() == nullptr ? 0 : device.ssd().wear_leveler()->relocated_blocks();
    const NandCounters& c = device.array().counters();
    point.wear_programs = c.programs[static_cast<std::size_t>(Cause::wear)];
    for (const std::uint64_t n : c.programs) point.all_programs += n;
    point.host_pages = std::uint64_t{units} * fills * (device.plan().logical_page_bytes / device.geometry().page_bytes());
    return point;
}

} // namespace flashlab::test
