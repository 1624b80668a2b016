// Projections of a drive's life, computed here by hand.
#include "tools/drive/lifetime.h"

#include "tests/support/catch.h"

namespace flashlab {

namespace {

/// 10 GB of flash that take 1000 erases: 10 TB.
LifetimeInput small_drive() {
    return {.endurance_cycles = 1000,
            .good_blocks = 10'000,
            .block_bytes = 1'000'000,
            .device_bytes = 8'000'000'000,
            .mean_erases = 0,
            .worst_erases = 0};
}

} // namespace

TEST_CASE("a load that has two bytes programmed for each of its own halves what the host may write", "[lifetime]") {
    LifetimeInput in = small_drive();
    in.host_bytes = 1'000'000'000;
    in.nand_bytes = 2'000'000'000;
    const Lifetime life = Lifetime::of(in);
    CHECK(life.nand_budget_bytes == 1e13);
    CHECK(life.wear_per_host_byte == 2);
    CHECK(life.rated_bytes_written == 5e12);
    CHECK(life.drive_writes_per_day == Approx(5e12 / 8e9 / (5 * 365.25)));
    CHECK(life.years_at(10) == Approx(1e13 / (2e9 * 10) / 365.25));
}

TEST_CASE("blocks erased before they are full wear a drive more than their pages tell", "[lifetime]") {
    LifetimeInput in = small_drive();
    in.host_bytes = in.nand_bytes = 1'000'000'000;
    in.erases = 3000;
    CHECK(Lifetime::of(in).wear_per_host_byte == 3);
}

TEST_CASE("nothing written has no projection, and a worn-out drive has no years left", "[lifetime]") {
    LifetimeInput in = small_drive();
    const Json nothing = Lifetime::of(in).to_json();
    for (const char* key : {"tbw_bytes", "wear_per_host_byte", "drive_writes_per_day"}) CHECK(nothing[key].is_null());
    CHECK(Lifetime::of(in).years_at(1) == 0);
    in.host_bytes = in.nand_bytes = 1;
    in.mean_erases = 2000;
    in.worst_erases = 4000;
    const Lifetime worn = Lifetime::of(in);
    CHECK(worn.remaining_share == 0);
    CHECK(worn.years_at(1) == 0);
    CHECK(worn.wear_evenness == 0.5);
}

TEST_CASE("a drive that was made used has less left, and wears as evenly", "[lifetime]") {
    LifetimeInput in = small_drive();
    in.mean_erases = 100;
    in.worst_erases = 200;
    in.erases_before = 650;
    CHECK(Lifetime::of(in).remaining_share == Approx(0.25));
    CHECK(Lifetime::of(in).wear_evenness == 0.5);
}

} // namespace flashlab
