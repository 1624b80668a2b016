/// Write amplification in parts that add up to the whole.
///
/// Idea       Every program operation has a cause, and each cause belongs to one part. `user`: what the host sent. `gc`: copies of collections and of
///            wear levelling. `merge`: copies of merges. `map`: all that the drive writes for itself, that is checkpoints, journals, translation
///            pages, what a recovery writes, and backups of paired pages.
/// Invariant  user + gc + merge + map = programmed bytes / bytes the host wrote. All are 0 if the host wrote nothing.
#pragma once

#include <span>

#include "base/events.h"

namespace flashlab {

struct WafParts {
    double user = 0, gc = 0, merge = 0, map = 0;

    /// `programs`: the number of programs of each cause.
    [[nodiscard]] static WafParts of(std::span<const std::uint64_t, cause_count> programs, std::uint64_t page_bytes, std::uint64_t host_bytes) {
        WafParts parts;
        if (host_bytes == 0) return parts;
        for (std::size_t c = 0; c < cause_count; ++c)
            parts.part_of(static_cast<Cause>(c)) +=
                static_cast<double>(programs[c]) * static_cast<double>(page_bytes) / static_cast<double>(host_bytes);
        return parts;
    }

private:
    [[nodiscard]] double& part_of(Cause cause) {
        if (cause == Cause::user) return user;
        if (cause == Cause::gc || cause == Cause::wear) return gc;
        return cause == Cause::merge ? merge : map;
    }
};

} // namespace flashlab
