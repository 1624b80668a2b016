/// Small devices in memory for tests of runs in virtual time.
#pragma once

#include "tests/tools/device_fixture.h"
#include "tools/run/replay.h"
#include "tools/run/virtual_device.h"

namespace flashlab::test {

struct MemoryDevice {
    NullEventSink events;
    std::unique_ptr<Device> device;
    explicit MemoryDevice(const std::string& ftl = "hftl", std::uint64_t bytes = 32u << 20) {
        ConfigSources sources;
        sources.settings = {"ftl.scheme=" + ftl, "nand.pages_per_block=32", "nand.planes_per_die=1", "pram.bytes=4194304"};
        const auto config = gather_config(sources);
        REQUIRE(config.has_value());
        const auto plan = plan_device(*config, bytes);
        INFO((plan ? "" : plan.error()));
        REQUIRE(plan.has_value());
        auto made = make_virtual_device(*plan, Payload::none, events);
        REQUIRE(made.has_value());
        device = std::move(*made);
        REQUIRE(device->start(sim_start).has_value());
    }
    [[nodiscard]] std::uint64_t bytes() { return device->ssd().identify().sectors * sector_bytes; }
    RunTally run(const std::vector<TraceRequest>& requests, ReplaySpeed speed = {}, SimTime begin = sim_start) {
        std::size_t at = 0;
        AddressFit fit{FitPolicy::as_is, bytes()};
        const auto next = [&](TraceRequest& request) -> std::expected<bool, std::string> {
            if (at == requests.size()) return false;
            request = requests[at++];
            return true;
        };
        auto tally = replay(*device, next, fit, speed, std::max(begin, device->ready_at()));
        INFO((tally ? "" : tally.error()));
        REQUIRE(tally.has_value());
        return std::move(*tally);
    }
};

} // namespace flashlab::test
