#include "tools/explore/certificate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/text/shell_word.h"

namespace flashlab {

namespace {

std::string told_number(const PossibleStates& possible, std::size_t points) {
    if (possible.states >= 1e300) return "more than 1e300";
    const char* bound = possible.points < points ? "about" : "at most";
    return possible.states < 1e6 ? fmt::format("{} {:.0f}", bound, possible.states) : fmt::format("{} {:.3g}", bound, possible.states);
}

Json not_tried(const CertificateFacts& facts, const Persistence& model, StateOrder& order, const ExploreResult& result, std::uint64_t promises) {
    Json list{Json::Array{}};
    if (facts.partial) list.push(fmt::format("what would have come behind state {}: the exploration was interrupted", result.states));
    if (facts.after_flush != 0) list.push(fmt::format("cuts before sync {}: --after flush {}", facts.after_flush, facts.after_flush));
    if (result.exhausted)
        list.push("no further state of this run differs from those tried, among some thousand drawn ones");
    else
        list.push(fmt::format(
            "of {} states that the model allows at {} points of this run, {} were tried: {}", told_number(facts.possible, order.cuts()), order.cuts(),
            result.states, result.edges_done ? "the edges of all points, then drawn ones" : "not all edges of all points; give a larger --states"));
    if (result.untold != 0)
        list.push(fmt::format("{} failing states of further causes: counted, not told, after the first {}", result.untold, result.findings.size()));
    if (promises == 0) list.push("whether anything is durable: the command promised nothing (FLASHLAB_ACK_FD, --oracle)");
    list.push(facts.own_history.is_null() ? "what the check does not look at" : "what the program's answer does not show");
    if (facts.own_history["answers"].number(2) < 2)
        list.push("what the program holds: it answers the same at each moment, so only starts that fail are seen; --probe names a question");
    list.push("other runs: other input, other schedules of threads and processes, errors that calls return");
    list.push(fmt::format("other file systems than {}: --persistence names the models", model.name));
    list.push("sync(2) and syncfs(2), which the kernel does not tell a FUSE file system; changes of a mapping before the kernel writes them back");
    list.push("a second cut during the program's own recovery; damage of the media; owners, times, device nodes and sockets");
    return list;
}

} // namespace

std::string replay_line(const LossFinding& finding) { return fmt::format("flashlab crash torture --replay {}", shell_word(finding.kept)); }

Json certificate(const CertificateFacts& facts, const Past& past, const Persistence& model, StateOrder& order, const ExploreResult& result) {
    std::uint64_t syncs = 0, promises = 0;
    for (std::uint32_t i = past.first_cut(); i < past.size(); ++i) {
        syncs += is_sync(past.line(i).act) ? 1 : 0;
        promises += past.line(i).act == Act::promise ? 1 : 0;
    }
    Json findings{Json::Array{}};
    for (const LossFinding& finding : result.findings) {
        Json lost{Json::Array{}};
        for (const std::string& line : finding.words.lost) lost.push(line);
        findings.push(Json::object({{"what", finding.words.what},
                                    {"lost", std::move(lost)},
                                    {"missing_call", finding.words.missing_call},
                                    {"cut", std::uint64_t{finding.state.cut}},
                                    {"said", finding.said},
                                    {"states", finding.states},
                                    {"found_at_state", finding.found_at},
                                    {"replay", replay_line(finding)}}));
    }
    Json application{Json::Array{}};
    for (const ApplicationFile& file : facts.application) application.push(Json::object({{"file", file.path}, {"sha256", file.sha256}}));
    return Json::object({{"command", fmt::format("{}", fmt::join(facts.command, " "))},
                         {"command_hash", hash_of_command(facts.command, facts.application)},
                         {"application", std::move(application)},
                         {"application_version", facts.application_version},
                         {"version", FLASHLAB_VERSION},
                         {"model", model.name},
                         {"device", facts.device},
                         {"seed", facts.seed},
                         {"check", facts.check},
                         {"check_serves", facts.check_serves},
                         {"own_history", facts.own_history},
                         {"budget", facts.budget},
                         {"lines", std::uint64_t{past.size() - past.first_cut()}},
                         {"setup_lines", std::uint64_t{past.first_cut()}},
                         {"flush_points", syncs},
                         {"promises", promises},
                         {"states_possible", facts.possible.states},
                         {"states_tried", result.states},
                         {"states_failing", result.failing},
                         {"states_unsteady", result.unsteady},
                         {"checks", result.checks},
                         {"workers", facts.workers},
                         {"wall_seconds", result.wall_seconds},
                         {"wall_states_per_second", result.wall_seconds > 0 ? static_cast<double>(result.states) / result.wall_seconds : 0.0},
                         {"wall_cpu_seconds", result.cpu_seconds},
                         {"wall_states_per_cpu_second", result.cpu_seconds > 0 ? static_cast<double>(result.states) / result.cpu_seconds : 0.0},
                         {"partial", facts.partial},
                         {"not_tried", not_tried(facts, model, order, result, promises)},
                         {"findings", std::move(findings)},
                         {"controls", Json::object({{"before_the_command", "passes"}, {"after_the_command", "passes"}})}});
}

std::optional<ReportForm> report_form(const std::string& file) {
    if (file.ends_with(".junit.xml")) return ReportForm::junit;
    if (file.ends_with(".sarif")) return ReportForm::sarif;
    if (file.ends_with(".html")) return ReportForm::html;
    if (file.ends_with(".json")) return ReportForm::json;
    return std::nullopt;
}

} // namespace flashlab
