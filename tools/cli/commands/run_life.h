/// What a program's run means for the drive's life: the part of `flashlab run` that projects it.
///
/// Idea       The rated erases of all good blocks are a budget (tools/drive/lifetime.h); the run used a part of it, and will again at its pace.
/// Invariant  What the pace or the load does not tell is null, and each assumption is a sentence of the result.
/// Cost       None to speak of.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/text/json.h"

namespace flashlab {

/// What the drive says after the program: use, counters, health, configuration. It goes on working meanwhile: use["drive"] has the counters of the
/// moment of `use`.
struct DriveAnswers {
    Json use, stats, smart, info, config;
};

/// How often the program runs.
struct RunPace {
    bool is_real = false;    ///< by the drive's own latency; otherwise the pace is this machine's, which says nothing of the drive
    double seconds = 0;      ///< that it took
    double runs_per_day = 0; ///< as asked for; 0: again and again
};

/// `{nand_budget_bytes … wear_evenness (Lifetime::to_json()), runs_per_day, years, assumptions[]}`.
[[nodiscard]] Json lifetime_of(const DriveAnswers& drive, const RunPace& pace);

/// Of the operations' counters by cause, the one of this name.
[[nodiscard]] std::uint64_t sum_of(const Json& nand, std::string_view key);

} // namespace flashlab
