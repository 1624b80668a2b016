/// flashlab report: runs as one page with plots.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/cli/commands/log_target.h"
#include "tools/cli/commands/run_blame.h"
#include "tools/cli/progress.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/report/json_report.h"
#include "tools/report/log_report.h"
#include "tools/report/report_page.h"

namespace flashlab {

namespace {

struct ReportOptions {
    std::vector<std::string> runs;
    std::vector<std::string> names; ///< in place of the paths
    std::string output;
    std::optional<std::int64_t> run; ///< of a log of several
};

/// The last part of the path, without its extension; the whole path where two would be called the same.
std::string short_name(const std::vector<std::string>& runs, std::size_t of) {
    const auto stem = [](const std::string& path) {
        std::filesystem::path p{path};
        if (!p.has_filename()) p = p.parent_path();
        return p.stem().string();
    };
    const std::string name = stem(runs[of]);
    return name.empty() || std::ranges::count(runs, name, stem) > 1 ? runs[of] : name;
}

int run_report_command(const ReportOptions& o) {
    if (o.names.size() > o.runs.size())
        return complain(fmt::format("report: {} names for {} runs; --name is given once a run, in their order", o.names.size(), o.runs.size()),
                        exit_usage);
    const Interruption interruption;
    auto file = AsideFile::make(o.output, AsideFile::Existing::replaced, o.runs);
    if (!file) return complain("report: " + file.error());
    std::vector<Json> runs;
    for (std::size_t i = 0; i < o.runs.size(); ++i) {
        const std::string& target = o.runs[i];
        const std::string name = i < o.names.size() ? o.names[i] : short_name(o.runs, i);
        if (target.ends_with(".json")) {
            auto run = report_json(target, name);
            if (!run) return complain("report: " + run.error());
            runs.push_back(std::move(*run));
            continue;
        }
        const auto path = find_log("report", target);
        if (!path) return complain(path.error());
        Progress progress{"rows read of " + name};
        std::optional<Progress> blaming;
        auto run = report_log(*path, name,
                              {.run = o.run,
                               .progress = [&](std::uint64_t rows) { progress.at(rows); },
                               .blame_progress = [&](std::uint64_t done, std::uint64_t total) { blame_at(blaming, done, total); }});
        if (!run) return complain("report: " + run.error());
        runs.push_back(std::move(*run));
    }
    if (auto written = write_report_page(*file, std::move(runs)); !written) return complain("report: " + written.error());
    std::error_code ignored;
    fmt::print("{}: {} bytes\n", o.output, std::filesystem::file_size(o.output, ignored));
    return exit_done;
}

} // namespace

void add_report(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_report_command, "report",
                              "One page about a run, or several side by side: conclusions, plots, what slow requests waited for",
                              "flashlab report hftl.db dftl.db fast.json -o report.html");
    c.add_option("RUNS", o.runs, "Event logs (--events), device directories, mount points, and .json files of replay --json or bench --json")
        ->required()
        ->expected(1, 64);
    c.add_option("-o,--output", o.output, "The page: one file that needs no network")->required();
    c.add_option("--name", o.names, "What a run is called on the page; once a run, in their order")->allow_extra_args(false);
    c.add_option("--run", o.run, "Of a log of several runs, this one (SELECT run, kind FROM run); else the last one with a load");
}

} // namespace flashlab
