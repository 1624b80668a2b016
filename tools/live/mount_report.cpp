#include "tools/live/mount_report.h"

#include <string>

#include <fmt/format.h>

#include "tools/log/event_log_schema.h"

namespace flashlab {

Json to_json(const MountStats& stats) {
    Json operations{Json::Array{}};
    for (const auto& o : stats.operations)
        if (o.count != 0)
            operations.push(Json::object({{"op", name_of_fs_op(static_cast<std::uint8_t>(o.op))},
                                          {"calls", o.count},
                                          {"errors", o.errors},
                                          {"p50_us", static_cast<double>(o.p50_ns) / 1e3},
                                          {"p99_us", static_cast<double>(o.p99_ns) / 1e3},
                                          {"max_us", static_cast<double>(o.max_ns) / 1e3}}));
    return Json::object({{"latency", stats.latency.off           ? std::string{"off"}
                                     : stats.latency.rate == 1.0 ? std::string{"real"}
                                                                 : fmt::format("{}x", stats.latency.rate)},
                         {"late_answers", stats.late_answers},
                         {"waiting_answers", stats.waiting_answers},
                         {"operations", std::move(operations)}});
}

} // namespace flashlab
