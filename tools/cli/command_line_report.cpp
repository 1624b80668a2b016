#include "tools/cli/command_line_report.h"

#include "tools/cli/command_options.h"
#include "tools/cli/commands/export.h"
#include "tools/cli/commands/report.h"

namespace flashlab {

void add_report(CLI::App& app, std::function<int()>& action) {
    static ReportOptions o;
    auto& c = add_command(app, "report", "One page about a run, or several side by side: conclusions, plots, what slow requests waited for",
                          "flashlab report hftl.db dftl.db fast.json -o report.html");
    c.add_option("RUNS", o.runs, "Event logs (--events), device directories, mount points, and .json files of replay --json or bench --json")
        ->required()
        ->expected(1, 64);
    c.add_option("-o,--output", o.output, "The page: one file that needs no network")->required();
    c.add_option("--name", o.names, "What a run is called on the page; once a run, in their order")->allow_extra_args(false);
    c.add_option("--run", o.run, "Of a log of several runs, this one (SELECT run, kind FROM run); else the last one with a load");
    c.callback([&action] { action = [] { return run_report_command(o); }; });
}

void add_export(CLI::App& app, std::function<int()>& action) {
    static ExportOptions o;
    auto& c = add_command(app, "export", "A log for other programs: a timeline, or a table or view as CSV",
                          "flashlab export /tmp/disk --perfetto timeline.json --from 2s --to 2.1s");
    c.add_option("DIR", o.target, "Device directory, mount point, or event log file")->required();
    auto* what = c.add_option_group("what");
    auto* perfetto = what->add_option("--perfetto", o.perfetto, "A timeline of a run into this file, for the Perfetto UI (trace events, JSON)");
    what->add_option("--csv", o.csv, "This table or view (flashlab query --views)");
    what->add_option("--parquet", o.parquet, "Not built in; says which tool makes Parquet of a log");
    what->require_option(1);
    c.add_option("-o,--output", o.output, "of --csv: the file; otherwise standard output")->excludes(perfetto);
    c.add_option("--from", o.from, "of --perfetto: from here, after the run's beginning: 1.5s, 200ms, 30us")->capture_default_str()->needs(perfetto);
    c.add_option("--to", o.to, "of --perfetto: up to here; otherwise its end")->needs(perfetto);
    c.add_option("--run", o.run, "of --perfetto: of a log of several runs, this one; else the last one with a load")->needs(perfetto);
    c.callback([&action] { action = [] { return run_export(o); }; });
}

} // namespace flashlab
