// Answers that wait. Real time is used, but nothing is asserted about how late an answer was: only that none was early and that order holds.
#include "fs/fuse/delay_queue.h"

#include <semaphore>

#include "fs/fuse/awake_processors.h"
#include "tests/fuse/wakefulness.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace std::chrono_literals;

namespace {

struct Record {
    std::mutex mutex;
    std::vector<int> order;
    std::vector<WallTime> when;
    std::counting_semaphore<64> ran{0};
};

class Noted final : public Pending {
public:
    Noted(Record& record, int name, SimTime at) : record_{record}, name_{name} { due = at; }
    void run(std::unique_ptr<Pending>) noexcept override {
        {
            const std::lock_guard lock{record_.mutex};
            record_.order.push_back(name_);
            record_.when.push_back(WallClock::now());
        }
        record_.ran.release();
    }

private:
    Record& record_;
    int name_;
};

constexpr LatencyMode real{.off = false, .rate = 1.0};

} // namespace

TEST_CASE("answers leave in the order of their completions and none before its time", "[fuse]") {
    const WallTime wall = WallClock::now();
    const LatencyClock clock{sim_start, real, wall};
    Record record;
    DelayQueue queue{clock};
    queue.push(std::make_unique<Noted>(record, 3, sim_start + 30ms));
    queue.push(std::make_unique<Noted>(record, 1, sim_start + 10ms));
    queue.push(std::make_unique<Noted>(record, 2, sim_start + 20ms));
    for (int count = 0; count < 3; ++count) record.ran.acquire();
    CHECK(record.order == std::vector{1, 2, 3});
    CHECK(record.when[0] >= wall + 10ms);
    CHECK(record.when[2] >= wall + 30ms);
}

TEST_CASE("equal completions leave in the order in which they were given", "[fuse]") {
    Record record;
    DelayQueue queue{LatencyClock{sim_start, real, WallClock::now()}};
    for (int name = 0; name < 20; ++name) queue.push(std::make_unique<Noted>(record, name, sim_start + 5ms));
    for (int count = 0; count < 20; ++count) record.ran.acquire();
    for (int name = 0; name < 20; ++name) CHECK(record.order[static_cast<std::size_t>(name)] == name);
}

TEST_CASE("a step, too, runs by its lead early: what it ends with can only then be in time", "[fuse]") {
    const WallTime wall = WallClock::now();
    Record record;
    DelayQueue queue{LatencyClock{sim_start, real, wall}};
    auto step = std::make_unique<Noted>(record, 1, sim_start + 60ms);
    step->is_answer = false;
    step->lead = 50ms;
    queue.push(std::move(step));
    queue.push(std::make_unique<Noted>(record, 2, sim_start + 30ms));
    for (int count = 0; count < 2; ++count) record.ran.acquire();
    CHECK(record.order == std::vector{1, 2});
    CHECK(record.when[0] >= wall + 10ms);
}

TEST_CASE("an answer leaves by its lead before its completion, even before one that is due earlier", "[fuse]") {
    const double rate = GENERATE(1.0, 10.0);
    const auto simulated = [rate](auto wall_time) {
        return sim_start + Duration{std::chrono::nanoseconds{wall_time}.count() * static_cast<std::int64_t>(rate)};
    };
    const WallTime wall = WallClock::now();
    Record record;
    DelayQueue queue{LatencyClock{sim_start, {.off = false, .rate = rate}, wall}};
    queue.push(std::make_unique<Noted>(record, 1, simulated(120ms)));
    auto with_lead = std::make_unique<Noted>(record, 2, simulated(160ms));
    with_lead->lead = 100ms;
    queue.push(std::move(with_lead));
    for (int count = 0; count < 2; ++count) record.ran.acquire();
    CHECK(record.order == std::vector{2, 1});
    CHECK(record.when[0] >= wall + 60ms);
    CHECK(record.when[1] >= wall + 120ms);
}

TEST_CASE("a faster clock shortens the waits that are going on, and latency off ends them", "[fuse]") {
    const WallTime wall = WallClock::now();
    LatencyClock clock{sim_start, real, wall};
    Record record;
    DelayQueue queue{clock};
    queue.push(std::make_unique<Noted>(record, 1, sim_start + 10min));
    SECTION("off") { clock.set_mode({.off = true, .rate = 1.0}, WallClock::now()); }
    SECTION("fast") { clock.set_mode({.off = false, .rate = 1e6}, WallClock::now()); }
    queue.set_clock(clock);
    CHECK(record.ran.try_acquire_for(10s));
}

TEST_CASE("a power cut lets everything go, and finish() answers what is left", "[fuse]") {
    Record record;
    DelayQueue queue{LatencyClock{sim_start, real, WallClock::now()}};
    for (int name = 0; name < 5; ++name) queue.push(std::make_unique<Noted>(record, name, sim_start + 10min));
    SECTION("cut") {
        queue.release();
        for (int count = 0; count < 5; ++count) CHECK(record.ran.try_acquire_for(10s));
    }
    SECTION("finish") { queue.finish(); }
    queue.finish();
    CHECK(record.order.size() == 5);
}

TEST_CASE("processors do not sleep while an answer waits, and may sleep where no time is emulated", "[fuse]") {
    {
        AwakeProcessors probe;
        probe.hold();
        if (!probe.are_held()) return; // an ordinary user, or no such host
    }
    Record record;
    DelayQueue untimed{LatencyClock{sim_start, LatencyMode{}, WallClock::now()}};
    untimed.push(std::make_unique<Noted>(record, 1, sim_start + 1ms));
    record.ran.acquire();
    CHECK(wishes_of_this_process() == 0);
    DelayQueue queue{LatencyClock{sim_start, real, WallClock::now()}};
    queue.push(std::make_unique<Noted>(record, 2, sim_start + 5ms));
    record.ran.acquire();
    CHECK(wishes_of_this_process() == 1);
    for (const auto until = WallClock::now() + 20s; wishes_of_this_process() != 0 && WallClock::now() < until;) std::this_thread::sleep_for(10ms);
    CHECK(wishes_of_this_process() == 0); // a while after the last answer
}
