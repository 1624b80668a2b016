/// Replays in virtual time: open and closed loop by arithmetic, every scheme, the same bytes twice.
#include "tools/run/replay.h"

#include "tests/tools/memory_device.h"
#include "tests/tools/traces/trace_samples.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::vector<TraceRequest> random_requests(std::uint64_t device_bytes, int count, std::uint64_t seed) {
    Random random{seed};
    std::vector<TraceRequest> out;
    for (int i = 0; i < count; ++i) {
        TraceRequest r{static_cast<std::uint64_t>(i) * 200'000, random.below(device_bytes / 4096 - 8) * 4096, 4096 * (1 + random.below(4)), 0,
                       TraceOp::write};
        const std::uint64_t kind = random.below(20);
        r.op = kind < 5 ? TraceOp::read : kind == 18 ? TraceOp::trim : kind == 19 ? TraceOp::flush : TraceOp::write;
        if (r.op == TraceOp::flush) r.bytes = 0;
        out.push_back(r);
    }
    return out;
}

} // namespace

TEST_CASE("in an open loop requests arrive when the trace says, scaled, and late answers delay nobody's arrival", "[replay]") {
    const std::vector<TraceRequest> requests{{0, 0, 4096, 0, TraceOp::write}, {1'000'000'000, 4096, 4096, 0, TraceOp::write}};
    MemoryDevice a, b;
    const auto real = a.run(requests);
    const auto tenfold = b.run(requests, {.factor = 10});
    CHECK(real.writes == 2);
    CHECK((real.end - real.begin) - (tenfold.end - tenfold.begin) == Duration{900'000'000});
}

TEST_CASE("in a closed loop of depth one the next request arrives with the answer", "[replay]") {
    MemoryDevice d;
    std::vector<TraceRequest> requests;
    for (std::uint64_t i = 0; i < 10; ++i) requests.push_back({0, i * 4096, 4096, 0, TraceOp::read});
    const auto tally = d.run(requests, {.depth = 1});
    CHECK(tally.reads == 10);
    CHECK(tally.end - tally.begin ==
          Duration{static_cast<std::int64_t>(tally.all.count()) * static_cast<std::int64_t>((tally.end - tally.begin).count() / 10)});
    MemoryDevice deeper;
    CHECK(deeper.run(requests, {.depth = 8}).end <= tally.end);
}

TEST_CASE("every scheme serves every request of a replay, stays sound, and gives the same report twice", "[replay]") {
    for (const std::string& ftl : all_schemes()) {
        CAPTURE(ftl);
        std::string reports[2];
        for (std::string& report : reports) {
            MemoryDevice d{ftl};
            const auto filled = precondition(*d.device, {.fill_percent = 60, .random_fills = 0.2}, 3, d.device->ready_at());
            REQUIRE(filled.has_value());
            const auto before = RunSnapshot::of(*d.device, *filled);
            const auto requests = random_requests(d.bytes(), 3000, 11);
            const auto tally = d.run(requests, {}, *filled);
            CHECK(tally.requests() == requests.size());
            for (const auto& problem : d.device->ssd().check()) FAIL(problem.invariant << ": " << problem.where << ": " << problem.detail);
            Json json = report_run({"test", 11, 0}, *d.device, before, tally);
            for (const auto& [key, value] : json.members())
                if (key != "peak_rss_bytes") report += key + "=" + value.dump() + ";";
        }
        CHECK(reports[0] == reports[1]);
        CHECK(reports[0].find("\"ftl\"") == std::string::npos);
    }
}

TEST_CASE("served = read: each request that a reader gives is issued once, in order, and answered, at every speed and through every warm-up",
          "[replay]") {
    auto samples = text_trace_samples();
    std::ranges::copy(binary_trace_samples(), std::back_inserter(samples));
    for (const TraceSample& sample : samples)
        for (const ReplaySpeed& speed :
             {ReplaySpeed{}, ReplaySpeed{.factor = 1000}, ReplaySpeed{.factor = 0.001}, ReplaySpeed{.depth = 1}, ReplaySpeed{.depth = 64}})
            for (const std::uint64_t warm_up : {0u, 1u, 2u}) {
                CAPTURE(sample.format, speed.depth, speed.factor, warm_up);
                std::vector<TraceRequest> issued;
                const RunTarget target{.issue = [&](const TraceRequest& request, SimTime now, Duration) -> std::expected<SimTime, std::string> {
                                           issued.push_back(request);
                                           return now + Duration{1000};
                                       },
                                       .pass = [](SimTime) {}};
                std::size_t at = 0;
                const auto next = [&](TraceRequest& request) -> std::expected<bool, std::string> {
                    if (at == sample.requests.size()) return false;
                    request = sample.requests[at++];
                    return true;
                };
                const RunWatch watch{.every = 1, .look = [&](const RunTally& tally) {
                                         return tally.answered() == warm_up ? RunStep::count_from_here : RunStep::go_on;
                                     }};
                const auto tally = run_requests(target, next, speed, sim_start, watch);
                REQUIRE(tally.has_value());
                CHECK((issued == sample.requests));
                CHECK(tally->answered() == sample.requests.size());
                CHECK(tally->before == std::min<std::uint64_t>(warm_up, sample.requests.size()));
            }
}

TEST_CASE("every scheme serves every byte of every format's sample", "[replay]") {
    auto samples = text_trace_samples();
    std::ranges::copy(binary_trace_samples(), std::back_inserter(samples));
    for (const std::string& ftl : all_schemes())
        for (const TraceSample& sample : samples) {
            CAPTURE(ftl, sample.format);
            MemoryDevice d{ftl};
            std::uint64_t expected[4] = {}, bytes[4] = {};
            for (const TraceRequest& r : sample.requests) {
                ++expected[static_cast<std::size_t>(r.op)];
                bytes[static_cast<std::size_t>(r.op)] += r.bytes;
            }
            AddressFit fit{FitPolicy::compact, d.bytes()};
            const auto next = [&, at = std::size_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
                if (at == sample.requests.size()) return false;
                request = sample.requests[at++];
                return true;
            };
            const auto tally = replay(*d.device, next, fit, {}, d.device->ready_at());
            INFO((tally ? "" : tally.error()));
            REQUIRE(tally.has_value());
            const std::uint64_t counted[4] = {tally->reads, tally->writes, tally->trims, tally->flushes};
            CHECK(std::ranges::equal(counted, expected));
            const SsdCounters& host = d.device->ssd().counters();
            CHECK(host.host_read_bytes == bytes[0]);
            CHECK(host.host_write_bytes == bytes[1]);
            CHECK(host.host_trim_bytes == bytes[2]);
            CHECK(d.device->ssd().check().empty());
        }
}

TEST_CASE("preconditioning does not count in the report", "[replay]") {
    MemoryDevice d;
    const auto filled = precondition(*d.device, {.fill_percent = 90, .random_fills = 1}, 1, d.device->ready_at());
    REQUIRE(filled.has_value());
    const auto before = RunSnapshot::of(*d.device, *filled);
    const auto tally = d.run({{0, 0, 4096, 0, TraceOp::write}}, {}, *filled);
    const Json report = report_run({"test", 1, 0}, *d.device, before, tally);
    CHECK(report["host_write_bytes"].number() == 4096);
    CHECK(report["nand_program_pages"].number() < 1000);
    CHECK(d.device->ssd().counters().host_write_bytes > d.bytes());
}

TEST_CASE("speeds and preconditions are read as documented, and nonsense is refused with an example", "[replay]") {
    CHECK(parse_replay_speed("open")->depth == 0);
    CHECK(parse_replay_speed("closed:8")->depth == 8);
    CHECK(parse_replay_speed("2.5x")->factor == Approx(2.5));
    for (const char* wrong : {"", "closed", "closed:0", "closed:-1", "x", "0x", "-2x", "fast"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_replay_speed(wrong).has_value());
    }
    CHECK(parse_precondition("fill:90,random:2x")->fill_percent == 90);
    CHECK(parse_precondition("fill:90,random:2x")->random_fills == Approx(2));
    CHECK(parse_precondition("0.9,random")->fill_percent == 90);
    CHECK(parse_precondition("50")->fill_percent == 50);
    CHECK(parse_precondition("fill:50,random:1x,written")->ageing == Ageing::written);
    CHECK(parse_precondition("fill:50,random:1x")->ageing == Ageing::quick);
    CHECK(parse_precondition("")->fill_percent == 0);
    for (const char* wrong : {"fill", "fill:101", "random:2", "fill:90,", "fill:x", "everything"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_precondition(wrong).has_value());
    }
}

TEST_CASE("what is counted after a warm-up begins with its first request, not with the last answer before it", "[replay]") {
    const RunTarget target{.issue = [](const TraceRequest& request, SimTime now, Duration) -> std::expected<SimTime, std::string> {
                               return now + (request.offset == 0 ? Duration{1'000'000} : Duration{100}); // the first one takes long
                           },
                           .pass = [](SimTime) {}};
    std::uint64_t at = 0;
    const auto next = [&](TraceRequest& request) -> std::expected<bool, std::string> {
        request = TraceRequest{};
        request.offset = at * 4096;
        request.time_ns = at * 1000;
        return at++ < 100;
    };
    const RunWatch watch{.every = 1, .look = [](const RunTally& tally) { return tally.answered() == 1 ? RunStep::count_from_here : RunStep::go_on; }};
    const auto tally = run_requests(target, next, {}, sim_start, watch);
    REQUIRE(tally.has_value());
    CHECK(tally->begin == sim_start + Duration{1000});
    CHECK(tally->end == sim_start + Duration{99'100});
}

TEST_CASE("compact keeps devices apart whatever a trace calls them", "[replay]") {
    AddressFit fit{FitPolicy::compact, 1 << 20};
    std::vector<std::uint64_t> places;
    for (const std::uint32_t device : {259u << 20, 3u << 20, 259u << 20}) { // alike in their lower 24 bits
        TraceRequest request;
        request.op = TraceOp::write;
        request.device = device;
        request.bytes = 4096;
        const auto pieces = fit.place(request);
        REQUIRE(pieces.has_value());
        places.push_back((**pieces).front().offset);
    }
    CHECK(places[0] != places[1]);
    CHECK(places[0] == places[2]);
}
