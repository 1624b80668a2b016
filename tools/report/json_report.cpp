#include "tools/report/json_report.h"

#include <array>

#include <fmt/format.h>

#include "base/percentile.h"
#include "tools/host/regular_file.h"

namespace flashlab {
namespace {

constexpr std::size_t largest = std::size_t{64} << 20;

/// Members of members as key.member. Lists are left out: they have plots of their own, or none.
void flatten(const Json& value, const std::string& key, Json& out) {
    for (const auto& [name, member] : value.members()) flatten(member, key.empty() ? name : key + "." + name, out);
    if (!value.is_object() && value.items().empty() && !key.empty()) out.add(key, value);
}

Json latency_of(const Json& run) {
    constexpr std::array names{std::pair{"p50", 50.0}, std::pair{"p95", 95.0}, std::pair{"p99", 99.0}, std::pair{"p999", 99.9}};
    Json percentiles{Json::Array{}}, series{Json::Object{}};
    for (const auto& [name, percent] : names) percentiles.push(percent);
    for (const char* op : {"read", "write"}) {
        const Json& of = run["latency_us"][op];
        if (of["max"].real() <= 0) continue;
        const Json& requests = run[op == std::string{"read"} ? "reads" : "writes"];
        Json us{Json::Array{}};
        for (const auto& [name, percent] : names) us.push(tells_percentile(requests.number(), percent) ? of[name] : Json{});
        series.add(op, Json::object({{"requests", requests}, {"mean_us", of["mean"]}, {"max_us", of["max"]}, {"us", std::move(us)}}));
    }
    if (series.members().empty()) return {};
    return Json::object({{"percentiles", std::move(percentiles)}, {"series", std::move(series)}});
}

} // namespace

std::expected<Json, std::string> report_json(const std::string& path, const std::string& name) {
    constexpr const char* remedy = "a report shows event logs, device directories and files of replay --json or bench --json";
    const auto text = read_regular_file(path, largest);
    if (!text) return std::unexpected(fmt::format("{}: {}; {}", path, text.error(), remedy));
    const auto run = Json::parse(*text);
    if (!run) return std::unexpected(fmt::format("{}: {}; {}", path, run.error(), remedy));
    if (!run->is_object() || (*run)["requests"].is_null()) return std::unexpected(fmt::format("{}: no run; {}", path, remedy));
    Json overview{Json::Object{}};
    flatten(*run, "", overview);
    return Json::object({{"name", name},
                         {"source", "json"},
                         {"level", "totals"},
                         {"info", Json::object({{"kind", (*run)["trace"]},
                                                {"ftl", (*run)["ftl"]},
                                                {"preset", (*run)["preset"]},
                                                {"version", (*run)["version"]},
                                                {"config_hash", (*run)["config_hash"]},
                                                {"seed", (*run)["seed"]}})},
                         {"overview", std::move(overview)},
                         {"latency", latency_of(*run)}});
}

} // namespace flashlab
