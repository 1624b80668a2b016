/// The report of `replay` and `bench` as people read it: what follows from it in sentences, then its figures in groups, with units.
///
/// Idea       All is made from the JSON, so what stands here stands there, too. A unit is known by the end of a key.
/// Invariant  What the report does not have, and counts that are zero where most runs have none (trims, merges), are left out.
/// Cost       Negligible.
#pragma once

#include <string>

#include "tools/text/table.h"

namespace flashlab {

[[nodiscard]] std::string shown_run(OutputFormat format, const Json& report);

/// "4.09 pages programmed for each page that the host wrote: 0.82 for itself, 3.13 for copies of collections". Empty where nothing was written.
[[nodiscard]] std::string amplification_in_words(const Json& report);

} // namespace flashlab
