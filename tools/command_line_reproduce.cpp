#include "tools/command_line_reproduce.h"

#include "tools/command_options.h"
#include "tools/commands/commands.h"

namespace flashlab {

void add_reproduce(CLI::App& app, std::function<int()>& action) {
    static ReproduceOptions o;
    auto& c = add_command(app, "reproduce", "Measure a paper's figures anew, ours beside theirs", "flashlab reproduce mc-fig11");
    c.add_option("ID", o.ids, "Experiments, or all; list (default) names them");
    c.add_flag("--quick", o.quick, "Fewer requests a point");
    c.add_flag("--json", o.json, "One JSON object an experiment, each on a line");
    c.callback([&action] { action = [] { return run_reproduce(o); }; });
}

} // namespace flashlab
