/// The shortest workload that still shows a violation.
///
/// Idea       Leave out halves of the steps, then quarters, …, then single steps. Lower the counts, drop the gaps, drop the aging. A change stays
///            when exploring the smaller workload still finds a violation, whichever it is.
/// Invariant  The case returned violates the contract, as its replay id shows.
/// Cost       An exploration for each try, at most `states` in all.
/// Power cut  Makes many.
/// Source     Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 2002 (ddmin).
#pragma once

#include "crash/explorer.h"

namespace flashlab {

[[nodiscard]] Violation shrink(Explorer& explorer, Violation found, std::uint64_t states);

} // namespace flashlab
