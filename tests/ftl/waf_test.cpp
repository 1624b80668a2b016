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

TEST_CASE("the closed form gives the values of its paper's figures", "[ftl][waf]") {
    CHECK(std::abs(lambert_w(-0.1) - -0.111832559158963) < 1e-12); // Corless et al., 1996
    // The spare of ftl/DESIGN-pages.md's table, which rounds it.
    CHECK(std::abs(greedy_amplification(1 / (1 - 0.07), 64) - 6.578) < 0.03);
    CHECK(std::abs(greedy_amplification(1 / (1 - 0.281), 64) - 1.938) < 0.01);
    CHECK(greedy_amplification(8, 4) == 1); // a drive with far more flash than pages copies nothing
}

TEST_CASE("what small groups cost is what mkfs says, and more than the closed form for all of the spare", "[ftl][waf]") {
    for (const std::uint32_t blocks : {64u, 150u, 400u}) {
        const auto point = measure_waf(203, "greedy", blocks);
        CAPTURE(blocks, point.spare, point.measured, point.expected, point.greedy);
        CHECK(std::abs(point.measured / point.expected - 1) < 0.04);
        CHECK((point.measured > 1.05 * point.greedy) == (point.expected > 1.05 * point.greedy));
    }
}
