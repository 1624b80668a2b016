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

NextRequest reads(std::uint64_t count) {
    return [left = count](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        request.op = TraceOp::read;
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
    const std::vector<QueueLoad> loads{{reads(10)}, {reads(10)}};
    HostQueues queues = host_queues(drive(1, "round-robin"), loads);
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
    const std::vector<QueueLoad> loads{{reads(40), 4}, {reads(10), 1}};
    HostQueues queues = host_queues(drive(0, "fifo"), loads);
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
    const std::vector<QueueLoad> loads{{reads(20), 1, QueuePriority::urgent}, {reads(2000), 32, QueuePriority::low}};
    for (const auto& [arbiter, most] : {std::pair{"weighted", 0}, std::pair{"fifo", 3200}}) {
        CAPTURE(arbiter);
        const std::vector<QueueLoad> again = loads;
        HostQueues queues = host_queues(drive(1, arbiter), again);
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
    const std::vector<QueueLoad> loads{{reads(30)}, {reads(30)}};
    HostQueues queues = host_queues(drive(1, "round-robin"), loads);
    const RunWatch watch{.every = 1,
                         .look = [](const RunTally& tally) { return tally.answered() == 20 ? RunStep::count_from_here : RunStep::go_on; }};
    const auto tally = run_queues(target, loads, queues, sim_start, watch);
    REQUIRE(tally.has_value());
    CHECK(tally->answered() == 60);
    REQUIRE(tally->queues.size() == 2);
    CHECK(tally->queues[0].read.count() + tally->queues[1].read.count() == 40);
}
