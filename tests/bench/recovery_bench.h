// How long the way back takes (C6): each scheme on the default preset, 1 to 64 GiB without payload, filled, overwritten at random, killed, and opened again.
#pragma once

#include <ctime>

#include <fmt/format.h>

#include "base/random.h"
#include "crash/crash_device.h"

namespace flashlab::bench {

struct RecoveryPoint {
    std::uint64_t pages_read = 0; ///< OOBs and pages, by recovery
    double simulated_ms = 0;
    double cpu_ms = 0;
};

/// `overwrites` random pages of the first sixteenth of the drive, a flush after every 64, then kill -9.
inline std::expected<RecoveryPoint, std::string> measure_recovery(const std::string& scheme, std::uint32_t gib, std::uint64_t overwrites) {
    SsdConfig config;
    config.nand.factory_bad_per_million = 0;
    config.nand.geometry.blocks_per_plane = 64 * gib;
    config.ftl.scheme = scheme;
    auto made = CrashDevice::make(config, Payload::none, UndoPolicy::none);
    if (!made) return std::unexpected(made.error());
    CrashDevice& device = **made;
    const auto on = device.power_on(sim_start);
    if (!on) return std::unexpected(on.error());
    SimTime now = on->done;
    const std::uint64_t per_page = device.plan().logical_page_bytes / sector_bytes;
    const std::uint64_t sectors = device.plan().logical_pages * per_page;
    const std::uint64_t at_once = std::uint64_t{config.nand.geometry.pages_per_block} * per_page;
    for (std::uint64_t s = 0; s < sectors; s += at_once) {
        const auto done = device.ssd().write(Sector{s}, static_cast<std::uint32_t>(std::min(at_once, sectors - s)), {}, WriteDurability::volatile_ok, now);
        if (!done) return std::unexpected("the fill failed: " + describe(done.error()));
        now = *done;
        (void)device.ssd().tick(now);
        device.ssd().settle(now);
    }
    Random random{gib};
    for (std::uint64_t i = 0; i < overwrites; ++i) {
        const auto done = device.ssd().write(Sector{random.below(device.plan().logical_pages / 16) * per_page}, static_cast<std::uint32_t>(per_page), {},
                                             WriteDurability::volatile_ok, now);
        if (!done) return std::unexpected("an overwrite failed: " + describe(done.error()));
        now = *done;
        if (i % 64 == 63) now = device.ssd().flush(now).value_or(now);
        (void)device.ssd().tick(now);
        device.ssd().settle(now);
    }
    device.power_off();
    timespec from{}, to{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    const auto again = device.power_on(now);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    if (!again) return std::unexpected(again.error());
    RecoveryPoint point;
    for (const std::uint64_t n : device.array().counters().reads) point.pages_read += n;
    point.simulated_ms = static_cast<double>((again->done - now).count()) / 1e6;
    point.cpu_ms = static_cast<double>(to.tv_sec - from.tv_sec) * 1e3 + static_cast<double>(to.tv_nsec - from.tv_nsec) / 1e6;
    return point;
}

} // namespace flashlab::bench
