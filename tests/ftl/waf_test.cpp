/// Greedy collection under uniform random writes against Desnoyers' closed form: no constant of the implementation enters it.
#include "tests/support/catch.h"
#include "tests/support/waf_experiment.h"

using namespace flashlab;
using flashlab::test::measure_waf;

TEST_CASE("greedy page-map write amplification under uniform writes is the closed form's within 3 %", "[ftl][waf]") {
    for (const std::uint32_t permille : {73u, 123u, 203u, 283u}) {
        const auto point = measure_waf(permille, "greedy");
        CAPTURE(permille, point.spare, point.measured, point.greedy);
        CHECK(std::abs(point.measured / point.greedy - 1) < 0.03);
        CHECK(point.with_map < point.measured * 1.02); // checkpoints are one program in a hundred
    }
}

TEST_CASE("first in, first out costs what Desnoyers' LRU cleaning costs, and ten choices cost nearly greedy's", "[ftl][waf]") {
    const auto fifo = measure_waf(203, "fifo");
    CAPTURE(fifo.measured, fifo.fifo);
    CHECK(std::abs(fifo.measured / fifo.fifo - 1) < 0.03);
    const auto choices = measure_waf(203, "d-choices");
    CAPTURE(choices.measured, choices.greedy);
    CHECK(choices.measured > choices.greedy * 0.97);
    CHECK(choices.measured < choices.greedy * 1.15);
}
