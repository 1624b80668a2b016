/// What the commands tell the command line: their words, their options, what runs. Options that several share stand here.
///
/// Idea       A command is one file in tools/cli/commands: a structure of its options, the function that runs with it, and `add_NAME`, which tells
///            CLI11 which words fill it. commands.def lists them all.
/// Invariant  A command runs after all of its options have been checked. It prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "ftl/scheme.h"
#include "tools/grade/scheme_file.h"
#include "tools/run/device_choice.h"
#include "tools/run/trace_input.h"
#include "tools/text/sizes.h"
#include "tools/text/table.h"

namespace flashlab {

/// Adds an option for a size. A text that is no size is wrong usage.
template <class Target>
CLI::Option* add_size(CLI::App& app, const std::string& names, Target& target, const std::string& help) {
    return app
        .add_option_function<std::string>(
            names,
            [&target, names](const std::string& text) {
                const auto bytes = parse_size(text);
                if (!bytes) throw CLI::ValidationError(names, bytes.error());
                target = *bytes;
            },
            help)
        ->type_name("SIZE");
}

/// Checks a size that is handed on as text.
inline CLI::Validator is_size() {
    return CLI::Validator{[](std::string& text) {
                              const auto bytes = parse_size(text);
                              return bytes ? std::string{} : bytes.error();
                          },
                          "SIZE"};
}

/// Refuses 0 for counts of trials: with 0 nothing would be tried, which nobody asks for.
inline CLI::Validator at_least_one() {
    return CLI::Validator{[](std::string& text) {
                              return text.find_first_not_of('0') == std::string::npos ? fmt::format("{}: at least 1 is wanted", text) : std::string{};
                          },
                          ""};
}

/// Loads the shared object that is named instead of a translation layer, and hands on that one's name (docs/adding-a-scheme.md).
inline CLI::Validator loaded_scheme() {
    return CLI::Validator{[](std::string& text) {
                              if (!is_scheme_file(text)) return std::string{};
                              const auto scheme = load_scheme(text);
                              if (!scheme) return scheme.error();
                              text = (*scheme)->name;
                              return std::string{};
                          },
                          ""};
}

using Action = std::function<int()>;

#define COMMAND(name) void add_##name(CLI::App& app, Action& action);
#include "tools/cli/commands.def"
#undef COMMAND

inline CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& help, const std::string& example) {
    CLI::App* command = app.add_subcommand(name, help);
    command->footer("Example:\n  " + example);
    return *command;
}

/// A command, and the structure that its options are to fill: it lives as long as the command line, so that a process can run several, one after
/// another. When all words are read, `check` may throw what is wrong with them together, and `action` becomes the call of `run`.
template <class Options>
std::pair<CLI::App&, Options&> add_command(CLI::App& app, Action& action, int (*run)(const Options&), const std::string& name,
                                           const std::string& help, const std::string& example,
                                           void (*check)(const std::type_identity_t<Options>&) = nullptr) {
    CLI::App& command = add_command(app, name, help, example);
    const auto options = std::make_shared<Options>();
    command.callback([&action, options, run, check] {
        if (check != nullptr) check(*options);
        action = [options, run] { return run(*options); };
    });
    return {command, *options};
}

/// --json and --csv. Without them results are printed for people.
inline void add_format(CLI::App& c, OutputFormat& format, const std::string& json_help, const std::string& csv_help = "Comma-separated: key,value") {
    auto* json = c.add_flag_callback(
        "--json", [&format] { format = OutputFormat::json; }, json_help);
    c.add_flag_callback(
         "--csv", [&format] { format = OutputFormat::csv; }, csv_help)
        ->excludes(json);
}

/// Help of --ftl: which there are.
[[nodiscard]] std::string translation_layers();

/// The options that choose the device of a run in virtual time.
inline void add_device_choice(CLI::App& c, DeviceChoice& choice, const std::string& default_size) {
    c.add_option("--preset", choice.preset, "A ready-made drive (flashlab presets)");
    c.add_option("--config", choice.config_file, "TOML file of configuration keys");
    c.add_option("--ftl", choice.ftl, translation_layers())->transform(loaded_scheme());
    add_size(c, "--size", choice.size_bytes, "Logical size of the device; " + default_size + " for the default device");
    c.add_option("--set", choice.settings, "KEY=VALUE of a configuration key")->allow_extra_args(false);
    c.add_option("--device", choice.directory, "A drive that mkfs made, unmounted: written with payload, in its file replay.data");
    c.add_option("--events", choice.events_file,
                 "Event log of the run: an SQLite file for flashlab query; with --device DIR/events.db is the default");
    c.add_option("--log", choice.log,
                 "What the event log keeps: none, summary (counters), requests (default with --events), all (each flash operation; report needs it "
                 "for causes)");
}

/// The options that name a trace and say how it is read.
inline void add_trace_input(CLI::App& c, TraceInput& input) {
    c.add_option("TRACE", input.path,
                 "Trace file, plain or .gz/.zst/.xz; - reads standard input; workload:NAME makes one (sysmark, pc, financial, tpcc, desktop, "
                 "desktop-even, small-writes)")
        ->required();
    c.add_option("--format", input.format, "auto, columns, or a format's name (flashlab trace --formats)")->capture_default_str();
    auto* columns = c.add_option("--columns", input.columns, "Columns of any text: ts:us=1,op=2,off:sector=3,len:B=4,dev=5,queue=6; -1 is the last");
    c.add_option("--separator", input.separator, "of --columns: one character, tab or blanks")->capture_default_str()->needs(columns);
    c.add_option("--op-words", input.op_words, "of --columns: R=read,W=write,D=trim,F=flush")->needs(columns);
    c.add_flag("--header", input.has_header, "of --columns: the first line is a header")->needs(columns);
    c.add_option("--action", input.action, "of block layer traces: D issue, Q queue, C completion")
        ->check(CLI::IsMember({"D", "Q", "C"}))
        ->capture_default_str();
    c.add_option("--skip", input.skip, "Leave out this many requests at the beginning");
    c.add_option("--limit", input.limit, "Take at most this many requests");
    c.add_option("--run", input.run, "of an event log with several runs: the number of the one to take");
    c.add_flag("--skip-bad", input.skip_bad, "Go on with more than 1 % bad lines");
}

/// The options that choose the part of such a run that is measured.
template <class Options>
void add_measure(CLI::App& c, Options& o) {
    c.add_option("--precondition", o.precondition,
                 "Age the drive first: fill:90,random:2x fills 90 % and overwrites that twice at random; ,written makes every such write (slow); "
                 ",age:30d lets the data lie");
    c.add_option("--warm-up", o.warm_up, "Requests at the beginning that do not count: a number, or steady: all until the run is steady");
    c.add_flag("--until-steady", o.until_steady, "Stop when the run is steady (steady_state in the report says how it is judged)");
    c.add_flag("--top", o.top, "Show what the drive is doing while it runs, as flashlab top; where standard error is no terminal, nothing");
}

} // namespace flashlab
