#include "tools/cli/commands/torture.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/commands/recorded_run.h"
#include "tools/cli/progress.h"
#include "tools/explore/certificate.h"
#include "tools/explore/own_history.h"
#include "tools/explore/state_explorer.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"
#include "tools/host/unfinished_directory.h"
#include "tools/text/printable.h"
#include "tools/text/shell_word.h"

namespace flashlab {

namespace {

namespace fs = std::filesystem;

/// What is wrong with the options, as a sentence; empty: nothing.
std::string misuse(const CrashTortureOptions& o) {
    if (o.command.empty()) return "which command? Write it after '--', such as: flashlab crash torture --explore --check $PWD/check -- $PWD/fill";
    if (o.check.empty()) return "--explore needs --check: a command that judges a state, or auto";
    if (!o.probe.empty() && !judges_itself(o)) return "--probe belongs to --check auto: a check of your own asks what it likes";
    if (!o.oracle.empty() && judges_itself(o)) return "--oracle does not go with --check auto: each line that the command prints is promised";
    if (o.check_serves && judges_itself(o)) return "--check-serves is of a check of your own, and --check auto starts the program: leave one out";
    if (!o.device.empty()) return "--explore starts from an empty drive: leave out --device, and let --setup make what the command needs";
    if (const std::string why = misuse_of_cuts(o); !why.empty()) return why;
    if (const auto after = flushes_before(o); !after) return after.error();
    if (!find_persistence(o.persistence)) return fmt::format("--persistence {}: allowed: {}", o.persistence, persistence_names);
    for (const std::string& report : o.reports)
        if (!report_form(report)) return fmt::format("--report {}: the name must end with .json, .html, .junit.xml or .sarif", report);
    return {};
}

std::string text_of(const std::string& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

/// The state as the cut left it, its promises, the trace, and the check: all that a replay needs.
std::string keep(const CrashTortureOptions& o, const Past& past, const Persistence& model, OwnHistory* own_history, LossFinding& finding) {
    const std::string first =
        fs::absolute(fmt::format("{}/flashlab-state-{}-{}", o.keep.empty() ? "." : o.keep, o.seed, finding.found_at)).lexically_normal().string();
    std::error_code error;
    std::string to = first;
    for (int n = 2; !fs::create_directory(to, error); ++n) {
        if (error) return fmt::format("{}: {}", to, error.message());
        to = fmt::format("{}-{}", first, n);
    }
    const LeftState state{past, model, finding.state};
    if (const auto made = StateDirectory{past, to + "/tree"}.make(state.tree()); !made) return made.error();
    std::ofstream acks{to + "/acks"}, trace{to + "/trace.txt"}, check{to + "/check"}, what{to + "/what.txt"};
    for (std::uint32_t i = 0; i < past.size(); ++i) {
        if (i == state.cut()) trace << "---- here the power failed ----\n";
        const auto lost = std::ranges::find(state.lost(), i, &Loss::line);
        trace << fmt::format("{:6} {}{}\n", i + 1, past.told(i), lost == state.lost().end() ? "" : "   <- lost");
        if (i < state.cut() && past.line(i).act == Act::promise) acks << past.line(i).data << '\n';
    }
    check << o.check;
    if (o.check_serves) std::ofstream{to + "/check-serves"} << "it reads a line, and answers with a line: ok, or what is wrong\n";
    if (o.timeout_s) std::ofstream{to + "/timeout"} << *o.timeout_s << '\n';
    if (own_history != nullptr) std::ofstream{to + "/answers.json"} << own_history->record_of(state).dump() << '\n';
    what << finding.words.what << "\nmissing: " << finding.words.missing_call << "\n";
    finding.kept = to;
    return {};
}

void tell_finding(const LossFinding& finding, std::uint64_t tried) {
    std::string text =
        fmt::format("flashlab: {}. Found in {} of {} states\n  fix: {}\n", finding.words.what, finding.states, tried, finding.words.missing_call);
    for (std::size_t i = 0; i < std::min<std::size_t>(finding.words.lost.size(), 5); ++i) text += fmt::format("  lost: {}\n", finding.words.lost[i]);
    std::string said = finding.said;
    for (std::size_t at = 0; (at = said.find('\n', at)) != std::string::npos; at += 5) said.replace(at, 1, "\n    ");
    text += fmt::format("  the check: {}\n  {}\n", said, replay_line(finding));
    tell(printable(std::move(text)));
}

/// Made before the run: a place where nothing can be written is told at once, and a certificate that is there stays until the new one is whole.
std::expected<std::vector<AsideFile>, std::string> make_reports(const CrashTortureOptions& o) {
    std::vector<AsideFile> files;
    for (const std::string& report : o.reports) {
        auto file = AsideFile::make(report, AsideFile::Existing::replaced);
        if (!file) return std::unexpected(fmt::format("--report {}", file.error()));
        files.push_back(std::move(*file));
    }
    return files;
}

bool write_reports(const CrashTortureOptions& o, std::vector<AsideFile>& files, const Json& report, const std::vector<ApplicationFile>& application) {
    std::error_code error;
    const std::string uri = uri_of(application, fs::current_path(error).string());
    bool all = true;
    for (std::size_t i = 0; i < files.size(); ++i) {
        auto done = files[i].write(certificate_as(*report_form(o.reports[i]), report, uri));
        if (done) done = files[i].commit();
        if (!done) complain(fmt::format("crash torture: --report {}", done.error()));
        all = all && done.has_value();
    }
    return all;
}

/// The check must pass before the command and after it, or else it judges something else than what the power cut did. The error says which.
std::string bad_control(StateExplorer& explorer, const Past& past, std::uint32_t first) {
    if (const auto said = explorer.check_alone({past.size(), {}}))
        return fmt::format(
            "the check fails after the whole command, without any cut, so it can judge nothing: mend the check or the command:\n    {}", *said);
    if (const auto said = explorer.check_alone({first, {}}))
        return fmt::format(
            "the check fails on what is there before the command: a cut may leave that, so let the check accept it, or make in --setup "
            "what it needs:\n    {}",
            *said);
    return {};
}

/// The first cut of --after flush N; nothing: there are not so many.
std::optional<std::uint32_t> first_cut(const CrashTortureOptions& o, const Past& past) {
    std::uint64_t left = flushes_before(o).value_or(0);
    std::uint32_t line = past.first_cut();
    for (; left != 0 && line < past.size(); ++line)
        if (is_sync(past.line(line).act)) --left;
    return left == 0 ? std::optional{line} : std::nullopt;
}

/// The command as a shell takes it, for its next start.
std::string shell_line(const std::vector<std::string>& command) {
    std::string line;
    for (const std::string& word : command) line += (line.empty() ? "" : " ") + shell_word(word);
    return line;
}

unsigned workers_of(const CrashTortureOptions& o) { return o.jobs == 0 ? std::max(1u, std::thread::hardware_concurrency()) : o.jobs; }

/// What was found and what is in doubt, for people.
void tell_result(const CrashTortureOptions& o, const Past& past, const Persistence& model, OwnHistory* own_history, ExploreResult& result) {
    for (LossFinding& finding : result.findings) {
        if (const std::string why = keep(o, past, model, own_history, finding); !why.empty())
            complain(fmt::format("crash torture: a state is not kept: {}", why));
        tell_finding(finding, result.states);
    }
    const Json learnt = own_history == nullptr ? Json{} : own_history->facts();
    for (const Json& mask : learnt["not_compared"].items()) tell(fmt::format("flashlab: not the same each time: {}\n", mask.text()));
    if (result.unsteady != 0)
        complain(
            fmt::format("crash torture: {} state{} not repeatable: the check failed, and passed when the same state was made anew; let the check, "
                        "or the program, do the same each time",
                        result.unsteady, result.unsteady == 1 ? " is" : "s are"));
}

/// The limits of the recorded run, each with what it came to; those that did not hold are told.
Json judged_budget(const CrashTortureOptions& o, const Json& use) {
    Json limits{Json::Array{}};
    const Json all = judged(o.budget, use);
    for (Json limit : all.items()) {
        limit.add("said", told_limit(limit, use, 5));
        if (!limit["held"].truth()) tell(fmt::format("flashlab: {}", limit["said"].text()));
        limits.push(std::move(limit));
    }
    return limits;
}

int explore(const CrashTortureOptions& o, const Past& past, const Json& use, const std::string& work, std::vector<AsideFile>& reports) {
    const auto from = first_cut(o, past);
    if (!from) return complain(fmt::format("crash torture: --after flush {}: the command made fewer", o.after.back()), exit_usage);
    const Persistence model = *find_persistence(o.persistence);
    Progress progress{"states"};
    ExploreConfig config{.check = o.check,
                         .work = work,
                         .check_serves = o.check_serves,
                         .limit = limit_of(o),
                         .states = o.states,
                         .seed = o.seed,
                         .workers = workers_of(o),
                         .from = *from,
                         .progress = [&](std::uint64_t done) { progress.at(done); }};
    std::optional<OwnHistory> own_history;
    if (judges_itself(o)) {
        own_history.emplace(past, model,
                            OwnHistoryConfig{.probe = o.probe.empty() ? shell_line(o.command) : o.probe,
                                             .is_question = !o.probe.empty(),
                                             .work = work,
                                             .limit = limit_of(o),
                                             .from = *from,
                                             .contents = config.contents});
        if (const auto learnt = own_history->learn(); !learnt)
            return complain(fmt::format("crash torture: --check auto: {}", learnt.error()), Interruption::came() ? exit_failed : exit_usage);
        config.judge = [&](const auto&... state) { return own_history->judge(state...); };
    }
    StateExplorer explorer{past, model, std::move(config)};
    const std::string unfit = bad_control(explorer, past, own_history ? *from : past.first_cut());
    if (Interruption::came()) return complain("crash torture: interrupted before the first state");
    if (!unfit.empty()) return complain(fmt::format("crash torture: {}", unfit), exit_usage);
    CertificateFacts facts{.command = o.command,
                           .application = application_of(o.command),
                           .application_version = o.app_version,
                           .check = o.check,
                           .check_serves = o.check_serves,
                           .device = fmt::format("recorded on a new drive of {}, latency off; states checked in plain directories", o.size),
                           .possible = explorer.order().possible(),
                           .seed = o.seed,
                           .workers = workers_of(o),
                           .after_flush = flushes_before(o).value_or(0),
                           .partial = false};
    ExploreResult result = explorer.run();
    facts.partial = Interruption::came();
    if (!result.broken.empty()) return complain(fmt::format("crash torture: {}", result.broken), result.is_misuse ? exit_usage : exit_failed);
    if (own_history) facts.own_history = own_history->facts();
    tell_result(o, past, model, own_history ? &*own_history : nullptr, result);
    facts.budget = judged_budget(o, use);
    const bool is_within = std::ranges::all_of(facts.budget.items(), [](const Json& limit) { return limit["held"].truth(); });
    const Json report = certificate(facts, past, model, explorer.order(), result);
    fmt::print("{}", shown(o.format, report));
    const bool written = write_reports(o, reports, report, facts.application);
    return result.findings.empty() && result.unsteady == 0 && is_within && written ? exit_done : exit_failed;
}

/// The option's, or that with which the state was found.
std::chrono::milliseconds limit_with_kept(CrashTortureOptions o) {
    double found_with = 0;
    if (!o.timeout_s && std::istringstream{text_of(o.replay + "/timeout")} >> found_with) o.timeout_s = found_with;
    return limit_of(o);
}

/// Of a kept state that was copied to the folder `work`; empty: nothing.
std::string wrong_with_kept(const CrashTortureOptions& o, const std::string& work) {
    const std::string check = o.check.empty() ? text_of(o.replay + "/check") : o.check;
    if (check == "auto") {
        const auto record = Json::parse(text_of(o.replay + "/answers.json"));
        if (!record) return fmt::format("{}/answers.json: {}", o.replay, record.error());
        return judge_by_record(*record, work + "/tree", work + "/out", limit_with_kept(o)).value_or("");
    }
    std::error_code error;
    const CheckCall call{.command = check,
                         .directory = work + "/tree",
                         .output = work + "/out",
                         .environment = {{"FLASHLAB_ACKS", fs::absolute(o.replay + "/acks", error).string()}, {"FLASHLAB_CUT", "0"}},
                         .limit = limit_with_kept(o)};
    const bool serves = o.check.empty() && fs::exists(o.replay + "/check-serves", error);
    const CheckVerdict verdict = serves ? ServedCheck{call}.ask("0") : run_check(call);
    return verdict.end == CheckEnd::passed ? "" : fmt::format("the check ended with {}: {}", verdict.code, text_of(work + "/out"));
}

} // namespace

int run_torture_explore(const CrashTortureOptions& o) {
    if (const std::string wrong = misuse(o); !wrong.empty()) return complain(fmt::format("crash torture: {}", wrong), exit_usage);
    if (const std::string why = why_no_keep(o.keep); !why.empty()) return complain(fmt::format("crash torture: {}", why), exit_usage);
    const Interruption interruption;
    auto reports = make_reports(o);
    if (!reports) return complain(fmt::format("crash torture: {}", reports.error()), exit_usage);
    const std::string work = make_explore_directory();
    if (work.empty()) return complain("crash torture: no temporary directory can be made; TMPDIR says where", exit_usage);
    const UnfinishedDirectory removed{work};
    const RecordedRunConfig config{.command = o.command,
                                   .setup = o.setup,
                                   .oracle = o.oracle,
                                   .counts_use = o.budget.has_limits(),
                                   .output_promises = judges_itself(o),
                                   .ftl = o.ftl,
                                   .metadata = o.metadata,
                                   .size = o.size};
    RecordedRun recorded{config, work};
    auto history = recorded.run();
    if (!history) return complain(fmt::format("crash torture: {}", history.error().why), history.error().code);
    const Past past{std::move(*history)};
    if (past.first_cut() >= past.size())
        return complain("crash torture: the command changed nothing in its directory: there is nothing to cut", exit_usage);
    return explore(o, past, recorded.use(), work, *reports);
}

std::string make_explore_directory() {
    std::error_code error;
    const bool is_told = std::getenv("TMPDIR") != nullptr;
    const fs::path base = !is_told && ::access("/dev/shm", W_OK | X_OK) == 0 ? fs::path{"/dev/shm"} : fs::temp_directory_path(error);
    std::string name = (base / "flashlab-torture.XXXXXX").string();
    return ::mkdtemp(name.data()) == nullptr ? std::string{} : name;
}

bool is_kept_state(const std::string& directory) {
    std::error_code error;
    return fs::is_directory(directory + "/tree", error) && fs::exists(directory + "/check", error);
}

int replay_kept_state(const CrashTortureOptions& o) {
    const Interruption interruption;
    const std::string work = make_explore_directory();
    if (work.empty()) return complain("crash torture: no temporary directory can be made; TMPDIR says where", exit_usage);
    const UnfinishedDirectory removed{work};
    std::error_code error;
    fs::copy(o.replay + "/tree", work + "/tree", fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
    if (error) return complain(fmt::format("crash torture: {}/tree: {}", o.replay, error.message()));
    const std::string wrong = wrong_with_kept(o, work);
    if (Interruption::came()) return complain("crash torture: interrupted: it was not checked to the end");
    const Json json = Json::object({{"replayed", o.replay}, {"holds", wrong.empty()}, {"found", wrong}, {"version", FLASHLAB_VERSION}});
    fmt::print("{}", shown(o.format, json));
    return wrong.empty() ? exit_done : exit_failed;
}

std::string why_no_keep(const std::string& keep) {
    const std::string where = keep.empty() ? "." : keep;
    std::error_code error;
    if (!fs::is_directory(where, error)) return fmt::format("--keep {}: is no directory; make it, or name another one", where);
    if (::access(where.c_str(), W_OK | X_OK) != 0)
        return fmt::format("--keep {}: {}; name a directory where you may write", where, std::strerror(errno));
    return {};
}

std::string given_of(const CrashTortureOptions& given, std::initializer_list<std::string_view> options) {
    std::vector<std::string_view> both;
    for (const std::string_view option : options)
        if (std::ranges::find(given.given, option) != given.given.end()) both.push_back(option);
    return fmt::format("{}", fmt::join(both, ", "));
}

std::string misuse_without_states(const CrashTortureOptions& o) {
    if (o.explores || judges_itself(o)) return {};
    const std::string given = given_of(o, {"--setup", "--oracle", "--probe", "--check-serves", "--states", "--report", "--app-version", "--jobs",
                                           "--max-host-bytes", "--max-flash-bytes", "--max-syncs"});
    return given.empty() ? given : fmt::format("{} belongs to --explore", given);
}

std::string misuse_of_cuts(const CrashTortureOptions& o) {
    const std::string given = given_of(o, {"--cuts", "--within", "--at", "--latency"});
    return given.empty() ? given : fmt::format("{}: --explore makes states, and cuts no power: leave it out", given);
}

std::expected<std::uint64_t, std::string> flushes_before(const CrashTortureOptions& o) {
    if (o.after.empty()) return 0;
    std::uint64_t n = 0;
    const std::string& text = o.after.back();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (o.after.size() != 2 || o.after.front() != "flush" || error != std::errc{} || end != text.data() + text.size() || n == 0)
        return std::unexpected(fmt::format("--after {}: allowed: flush N, with N from 1 on", fmt::join(o.after, " ")));
    return n;
}

} // namespace flashlab
