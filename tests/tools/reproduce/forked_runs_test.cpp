/// Runs in processes of their own: results in order, the parent's state untouched, a run that dies is told.
#include "tools/reproduce/forked_runs.h"

#include <unistd.h>

#include "tests/support/catch.h"

using namespace flashlab;

namespace {

struct Sum {
    std::size_t index = 0;
    std::uint64_t sum = 0;
};

} // namespace

TEST_CASE("each forked run starts from the same state, changes only its own, and results come in order", "[tools][reproduce]") {
    std::vector<std::uint64_t> state(100'000, 1);
    const auto results = run_each_forked<Sum>(9, 2, [&](std::size_t i) -> std::expected<Sum, std::string> {
        if (i == 0) ::usleep(20'000); // the first is not the first to end
        std::uint64_t sum = 0;
        for (std::uint64_t& value : state) {
            value += i;
            sum += value;
        }
        return Sum{i, sum};
    });
    REQUIRE(results.has_value());
    REQUIRE(results->size() == 9);
    for (std::size_t i = 0; i < 9; ++i) {
        CHECK((*results)[i].index == i);
        CHECK((*results)[i].sum == state.size() * (1 + i));
    }
    CHECK(state.front() == 1);
}

TEST_CASE("a forked run that fails or dies is an error that names it", "[tools][reproduce]") {
    for (const bool dies : {false, true}) {
        const auto results = run_each_forked<Sum>(3, 1, [&](std::size_t i) -> std::expected<Sum, std::string> {
            if (i == 1 && dies) ::_exit(0); // without a result
            if (i == 1) return std::unexpected(std::string{"expected by this test: run 2 fails"});
            return Sum{i, 0};
        });
        REQUIRE(!results.has_value());
        CHECK(results.error() == "run 2 of 3 failed");
    }
    CHECK(run_each_forked<Sum>(0, 2, [](std::size_t) -> std::expected<Sum, std::string> { return Sum{}; })->empty());
}
