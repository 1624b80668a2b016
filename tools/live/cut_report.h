/// What a power cut left, for `ctl powercut --json` and for torture's report.
///
/// Cost       Constant.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fs/device_power.h"
#include "tools/text/json.h"

namespace flashlab {

[[nodiscard]] Json to_json(const CutSummary& cut);
[[nodiscard]] std::optional<CutAt> parse_cut_at(std::string_view name);
/// Adds the outcomes of a cut's report to a sum, so that a trial can tell those of all its cuts.
void add_outcomes(const Json& report, std::array<std::uint64_t, 12>& sum);
/// {"T0": 3, ... "E4": 0}
[[nodiscard]] Json outcomes_json(const std::array<std::uint64_t, 12>& outcomes);

} // namespace flashlab
