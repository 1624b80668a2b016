#include "tools/cli/command_line_traces.h"

#include "tools/cli/command_options.h"
#include "tools/cli/commands/compare.h"
#include "tools/cli/commands/replay.h"
#include "tools/cli/commands/trace.h"
#include "tools/text/table.h"

namespace flashlab {

namespace {

void add_trace_input(CLI::App& c, TraceInput& input) {
    c.add_option("TRACE", input.path,
                 "Trace file, plain or .gz/.zst/.xz; - reads standard input; workload:NAME makes one (sysmark, pc, financial, tpcc, desktop, "
                 "desktop-even, small-writes)")
        ->required();
    c.add_option("--format", input.format, "auto, columns, or a format's name (flashlab trace --formats)")->capture_default_str();
    auto* columns = c.add_option("--columns", input.columns, "Columns of any text: ts:us=1,op=2,off:sector=3,len:B=4,dev=5; -1 is the last");
    c.add_option("--separator", input.separator, "of --columns: one character, tab or blanks")->capture_default_str()->needs(columns);
    c.add_option("--op-words", input.op_words, "of --columns: R=read,W=write,D=trim,F=flush")->needs(columns);
    c.add_flag("--header", input.has_header, "of --columns: the first line is a header")->needs(columns);
    c.add_option("--action", input.action, "of block layer traces: D issue, Q queue, C completion")
        ->check(CLI::IsMember({"D", "Q", "C"}))
        ->capture_default_str();
    c.add_option("--skip", input.skip, "Leave out this many requests at the beginning");
    c.add_option("--limit", input.limit, "Take at most this many requests");
    c.add_flag("--skip-bad", input.skip_bad, "Go on with more than 1 % bad lines");
}

} // namespace

void add_replay(CLI::App& app, std::function<int()>& action) {
    static ReplayOptions o;
    auto& c = add_command(app, "replay", "Replay a trace in virtual time", "flashlab replay financial1.spc.gz --ftl hftl --size 1G --compact --json");
    add_trace_input(c, o.input);
    c.add_option("--speed", o.speed, "open (as the trace says), closed:DEPTH, or a factor such as 10x")->capture_default_str();
    auto* wrap = c.add_flag("--wrap", o.wrap, "Addresses modulo the device");
    c.add_flag("--compact", o.compact, "Pages in the order of their first touch: the footprint alone must fit")->excludes(wrap);
    add_measure(c, o);
    add_device_choice(c, o.device, "4G");
    c.add_option("--seed", o.seed, "Seed of what is random about the run")->capture_default_str();
    add_format(c, o.format, "One JSON object");
    c.callback([&action] { action = [] { return run_replay(o); }; });
}

void add_trace(CLI::App& app, std::function<int()>& action) {
    static TraceCommandOptions o;
    static bool formats = false;
    auto& c = add_command(app, "trace", "What is in a trace; convert it", "flashlab trace financial1.spc.gz");
    add_trace_input(c, o.input);
    c.get_option("TRACE")->required(false);
    c.add_flag("--formats", formats, "List the formats known");
    auto* convert = c.add_option("--convert", o.convert, "Write it as spc, msr or mqsim")->check(CLI::IsMember({"spc", "msr", "mqsim"}));
    c.add_option("-o,--output", o.output, "of --convert: the file; otherwise standard output")->needs(convert);
    add_format(c, o.format, "One JSON object");
    c.callback([&action] {
        if (!formats && o.input.path.empty()) throw CLI::RequiredError("TRACE");
        if (formats) o.input.path.clear();
        action = [] { return run_trace(o); };
    });
}

void add_compare(CLI::App& app, std::function<int()>& action) {
    static std::vector<std::string> reports;
    static OutputFormat format = OutputFormat::table;
    auto& c = add_command(app, "compare", "Reports of replay or bench side by side", "flashlab compare hftl.json fast.json dftl.json");
    c.add_option("REPORTS", reports, "Two files or more of replay --json or bench --json; the ratios are to the first")
        ->required()
        ->expected(2, 1000);
    add_format(c, format, "An array of objects: key, values, ratios; of two reports also a, b, ratio",
               "A line a key: its values, then their ratios to the first");
    c.callback([&action] { action = [] { return run_compare(reports, format); }; });
}

} // namespace flashlab
