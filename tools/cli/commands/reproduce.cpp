/// flashlab reproduce: the papers' experiments.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/command_options.h"
#include "tools/cli/progress.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/regular_file.h"
#include "tools/reproduce/experiment.h"
#include "tools/reproduce/html_report.h"
#include "tools/reproduce/markdown_report.h"
#include "tools/reproduce/series.h"
#include "tools/text/table.h"
#include "tools/workloads/paper_workloads.h"

namespace flashlab {
namespace {

struct ReproduceOptions {
    std::vector<std::string> ids, traces; ///< traces: NAME=FILE
    bool quick = false;
    OutputFormat format = OutputFormat::table;
    unsigned jobs = 0; ///< cores; 0: all
    std::optional<std::string> html, markdown;
    std::string trace_folder;
};

void print(const Experiment& experiment, const Reproduction& result) {
    fmt::print("{}: {}\n{}\n\n", experiment.id, experiment.title, experiment.paper);
    fmt::print("{}", points_as_text(experiment, result));
    for (const ReproducedClaim& c : result.claims)
        fmt::print("{} {}\n      {}\n      ours:  {}\n      paper: {}\n", c.holds ? "[✓]" : "[✗]", c.text,
                   c.holds ? std::string{words_of(c.kind)} : fmt::format("{}; shown by: {}", words_of(c.kind), c.cause), c.ours, c.paper);
    ClaimTally tally;
    tally.add(experiment.id, result.claims);
    fmt::print("{}\n", tally.text());
    for (const ReproducedLoad& l : result.loads) fmt::print("load {}: {}\n", l.name, l.source);
    for (const FreeParameter& f : result.free_parameters)
        fmt::print("free: {} = {}: {}{}{}\n", f.name, f.value, f.why, f.fitted_to.empty() ? "" : "; fitted to " + f.fitted_to,
                   f.changed_after.empty() ? "" : "; changed after: " + f.changed_after);
    fmt::print("\n");
}

int list(OutputFormat format) {
    Json all{Json::Array{}};
    Table table{{"id", "figure", "paper"}};
    for (const Experiment& e : experiments()) {
        all.push(Json::object({{"id", e.id}, {"paper", e.paper}, {"title", e.title}}));
        table.add({std::string{e.id}, std::string{e.title}, std::string{e.paper}});
    }
    fmt::print("{}", shown(format, Json::object({{"experiments", std::move(all)}}), table));
    return exit_done;
}

/// Those asked for, in the order of the list for `all`, else as named; each once.
std::expected<std::vector<const Experiment*>, std::string> choose(const std::vector<std::string>& ids) {
    std::vector<const Experiment*> chosen;
    if (std::ranges::find(ids, "all") != ids.end())
        for (const Experiment& e : experiments()) chosen.push_back(&e);
    for (const std::string& id : ids) {
        const Experiment* experiment = find_experiment(id);
        if (experiment == nullptr && id != "all")
            return std::unexpected(fmt::format("no experiment is called '{}'; see: flashlab reproduce list", id));
        if (experiment != nullptr && std::ranges::find(chosen, experiment) == chosen.end()) chosen.push_back(experiment);
    }
    return chosen;
}

std::expected<std::vector<TraceInPlace>, std::string> parse_traces(const std::vector<std::string>& texts) {
    std::vector<TraceInPlace> traces;
    for (const std::string& text : texts) {
        const std::size_t equals = std::min(text.find('='), text.size());
        TraceInPlace trace{text.substr(0, equals), text.substr(std::min(equals + 1, text.size()))};
        if (trace.path.empty() || std::ranges::find(paper_workload_names(), trace.name) == paper_workload_names().end())
            return std::unexpected(fmt::format("--trace {}: NAME=FILE is wanted; the names are {}", text, fmt::join(paper_workload_names(), ", ")));
        if (auto file = check_regular_or_missing(trace.path); !file) // each point reads it anew
            return std::unexpected(fmt::format("--trace {}: {}; it is read more than once", text, file.error()));
        traces.push_back(std::move(trace));
    }
    return traces;
}

/// Runs them on all cores; a result is shown as soon as those before it are: whoever ends a long run early keeps what there is. The page takes its
/// name at the end.
class ExperimentRunner {
public:
    ExperimentRunner(std::vector<const Experiment*> chosen, const RunContext& context, const ReproduceOptions& options)
        : chosen_{std::move(chosen)}, context_{context}, format_{options.format}, html_{options.html}, markdown_{options.markdown},
          results_(chosen_.size()), progress_{"experiments", chosen_.size()} {}

    std::expected<void, std::string> run() {
        std::vector<std::string> read;
        for (const TraceInPlace& trace : context_.traces) read.push_back(trace.path);
        for (const auto& [name, page] : {std::pair{&html_, &page_}, std::pair{&markdown_, &tables_}}) {
            if (!*name) continue; // a place where nothing can be written is told now, not after an hour
            auto made = AsideFile::make(**name, AsideFile::Existing::replaced, read);
            if (!made) return std::unexpected(made.error());
            page->emplace(std::move(*made));
        }
        {
            const std::jthread watch{[this](const std::stop_token& done) { end_at_signal(done); }};
            context_.workers->for_each(chosen_.size(), [&](std::size_t i) { run_one(i); });
        }
        if (Interruption::came()) end_partial();
        for (std::size_t i = 0; i < chosen_.size(); ++i)
            if (results_[i] && !*results_[i]) return std::unexpected(fmt::format("{}: {}", chosen_[i]->id, results_[i]->error()));
        if (chosen_.size() > 1 && format_ == OutputFormat::table) print_tally();
        if (auto written = write_page<HtmlReport>(page_); !written) return written;
        return write_page<MarkdownReport>(tables_);
    }

private:
    void run_one(std::size_t i) {
        if (failed_ || Interruption::came()) return;
        auto result = chosen_[i]->reproduce(context_);
        const std::lock_guard lock{showing_};
        if (Interruption::came()) // cut short: of no use
            return;
        failed_ = failed_ || !result;
        results_[i] = std::move(result);
        ++complete_;
        progress_.clear();
        show_ready();
    }
    /// An experiment may take minutes, and nobody waits for it who has asked for the end: its threads and processes end with this one.
    void end_at_signal(const std::stop_token& done) {
        while (!done.stop_requested()) {
            if (Interruption::came()) end_partial();
            {
                const std::lock_guard lock{showing_};
                progress_.at(complete_);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
    }
    [[noreturn]] void end_partial() {
        const std::lock_guard lock{showing_};
        progress_.clear();
        page_.reset(); // what stands at its place stays
        tables_.reset();
        Json complete{Json::Array{}}, missing{Json::Array{}};
        for (std::size_t i = 0; i < chosen_.size(); ++i) (i < shown_ ? complete : missing).push(std::string{chosen_[i]->id});
        if (Interruption::signal() != SIGPIPE) {
            const bool is_json = format_ == OutputFormat::json;
            const std::string text =
                is_json ? Json::object({{"partial", true}, {"complete", std::move(complete)}, {"missing", std::move(missing)}}).dump() + "\n"
                : format_ == OutputFormat::csv ? std::string{}
                                               : fmt::format("partial: {} of {} experiments are complete\n", shown_, chosen_.size());
            (void)!std::fwrite(text.data(), 1, text.size(), stdout);
            complain(fmt::format("ended by {} before it was done{}", Interruption::name(), html_ ? fmt::format("; {} is as it was", *html_) : ""));
        }
        (void)std::fflush(stdout);
        std::_Exit(Interruption::exit_code());
    }
    void print_tally() const {
        ClaimTally tally;
        for (std::size_t i = 0; i < shown_; ++i) tally.add(chosen_[i]->id, (*results_[i])->claims);
        fmt::print("all {} experiments: {}\n", shown_, tally.text());
    }
    template <class Report>
    std::expected<void, std::string> write_page(std::optional<AsideFile>& file) {
        if (!file) return {};
        Report report{context_.length};
        for (std::size_t i = 0; i < shown_; ++i) report.add(*chosen_[i], **results_[i]);
        if (auto written = file->write(report.page()); !written) return written;
        return file->commit();
    }
    void show_ready() {
        for (; shown_ < chosen_.size() && results_[shown_] && *results_[shown_]; ++shown_) {
            if (format_ != OutputFormat::table)
                fmt::print("{}", shown(format_, to_json(*chosen_[shown_], **results_[shown_]), points_as_rows(*chosen_[shown_], **results_[shown_])));
            else
                print(*chosen_[shown_], **results_[shown_]);
            if (std::fflush(stdout) != 0) // not after an hour, either
                throw std::system_error{errno, std::generic_category(), "standard output"};
        }
    }
    std::vector<const Experiment*> chosen_;
    RunContext context_;
    OutputFormat format_;
    std::optional<std::string> html_, markdown_;
    std::optional<AsideFile> page_, tables_;
    std::vector<std::optional<ExperimentRun::Result>> results_;
    std::size_t shown_ = 0;
    std::atomic<bool> failed_ = false;
    std::mutex showing_;
    Progress progress_;
    std::size_t complete_ = 0;
};

/// A trace that no experiment would play is a slip: the figures of DUMBO (mc-) and of the hybrid drive (hy-) have no loads, and few play
/// a folder.
std::expected<void, std::string> check_loads(const ReproduceOptions& o, const std::vector<const Experiment*>& chosen) {
    const auto any = [&](const auto& plays) { return std::ranges::any_of(chosen, [&](const Experiment* e) { return plays(e->id); }); };
    if (!o.traces.empty() && !any([](std::string_view id) { return !id.starts_with("mc-") && !id.starts_with("hy-"); }))
        return std::unexpected(fmt::format("--trace {}: no experiment named plays a load; those of co-, ap- and beyond- do", o.traces.front()));
    if (!o.trace_folder.empty() && !any([](std::string_view id) {
            return id == "beyond-ftls" || id == "beyond-maps" || id == "beyond-causes" || id == "ap-fig4" || id == "ap-fig6" ||
                   id.starts_with("maps-");
        }))
        return std::unexpected(fmt::format(
            "--traces {}: only beyond-ftls, beyond-maps, beyond-causes, ap-fig4, ap-fig6 and maps-* play a folder of traces", o.trace_folder));
    return {};
}

int run_reproduce(const ReproduceOptions& o) {
    if (o.ids.empty() || (o.ids.size() == 1 && o.ids.front() == "list")) return list(o.format);
    const auto chosen = choose(o.ids);
    if (!chosen) return complain("reproduce: " + chosen.error(), exit_usage);
    const auto traces = parse_traces(o.traces);
    if (!traces) return complain("reproduce: " + traces.error(), exit_usage);
    if (auto used = check_loads(o, *chosen); !used) return complain("reproduce: " + used.error(), exit_usage);
    const Interruption interruption;
    Workers workers{o.jobs != 0 ? o.jobs : std::max(1u, std::thread::hardware_concurrency())};
    ExperimentRunner runner{*chosen, RunContext{o.quick ? RunLength::quick : RunLength::full, &workers, *traces, o.trace_folder}, o};
    if (const auto done = runner.run(); !done) return complain("reproduce: " + done.error());
    return exit_done;
}

} // namespace

void add_reproduce(CLI::App& app, Action& action) {
    auto [c, o] =
        add_command(app, action, run_reproduce, "reproduce", "Measure a paper's figures anew, ours beside theirs", "flashlab reproduce mc-fig11");
    c.add_option("ID", o.ids, "Experiments, or all; list (default) names them");
    c.add_flag("--quick", o.quick, "Fewer requests a point, capacity, DRAM and working sets scaled down together");
    c.add_option(
        "--trace", o.traces,
        "NAME=FILE: the user's trace in place of a generated load (sysmark, pc, financial, tpcc, desktop, desktop-even, small-writes), any format");
    c.add_option(
         "--traces", o.trace_folder,
         "Folder of real traces: beyond-ftls and beyond-maps play every one that they find there, in place of generated loads; ap-fig4, ap-fig6 and "
         "beyond-causes those that the documents name, maps-* those of its paper, beside the generated ones")
        ->check(CLI::ExistingDirectory);
    c.add_option("--html", o.html, "Also one self-contained page: plots, the paper's numbers marked, claims, loads, free parameters");
    c.add_option("--markdown", o.markdown, "Also a page of tables, as tools/reproduce/RESULTS.md");
    c.add_option("-j,--jobs", o.jobs, "Cores; default all. The results are the same bytes");
    add_format(c, o.format, "One JSON object an experiment, each on a line");
}

} // namespace flashlab
