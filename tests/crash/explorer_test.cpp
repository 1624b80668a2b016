/// The explorer on every scheme: standard workloads with every outcome, drawn ones, and replay ids.
#include "crash/explorer.h"

#include <chrono>

#include "crash/tiny_devices.h"
#include "ftl/make_ftl.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

void require_none(const ExploreReport& report) {
    for (const Violation& v : report.violations) UNSCOPED_INFO(v.where.id() << "\n    " << v.what);
    CHECK(report.violations.empty());
}

std::unique_ptr<Explorer> explorer_for(const std::string& scheme, const std::string& device) {
    auto made = Explorer::make(scheme, device);
    if (made) return std::move(*made);
    WARN(scheme << " skipped on " << device << ": " << made.error());
    return nullptr;
}

} // namespace

TEST_CASE("every cut of the standard workloads, with every outcome, keeps the contract", "[crash][explore]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    DYNAMIC_SECTION(scheme) {
        const auto explorer = explorer_for(scheme, "chip-slc");
        if (!explorer) return;
        ExploreReport report;
        ExploreLimits limits;
        limits.cuts = 1;
        const auto from = std::chrono::steady_clock::now();
        for (const Workload& workload : standard_workloads(explorer->units())) explorer->exhaust(workload, limits, report);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
        WARN(scheme << ": " << report.states << " states, " << static_cast<double>(report.states) / seconds << "/s");
        require_none(report);
    }
}
