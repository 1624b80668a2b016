/// The instants at which a run's cut makes a difference, for who cuts the next run of the same calls.
///
/// Idea       Between two changes of the cells each instant is like any other, so one behind each change is enough; and each call's end.
/// Invariant  Nothing is noted before begin().
/// Cost       Eight bytes an instant.
/// Power cut  Keeps nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/sim_time.h"

namespace flashlab {

class NotedInstants {
public:
    void begin() { noted_.emplace(); }
    [[nodiscard]] bool is_noting() const { return noted_.has_value(); }
    /// After a call that ended at `now`: when the cells have changed, or may yet.
    void add(std::vector<SimTime> changes, SimTime now) {
        changes.push_back(now);
        for (const SimTime at : changes) noted_->push_back(at + Duration{1});
        noted_->push_back(now); // the call has ended, and its caller does not know
    }
    /// Sorted, each once, in ns.
    [[nodiscard]] std::vector<std::uint64_t> sorted() {
        if (!noted_) return {};
        std::ranges::sort(*noted_);
        noted_->erase(std::ranges::unique(*noted_).begin(), noted_->end());
        std::vector<std::uint64_t> to;
        for (const SimTime at : *noted_) to.push_back(static_cast<std::uint64_t>(ns_since_start(at)));
        return to;
    }

private:
    std::optional<std::vector<SimTime>> noted_;
};

} // namespace flashlab
