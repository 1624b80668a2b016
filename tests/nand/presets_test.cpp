// The papers' figures come out of the array, not out of the table: each test runs the part and measures.
#include "nand/presets.h"
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
    double program_mb_s;   ///< of a thousand pages, each issued as early as the part takes it
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

TEST_CASE("the multi-channel paper's part: a page of 2 KB crosses its 16-bit bus of 50 ns in 51.2 us, one channel moves one page at a time",
          "[nand][presets]") {
    const NandConfig config = part("dumbo");
    const Speed speed = measure(config);
    CHECK(speed.page_program == Duration{51'200 + 196'370});
    CHECK(speed.page_read == Duration{27'320 + 51'200});
    // One chip: the register keeps the plane until the data are out.
    CHECK(speed.read_mb_s == Approx(2048.0 / (27.320 + 51.2)).epsilon(0.001));
    CHECK(speed.program_mb_s == Approx(2048.0 / (51.2 + 196.37)).epsilon(0.001));
    // Eight chips of one channel: the bus alone decides for reads, 40 MB/s; programs fill 196.37 us with the other chips' transfers.
    Flash flash{config, Payload::none, UndoPolicy::none};
    SimTime end = sim_start;
    for (std::uint32_t i = 0; i < 64; ++i)
        for (std::uint32_t chip = 0; chip < 8; ++chip) end = std::max(end, *flash.program(flash.page(flash.block_on(chip), i), 1, sim_start));
    CHECK(64 * 8 * 2048.0 * 1000 / static_cast<double>((end - sim_start).count()) == Approx(40.0).epsilon(0.02));
    SimTime read_end = end;
    for (std::uint32_t i = 0; i < 64; ++i)
        for (std::uint32_t chip = 0; chip < 8; ++chip) read_end = std::max(read_end, *flash.read(flash.page(flash.block_on(chip), i), end));
    CHECK(64 * 8 * 2048.0 * 1000 / static_cast<double>((read_end - end).count()) == Approx(40.0).epsilon(0.02));
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
