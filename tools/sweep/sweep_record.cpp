#include "tools/sweep/sweep_record.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace flashlab {
namespace {

/// The keys of reports that depend on the host, and their names here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> of_host{{{"wall_seconds", "wall_seconds"},
                                                                                {"requests_per_wall_second", "wall_requests_per_second"},
                                                                                {"peak_rss_bytes", "peak_rss_bytes"},
                                                                                {"states_per_second", "wall_states_per_second"},
                                                                                {"cpu_seconds", "wall_cpu_seconds"}}};

std::string_view host_name(std::string_view key) {
    for (const auto& [in_report, here] : of_host)
        if (key == in_report) return here;
    return key.starts_with("wall_") ? key : std::string_view{};
}

} // namespace

SweepRecord SweepRecord::of_report(const SweepRun& run, std::string_view text, bool reports_config) {
    const auto json = Json::parse(text);
    if (!json || !json->is_object()) return of_failure(run, "it printed no report");
    if (reports_config && (*json)["config_hash"].text() != run.config_hash)
        return of_failure(run, fmt::format("its configuration is {} and not the planned {}: has a file or a variable FLASHLAB_* changed since?",
                                           (*json)["config_hash"].text(), run.config_hash));
    SweepRecord record{.run = run, .is_done = true, .error = {}, .report = Json{Json::Object{}}, .host = Json{Json::Object{}}};
    for (const auto& [key, value] : json->members()) {
        if (key == "trace") continue; // the name of a file: the run has it
        const std::string_view name = host_name(key);
        (name.empty() ? record.report : record.host).add(name.empty() ? key : std::string{name}, value);
    }
    return record;
}

SweepRecord SweepRecord::of_failure(const SweepRun& run, std::string_view why) {
    const std::string_view line = why.substr(0, why.find('\n'));
    return {.run = run, .is_done = false, .error = std::string{line}, .report = Json{}, .host = Json{Json::Object{}}};
}

Json SweepRecord::to_json() const {
    return Json::object({{"run", run.to_json()}, {"status", is_done ? "done" : "failed"}, {"error", error}, {"report", report}, {"host", host}});
}

std::expected<SweepRecord, std::string> SweepRecord::from_json(const Json& json) {
    auto run = SweepRun::from_json(json["run"]);
    if (!run) return std::unexpected(run.error());
    const std::string status = json["status"].text();
    if (status != "done" && status != "failed") return std::unexpected(fmt::format("run {}: the status '{}' is unknown", run->id, status));
    if (status == "done" && json["report"].members().empty())
        return std::unexpected(fmt::format("run {}: the report of a run that is done is missing", run->id));
    return SweepRecord{
        .run = std::move(*run), .is_done = status == "done", .error = json["error"].text(), .report = json["report"], .host = json["host"]};
}

std::string difference_of(const SweepRecord& a, const SweepRecord& b) {
    for (const auto& [key, value] : a.report.members())
        if (const std::string other = b.report[key].dump(); value.dump() != other) return fmt::format("{}: {} and {}", key, value.dump(), other);
    for (const auto& [key, value] : b.report.members())
        if (a.report[key].is_null() && !value.is_null()) return fmt::format("{}: nothing and {}", key, value.dump());
    return {};
}

} // namespace flashlab
