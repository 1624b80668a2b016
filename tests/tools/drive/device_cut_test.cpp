// Goal: a cut meets what it is asked to meet, and tells what it met: no collection and no erase where there is none.
// Method: devices of 32 MiB; instants drawn a hundred times; the flights of the flash say what is under way at an instant.
#include "tests/tools/device_fixture.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// Under way at this instant: by kind, or anything.
std::uint64_t under_way(const Device& device, SimTime at, const std::function<bool(const NandFlight&)>& is_it) {
    std::vector<NandFlight> flights;
    device.array().append_flights(flights);
    return static_cast<std::uint64_t>(std::ranges::count_if(flights, [&](const NandFlight& f) { return f.cells < at && at < f.end && is_it(f); }));
}
bool is_collection(const NandFlight& f) { return f.cause == Cause::gc || f.cause == Cause::merge; }

} // namespace

TEST_CASE("a drive that has collected nothing has no instant at which a cut would meet a collection or an erase", "[cut]") {
    const TemporaryDirectory work;
    make(work / "device");
    const auto opened = open(work / "device");
    const SimTime from = opened->device().ready_at();
    write_something(*opened);
    Device& device = opened->device();
    for (std::uint64_t draw = 0; draw < 100; ++draw) {
        CHECK_FALSE(device.instant_in_flight(CutAt::gc, from, draw).has_value());
        CHECK_FALSE(device.instant_in_flight(CutAt::erase, from, draw).has_value());
        const auto at = device.instant_in_flight(CutAt::work, from, draw);
        REQUIRE(at.has_value());
        CHECK(*at >= from);
    }
    close(*opened);
}

TEST_CASE("a cut that is to meet a collection or an erase meets one", "[cut]") {
    const TemporaryDirectory work;
    make(work / "device");
    const auto opened = open(work / "device");
    Device& device = opened->device();
    const FsCall call{.now = device.ready_at(), .wall = FileTime{1, 0}};
    const std::uint64_t sectors = device.ssd().identify().sectors;
    const std::vector<std::byte> data(1u << 16, std::byte{7});
    SimTime now = call.now;
    Random random{1};
    std::optional<SimTime> collected, erased;
    for (int i = 0; i < 4000 && !(collected && erased); ++i) { // below the file system, which is not asked any more
        const SimTime from = now;
        const auto done = device.ssd().write(Sector{random.below(sectors / 128) * 128}, 128, data, WriteDurability::volatile_ok, now);
        REQUIRE(done.has_value());
        now = *done;
        if (!collected) collected = device.instant_in_flight(CutAt::gc, from, static_cast<std::uint64_t>(i));
        if (collected && under_way(device, *collected, is_collection) == 0) FAIL("no collection is under way at the instant of --at gc");
        if (!erased) erased = device.instant_in_flight(CutAt::erase, from, static_cast<std::uint64_t>(i));
        if (erased && under_way(device, *erased, [](const NandFlight& f) { return f.op == NandOp::erase; }) == 0)
            FAIL("no erase is under way at the instant of --at erase");
        device.settle(from);
    }
    CHECK(collected.has_value());
    CHECK(erased.has_value());
}

TEST_CASE("a quarter of the cuts of any work meet a word of the PRAM, however long it lies idle between two", "[cut]") {
    const TemporaryDirectory work;
    make(work / "device");
    int met = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const auto opened = open(work / "device");
        Device& device = opened->device();
        const SimTime from = device.ready_at();
        for (const int second : {0, 1, 2}) {
            const FsCall call{.now = from + Duration{second * 1'000'000'000ll}, .wall = FileTime{1, 0}};
            REQUIRE(device.fs().make_node(call, root_ino, std::to_string(seed) + '.' + std::to_string(second), 0100644, 0).has_value());
        }
        const auto at = device.instant_in_flight(CutAt::work, from, seed);
        if (at && device.cut(*at, seed).words_interrupted == 1) ++met;
        if (!at) (void)device.cut(device.last_reserved_end(), seed);
        REQUIRE(opened->close(device.ready_at(), {}).has_value());
    }
    CHECK(met >= 5);
}
