/// Counters and health of a mount as Prometheus reads them: text format 0.0.4.
///
/// Idea       Names carry their unit, counters end in _total, and what is counted by cause, channel or call has a label for it.
/// Invariant  A name stands once with HELP and TYPE, and its samples follow it. Label values are escaped. Numbers are those of `ctl stats` and
///            `smart`.
/// Cost       A few kilobytes of text.
#pragma once

#include <string>

#include "tools/text/json.h"

namespace flashlab {

/// `device`: the label of every sample.
[[nodiscard]] std::string prometheus_text(const Json& stats, const Json& smart, const std::string& device);

} // namespace flashlab
