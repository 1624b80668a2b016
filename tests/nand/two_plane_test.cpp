// Goal: a two-plane command is one command in time and legality, and two operations in what it leaves. Times by hand from the fixture's round
// numbers: command 100, page transfer 1024, read 10'000, program 100'000, erase 1'000'000 ns. Planes 0, 1 are one die, 2, 3 the next; a plane has
// four blocks.
#include "base/contract.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

NandConfig pairs(bool independent_planes = true) {
    NandConfig config = round_config();
    config.options.two_plane = true;
    config.options.independent_planes = independent_planes;
    return config;
}

auto program_pair(Flash& flash, Ppn one, Ppn other, std::uint64_t value, SimTime now) {
    const auto first = page_bytes_of(flash.array.geometry(), value), second = page_bytes_of(flash.array.geometry(), value + 1);
    const auto page = [&](Ppn where, std::span<const std::byte> data, std::uint64_t v) {
        return PageProgram{where, flash.store.keeps_payload() ? data : std::span<const std::byte>{},
                           PageOob{Lpn{static_cast<std::uint32_t>(v)}, WriteSequence{v}, PageKind::data, 0}};
    };
    const std::array both{page(one, first, value), page(other, second, value + 1)};
    return flash.array.program_two_plane(both, {now, {}});
}
auto read_pair(Flash& flash, Ppn one, Ppn other, SimTime now) {
    const std::uint32_t bytes = flash.array.geometry().page_bytes();
    const std::array both{PageRead{one, 0, bytes, {}}, PageRead{other, 0, bytes, {}}};
    return flash.array.read_two_plane(both, {now, {}});
}
auto erase_pair(Flash& flash, std::uint32_t one, std::uint32_t other, SimTime now) {
    const std::array both{BlockId{one}, BlockId{other}};
    return flash.array.erase_two_plane(both, {now, {}});
}

class FailOne final : public NandFaults {
public:
    bool program_fails(Ppn page) override { return page == program_; }
    bool erase_fails(BlockId block) override { return block == erase_; }
    bool read_fails(Ppn page) override { return page == read_; }
    Ppn program_{~0u};
    BlockId erase_{~0u};
    Ppn read_{~0u};
};

/// The first plane's operations complete, the second's never began.
class FirstPlaneOnly final : public CutOutcomes {
public:
    explicit FirstPlaneOnly(const Geometry& geometry) : geometry_{geometry} {}
    ProgramOutcome of_program(Ppn page) override {
        return geometry_.plane_of(geometry_.block_of(page)).value() % 2 == 0 ? ProgramOutcome::complete : ProgramOutcome::not_started;
    }
    EraseOutcome of_erase(BlockId block) override {
        return geometry_.plane_of(block).value() % 2 == 0 ? EraseOutcome::complete : EraseOutcome::not_started;
    }
    std::uint64_t random() override { return 1; }

private:
    const Geometry& geometry_;
};

} // namespace

TEST_CASE("a two-plane command pays commands and transfers one after the other, and its cells once", "[nand][two-plane]") {
    const bool independent = GENERATE(true, false);
    CAPTURE(independent);
    Flash flash{pairs(independent)};
    const std::uint32_t a = flash.block_on(0), b = flash.block_on(1);
    CHECK(program_pair(flash, flash.page(a, 0), flash.page(b, 0), 1, at(0)) == at(2 * 1124 + 100'000));
    CHECK(read_pair(flash, flash.page(a, 0), flash.page(b, 0), at(200'000)) == at(200'000 + 2 * 100 + 10'000 + 2 * 1024));
    CHECK(erase_pair(flash, a, b, at(300'000)) == at(300'000 + 2 * 100 + 1'000'000));
    CHECK(flash.array.counters().two_plane_programs == 1);
    CHECK(flash.array.counters().two_plane_reads == 1);
    CHECK(flash.array.counters().two_plane_erases == 1);
    CHECK(flash.array.counters().programs[0] == 2);
    CHECK(flash.array.counters().reads[0] == 2);
    CHECK(flash.array.counters().erases[0] == 2);
}

TEST_CASE("planes that take turns read and erase twice as fast by two-plane commands as by single ones", "[nand][two-plane]") {
    Flash flash{pairs(false)};
    const std::uint32_t a = flash.block_on(0), b = flash.block_on(1);
    REQUIRE(program_pair(flash, flash.page(a, 0), flash.page(b, 0), 1, at(0)));
    REQUIRE(flash.read(flash.page(a, 0), at(200'000)) == at(200'000 + 11'124));
    CHECK(flash.read(flash.page(b, 0), at(200'000)) == at(200'000 + 2 * 11'124)); // it has to wait for the whole of the other
    REQUIRE(flash.array.erase(BlockId{a}, {at(300'000), {}}) == at(300'000 + 100 + 1'000'000));
    CHECK(flash.array.erase(BlockId{b}, {at(300'000), {}}) == at(300'000 + 100 + 2 * 1'000'000));
}

TEST_CASE("both pages of a two-plane read are given, in part too, and one that cannot be read is named", "[nand][two-plane]") {
    Flash flash{pairs()};
    const Ppn a = flash.page(flash.block_on(0), 0), b = flash.page(flash.block_on(1), 0);
    REQUIRE(program_pair(flash, a, b, 7, at(0)));
    std::vector<std::byte> first(1024), second(256);
    const std::array both{PageRead{a, 0, 1024, first}, PageRead{b, 512, 256, second}};
    CHECK(flash.array.read_two_plane(both, {at(200'000), {}}) == at(200'000 + 2 * 100 + 10'000 + 1024 + 256));
    CHECK(first == page_bytes_of(flash.geometry, 7));
    const auto other = page_bytes_of(flash.geometry, 8);
    CHECK(std::ranges::equal(second, std::span{other}.subspan(512, 256)));
    FailOne faults;
    faults.read_ = b;
    flash.array.set_faults(&faults);
    std::ranges::fill(first, std::byte{0});
    const auto failed = flash.array.read_two_plane(both, {at(300'000), {}});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == NandErrorKind::uncorrectable);
    CHECK(failed.error().page == b);
    CHECK(first == page_bytes_of(flash.geometry, 7)); // the other plane's page is there
    flash.array.set_faults(nullptr);
}

TEST_CASE("a two-plane command with unequal offsets, on no pair, or on chips without it is refused and changes nothing", "[nand][two-plane]") {
    const auto refused = [](const NandConfig& config, std::uint32_t plane, std::uint32_t index, std::uint32_t other_plane, std::uint32_t other_index,
                            std::uint32_t page, std::uint32_t other_page) {
        Flash flash{config};
        const std::uint32_t a = flash.block_on(plane, index), b = flash.block_on(other_plane, other_index);
        for (const std::uint32_t block : {a, b})
            for (std::uint32_t p = 0; p < 2; ++p) REQUIRE(flash.program(flash.page(block, p), p + 1, at(0)));
        CHECK_THROWS_AS(program_pair(flash, flash.page(a, 2 + page), flash.page(b, 2 + other_page), 5, at(0)), ContractViolation);
        CHECK_THROWS_AS(read_pair(flash, flash.page(a, page), flash.page(b, other_page), at(0)), ContractViolation);
        if (page == other_page) CHECK_THROWS_AS(erase_pair(flash, a, b, at(0)), ContractViolation);
        CHECK(flash.array.write_pointer(BlockId{a}) == 2);
        CHECK(flash.array.write_pointer(BlockId{b}) == 2);
        CHECK(flash.array.erase_count(BlockId{a}) == 0);
    };
    refused(pairs(), 0, 0, 1, 1, 0, 0);        // another block offset
    refused(pairs(), 0, 0, 1, 0, 0, 1);        // another page offset
    refused(pairs(), 0, 0, 2, 0, 0, 0);        // another die
    refused(pairs(), 1, 0, 2, 0, 0, 0);        // neighbours that are no pair
    refused(pairs(), 1, 0, 0, 0, 0, 0);        // the wrong way round
    refused(round_config(), 0, 0, 1, 0, 0, 0); // chips without two-plane commands
}

TEST_CASE("of a two-plane command one block can fail: it is named, the other is programmed and erased", "[nand][two-plane]") {
    Flash flash{pairs()};
    const std::uint32_t a = flash.block_on(0), b = flash.block_on(1);
    FailOne faults;
    faults.program_ = flash.page(b, 0);
    faults.erase_ = BlockId{b};
    flash.array.set_faults(&faults);
    const auto programmed = program_pair(flash, flash.page(a, 0), flash.page(b, 0), 1, at(0));
    REQUIRE_FALSE(programmed);
    CHECK(programmed.error().page == flash.page(b, 0));
    CHECK(flash.read(flash.page(a, 0), at(200'000)).has_value());
    const auto erased = erase_pair(flash, a, b, at(300'000));
    REQUIRE_FALSE(erased);
    CHECK(erased.error().kind == NandErrorKind::erase_failed);
    CHECK(flash.geometry.block_of(erased.error().page) == BlockId{b});
    CHECK(erased.error().done == at(300'000 + 200 + 1'000'000));
    CHECK(flash.array.write_pointer(BlockId{a}) == 0);
    CHECK_THROWS_AS(flash.program(flash.page(b, 7), 2, at(2'000'000)), ContractViolation);
    flash.array.set_faults(nullptr);
}

TEST_CASE("a cut strikes each plane of a two-plane command by itself", "[nand][two-plane]") {
    Flash flash{pairs()};
    const std::uint32_t a = flash.block_on(0), b = flash.block_on(1);
    REQUIRE(program_pair(flash, flash.page(a, 0), flash.page(b, 0), 1, at(0)));
    REQUIRE(erase_pair(flash, flash.block_on(2), flash.block_on(3), at(0)) == at(2 * 1124 + 200 + 1'000'000)); // the channel's bus is taken before
    FirstPlaneOnly outcomes{flash.geometry};
    const auto report = flash.array.cut(at(50'000), outcomes);
    REQUIRE(report);
    CHECK(report->torn_programs == 2);
    CHECK(report->torn_erases == 2);
    NandArray after{flash.geometry, flash.config, flash.store, flash.sink, UndoPolicy::keep};
    REQUIRE(after.open());
    CHECK(after.inspect_oob(flash.page(a, 0))->state == CellState::programmed);
    CHECK(after.inspect_oob(flash.page(b, 0))->state == CellState::erased);
    CHECK(after.erase_count(BlockId{flash.block_on(2)}) == 1);
    CHECK(after.erase_count(BlockId{flash.block_on(3)}) == 0);
}

TEST_CASE("two-plane commands reach striped pages on each of their channels", "[nand][two-plane][striping]") {
    NandConfig config = pairs();
    config.striping = 2;
    Flash flash{config};
    const Geometry& wide = flash.array.geometry();
    const Ppn a = wide.page_of(wide.block_at(PlaneId{0}, 2), 0), b = wide.page_of(wide.block_at(PlaneId{1}, 2), 0);
    CHECK(program_pair(flash, a, b, 3, at(0)) == at(2 * 1124 + 100'000));
    std::vector<std::byte> first(2048), second(2048);
    const std::array both{PageRead{a, 0, 2048, first}, PageRead{b, 0, 2048, second}};
    CHECK(flash.array.read_two_plane(both, {at(200'000), {}}) == at(200'000 + 200 + 10'000 + 2 * 1024));
    CHECK(first == page_bytes_of(wide, 3));
    CHECK(second == page_bytes_of(wide, 4));
    const std::array part{PageRead{a, 0, 1024, {}}, PageRead{b, 512, 1024, {}}}; // of b both channels have a half, of a one has all
    CHECK(flash.array.read_two_plane(part, {at(300'000), {}}) == at(300'000 + 200 + 10'000 + 1024 + 512));
    const std::array blocks{wide.block_of(a), wide.block_of(b)};
    CHECK(flash.array.erase_two_plane(blocks, {at(400'000), {}}) == at(400'000 + 200 + 1'000'000));
    CHECK(flash.array.read_oob(b, {at(2'000'000), {}})->state == CellState::erased);
}
