/// Write amplification under a skewed load, a tenth of the pages takes nine writes of ten: the test prints it.
///
/// Idea       Fill the device once, write as many pages again four times, then count over four more. The hot pages stay the same ones.
#pragma once

#include <expected>
#include <string>

#include <fmt/format.h>

#include "base/random.h"
#include "crash/crash_device.h"
#include "tests/support/device_shapes.h"

namespace flashlab::test {

struct SeparationPoint {
    double all = 0;         ///< pages programmed for each page that the host wrote
    double collections = 0; ///< of these, copies
    bool is_sound = false;
};

inline SsdConfig skewed_drive(const std::string& scheme, const std::string& separation) {
    SsdConfig config = roomy_drive(1);
    config.ftl.scheme = scheme;
    config.ftl.separation = separation;
    return config;
}

inline std::expected<SeparationPoint, std::string> measure_separation(const SsdConfig& config) {
    const auto made = CrashDevice::make(config, Payload::none, UndoPolicy::none);
    if (!made) return std::unexpected(made.error());
    CrashDevice& device = **made;
    const auto on = device.power_on(sim_start);
    if (!on) return std::unexpected(on.error());
    const std::uint32_t units = device.plan().logical_pages;
    const std::uint32_t sectors = device.plan().logical_page_bytes / sector_bytes;
    const auto programs = [&device](Cause cause) { return static_cast<double>(device.array().counters().programs[static_cast<std::size_t>(cause)]); };
    const auto all_programs = [&device] {
        double all = 0;
        for (const std::uint64_t n : device.array().counters().programs) all += static_cast<double>(n);
        return all;
    };
    Random random{7};
    SimTime now = on->done;
    double all_before = 0, copies_before = 0;
    for (std::uint64_t i = 0; i < 9ull * units; ++i) {
        if (i == 5ull * units) {
            all_before = all_programs();
            copies_before = programs(Cause::gc);
        }
        const std::uint64_t unit = i < units ? i : random.chance(9, 10) ? random.below(units / 10) : random.below(units);
        const auto done = device.ssd().write(Sector{unit * sectors}, sectors, {}, WriteDurability::volatile_ok, now);
        if (!done) return std::unexpected(fmt::format("write {} failed", i));
        now = std::max(now, *done);
        device.ssd().settle(now);
    }
    const double written = 4.0 * units * (device.plan().logical_page_bytes / device.geometry().page_bytes());
    return SeparationPoint{(all_programs() - all_before) / written, (programs(Cause::gc) - copies_before) / written, device.ssd().check().empty()};
}

} // namespace flashlab::test
