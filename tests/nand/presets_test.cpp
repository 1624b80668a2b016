// The papers' figures come out of the array, not out of the table: each test runs the part and measures.
#include "nand/presets.h"

#include <array>
#include <span>

#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

NandConfig part(std::string_view name) {
    const auto preset = find_nand_preset(name);
    REQUIRE(preset);
    NandConfig config = preset->nand;
    config.factory_bad_per_million = 0;
    return config;
}

struct Speed {
    Duration page_program; ///< of a page alone
    Duration page_read;
    double program_mb_s; ///< of a thousand pages, each issued as early as the part takes it
    double read_mb_s;
};

Speed measure(const NandConfig& config) {
    Flash flash{config, Payload::none, UndoPolicy::none};
    constexpr std::uint32_t pages = 1000;
    const SimTime alone = *flash.program(flash.page(3000, 0), 1, sim_start);
    Speed speed{alone - sim_start, *flash.read(flash.page(3000, 0), alone) - alone, 0, 0};
    const auto mb_s = [&](Duration time) { return double(pages) * config.geometry.page_bytes * 1000 / static_cast<double>(time.count()); };
    const SimTime start = flash.array.last_reserved_end();
    SimTime end = start;
    for (std::uint32_t i = 0; i < pages; ++i) end = std::max(end, *flash.program(Ppn{i}, i, start));
    speed.program_mb_s = mb_s(end - start);
    SimTime read_end = end;
    for (std::uint32_t i = 0; i < pages; ++i) read_end = std::max(read_end, *flash.read(Ppn{i}, end));
    speed.read_mb_s = mb_s(read_end - end);
    return speed;
}

} // namespace

TEST_CASE("the hybrid paper's part: 121 and 861 us a page with the transfer, 1.73 and 4.24 MB/s with the controller", "[nand][presets]") {
    NandConfig config = part("k9g8g08u0m");
    const Speed whole = measure(config);
    CHECK(whole.program_mb_s == Approx(1.73).epsilon(0.003));
    CHECK(whole.read_mb_s == Approx(4.24).epsilon(0.003));
    config.timing.controller_page_read = config.timing.controller_page_program = Duration{0};
    const Speed bare = measure(config);
    CHECK(bare.page_read == std::chrono::microseconds{121});
    CHECK(bare.page_program == std::chrono::microseconds{861});
}

namespace {

/// Pages of 2 KB on one chip of the multi-channel paper's device, written and read as early as it takes them.
struct Streams {
    double written_mb_s;
    double read_mb_s;
};
Streams stream(const NandConfig& config, std::span<const std::uint32_t> chips) {
    Flash flash{config, Payload::none, UndoPolicy::none};
    constexpr std::uint32_t pages = 64;
    const auto mb_s = [&](SimTime from, SimTime to) {
        return pages * static_cast<double>(chips.size()) * 2048 * 1000 / static_cast<double>((to - from).count());
    };
    SimTime end = sim_start;
    for (std::uint32_t i = 0; i < pages; ++i)
        for (const std::uint32_t chip : chips) end = std::max(end, *flash.program(flash.page(flash.block_on(chip), i), 1, sim_start));
    SimTime read_end = end;
    for (std::uint32_t i = 0; i < pages; ++i)
        for (const std::uint32_t chip : chips) read_end = std::max(read_end, *flash.read(flash.page(flash.block_on(chip), i), end));
    return {mb_s(sim_start, end), mb_s(end, read_end)};
}

} // namespace

TEST_CASE("the multi-channel paper's device: every page crosses one serial interface of 25 MB/s, whatever channel it comes from", "[nand][presets]") {
    const NandConfig config = part("dumbo");
    // A page alone: command, 2048 bytes at 40 ns to or from its buffer, at 25 ns over the bus, the cells; a write is confirmed.
    const Speed alone = measure(config);
    CHECK(alone.page_read == Duration{6'000 + 27'320 + 51'200 + 81'920});
    CHECK(alone.page_program == Duration{6'000 + 29'000 + 81'920 + 51'200 + 196'370});
    // One chip a channel, four channels: the interface alone decides for reads. The manager polls, so a read needs its bus for 78.52 us of the 87.92.
    const std::array<std::uint32_t, 4> on_each_channel{0, 8, 16, 24};
    CHECK(stream(config, on_each_channel).read_mb_s == Approx(2048.0 / (6 + 81.92)).epsilon(0.06));
    const std::array<std::uint32_t, 8> one_channel{0, 1, 2, 3, 4, 5, 6, 7};
    CHECK(stream(config, one_channel).written_mb_s == Approx(2048.0 / (6 + 29 + 81.92)).epsilon(0.02));
    // One page buffer a channel is no pipelining: the bus waits for the interface, and the other way round.
    NandConfig plain = config;
    plain.page_buffers_per_channel = 1;
    CHECK(stream(plain, one_channel).read_mb_s < 2048.0 / (27.32 + 51.2 + 81.92) * 1.02);
    CHECK(stream(config, one_channel).read_mb_s > stream(plain, one_channel).read_mb_s * 1.2);
}

TEST_CASE("the multi-channel paper's chips: a page of 2 KB crosses the 16-bit bus of 50 ns in 51.2 us, one channel moves one page at a time",
          "[nand][presets]") {
    NandConfig config = part("dumbo");
    config.timing.host_interface_ps_per_byte = 0;
    config.timing.host_interface_command = config.timing.host_interface_confirm = Duration{0};
    config.options.bus_held_while_sensing = false;
    const Speed speed = measure(config);
    CHECK(speed.page_program == Duration{51'200 + 196'370});
    CHECK(speed.page_read == Duration{27'320 + 51'200});
    // One chip: the register keeps the plane until the data are out.
    CHECK(speed.read_mb_s == Approx(2048.0 / (27.320 + 51.2)).epsilon(0.001));
    CHECK(speed.program_mb_s == Approx(2048.0 / (51.2 + 196.37)).epsilon(0.001));
    // Eight chips of one channel: the bus alone decides for reads, 40 MB/s; programs fill 196.37 us with the other chips' transfers.
    const std::array<std::uint32_t, 8> one_channel{0, 1, 2, 3, 4, 5, 6, 7};
    const Streams bus = stream(config, one_channel);
    CHECK(bus.written_mb_s == Approx(40.0).epsilon(0.02));
    CHECK(bus.read_mb_s == Approx(40.0).epsilon(0.02));
}

TEST_CASE("the other papers' parts: times with the transfer where the paper gives them so, apart where it gives them apart", "[nand][presets]") {
    const Speed adaptive = measure(part("slc-64g"));
    CHECK(adaptive.page_read == Duration{72'800});
    CHECK(adaptive.page_program == Duration{252'800});
    const Speed caching = measure(part("coftl"));
    CHECK(caching.page_read == Duration{50'000 + 40'960});
    CHECK(caching.page_program == Duration{40'960 + 900'000});
}

TEST_CASE("every preset describes a possible flash and says where it comes from", "[nand][presets]") {
    for (const NandPreset& preset : nand_presets()) {
        CAPTURE(preset.name);
        CHECK(Geometry::make(preset.nand.geometry).has_value());
        CHECK(preset.nand.timing.validate().has_value());
        CHECK_FALSE(preset.source.empty());
    }
    CHECK_FALSE(find_nand_preset("no-such-part"));
}
