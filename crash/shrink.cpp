#include "crash/shrink.h"

#include <algorithm>

namespace flashlab {

namespace {

class Shrinker {
public:
    Shrinker(Explorer& explorer, Violation found, std::uint64_t states) : explorer_{explorer}, best_{std::move(found)}, left_{states} {
        // One cut is enough where one shows it.
        cuts_ = static_cast<std::uint32_t>(best_.where.cuts.size());
    }

    Violation run() {
        for (bool smaller = true; smaller && left_ != 0;) {
            smaller = drop_runs(&Workload::aging);
            smaller = drop_runs(&Workload::steps) || smaller;
            smaller = simplify(&Workload::aging) || smaller;
            smaller = simplify(&Workload::steps) || smaller;
        }
        return best_;
    }

private:
    using Steps = std::vector<WorkloadStep> Workload::*;

    bool keep_if_it_fails(const Workload& smaller) {
        if (left_ == 0) return false;
        ExploreReport report;
        ExploreLimits limits;
        limits.cuts = cuts_;
        limits.violations = 1;
        limits.states = std::min<std::uint64_t>(left_, most_states_a_try);
        explorer_.exhaust(smaller, limits, report);
        left_ -= std::min(left_, std::max<std::uint64_t>(report.states, 1));
        if (report.violations.empty()) return false;
        best_ = report.violations.front();
        return true;
    }

    bool drop_runs(Steps steps) {
        bool any = false;
        for (std::size_t run = std::max<std::size_t>(1, (best_.where.workload.*steps).size()); run != 0; run /= 2) {
            for (std::size_t at = 0; at < (best_.where.workload.*steps).size();) {
                Workload smaller = best_.where.workload;
                auto& list = smaller.*steps;
                const auto first = list.begin() + static_cast<std::ptrdiff_t>(at);
                list.erase(first, first + static_cast<std::ptrdiff_t>(std::min(run, list.size() - at)));
                if (keep_if_it_fails(smaller))
                    any = true;
                else
                    at += run;
            }
        }
        return any;
    }

    bool simplify(Steps steps) {
        bool any = false;
        for (std::size_t at = 0; at < (best_.where.workload.*steps).size(); ++at) {
            const auto try_with = [&](auto&& change) {
                Workload smaller = best_.where.workload;
                change((smaller.*steps)[at]);
                if (smaller == best_.where.workload || !keep_if_it_fails(smaller)) return false;
                any = true;
                return true;
            };
            (void)try_with([](WorkloadStep& s) { s.gap_ns.reset(); });
            if (!try_with([](WorkloadStep& s) { s.count = 1; }))
                while (try_with([](WorkloadStep& s) { s.count = (s.count + 1) / 2; })) {}
        }
        return any;
    }

    static constexpr std::uint64_t most_states_a_try = 40'000;
    Explorer& explorer_;
    Violation best_;
    std::uint64_t left_;
    std::uint32_t cuts_;
};

} // namespace

Violation shrink(Explorer& explorer, Violation found, std::uint64_t states) { return Shrinker{explorer, std::move(found), states}.run(); }

} // namespace flashlab
