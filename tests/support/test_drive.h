/// A drive in memory whose power is not cut, for tests of what it does: with what it says of itself, or a test fails that it cannot be made.
///
/// Idea       The parts lie open. `log` hears all events; a test brings a sink that keeps what it wants to see. tests/support/cut_rig.h has cuts.
#pragma once

#include "ftl/memory_drive.h"
#include "tests/support/catch.h"
#include "tests/support/device_shapes.h"

namespace flashlab::test {

template <class Sink = NullEventSink>
struct TestDrive {
    Sink log; ///< outlives the drive

private:
    std::unique_ptr<MemoryDrive> made_;

public:
    const SsdConfig& config;
    const Geometry& geometry;
    NandArray& array;
    Ftl& ftl;
    Ssd& ssd;
    SimTime now = sim_start;

    /// Nobody has called it yet.
    explicit TestDrive(const SsdConfig& config_, Payload payload = Payload::none)
        : made_{make(config_, payload, log)}, config{made_->config()}, geometry{made_->geometry()}, array{made_->array()}, ftl{made_->ftl()},
          ssd{made_->ssd()} {}
    void recover() {
        const auto on = ssd.recover(now);
        REQUIRE(on);
        now = on->done;
    }

private:
    static std::unique_ptr<MemoryDrive> make(const SsdConfig& config, Payload payload, EventSink& log) {
        auto made = MemoryDrive::make(config, payload, log);
        if (!made) FAIL(made.error());
        return std::move(*made);
    }
};

} // namespace flashlab::test
