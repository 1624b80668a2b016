// Submission queues, arbiters, and the host's interface: who is fetched, when, and what it costs.
#include <map>

#include "base/random.h"
#include "ftl/host/host_interface.h"
#include "ftl/host/host_queues.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

SimTime at(std::int64_t ns) { return sim_time_from_ns(ns); }

HostQueues queues_with(const char* arbiter, std::vector<QueuePriority> priorities, std::uint32_t slots, OptionSet options = {}) {
    const ArbiterEntry* entry = find_named(arbiters(), arbiter);
    REQUIRE(entry != nullptr);
    return HostQueues{std::move(priorities), slots, entry->make(options)};
}

OptionSet with_burst(std::uint64_t burst) {
    OptionSet set;
    for (const ArbiterEntry& entry : arbiters())
        for (const Option* option : entry.options)
            if (option->key == "host_link.burst") set.put(*option, burst);
    return set;
}

/// What is fetched of queues that never empty, one command at a time, each of 100 ns.
std::vector<std::uint16_t> order_of(HostQueues& queues, std::size_t commands) {
    for (std::uint16_t q = 0; q < queues.size(); ++q)
        for (std::size_t i = 0; i < commands; ++i) queues.submit(QueueId{q}, sim_start);
    std::vector<std::uint16_t> order;
    while (order.size() < commands) {
        const auto fetch = queues.fetch();
        order.push_back(fetch.queue.value());
        queues.answered(fetch.at + Duration{100});
    }
    return order;
}

using enum QueuePriority;

} // namespace

TEST_CASE("fifo fetches what was submitted first, whatever its queue", "[host]") {
    HostQueues queues = queues_with("fifo", {low, urgent, high}, 1);
    queues.submit(QueueId{2}, at(10));
    queues.submit(QueueId{0}, at(20));
    queues.submit(QueueId{1}, at(30));
    queues.submit(QueueId{2}, at(40));
    for (const std::uint16_t expected : std::vector<std::uint16_t>{2, 0, 1, 2}) {
        const auto fetch = queues.fetch();
        CHECK(fetch.queue == QueueId{expected});
        queues.answered(fetch.at + Duration{100});
    }
    CHECK_FALSE(queues.next_fetch().has_value());
}

TEST_CASE("round-robin takes the queues in turn, each for its burst", "[host]") {
    HostQueues single = queues_with("round-robin", {medium, medium, medium}, 1);
    CHECK(order_of(single, 7) == std::vector<std::uint16_t>{0, 1, 2, 0, 1, 2, 0});
    HostQueues twice = queues_with("round-robin", {medium, medium, medium}, 1, with_burst(2));
    CHECK(order_of(twice, 7) == std::vector<std::uint16_t>{0, 0, 1, 1, 2, 2, 0});
}

TEST_CASE("a command that is submitted later than a fetch is not seen by it, whatever the arbiter would like", "[host]") {
    for (const char* arbiter : {"fifo", "round-robin", "weighted"}) {
        CAPTURE(arbiter);
        HostQueues queues = queues_with(arbiter, {urgent, low}, 1);
        queues.submit(QueueId{1}, at(10));
        queues.submit(QueueId{0}, at(20));
        const auto first = queues.fetch();
        CHECK(first.queue == QueueId{1});
        CHECK(first.at == at(10));
    }
}

TEST_CASE("a queue that runs empty in its burst gives the turn away", "[host]") {
    HostQueues queues = queues_with("round-robin", {medium, medium}, 1, with_burst(4));
    queues.submit(QueueId{0}, sim_start);
    for (int i = 0; i < 3; ++i) queues.submit(QueueId{1}, sim_start);
    std::vector<std::uint16_t> order;
    while (queues.next_fetch()) {
        const auto fetch = queues.fetch();
        order.push_back(fetch.queue.value());
        queues.answered(fetch.at + Duration{100});
    }
    CHECK(order == std::vector<std::uint16_t>{0, 1, 1, 1});
}

TEST_CASE("weighted gives high, medium and low queues the ratio of their weights, 8 to 4 to 1", "[host]") {
    HostQueues queues = queues_with("weighted", {low, medium, high}, 1);
    std::map<std::uint16_t, int> fetched;
    for (const std::uint16_t queue : order_of(queues, 1300)) ++fetched[queue];
    CHECK(fetched[0] == 100);
    CHECK(fetched[1] == 400);
    CHECK(fetched[2] == 800);
}

TEST_CASE("weighted lets two queues of a class share its weight, and urgent ones go before all", "[host]") {
    HostQueues sharing = queues_with("weighted", {high, high, low}, 1);
    std::map<std::uint16_t, int> fetched;
    for (const std::uint16_t queue : order_of(sharing, 900)) ++fetched[queue];
    CHECK(fetched[0] == 400);
    CHECK(fetched[1] == 400);
    CHECK(fetched[2] == 100);
    HostQueues pressed = queues_with("weighted", {high, urgent, low}, 1);
    CHECK(order_of(pressed, 50) == std::vector<std::uint16_t>(50, 1));
}

TEST_CASE("weighted lets the queues of a class take turns among themselves, whatever came between", "[host]") {
    OptionSet equal;
    for (const ArbiterEntry& entry : arbiters())
        for (const Option* option : entry.options)
            if (option->key.starts_with("weighted.")) equal.put(*option, 1);
    HostQueues queues = queues_with("weighted", {high, high, medium, medium}, 1, equal);
    CHECK(order_of(queues, 8) == std::vector<std::uint16_t>{0, 2, 1, 3, 0, 2, 1, 3});
}

TEST_CASE("a fetch is never earlier than the one before, though a command be submitted with an earlier time", "[host]") {
    HostQueues queues = queues_with("fifo", {medium, medium}, 0);
    queues.submit(QueueId{0}, at(100));
    CHECK(queues.fetch().at == at(100));
    queues.submit(QueueId{1}, at(50));
    CHECK(queues.fetch().at == at(100));
}

TEST_CASE("a queue of low priority that waits alone is served at once", "[host]") {
    HostQueues queues = queues_with("weighted", {urgent, low}, 1);
    for (int i = 0; i < 5; ++i) queues.submit(QueueId{1}, at(100 * i));
    for (int i = 0; i < 5; ++i) {
        const auto fetch = queues.fetch();
        CHECK(fetch.at == at(100 * i));
        queues.answered(fetch.at + Duration{50});
    }
}

TEST_CASE("no slot stays free while a command waits, none is used twice, and each queue keeps its order", "[host][property]") {
    const auto seed = GENERATE(range(1u, 21u));
    CAPTURE(seed);
    Random random{seed};
    const auto slots = static_cast<std::uint32_t>(random.below(5));
    const auto& arbiter = arbiters()[random.below(arbiters().size())];
    HostQueues queues{{urgent, high, medium, low, low}, slots, arbiter.make({})};
    std::vector<std::vector<SimTime>> submitted(queues.size()), fetched(queues.size());
    std::vector<SimTime> ends;
    SimTime now = sim_start, last = sim_start;
    for (int step = 0; step < 2000; ++step) {
        now += Duration{static_cast<std::int64_t>(random.below(120))};
        while (queues.next_fetch() && *queues.next_fetch() < now) {
            const auto fetch = queues.fetch();
            const auto busy = std::ranges::count_if(ends, [&](SimTime end) { return end > fetch.at; });
            if (slots != 0) CHECK(busy < slots);
            CHECK(fetch.at >= std::max(last, fetch.submitted));
            // It could not have been earlier: it was submitted just then, or a slot became free just then.
            CHECK((fetch.at == fetch.submitted || fetch.at == last || std::ranges::find(ends, fetch.at) != ends.end()));
            last = fetch.at;
            fetched[fetch.queue.value()].push_back(fetch.submitted);
            ends.push_back(fetch.at + Duration{1 + static_cast<std::int64_t>(random.below(300))});
            queues.answered(ends.back());
        }
        const auto queue = static_cast<std::uint16_t>(random.below(queues.size()));
        queues.submit(QueueId{queue}, now);
        submitted[queue].push_back(now);
    }
    while (queues.next_fetch()) {
        const auto fetch = queues.fetch();
        fetched[fetch.queue.value()].push_back(fetch.submitted);
        queues.answered(fetch.at + Duration{10});
    }
    CHECK((fetched == submitted));
}

TEST_CASE("the firmware's latency delays each request and limits no rate; its processor's time does", "[host]") {
    HostLinkConfig config;
    config.ps_per_byte = 1000; // a byte a nanosecond
    config.request_overhead = Duration{100};
    config.firmware_latency = Duration{5000};
    HostInterface link{config};
    // Each crosses the link for 100 + 512 ns behind the one before; then the latency, all at once.
    for (std::int64_t n = 1; n <= 4; ++n) CHECK(link.accept(sim_start, 512) == at(n * 612 + 5000));
    config.controller_request = Duration{1000};
    HostInterface slower{config};
    for (std::int64_t n = 1; n <= 4; ++n) CHECK(slower.accept(sim_start, 512) == at(612 + n * 1000 + 5000));
}

TEST_CASE("of a read what DRAM held crosses the link once, with the page that leaves the flash first", "[host]") {
    HostLinkConfig config;
    config.ps_per_byte = 1000;
    config.pipelined = true;
    HostInterface link{config};
    LinkTransfer* read = link.begin_read();
    REQUIRE(read != nullptr);
    for (const std::int64_t end : {9000, 1000, 5000}) read->out.push_back({at(end), 512});
    CHECK(link.send(at(9000), 2048) == at(9512)); // 1024 bytes from 1000 on, 512 from 5000, 512 from 9000
    link.begin_read()->out = {{at(20000), 512}, {at(20100), 512}, {at(20200), 512}};
    CHECK(link.send(at(20200), 2048) == at(22048)); // one behind the other
}
