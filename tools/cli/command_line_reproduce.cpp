#include "tools/cli/command_line_reproduce.h"

#include "tools/cli/command_options.h"
#include "tools/cli/commands/reproduce.h"

namespace flashlab {

void add_reproduce(CLI::App& app, std::function<int()>& action) {
    static ReproduceOptions o;
    auto& c = add_command(app, "reproduce", "Measure a paper's figures anew, ours beside theirs", "flashlab reproduce mc-fig11");
    c.add_option("ID", o.ids, "Experiments, or all; list (default) names them");
    c.add_flag("--quick", o.quick, "Fewer requests a point, capacity, DRAM and working sets scaled down together");
    c.add_option(
        "--trace", o.traces,
        "NAME=FILE: the user's trace in place of a generated load (sysmark, pc, financial, tpcc, desktop, desktop-even, small-writes), any format");
    c.add_option("--traces", o.trace_folder,
                 "Folder of real traces: beyond-ftls plays every one that it finds there, in place of generated loads; ap-fig4, ap-fig6 and "
                 "beyond-causes those that "
                 "the documents name, beside the generated ones")
        ->check(CLI::ExistingDirectory);
    c.add_option("--html", o.html, "Also one self-contained page: plots, the paper's numbers marked, claims, loads, free parameters");
    c.add_option("--markdown", o.markdown, "Also a page of tables, as tools/reproduce/RESULTS.md");
    c.add_option("-j,--jobs", o.jobs, "Cores; default all. The results are the same bytes");
    add_format(c, o.format, "One JSON object an experiment, each on a line");
    c.callback([&action] { action = [] { return run_reproduce(o); }; });
}

} // namespace flashlab
