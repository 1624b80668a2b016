#include "tools/cli/command_line_run.h"

#include "tools/cli/command_options.h"
#include "tools/cli/commands/explain.h"
#include "tools/cli/commands/inspect.h"
#include "tools/cli/commands/run.h"
#include "tools/cli/commands/top.h"

namespace flashlab {

void add_run(CLI::App& app, std::function<int()>& action) {
    static RunOptions o;
    auto& c =
        add_command(app, "run", "Run a program on a temporary drive, and see where its bytes went and how long the drive lasts",
                    "flashlab run -- git clone /src copy\n"
                    "  flashlab run --compare-ftl page_map,fast --size 1G -- sh -c 'sqlite3 db < load.sql'\n\n"
                    "The program runs in the mounted folder (FLASHLAB_MOUNT), with your terminal; the exit code is its own. With --json and\n"
                    "--csv what it prints goes to standard error. What a process or a file wrote is followed through the host's requests to the\n"
                    "pages on flash, the copies of collections and merges included.");
    c.add_option("PROGRAM", o.command, "After '--'");
    c.add_option("--check", o.check,
                 "Shell command that looks at what the program left, after unmount, fsck and a new mount. If it fails, run ends with 1");
    auto* device = c.add_option("--device", o.device, "A clone of this device, which is not touched, instead of a new one");
    c.add_option("--preset", o.preset, "A known device (flashlab presets)")->excludes(device);
    c.add_option("--config", o.config_file, "TOML file of configuration keys")->excludes(device);
    c.add_option("--ftl", o.ftl, translation_layers())->excludes(device);
    c.add_option("--metadata", o.metadata, "Where metadata live: pram, journal")->excludes(device);
    c.add_option("--size", o.size, "Logical size; as for mkfs")->check(is_size())->excludes(device);
    c.add_option("--set", o.settings, "KEY=VALUE of a configuration key")->allow_extra_args(false)->excludes(device);
    c.add_option("--precondition", o.precondition, "A drive that is not new, as for mkfs: fill:90,random:2x")->excludes(device);
    c.add_option("--compare", o.compare, "PRESET,PRESET: run on each of them, and show them side by side")
        ->delimiter(',')
        ->allow_extra_args(false) // CLI11 would take the '--' before the program, too
        ->excludes(device);
    c.add_option("--compare-ftl", o.compare_ftl, "FTL,FTL: the same with translation layers")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->excludes(device);
    c.add_option("--latency", o.latency, "off: as fast as this machine; real: as slow as the flash; or Nx")->capture_default_str();
    c.add_option("--log", o.log, "Event log of the drive: all tells what slow requests waited for; requests, summary and none cost less")
        ->check(CLI::IsMember({"none", "summary", "requests", "all"}))
        ->capture_default_str();
    c.add_option("--keep", o.keep, "Leave the drive here, for flashlab query; with --compare also NAME-2, NAME-3 ...");
    c.add_option("--html", o.html, "Also one page with plots, as of flashlab report; of several drives side by side");
    c.add_option("--runs-per-day", o.runs_per_day, "For the lifetime: how often the program runs; default: with --latency real without a pause")
        ->check(CLI::Range(1e-6, 1e9));
    c.add_option("--rows", o.rows, "Files, processes and callers to show")->check(at_least_one())->capture_default_str();
    add_format(c, o.format, "One JSON object; of several drives {runs: [...]}");
    c.callback([&action] { action = [] { return run_run(o); }; });
}

void add_smart(CLI::App& app, std::function<int()>& action) {
    static SmartOptions o;
    auto& c = add_command(app, "smart", "Health: SMART log fields, write amplification, wear, spare, bad blocks, lifetime",
                          "flashlab smart /mnt --json\n  flashlab smart /mnt --bytes-per-day 20G\n  flashlab smart /mnt --as ocp --json");
    c.add_option("DIR", o.target, "Device directory or mount point")->required();
    auto* names = c.add_option_function<std::string>(
        "--as", [](const std::string& as) { o.names = as == "nvme" ? SmartNames::nvme : SmartNames::ocp; },
        "Only the fields of one log page, named as nvme-cli prints them with -o json: nvme (smart-log), ocp (ocp smart-add-log)");
    names->check(CLI::IsMember({"nvme", "ocp"}));
    c.add_option_function<std::string>(
         "--bytes-per-day",
         [](const std::string& text) {
             const auto bytes = parse_size(text);
             if (!bytes || *bytes == 0) throw CLI::ValidationError("--bytes-per-day", bytes ? "at least 1 byte is wanted" : bytes.error());
             o.bytes_per_day = *bytes;
         },
         "What the host writes a day: adds remaining_years, the flash's life at the write amplification so far")
        ->type_name("SIZE")
        ->excludes(names);
    add_format(c, o.format, "One JSON object");
    c.callback([&action] { action = [] { return run_smart(o); }; });
}

void add_explain(CLI::App& app, std::function<int()>& action) {
    static ExplainOptions o;
    auto& c =
        add_command(app, "explain", "See what a drive does with a few requests: each step told and the flash drawn, on a tiny drive",
                    "flashlab explain w0x4.w1.w1.g1\n  flashlab explain --ftl fast --html fast.html w0x8.r7x20\n  flashlab explain w0x8.w3.c\n\n"
                    "Steps are joined by '.': w3 writes page 3, w0x4 pages 0 to 3 (W: durable when answered), t3 trims, g3 reads, r7x20 overwrites\n"
                    "20 random pages of seed 7, f flushes, i is a pause, and c fails the power in the midst of the step before.");
    c.add_option("SCRIPT", o.script, "Steps");
    c.add_option("--ftl", o.ftl, translation_layers())->capture_default_str();
    c.add_option("--trace", o.trace.path, "Tell this trace instead, 200 requests at most; its pages of 4 KiB are numbered as they come");
    c.add_option("--format", o.trace.format, "of --trace, as for replay")->capture_default_str();
    c.add_option("--limit", o.trace.limit, "of --trace: at most this many requests");
    c.add_option("--skip", o.trace.skip, "of --trace: leave out this many at the beginning");
    c.add_option("--blocks", o.blocks, "Blocks of the tiny drive; a translation layer that needs more gets more")
        ->check(CLI::Range(4, 256))
        ->capture_default_str();
    c.add_option("--pages", o.pages_per_block, "Pages of a block")->check(CLI::Range(4, 32))->capture_default_str();
    c.add_flag("--wear-levelling", o.levels_wear, "Let the drive level wear: little-worn blocks with cold pages are moved");
    c.add_option("--seed", o.seed, "Number from which it is drawn what step c, the power cut, leaves half-written")->capture_default_str();
    c.add_option("--html", o.html, "Write one page with step, back and play to this file instead");
    c.add_option("--until", o.until,
                 "End with the step of the first one, and draw that; without SCRIPT the drive is filled and overwritten till then")
        ->check(CLI::IsMember({"collection", "merge", "cut"}));
    c.add_flag("--brief", o.brief, "Draw the flash at the end only");
    add_format(c, o.format, "One JSON object with every step", "The totals: key,value");
    c.callback([&action] { action = [] { return run_explain(o); }; });
}

void add_top(CLI::App& app, std::function<int()>& action) {
    static TopOptions o;
    auto& c = add_command(app, "top", "Watch a mount live: rates, write amplification, latencies, busy chips, wear",
                          "flashlab top /mnt\n  flashlab top /mnt --json --samples 10 --interval 0.5");
    c.add_option("MNT", o.target, "Mount point or device directory")->required();
    c.add_option("--interval", o.interval_s, "Seconds between two looks")->check(CLI::Range(0.05, 3600.0))->capture_default_str();
    c.add_option("--samples", o.samples, "Stop after so many; default: at q, a signal, or the end of the mount")->check(at_least_one());
    c.add_flag("--json", o.json, "One object a line instead of a screen");
    c.callback([&action] { action = [] { return run_top(o); }; });
}

} // namespace flashlab
