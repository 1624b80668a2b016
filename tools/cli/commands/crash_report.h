/// The keys that end the JSON of every exploration: the speed, what was found, how long recoveries took.
#pragma once

#include <string>
#include <utility>

#include "crash/scripted_outcomes.h"
#include "tools/text/json.h"

namespace flashlab {

/// `Report` has states, violations {where, what}, outcomes and recovery. States per second are those of one core.
template <class Report>
void add_findings(Json& json, const Report& report, double cpu_seconds, double wall_seconds) {
    const auto in_us = [](Duration d) { return static_cast<double>(d.count()) / 1000.0; };
    Json outcomes{Json::Object{}};
    for (std::size_t i = 0; i < OutcomeCounts::names.size(); ++i) outcomes.add(std::string{OutcomeCounts::names[i]}, report.outcomes.counts[i]);
    Json ids{Json::Array{}}, found{Json::Array{}};
    for (const auto& v : report.violations) {
        ids.push(v.where.id());
        found.push(v.what);
    }
    json.add("states_per_second", cpu_seconds > 0 ? static_cast<double>(report.states) / cpu_seconds : 0.0);
    json.add("cpu_seconds", cpu_seconds);
    json.add("wall_seconds", wall_seconds);
    json.add("violations", static_cast<std::uint64_t>(report.violations.size()));
    json.add("by_outcome", std::move(outcomes));
    json.add("recovery_us", Json::object({{"p50", in_us(report.recovery.percentile(0.5))},
                                          {"p99", in_us(report.recovery.percentile(0.99))},
                                          {"max", in_us(report.recovery.longest())}}));
    json.add("replay_ids", std::move(ids));
    json.add("found", std::move(found));
    json.add("version", FLASHLAB_VERSION);
}

} // namespace flashlab
