/// Write amplification in parts that add up to the whole.
///
/// Idea       Every program operation has a cause, and each cause belongs to one part. `user`: what the host sent. `gc`: copies of collections, of
///            wear levelling, and out of an SLC cache. `merge`: copies of merges. `map`: all that the drive writes for itself, that is checkpoints,
///            journals, translation pages, what a recovery writes, backups of paired pages, and parity over dies, of which `parity`
///            says how much it is.
///            For people the whole and the parts are rounded to four digits after the point, so that the rounded parts add up to the rounded
///            whole: each is cut off, and what is missing goes to those that lost most.
/// Invariant  user + gc + merge + map = programmed bytes / bytes the host wrote. All are 0 if the host wrote nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "base/events.h"

namespace flashlab {

struct WafParts {
    double user = 0, gc = 0, merge = 0, map = 0;
    double parity = 0; ///< of map

    /// `programs`: the number of programs of each cause.
    [[nodiscard]] static WafParts of(std::span<const std::uint64_t, cause_count> programs, std::uint64_t page_bytes, std::uint64_t host_bytes) {
        WafParts parts;
        if (host_bytes == 0) return parts;
        for (std::size_t c = 0; c < cause_count; ++c)
            parts.part_of(static_cast<Cause>(c)) +=
                static_cast<double>(programs[c]) * static_cast<double>(page_bytes) / static_cast<double>(host_bytes);
        parts.parity = static_cast<double>(programs[static_cast<std::size_t>(Cause::parity)]) * static_cast<double>(page_bytes) /
                       static_cast<double>(host_bytes);
        return parts;
    }
    [[nodiscard]] WafParts rounded() const {
        constexpr double steps = 1e4;
        WafParts out;
        const std::array from{user, gc, merge, map};
        const std::array to{&out.user, &out.gc, &out.merge, &out.map};
        std::array<double, 4> lost{};
        std::array<std::int64_t, 4> cut{};
        auto missing = std::llround((user + gc + merge + map) * steps);
        for (std::size_t i = 0; i < from.size(); ++i) {
            cut[i] = static_cast<std::int64_t>(std::floor(from[i] * steps));
            lost[i] = from[i] * steps - std::floor(from[i] * steps);
            missing -= cut[i];
        }
        for (; missing > 0; --missing) {
            const auto most = static_cast<std::size_t>(std::max_element(lost.begin(), lost.end()) - lost.begin());
            ++cut[most];
            lost[most] = 0;
        }
        for (std::size_t i = 0; i < from.size(); ++i) *to[i] = static_cast<double>(cut[i]) / steps;
        out.parity = std::min(std::round(parity * steps) / steps, out.map);
        return out;
    }

private:
    [[nodiscard]] double& part_of(Cause cause) {
        if (cause == Cause::user) return user;
        if (cause == Cause::gc || cause == Cause::wear || cause == Cause::fold || cause == Cause::scrub) return gc;
        return cause == Cause::merge ? merge : map;
    }
};

} // namespace flashlab
