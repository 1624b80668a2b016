#include "tools/live/cut_report.h"

#include <algorithm>
#include <string>
#include <utility>

namespace flashlab {

Json outcomes_json(const std::array<std::uint64_t, 12>& outcomes) {
    Json named{Json::Object{}};
    for (std::size_t i = 0; i < outcomes.size(); ++i) named.add(std::string{cut_outcome_names[i]}, outcomes[i]);
    return named;
}

Json to_json(const CutSummary& cut) {
    return Json::object({{"at_ns", static_cast<std::uint64_t>(ns_since_start(cut.at))},
                         {"struck", cut_at_names[std::to_underlying(cut.struck.value_or(CutAt::idle))]},
                         {"steady_ns", static_cast<std::uint64_t>(cut.steady_ns)},
                         {"operations_undone", cut.operations_undone},
                         {"operations_interrupted", cut.operations_interrupted},
                         {"operations_torn", cut.operations_torn},
                         {"words_interrupted", cut.words_interrupted},
                         {"outcomes", outcomes_json(cut.outcomes)}});
}

std::optional<CutAt> parse_cut_at(std::string_view name) {
    const auto at = std::ranges::find(cut_at_names, name);
    if (at == cut_at_names.end()) return std::nullopt;
    return static_cast<CutAt>(at - cut_at_names.begin());
}

void add_outcomes(const Json& report, std::array<std::uint64_t, 12>& sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += report["outcomes"][cut_outcome_names[i]].number();
}

} // namespace flashlab
