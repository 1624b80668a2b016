#include "tools/cli/command_line.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <sstream>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ftl/make_ftl.h"
#include "tools/cli/command_failures.h"
#include "tools/cli/command_line_crash.h"
#include "tools/cli/command_line_look.h"
#include "tools/cli/command_line_report.h"
#include "tools/cli/command_line_reproduce.h"
#include "tools/cli/command_line_run.h"
#include "tools/cli/command_line_sweep.h"
#include "tools/cli/command_line_traces.h"
#include "tools/cli/command_options.h"
#include "tools/cli/commands/bench.h"
#include "tools/cli/commands/ctl.h"
#include "tools/cli/commands/inspect.h"
#include "tools/cli/commands/mkfs.h"
#include "tools/cli/commands/mount.h"
#include "tools/cli/commands/presets.h"
#include "tools/cli/commands/query.h"
#include "tools/cli/commands/umount.h"
#include "tools/cli/completion.h"
#include "tools/cli/failure_text.h"
#include "tools/drive/config_schema.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/standard_streams.h"
#include "tools/text/sizes.h"
#include "tools/text/table.h"

namespace flashlab {

std::string translation_layers() { return fmt::format("Translation layer: {}", fmt::join(all_schemes(), ", ")); }

namespace {

using Action = std::function<int()>;

void add_mkfs(CLI::App& app, Action& action) {
    static MkfsOptions o;
    auto& c = add_command(app, "mkfs", "Make a device and its file system", "flashlab mkfs /tmp/disk --size 1G");
    c.add_option("DIR", o.directory, "Directory to make; new or empty")->required();
    c.add_option("--preset", o.preset, "A known device (flashlab presets)");
    c.add_option("--config", o.config_file, "TOML file of configuration keys");
    add_size(c, "--size", o.size_bytes, "Logical size; 4G for the default device");
    c.add_option("--ftl", o.ftl, translation_layers());
    c.add_option("--metadata", o.metadata, "Where metadata live: pram (default), or journal: on the drive itself");
    c.add_option("--label", o.label, "Label of the file system");
    c.add_option("--seed", o.seed, "Number from which bad blocks and bit errors are drawn: the same seed gives the same drive");
    c.add_option("--set", o.settings, "KEY=VALUE of a configuration key (flashlab info --keys)")->allow_extra_args(false);
    c.add_option("--precondition", o.precondition,
                 "Age the drive: fill:90,random:2x fills 90 % and overwrites that twice at random. The pages are the file replay.data, of zeros, "
                 "which take no disk");
    c.add_flag("-n,--dry-run", o.dry_run, "Make nothing; print geometry, spare blocks, and the disk and memory that it would need");
    c.add_flag("--force", o.force, "Replace a device that is there. All its files are lost");
    add_format(c, o.format, "One JSON object");
    c.add_flag("-q,--quiet", o.quiet, "Print nothing but errors");
    c.callback([&action] { action = [] { return run_mkfs(o); }; });
}

void add_mount(CLI::App& app, Action& action) {
    static MountOptions o;
    auto& c = add_command(app, "mount", "Mount a device on a directory", "flashlab mount /tmp/disk /mnt --latency real --log requests");
    c.add_option("DIR", o.directory, "Device directory")->required();
    c.add_option("MNT", o.mount_point, "Mount point")->required();
    c.add_option(
         "-o,--options", o.options,
         "Mount options: ro, norecovery (the same), noatime, sync, suid and dev (root; off unless asked for), recovery (damaged images, read-only), "
         "host_cache=writethrough, cache=SIZE, latency=, log=, allow_other, io_uring=on, KEY=VALUE; writeback: the kernel delays writes, and a cut "
         "after a rename over a name may leave neither file whole if the new one was not closed or fsynced before (docs/crash-model.md, 14)")
        ->delimiter(',')
        ->allow_extra_args(false);
    c.add_option("--set", o.settings, "KEY=VALUE of a configuration key that may change at a mount")->allow_extra_args(false);
    c.add_option("--latency", o.latency,
                 "How slow the drive feels. off: as fast as this machine; real: as its flash would be; 10x: ten times faster than real")
        ->capture_default_str();
    c.add_option("--log", o.log,
                 "What the event log keeps. none; summary: counters (default; none if read-only); requests: each request, too; all: each flash "
                 "operation, too");
    add_size(c, "--log-keep", o.log_keep_bytes, "Largest event log; beyond it the oldest rows of requests and operations go, the counters stay. 1G");
    c.add_option("--record", o.record, "Write every change and its data to this new file, as crash torture --explore does")->type_name("FILE");
    c.add_flag("--foreground", o.foreground, "Stay in the foreground until unmounted");
    c.add_flag("--read-only", o.read_only, "Refuse every change; the device's files are not written either");
    c.add_flag("--sloppy", o.sloppy, "Pass over unknown -o words (mount -s)");
    c.add_flag("--fake", o.fake, "Check the options and the place, but do not mount (mount -f)");
    c.callback([&action] { action = [] { return run_mount(o); }; });
}

void add_small_commands(CLI::App& app, Action& action) {
    static std::string target, preset;
    static bool config = false, keys = false;
    static OutputFormat format = OutputFormat::table;
    auto& umount = add_command(app, "umount", "Unmount and wait until the images are clean", "flashlab umount /mnt");
    static UmountOptions to_unmount;
    umount.add_option("MNT", to_unmount.target, "Mount point, or its device directory")->required();
    umount
        .add_option("--timeout", to_unmount.timeout_s,
                    "Seconds to wait until the images are clean; ends with 3 where somebody else still holds the mount then, else with 1")
        ->check(CLI::Range(0.0, 86400.0))
        ->capture_default_str();
    umount.callback([&action] { action = [] { return run_umount(to_unmount); }; });

    auto& info = add_command(app, "info", "What a drive is: geometry, translation layer, room, configuration", "flashlab info /tmp/disk --config");
    info.add_option("DIR", target, "Device directory or mount point");
    auto* as_config = info.add_flag("--config", config, "The effective configuration as TOML");
    info.add_flag("--keys", keys, "Every configuration key with its default, range and meaning")->excludes(as_config);
    add_format(info, format, "One JSON object");
    info.callback([&action] {
        if (!keys && target.empty()) throw CLI::RequiredError("DIR");
        action = [] { return run_info(target, keys ? InfoShow::keys : config ? InfoShow::config : InfoShow::usage, format); };
    });

    auto& presets = add_command(app, "presets", "Ready-made drives, and the data sheet or paper behind each number", "flashlab presets k9g8g08u0m");
    presets.add_option("PRESET", preset, "Show this one in full");
    add_format(presets, format, "One JSON object");
    presets.callback([&action] { action = [] { return run_presets(preset, format); }; });

    auto& version = add_command(app, "version", "The version", "flashlab version");
    version.callback([&action] {
        action = [] {
            fmt::print("flashlab {}\n", FLASHLAB_VERSION);
            return exit_done;
        };
    });
    static std::string shell;
    auto& completion = add_command(app, "completion", "Completion for a shell, or the options as scdoc", "flashlab completion bash");
    completion.group(""); // for packagers: not in the list
    completion.add_option("SHELL", shell)->required()->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
    completion.callback([&action, &app] {
        action = [&app] {
            fmt::print("{}", completion_text(app, shell));
            return exit_done;
        };
    });
    static std::vector<std::string> words;
    auto& help = add_command(app, "help", "This text, or a command's", "flashlab help mkfs");
    help.add_option("COMMAND", words, "Of this command: mkfs, or crash explore");
    help.callback([&action, &app] { action = [&app] { return print_help(app, words); }; });
}

void add_fsck(CLI::App& app, Action& action) {
    static FsckOptions o;
    auto& c = add_command(app, "fsck", "Check a drive: flash, map, file system. Exit code as fsck(8): 0 clean, 1 mended, 4 damaged, 8 could not look",
                          "flashlab fsck /tmp/disk --json");
    c.add_option("DIR", o.directory, "Device directory, not mounted")->required();
    auto* look = c.add_flag("-n,--no-change", o.look_only, "Look only. After a power cut the recovery runs on a copy in memory");
    c.add_flag("--repair", o.repair,
               "Mend images that the host damaged: what still reads goes into new images, what does not is listed, the old ones stay as a snapshot. "
               "Implies --data")
        ->excludes(look);
    c.add_flag("--data", o.data, "Read every page of data as well, and name file and offset of what does not read");
    add_format(c, o.format, "One JSON object: clean, problems, and what was read");
    c.add_flag("-q,--quiet", o.quiet, "Only problems");
    c.callback([&action] { action = [] { return run_fsck(o); }; });
}

void add_ctl(CLI::App& app, Action& action) {
    static CtlOptions o;
    auto& c = add_command(app, "ctl", "Ask a live mount, change it, cut its power, inject faults", "flashlab ctl /mnt set latency=10x,log=requests");
    c.add_option("MNT", o.target, "Mount point or device directory")->required();
    c.add_option("ACTION", o.action, "stats, flush, idle, unsynced, use, set, powercut, fault")->required();
    c.add_option("ARGUMENTS", o.arguments,
                 "of set: latency=off|real|Nx, log=none|summary|requests|all; of fault: add RULE, plan FILE, list, clear [NUMBER|all]")
        ->delimiter(',');
    c.add_flag("--prometheus", o.prometheus, "of stats: with the health, as Prometheus reads it");
    c.add_option("--seed", o.seed, "of powercut: when and what is torn")->capture_default_str();
    c.add_option("--at", o.at, "of powercut, what it strikes: work (device work in flight), idle, flush, gc, erase, recovery")->capture_default_str();
    add_format(c, o.format, "One JSON object");
    c.callback([&action] { action = [] { return run_ctl(o); }; });
}

void add_query(CLI::App& app, Action& action) {
    static QueryOptions o;
    static bool table = false;
    auto& c = add_command(app, "query", "Ask the event log in SQL: write amplification, latencies, who waited for what. Works while mounted, too",
                          "flashlab query /tmp/disk \"SELECT * FROM v_waf_by_cause\"");
    c.add_option("DIR", o.target, "Device directory, mount point, or event log file");
    c.add_option("SQL", o.sql, "One SELECT; --views lists ready answers, such as \"SELECT * FROM v_waf\"");
    add_format(c, o.format, "An array of objects", "Comma-separated values");
    c.add_flag("--table", table, "Aligned columns (default)")->excludes(c.get_option("--csv"))->excludes(c.get_option("--json"));
    c.add_flag("--schema", o.schema, "The tables, as SQL; with --views the views, too");
    c.add_flag("--views", o.views, "The ready views: name, and what each tells");
    c.callback([&action] {
        if (!o.schema && !o.views && (o.target.empty() || o.sql.empty())) throw CLI::RequiredError("DIR and SQL");
        action = [] { return run_query(o); };
    });
}

void add_bench(CLI::App& app, Action& action) {
    static BenchOptions o;
    auto& c = add_command(app, "bench", "Run a made-up load (as fio would) on a simulated drive, in virtual time: seconds of the drive take moments",
                          "flashlab bench --rw randwrite --bs 4k --io-size 256M --iodepth 8 --json");
    c.add_option("--level", o.level,
                 "Where the load enters. device: the drive's sectors; ftl: below host link and write buffer; fs: a file on the drive")
        ->check(CLI::IsMember({"device", "ftl", "fs"}))
        ->capture_default_str();
    c.add_option("--rw", o.rw, "Reads or writes, in order or at random; rw and randrw mix them")
        ->check(CLI::IsMember({"read", "write", "randread", "randwrite", "randrw", "rw"}))
        ->capture_default_str();
    add_size(c, "--bs", o.block_bytes, "Bytes of a request; 4k");
    add_size(c, "--io-size", o.io_bytes, "Bytes to transfer; 64M");
    c.add_option("--iodepth", o.iodepth, "Requests in flight")->check(CLI::Range(1, 65536))->capture_default_str();
    c.add_option("--rwmixread", o.rwmixread, "Percent of reads of randrw and rw")->check(CLI::Range(0, 100))->capture_default_str();
    c.add_option("--random-distribution", o.random_distribution,
                 "Of randread, randwrite, randrw: uniform, zipf:THETA, pareto:H, hotspot:SHARE,PROBABILITY")
        ->capture_default_str();
    add_measure(c, o);
    c.add_option("--seed", o.seed, "Seed of the addresses")->capture_default_str();
    add_device_choice(c, o.device, "1G");
    add_format(c, o.format, "One JSON object");
    c.callback([&action] { action = [] { return run_bench(o); }; });
}

/// "mount" for .../mount.fuse.flashlab, empty for flashlab itself.
std::string helper_of(const std::string& program) {
    const std::string name = program.substr(program.rfind('/') + 1);
    for (const char* helper : {"mkfs", "fsck", "mount"})
        if (name.starts_with(std::string{helper} + ".") && name.ends_with("flashlab")) return helper;
    return {};
}

/// Empty when the first word is a command, or an option.
std::string unknown_command(const CLI::App& app, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    if (word.empty() || word.starts_with("-") || std::ranges::find(names, word) != names.end()) return {};
    const std::string near = nearest_name(word, names);
    return fmt::format("no command is called '{}'; {}see: flashlab --help", word, near.empty() ? "" : fmt::format("did you mean '{}'? ", near));
}

int usage_code(const std::string& helper, const std::string& command) {
    return command == "fsck" || helper == "fsck" ? 16 : translate_exit_code(helper, exit_usage);
}

int failure_code(const std::string& helper, const std::string& command) { return command == "fsck" ? 8 : translate_exit_code(helper, exit_failed); }

/// The last word on a command that would end with `code`: a signal that ended it, output that was not taken.
int final_code(int code, const std::string& helper, const std::string& command, int thrown = 0) {
    const auto unwritten = finish_standard_output(thrown);
    if (Interruption::came()) {
        if (Interruption::signal() != SIGPIPE) // nobody listens: no word, as of any program in a pipe
            complain(fmt::format("ended by {} before it was done", Interruption::name()));
        return Interruption::exit_code();
    }
    if (!unwritten) return code;
    complain(*unwritten);
    return code != exit_done ? code : failure_code(helper, command);
}

/// Every command there is.
void add_commands(CLI::App& app, Action& action) {
    app.set_version_flag("--version", "flashlab " FLASHLAB_VERSION);
    app.require_subcommand(1);
    app.set_help_all_flag("--help-all", "Help of all commands");
    add_mkfs(app, action);
    add_mount(app, action);
    add_fsck(app, action);
    add_ctl(app, action);
    add_query(app, action);
    add_report(app, action);
    add_export(app, action);
    add_bench(app, action);
    add_replay(app, action);
    add_trace(app, action);
    add_compare(app, action);
    add_reproduce(app, action);
    add_crash(app, action);
    add_grade(app, action);
    add_sweep(app, action);
    add_look(app, action);
    add_copies(app, action);
    add_run(app, action);
    add_smart(app, action);
    add_explain(app, action);
    add_top(app, action);
    add_small_commands(app, action);
}

} // namespace

std::string wrong_usage_of(const std::vector<std::string>& words) {
    CLI::App app{"", "flashlab"};
    Action action;
    add_commands(app, action);
    refuse_nonsense(app);
    try {
        std::vector<std::string> reversed{words.rbegin(), words.rend()};
        app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        return usage_text(app, words, error);
    }
    return {};
}

int run_command_line(int argc, char** argv) {
    CLI::App app{"FlashLab: an SSD laboratory that you mount as a directory", "flashlab"};
    Action action;
    add_commands(app, action);
    std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::string helper = argc > 0 ? helper_of(argv[0]) : "";
    if (!helper.empty()) arguments = translate_helper_arguments(helper, arguments);
    const std::string command = arguments.empty() ? "" : arguments.front();
    if (const std::string unknown = unknown_command(app, command); !unknown.empty()) return complain(unknown, usage_code(helper, command));
    refuse_nonsense(app);
    try {
        std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()}; // as CLI11 wants it
        app.parse(reversed);
    } catch (const CLI::Success& shown) { // --help, --version
        std::ostringstream text;
        const int code = app.exit(shown, text, text);
        (void)!std::fwrite(text.str().data(), 1, text.str().size(), stdout);
        return final_code(code, helper, command);
    } catch (const CLI::ParseError& error) {
        return complain(usage_text(app, arguments, error), usage_code(helper, command));
    }
    try {
        return final_code(translate_exit_code(helper, action()), helper, command);
    } catch (const std::exception& error) {
        const auto* system = dynamic_cast<const std::system_error*>(&error);
        if (Interruption::came() || (system != nullptr && std::ferror(stdout) != 0)) // what failed is a print
            return final_code(failure_code(helper, command), helper, command, system != nullptr ? system->code().value() : 0);
        return complain(failure_text(error), failure_code(helper, command));
    }
}

} // namespace flashlab
