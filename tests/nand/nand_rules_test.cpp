// Goal: N1 is refused when broken, N2 and N3 hold for any order of calls. Method: random operations, and a checker that knows only the events.
#include <map>

#include "base/contract.h"
#include "nand/factory_bad_blocks.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::testing;

namespace {

/// Checks each new event against all before it.
class PhysicsChecker {
public:
    explicit PhysicsChecker(const Flash& flash) : flash_{flash} {}

    void check_new() {
        const auto& all = flash_.sink.operations;
        for (; seen_ < all.size(); ++seen_) {
            for (std::size_t before = 0; before < seen_; ++before) {
                check_block(all[before], all[seen_]);
                check_plane(all[before], all[seen_]);
            }
        }
    }

private:
    static void check_block(const NandOpEvent& earlier, const NandOpEvent& later) {
        if (earlier.block != later.block) return;
        INFO("N2 between operations on block " << earlier.block.value());
        if (later.op == NandOp::erase) REQUIRE(later.start >= earlier.end);
        if (later.op == NandOp::program && earlier.op != NandOp::read) REQUIRE(later.start >= earlier.end);
        if (later.op == NandOp::read && earlier.op == NandOp::program && earlier.page == later.page) REQUIRE(later.start >= earlier.end);
        if (later.op == NandOp::read && earlier.op == NandOp::erase) REQUIRE(later.start >= earlier.end);
    }
    /// The plane is busy from the end of a read's or erase's command, and from the start of a program's data, to the end.
    static void check_plane(const NandOpEvent& a, const NandOpEvent& b) {
        if (a.plane != b.plane) return;
        INFO("N3 on plane " << a.plane.value());
        REQUIRE((busy_from(a) >= b.end || busy_from(b) >= a.end));
    }
    [[nodiscard]] static SimTime busy_from(const NandOpEvent& event) { return event.op == NandOp::program ? event.start : event.phases.bus_in_end; }

    const Flash& flash_;
    std::size_t seen_ = 0;
};

void random_operation(Flash& flash, Random& random, SimTime now, std::uint64_t value) {
    const auto block = static_cast<std::uint32_t>(random.below(flash.geometry.blocks()));
    const std::uint32_t next = flash.array.write_pointer(BlockId{block});
    const std::uint64_t what = random.below(10);
    if (what < 4 && next > 0) {
        REQUIRE(flash.read(flash.page(block, static_cast<std::uint32_t>(random.below(next))), now));
    } else if (next == flash.geometry.pages_per_block() || what == 9) {
        REQUIRE(flash.array.erase(BlockId{block}, {now, {}}));
    } else {
        REQUIRE(flash.program(flash.page(block, next), value, now));
    }
}

/// The same on a pair of planes, where both blocks allow it.
void random_two_plane_operation(Flash& flash, Random& random, SimTime now) {
    const auto pair = static_cast<std::uint32_t>(random.below(flash.geometry.planes() / 2));
    const auto index = static_cast<std::uint32_t>(random.below(flash.geometry.blocks_per_plane()));
    const std::array both{BlockId{flash.block_on(2 * pair, index)}, BlockId{flash.block_on(2 * pair + 1, index)}};
    const std::uint32_t least = std::min(flash.array.write_pointer(both[0]), flash.array.write_pointer(both[1]));
    const std::uint32_t next = std::max(flash.array.write_pointer(both[0]), flash.array.write_pointer(both[1]));
    const std::uint64_t what = random.below(10);
    if (what < 4 && least > 0) {
        const auto page = static_cast<std::uint32_t>(random.below(least));
        const std::array reads{PageRead{flash.geometry.page_of(both[0], page), 0, 512, {}},
                               PageRead{flash.geometry.page_of(both[1], page), 0, 256, {}}};
        REQUIRE(flash.array.read_two_plane(reads, {now, {}}));
    } else if (next == flash.geometry.pages_per_block() || what == 9) {
        REQUIRE(flash.array.erase_two_plane(both, {now, {}}));
    } else if (least != next) { // no page is skipped: the block behind catches up
        const std::size_t behind = flash.array.write_pointer(both[0]) == least ? 0 : 1;
        REQUIRE(flash.program(flash.geometry.page_of(both[behind], least), 1, now));
    } else {
        const std::array programs{PageProgram{flash.geometry.page_of(both[0], next), {}, {}},
                                  PageProgram{flash.geometry.page_of(both[1], next), {}, {}}};
        REQUIRE(flash.array.program_two_plane(programs, {now, {}}));
    }
}

} // namespace

TEST_CASE("random two-plane and single operations in any order of time keep N2 and N3", "[nand][two-plane]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
    CAPTURE(seed);
    Random random{seed};
    NandConfig config = round_config();
    config.options.two_plane = true;
    Flash flash{config, Payload::none, UndoPolicy::keep};
    PhysicsChecker checker{flash};
    SimTime clock = sim_start;
    for (std::uint64_t i = 1; i <= 300; ++i) {
        const SimTime now = clock + Duration{static_cast<std::int64_t>(random.below(500'000))};
        if (random.chance(1, 2))
            random_two_plane_operation(flash, random, now);
        else
            random_operation(flash, random, now, i);
        if (random.chance(1, 5)) flash.array.settle(clock += Duration{static_cast<std::int64_t>(random.below(200'000))});
        checker.check_new();
    }
    CHECK(flash.array.counters().two_plane_reads * flash.array.counters().two_plane_erases > 0);
}

TEST_CASE("random operations issued in any order of time keep N2 and N3", "[nand]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
    CAPTURE(seed);
    Random random{seed};
    Flash flash{round_config(), Payload::none, UndoPolicy::keep};
    PhysicsChecker checker{flash};
    SimTime clock = sim_start;
    for (std::uint64_t i = 1; i <= 400; ++i) {
        random_operation(flash, random, clock + Duration{static_cast<std::int64_t>(random.below(500'000))}, i);
        if (random.chance(1, 5)) flash.array.settle(clock += Duration{static_cast<std::int64_t>(random.below(200'000))});
        checker.check_new();
    }
    Duration busy{0};
    for (std::uint32_t channel = 0; channel < flash.geometry.channels(); ++channel) busy += flash.array.channel_busy(ChannelId{channel});
    CHECK(busy > Duration{0});
}

TEST_CASE("N1: a page is programmed once, in increasing order, and a skipped page is lost until the erase", "[nand]") {
    Flash flash;
    SimTime now = *flash.program(flash.page(0, 2), 1, at(0));
    CHECK(flash.array.write_pointer(BlockId{0}) == 3);
    CHECK_THROWS_AS(flash.program(flash.page(0, 2), 2, now), ContractViolation);
    CHECK_THROWS_AS(flash.program(flash.page(0, 1), 2, now), ContractViolation);
    CHECK(flash.read(flash.page(0, 1), now).error().kind == NandErrorKind::erased_page);
    CHECK(flash.read(flash.page(0, 2), now).has_value());
    CHECK(flash.read(flash.page(0, 3), now).error().kind == NandErrorKind::erased_page);
    now = *flash.array.erase(BlockId{0}, {now, {}});
    CHECK(flash.program(flash.page(0, 1), 3, now).has_value());
    CHECK(flash.array.erase_count(BlockId{0}) == 1);
}

TEST_CASE("a multi-plane program is refused across dies, page offsets and twice on a plane", "[nand]") {
    Flash flash;
    const auto data = page_bytes_of(flash.geometry, 1);
    const auto pair = [&](Ppn a, Ppn b) {
        const PageProgram both[] = {{a, data, {}}, {b, data, {}}};
        return flash.array.program(both, {at(0), {}});
    };
    const Ppn first = flash.page(flash.block_on(0), 0);
    CHECK_THROWS_AS(pair(first, flash.page(flash.block_on(2), 0)), ContractViolation);
    CHECK_THROWS_AS(pair(first, flash.page(flash.block_on(1), 1)), ContractViolation);
    CHECK_THROWS_AS(pair(first, flash.page(flash.block_on(0, 1), 0)), ContractViolation);
    CHECK(pair(first, flash.page(flash.block_on(1, 3), 0)).has_value());
}

TEST_CASE("bad blocks are neither programmed nor erased, and a grown one stays bad after reopening", "[nand]") {
    Flash flash;
    REQUIRE(flash.array.mark_bad(BlockId{3}, at(0)));
    CHECK_THROWS_AS(flash.program(flash.page(3, 0), 1, at(0)), ContractViolation);
    CHECK_THROWS_AS(flash.array.erase(BlockId{3}, {at(0), {}}), ContractViolation);
    NandArray reopened{flash.geometry, flash.config, flash.store, flash.sink, UndoPolicy::none};
    REQUIRE(reopened.open());
    CHECK(reopened.is_bad(BlockId{3}));
    CHECK_FALSE(reopened.is_factory_bad(BlockId{3}));
}

TEST_CASE("factory bad blocks follow from the seed, about as many as asked for", "[nand]") {
    std::uint32_t bad = 0;
    bool differs = false;
    for (std::uint32_t block = 0; block < 100'000; ++block) {
        const bool is_bad = is_bad_from_factory(BlockId{block}, 1, 10'000);
        CHECK(is_bad == is_bad_from_factory(BlockId{block}, 1, 10'000));
        bad += is_bad ? 1 : 0;
        differs = differs || is_bad != is_bad_from_factory(BlockId{block}, 2, 10'000);
    }
    CHECK(bad > 850);
    CHECK(bad < 1150);
    CHECK(differs);
}

namespace {
class FailOnce final : public NandFaults {
public:
    bool program_fails(Ppn page) override { return page == program_; }
    bool erase_fails(BlockId block) override { return block == erase_; }
    Ppn program_{~0u};
    BlockId erase_{~0u};
};
} // namespace

TEST_CASE("a failed program takes its time, leaves its page unreadable and its neighbours intact", "[nand]") {
    Flash flash;
    FailOnce faults;
    faults.program_ = flash.page(0, 1);
    flash.array.set_faults(&faults);
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)));
    const auto failed = flash.program(flash.page(0, 1), 2, at(200'000));
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == NandErrorKind::program_failed);
    CHECK(failed.error().done == at(301'124));
    CHECK(flash.read(flash.page(0, 1), at(400'000)).error().kind == NandErrorKind::uncorrectable);
    CHECK(flash.read(flash.page(0, 0), at(400'000)).has_value());
    CHECK_FALSE(flash.array.read_oob(flash.page(0, 1), {at(400'000), {}})->oob);
    flash.array.set_faults(nullptr);
}

TEST_CASE("a failed erase leaves no page of the block readable or programmable", "[nand]") {
    Flash flash;
    FailOnce faults;
    faults.erase_ = BlockId{0};
    flash.array.set_faults(&faults);
    REQUIRE(flash.program(flash.page(0, 0), 1, at(0)));
    CHECK(flash.array.erase(BlockId{0}, {at(200'000), {}}).error().kind == NandErrorKind::erase_failed);
    CHECK(flash.read(flash.page(0, 0), at(2'000'000)).error().kind == NandErrorKind::uncorrectable);
    CHECK_THROWS_AS(flash.program(flash.page(0, 7), 2, at(2'000'000)), ContractViolation);
}

TEST_CASE("a copy keeps data, LPN, sequence and kind", "[nand]") {
    const auto payload = GENERATE(Payload::keep, Payload::none);
    Flash flash{round_config(), payload};
    SimTime now = *flash.program(flash.page(0, 0), 42, at(0));
    const Ppn to = flash.page(5, 0);
    const auto done = flash.array.copy(flash.page(0, 0), to, {now, {Cause::gc, no_event}});
    REQUIRE(done == now + Duration{11'124 + 101'124});
    const auto oob = flash.array.read_oob(to, {*done, {}});
    CHECK(oob->oob->lpn == Lpn{42});
    CHECK(oob->oob->sequence == WriteSequence{42});
    if (payload == Payload::keep) {
        std::vector<std::byte> data(flash.geometry.page_bytes());
        REQUIRE(flash.array.read(PageRead{to, 0, flash.geometry.page_bytes(), data}, {*done, {}}));
        CHECK(data == page_bytes_of(flash.geometry, 42));
    }
    CHECK(flash.array.counters().reads[static_cast<std::size_t>(Cause::gc)] == 1);
    CHECK(flash.array.counters().programs[static_cast<std::size_t>(Cause::gc)] == 1);
}

TEST_CASE("payload that changed behind the array's back is uncorrectable, in part and whole", "[nand]") {
    Flash flash;
    const SimTime now = *flash.program(flash.page(0, 0), 1, at(0));
    auto rotten = page_bytes_of(flash.geometry, 1);
    rotten[900] ^= std::byte{1};
    REQUIRE(flash.store.write_data(flash.page(0, 0), rotten));
    std::vector<std::byte> part(100);
    CHECK(flash.array.read(PageRead{flash.page(0, 0), 0, 100, part}, {now, {}}).error().kind == NandErrorKind::uncorrectable);
    std::vector<std::byte> whole(flash.geometry.page_bytes());
    CHECK(flash.array.read(PageRead{flash.page(0, 0), 0, 1024, whole}, {now, {}}).error().kind == NandErrorKind::uncorrectable);
}
