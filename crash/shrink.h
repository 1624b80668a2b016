/// The shortest workload that still shows a violation.
///
/// Idea       Leave out halves, then quarters … of the steps, then single ones; make counts small, drop the gaps, drop the aging. A change stays when
///            exploring the smaller workload still finds something. Nothing is known of why: any violation will do.
/// Invariant  The case returned violates the contract, as its replay id shows.
/// Cost       An exploration for each try, at most `states` in all.
/// Power cut  Makes many.
/// Source     Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 2002 (ddmin).
#pragma once

#include "crash/explorer.h"

namespace flashlab {

[[nodiscard]] Violation shrink(Explorer& explorer, Violation found, std::uint64_t states);

} // namespace flashlab
