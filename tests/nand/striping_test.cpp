// Two channels as one: times by hand from the fixture's round numbers (command 100, part 1024, read 10'000, program 100'000, erase 1'000'000 ns).
#include "base/contract.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

NandConfig striped_config(std::uint32_t channels = 2) {
    NandConfig config = round_config();
    config.geometry.channels = channels;
    config.striping = 2;
    return config;
}

class Outcomes final : public CutOutcomes {
public:
    ProgramOutcome of_program(Ppn page) override { return page.value() < 64 * 2 ? ProgramOutcome::complete : ProgramOutcome::not_started; }
    EraseOutcome of_erase(BlockId) override { return EraseOutcome::complete; }
    std::uint64_t random() override { return random_.next(); }

private:
    Random random_{1};
};

/// As long as a striped page.
std::vector<std::byte> wide_page(const NandArray& array, std::uint64_t value) { return page_bytes_of(array.geometry(), value); }

auto program(Flash& flash, Ppn where, std::uint64_t value, SimTime now) {
    const auto data = wide_page(flash.array, value);
    const PageProgram one{where, data, PageOob{Lpn{static_cast<std::uint32_t>(value)}, WriteSequence{value}, PageKind::data, 0}};
    return flash.array.program({&one, 1}, {now, {}});
}

} // namespace

TEST_CASE("a striped array shows half the channels and pages twice as wide, and keeps the chips' own geometry for figures", "[nand][striping]") {
    Flash flash{striped_config(4)};
    CHECK(flash.array.geometry().channels() == 2);
    CHECK(flash.array.geometry().page_bytes() == 2048);
    CHECK(flash.array.geometry().bytes() == flash.geometry.bytes());
    CHECK(flash.array.chip_geometry().channels() == 4);
}

TEST_CASE("a striped page is programmed and read on its channels at once, at the price of one part", "[nand][striping]") {
    Flash flash{striped_config()};
    CHECK(program(flash, Ppn{0}, 1, at(0)) == at(100 + 1024 + 100'000));
    std::vector<std::byte> to(2048);
    CHECK(flash.array.read(PageRead{Ppn{0}, 0, 2048, to}, {at(200'000), {}}) == at(200'000 + 11'124));
    CHECK(to == wide_page(flash.array, 1));
    REQUIRE(flash.sink.operations.size() == 4);
    CHECK(flash.sink.operations[0].channel == ChannelId{0});
    CHECK(flash.sink.operations[1].channel == ChannelId{1});
    CHECK(flash.sink.operations[1].block.value() == 16); // the same place of the next channel: 2 chips x 2 planes x 4 blocks on
    CHECK(flash.array.counters().programs[0] == 2);
}

TEST_CASE("part of a striped page reads the members it lies on, each in proportion", "[nand][striping]") {
    Flash flash{striped_config()};
    REQUIRE(program(flash, Ppn{3}, 7, at(0)));
    std::vector<std::byte> to(1024);
    CHECK(flash.array.read(PageRead{Ppn{3}, 512, 1024, to}, {at(200'000), {}}) == at(200'000 + 100 + 10'000 + 512));
    const auto whole = wide_page(flash.array, 7);
    CHECK(std::ranges::equal(to, std::span{whole}.subspan(512, 1024)));
    CHECK(flash.array.read(PageRead{Ppn{3}, 1024, 512, {}}, {at(300'000), {}}) == at(300'000 + 100 + 10'000 + 512));
    CHECK(flash.array.counters().reads[0] == 3);
}

TEST_CASE("with short stripes a part of a page is split evenly over its channels, as DUMBO splits a request", "[nand][striping]") {
    NandConfig config = striped_config(4);
    config.striping = 4;
    config.stripe_bytes = 128;
    Flash flash{config};
    REQUIRE(program(flash, Ppn{0}, 1, at(0)) == at(1124 + 100'000));
    for (const std::uint32_t bytes : {512u, 1024u, 2048u, 4096u})
        CHECK(flash.array.read(PageRead{Ppn{0}, 0, bytes, {}}, {at(200'000) + Duration{bytes * 100}, {}}) ==
              at(200'000) + Duration{bytes * 100} + Duration{100 + 10'000 + bytes / 4});
    CHECK(flash.array.counters().reads[0] == 4 * 4);
    // A program in part moves an equal part of its bytes to each channel.
    Flash bare{config, Payload::none};
    const PageProgram part{Ppn{0}, {}, {}, 512};
    CHECK(bare.array.program({&part, 1}, {at(0), {}}) == at(100 + 128 + 100'000));
    CHECK(bare.array.counters().programs[0] == 4);
    config.stripe_bytes = 96;
    CHECK_THROWS_AS((Flash{config}), ContractViolation); // stripes fill a page
}

TEST_CASE("whatever the stripe, every part of a striped page reads as it was programmed, copied pages too", "[nand][striping]") {
    const std::uint32_t stripe = GENERATE(0u, 64u, 128u, 512u, 1024u);
    const std::uint32_t striping = GENERATE(2u, 4u);
    CAPTURE(stripe, striping);
    NandConfig config = striped_config(4);
    config.striping = striping;
    config.stripe_bytes = stripe;
    Flash flash{config};
    REQUIRE(program(flash, Ppn{0}, 9, at(0)));
    REQUIRE(flash.array.copy(Ppn{0}, Ppn{8}, {at(200'000), {Cause::gc, no_event}}));
    const auto whole = wide_page(flash.array, 9);
    Random random{stripe + striping};
    SimTime now = at(1'000'000);
    for (int i = 0; i < 200; ++i) {
        const auto offset = static_cast<std::uint32_t>(random.below(whole.size()));
        const auto bytes = static_cast<std::uint32_t>(1 + random.below(whole.size() - offset));
        CAPTURE(offset, bytes);
        std::vector<std::byte> to(bytes);
        const auto read = flash.array.read(PageRead{Ppn{random.chance(1, 2) ? 0u : 8u}, offset, bytes, to}, {now, {}});
        REQUIRE(read);
        now = *read;
        REQUIRE(std::ranges::equal(to, std::span{whole}.subspan(offset, bytes)));
    }
}

TEST_CASE("each page of each striped block has members of its own, on neighbouring channels", "[nand][striping]") {
    Flash flash{striped_config(4), Payload::none, UndoPolicy::none};
    for (std::uint32_t block = 0; block < flash.array.geometry().blocks(); ++block) {
        const Ppn page = flash.array.geometry().page_of(BlockId{block}, 0);
        const PageProgram one{page, {}, PageOob{Lpn{block}, WriteSequence{1}, PageKind::data, 0}};
        REQUIRE(flash.array.program({&one, 1}, {at(0), {}}));
        CHECK(flash.array.write_pointer(BlockId{block}) == 1);
        CHECK(flash.array.inspect_oob(page)->oob->lpn == Lpn{block});
    }
    std::vector<bool> seen(flash.geometry.blocks());
    for (std::size_t i = 0; i < flash.sink.operations.size(); ++i) {
        const NandOpEvent& e = flash.sink.operations[i];
        CHECK_FALSE(seen[e.block.value()]);
        seen[e.block.value()] = true;
        if (i % 2 == 1) CHECK(e.channel.value() == flash.sink.operations[i - 1].channel.value() + 1);
        if (i % 2 == 1) CHECK(e.channel.value() % 2 == 1);
    }
    CHECK(flash.sink.operations.size() == flash.geometry.blocks());
}

TEST_CASE("a copy moves every part, an erase empties every member, a bad member makes the block bad", "[nand][striping]") {
    Flash flash{striped_config()};
    REQUIRE(program(flash, Ppn{0}, 5, at(0)));
    CHECK(flash.array.copy(Ppn{0}, Ppn{8}, {at(200'000), {Cause::gc, no_event}}) == at(200'000 + 11'124 + 101'124));
    std::vector<std::byte> to(2048);
    REQUIRE(flash.array.read(PageRead{Ppn{8}, 0, 2048, to}, {at(400'000), {}}));
    CHECK(to == wide_page(flash.array, 5));
    CHECK(flash.array.erase(BlockId{0}, {at(500'000), {}}) == at(500'000 + 100 + 1'000'000));
    CHECK(flash.array.read_oob(Ppn{0}, {at(2'000'000), {}})->state == CellState::erased);
    CHECK(flash.array.erase_count(BlockId{0}) == 1);
    REQUIRE(flash.array.mark_bad(BlockId{3}, at(2'000'000)));
    CHECK(flash.array.is_bad(BlockId{3}));
    CHECK_FALSE(flash.array.is_bad(BlockId{2}));
}

TEST_CASE("a striped page of which a cut left one part reads as torn, and the page after it can be programmed", "[nand][striping]") {
    Flash flash{striped_config()};
    REQUIRE(program(flash, Ppn{0}, 1, at(0)) == at(101'124));
    REQUIRE(program(flash, Ppn{1}, 2, at(200'000)) == at(301'124));
    Outcomes outcomes; // channel 0's programs complete, channel 1's did not start
    REQUIRE(flash.array.cut(at(250'000), outcomes));
    NandArray after{flash.geometry, flash.config, flash.store, flash.sink, UndoPolicy::keep};
    REQUIRE(after.open());
    CHECK(after.inspect_oob(Ppn{0})->state == CellState::programmed);
    const auto torn = after.read_oob(Ppn{1}, {at(0), {}});
    REQUIRE(torn);
    CHECK(torn->state == CellState::torn);
    CHECK_FALSE(torn->oob.has_value());
    CHECK(after.read(PageRead{Ppn{1}, 0, 2048, {}}, {at(0), {}}).error().page == Ppn{1});
    CHECK(after.write_pointer(BlockId{0}) == 2);
    const auto data = wide_page(after, 3);
    const PageProgram next{Ppn{2}, data, PageOob{Lpn{3}, WriteSequence{3}, PageKind::data, 0}};
    CHECK(after.program({&next, 1}, {at(100'000), {}}).has_value());
    CHECK(after.inspect_oob(Ppn{2})->state == CellState::programmed);
}

TEST_CASE("a striping that does not divide the channels is refused with the reason", "[nand][striping]") {
    const auto refused = Geometry::make(round_config().geometry)->striped(3);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().find("divide") != std::string::npos);
    CHECK_FALSE(Geometry::make(round_config().geometry)->striped(0));
}
