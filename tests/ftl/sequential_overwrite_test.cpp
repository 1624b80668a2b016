/// What a host writes in order, again and again, is written once: no collection copies what the host is about to overwrite.
///
/// Method  A drive is filled as `bench --precondition fill:100` fills it, then overwritten in order three times, with the background work that falls
///         due between requests. The third time is counted: pages programmed for each page written.
#include <algorithm>
#include <numeric>
#include <queue>

#include "tests/support/catch.h"

#include "ftl/memory_drive.h"
#include "tests/support/device_shapes.h"

using namespace flashlab;
using flashlab::test::one_die;

namespace {

class SequentialHost {
public:
    explicit SequentialHost(const SsdConfig& config) : drive_{MemoryDrive::make(config, Payload::none, sink_).value()} {
        now_ = wake_ = drive_->ssd().recover(sim_start).value().done;
    }
    /// Every logical page once, in order.
    void pass(std::uint32_t pages_a_request, std::uint32_t depth) {
        Ssd& ssd = drive_->ssd();
        const std::uint32_t sectors = pages_a_request * (drive_->geometry().page_bytes() / sector_bytes);
        std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>> under_way;
        for (std::uint32_t i = 0; i < depth; ++i) under_way.push(now_);
        for (std::uint64_t at = 0; at + sectors <= ssd.identify().sectors; at += sectors) {
            const SimTime begin = under_way.top();
            under_way.pop();
            while (wake_ <= begin) wake_ = std::max(ssd.tick(wake_), wake_ + Duration{1});
            ssd.settle(begin);
            under_way.push(ssd.write(Sector{at}, sectors, {}, WriteDurability::volatile_ok, begin).value());
            wake_ = std::min(wake_, begin);
            written_ += pages_a_request;
        }
        now_ = std::max(now_, ssd.last_reserved_end());
    }
    /// Pages programmed for each page written since the last call.
    [[nodiscard]] double amplification() {
        const auto& by_cause = drive_->array().counters().programs;
        const std::uint64_t programs = std::accumulate(std::begin(by_cause), std::end(by_cause), std::uint64_t{0});
        const double waf = static_cast<double>(programs - programs_) / static_cast<double>(written_);
        programs_ = programs;
        written_ = 0;
        return waf;
    }

private:
    NullEventSink sink_;
    std::unique_ptr<MemoryDrive> drive_;
    SimTime now_, wake_;
    std::uint64_t written_ = 0, programs_ = 0;
};

double third_overwrite(const SsdConfig& config, std::uint32_t pages_a_request, std::uint32_t depth) {
    SequentialHost host{config};
    host.pass(64, 32);
    for (int i = 0; i < 2; ++i) host.pass(pages_a_request, depth);
    (void)host.amplification();
    host.pass(pages_a_request, depth);
    return host.amplification();
}

SsdConfig drive_of(const std::string& scheme, std::uint32_t channels, std::uint32_t blocks_per_plane) {
    SsdConfig c = one_die(2, blocks_per_plane, 64, 4096, 256);
    c.nand.geometry.channels = channels;
    c.nand.geometry.cell = CellType::tlc;
    c.ftl.scheme = scheme;
    c.pram.bytes = 4u << 20;
    return c;
}

} // namespace

TEST_CASE("overwrites in order of a full drive are not amplified, whatever the drive's size", "[ftl][sequential]") {
    const std::string scheme = GENERATE("page_map", "hftl", "dftl", "block_map", "log_block", "fast", "coftl");
    const std::uint32_t blocks = GENERATE(16u, 32u, 68u, 136u); // 16: next to the least that a scheme takes
    const std::uint32_t pages_a_request = GENERATE(1u, 16u), depth = GENERATE(1u, 32u);
    CAPTURE(scheme, blocks, pages_a_request, depth);
    CHECK(third_overwrite(drive_of(scheme, 8, blocks), pages_a_request, depth) < 1.1);
}

TEST_CASE("overwrites in order are not amplified by streams that a policy separates", "[ftl][sequential]") {
    SsdConfig config = drive_of(GENERATE("page_map", "hftl", "dftl"), 4, 32);
    config.ftl.separation = GENERATE("cause", "frequency");
    CAPTURE(config.ftl.scheme, config.ftl.separation);
    CHECK(third_overwrite(config, 16, 8) < 1.1);
}

TEST_CASE("overwrites in order are not amplified by coftl, however wide its sets are", "[coftl][sequential]") {
    SsdConfig config = drive_of("coftl", 8, 68);
    config.ftl.striping = GENERATE(2u, 8u);
    CAPTURE(config.ftl.striping);
    CHECK(third_overwrite(config, 16, GENERATE(1u, 32u)) < 1.1);
}
