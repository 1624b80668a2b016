// Several submission queues against a target of known speed: times that can be computed by hand.
#include "tests/support/catch.h"
#include "tools/run/queue_run.h"

using namespace flashlab;

namespace {

constexpr Duration service{100};

/// Serves each request in 100 ns, any number at once.
RunTarget steady_target(std::vector<std::uint16_t>& order) {
    return {.issue = [&order](const TraceRequest& request, SimTime now, Duration) -> std::expected<SimTime, std::string> {
                order.push_back(request.queue);
                return now + service;
            },
            .pass = [](SimTime) {}};
}

NextRequest reads(std::uint64_t count, std::uint16_t queue = 0) {
    return [left = count, queue](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        request.op = TraceOp::read;
        request.queue = queue;
        return left-- != 0;
    };
}

SsdConfig drive(std::uint32_t slots, const char* arbiter) {
    SsdConfig config;
    config.host_link.slots = slots;
    config.host_link.arbiter = arbiter;
    return config;
}

} // namespace

TEST_CASE("two queues of one command share one slot: each waits as long as it is served", "[queues]") {
    std::vector<std::uint16_t> order;
    const RunTarget target = steady_target(order);
    const std::vector<QueueLoad> loads{{reads(10)}, {reads(10, 1)}};
    HostQueues queues = host_queues(drive(1, "round-robin"), {});
    const auto tally = run_queues(target, loads, queues, sim_start);
    REQUIRE(tally.has_value());
    CHECK(tally->requests() == 20);
    CHECK(tally->end == sim_start + 20 * service);
    CHECK(tally->queues[0].end == sim_start + 19 * service);
    for (std::size_t i = 0; i < order.size(); ++i) CHECK(order[i] == i % 2);
    for (const QueueTally& queue : tally->queues) {
        CHECK(queue.read.count() == 10);
        CHECK(queue.waited.permille_ns(500) == 100); // the other's service
        CHECK(queue.read.permille_ns(500) == 200);
    }
}

TEST_CASE("without slots no command waits, and the run is that of its queues side by side", "[queues]") {
    std::vector<std::uint16_t> order;
    const RunTarget target = steady_target(order);
    const std::vector<QueueLoad> loads{{reads(40), 4}, {reads(10, 1), 1}};
    HostQueues queues = host_queues(drive(0, "fifo"), {});
    const auto tally = run_queues(target, loads, queues, sim_start);
    REQUIRE(tally.has_value());
    CHECK(tally->end == sim_start + 10 * service);
    for (const QueueTally& queue : tally->queues) {
        CHECK(queue.waited.permille_ns(1000) == 0);
        CHECK(queue.read.permille_ns(1000) == 100);
    }
}

TEST_CASE("an urgent queue of one command is never behind more than the one command that is being served", "[queues]") {
    std::vector<std::uint16_t> order;
    const RunTarget target = steady_target(order);
    const std::vector<QueueLoad> loads{{reads(20), 1}, {reads(2000, 1), 32}};
    for (const auto& [arbiter, most] : {std::pair{"weighted", 0}, std::pair{"fifo", 3200}}) {
        CAPTURE(arbiter);
        const std::vector<QueueLoad> again = loads;
        HostQueues queues = host_queues(drive(1, arbiter), {QueuePriority::urgent, QueuePriority::low});
        const auto tally = run_queues(target, again, queues, sim_start);
        REQUIRE(tally.has_value());
        // Its next command is submitted when the slot becomes free: urgent, it takes it; in the order of submission, 32 others were there before.
        CHECK(tally->queues[0].waited.permille_ns(500) <= static_cast<std::uint64_t>(most) * 129 / 128);
        if (most != 0) CHECK(tally->queues[0].waited.permille_ns(500) >= 3100);
    }
}

TEST_CASE("a warm-up leaves the counts of the queues behind it", "[queues]") {
    std::vector<std::uint16_t> order;
    const RunTarget target = steady_target(order);
    const std::vector<QueueLoad> loads{{reads(30)}, {reads(30, 1)}};
    HostQueues queues = host_queues(drive(1, "round-robin"), {});
    const RunWatch watch{.every = 1,
                         .look = [](const RunTally& tally) { return tally.answered() == 20 ? RunStep::count_from_here : RunStep::go_on; }};
    const auto tally = run_queues(target, loads, queues, sim_start, watch);
    REQUIRE(tally.has_value());
    CHECK(tally->answered() == 60);
    REQUIRE(tally->queues.size() == 2);
    CHECK(tally->queues[0].read.count() + tally->queues[1].read.count() == 40);
}

namespace {

/// Requests of these queues at these times.
NextRequest planned(std::vector<std::pair<std::uint64_t, std::uint16_t>> when) {
    return [when = std::move(when), at = std::size_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (at == when.size()) return false;
        request = {.time_ns = when[at].first, .queue = when[at].second};
        ++at;
        return true;
    };
}

} // namespace

TEST_CASE("a planned load that its depth holds up keeps its times: what comes late has waited, and no plan moves", "[queues]") {
    std::vector<Duration> waited;
    std::vector<SimTime> begun;
    const RunTarget target{.issue = [&](const TraceRequest&, SimTime now, Duration wait) -> std::expected<SimTime, std::string> {
                               begun.push_back(now);
                               waited.push_back(wait);
                               return now + service;
                           },
                           .pass = [](SimTime) {}};
    // One at a time: at 0 for 100, then at 100 what was planned for 30, at 200 for 40, and at 500 nobody is in the way.
    const QueueLoad load{planned({{0, 0}, {30, 0}, {40, 0}, {500, 0}}), 1, true};
    HostQueues queues = host_queues(drive(0, "fifo"), {});
    const auto tally = run_queues(target, {&load, 1}, queues, sim_start + Duration{7});
    REQUIRE(tally.has_value());
    const SimTime zero = sim_start + Duration{7};
    CHECK((begun == std::vector{zero, zero + Duration{100}, zero + Duration{200}, zero + Duration{500}}));
    CHECK((waited == std::vector{Duration{0}, Duration{70}, Duration{160}, Duration{0}}));
    CHECK(tally->read.permille_ns(1000) == 260);
    CHECK(tally->queues[0].waited.permille_ns(1000) == 160);
}

TEST_CASE("requests of one trace go to their queues, and an arbiter says who of those that have come is fetched", "[queues]") {
    std::vector<std::uint16_t> order;
    const RunTarget target = steady_target(order);
    const QueueLoad load{planned({{0, 1}, {10, 1}, {20, 1}, {30, 0}, {40, 2}}), 0, true};
    HostQueues queues = host_queues(drive(1, "weighted"), {QueuePriority::urgent});
    const auto tally = run_queues(target, {&load, 1}, queues, sim_start);
    REQUIRE(tally.has_value());
    CHECK((order == std::vector<std::uint16_t>{1, 0, 2, 1, 1})); // the urgent one first, then round robin between 2 and 1
    REQUIRE(tally->queues.size() == 3);
    CHECK(tally->queues[0].priority == QueuePriority::urgent);
    CHECK(tally->queues[2].priority == QueuePriority::medium);
    CHECK(tally->queues[0].waited.permille_ns(1000) == 70);
    CHECK(tally->all.permille_ns(1000) == 480); // planned for 20, begun at 400
}
