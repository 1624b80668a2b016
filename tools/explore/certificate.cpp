#include "tools/explore/certificate.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "tools/text/shell_word.h"

namespace flashlab {

namespace {

std::string program_of(const std::string& word) {
    if (word.find('/') != std::string::npos) return word;
    const char* path = std::getenv("PATH");
    std::istringstream folders{path == nullptr ? "" : path};
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const std::string file = folder + "/" + word; ::access(file.c_str(), X_OK) == 0) return file;
    return word;
}

Json not_tried(const Persistence& model, StateOrder& order, const ExploreResult& result, double possible, std::uint64_t after_flush) {
    Json list{Json::Array{}};
    if (after_flush != 0) list.push(fmt::format("cuts before sync {}: --after flush {}", after_flush, after_flush));
    if (result.exhausted)
        list.push("no further state of this run differs from those tried, among some thousand drawn ones");
    else
        list.push(fmt::format(
            "of at most {:.3g} states that the model allows at {} points of this run, {} were tried: {}", possible, order.cuts(), result.states,
            result.edges_done ? "the edges of all points, then drawn ones" : "not all edges of all points; give a larger --states"));
    list.push("other runs: other input, other schedules of threads and processes, errors that calls return");
    list.push(fmt::format("other file systems than {}: --persistence names the models", model.name));
    list.push("sync(2) and syncfs(2), which the kernel does not tell a FUSE file system; changes of a mapping before the kernel writes them back");
    list.push("a second cut during the program's own recovery; damage of the media; owners, times, device nodes and sockets");
    return list;
}

} // namespace

std::string hash_of_command(const std::vector<std::string>& command) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto take = [&](std::string_view text) {
        for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        hash = (hash ^ 0x100) * 0x100000001b3u;
    };
    for (const std::string& word : command) take(word);
    if (!command.empty()) {
        std::ifstream program{program_of(command.front()), std::ios::binary};
        take(std::string{std::istreambuf_iterator<char>{program}, {}});
    }
    return fmt::format("{:016x}", hash);
}

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
    return Json::object({{"command", fmt::format("{}", fmt::join(facts.command, " "))},
                         {"command_hash", facts.command_hash},
                         {"version", FLASHLAB_VERSION},
                         {"model", model.name},
                         {"device", facts.device},
                         {"seed", facts.seed},
                         {"check", facts.check},
                         {"lines", std::uint64_t{past.size() - past.first_cut()}},
                         {"flush_points", syncs},
                         {"promises", promises},
                         {"states_possible", facts.states_possible},
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
                         {"not_tried", not_tried(model, order, result, facts.states_possible, facts.after_flush)},
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
