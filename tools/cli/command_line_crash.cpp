#include "tools/cli/command_line_crash.h"

#include "tools/cli/command_options.h"
#include "tools/cli/commands/copy.h"
#include "tools/cli/commands/crash.h"
#include "tools/cli/commands/grade.h"
#include "tools/cli/commands/torture.h"
#include "tools/text/table.h"

namespace flashlab {

namespace {

/// Of torture --explore.
void add_explore_options(CLI::App& torture, CrashTortureOptions& o) {
    auto* explore =
        torture.add_flag("--explore", o.explores,
                         "Run the command once, record what it writes, and check every state in which a cut at any point could have left the files");
    const auto only_there = [&](CLI::Option* option) { option->needs(explore); };
    torture
        .add_option("--persistence", o.persistence,
                    "Whose rules say what a cut may take of unsynced changes: strict (FlashLab: in order), ext4, xfs, btrfs, posix (anything)")
        ->capture_default_str();
    only_there(torture.add_option("--setup", o.setup, "Shell command that prepares the files; they are safe before the command starts"));
    only_there(torture.add_option(
        "--oracle", o.oracle, "Shell command that reads what COMMAND prints. Each line it prints is a promise that the check may hold COMMAND to"));
    only_there(torture.add_option("--states", o.states, "Try at most so many different states")->check(at_least_one())->capture_default_str());
    only_there(torture.add_option("--report", o.reports, "Write the certificate: F.json, F.html, F.junit.xml, F.sarif")->allow_extra_args(false));
    only_there(torture.add_option("--app-version", o.app_version, "Version of your program, as the certificate shall name it"));
    only_there(
        torture.add_option("--jobs", o.jobs, "Checks at a time; 0: as many as there are cores")->check(CLI::Range(0, 256))->capture_default_str());
    torture.add_option("--timeout", o.timeout_s, "With --explore: a check that takes more seconds has failed")
        ->check(CLI::Range(0.1, 86400.0))
        ->capture_default_str();
}

void add_torture(CLI::App& crash, std::function<int()>& action) {
    static CrashTortureOptions o;
    auto& torture = add_command(
        crash, "torture", "Cut the power under your own program, again and again, and let your own check judge",
        "flashlab crash torture --cuts 20 --check 'sqlite3 db \"PRAGMA integrity_check\" | grep -qx ok' -- sh -c 'fill-database db'\n\n"
        "Command and check run in the mounted directory, with FLASHLAB_MOUNT and FLASHLAB_CUT (1, 2, ...) set. A command that ends is started\n"
        "again; one that fails before the power does ends the trial. After each cut: fsck -n, mount, check. The first failure ends the trial;\n"
        "the drive as the cut left it is kept, and the line printed recovers and checks it again: the program itself is not run again.");
    add_explore_options(torture, o);
    torture.add_option("COMMAND", o.command, "After '--'");
    torture.add_option("--cuts", o.cuts, "How often the power fails")->check(CLI::Range(1, 1'000'000'000))->capture_default_str();
    torture.add_option("--after", o.after, "flush N: no cut before the N-th sync was answered")
        ->type_size(2) // of one value of two words CLI11 leaves the '--' that follows
        ->expected(1)
        ->allow_extra_args(false);
    torture.add_option("--check", o.check,
                       "Shell command that looks at the files after each recovery. 0: they are right; any other code is a finding");
    torture.add_option("--within", o.within_s, "A cut comes at most this many seconds after the mount")
        ->check(CLI::Range(0.01, 3600.0))
        ->capture_default_str();
    torture.add_option("--seed", o.seed, "Number from which the moments of the cuts and what each leaves are drawn")->capture_default_str();
    auto* device = torture.add_option("--device", o.device, "Start from a clone of this device, which is not touched, instead of a new one");
    torture.add_option("--ftl", o.ftl, "Of a new device, as for mkfs")->excludes(device);
    torture.add_option("--metadata", o.metadata, "Of a new device: pram, journal")->excludes(device);
    torture.add_option("--size", o.size, "Of a new device")->check(is_size())->excludes(device)->capture_default_str();
    torture.add_option("--latency", o.latency, "Of the mounts: off, real, Nx")->capture_default_str();
    torture.add_option("--at", o.at, "What a cut strikes: work (device work in flight), idle, flush, gc, erase, recovery")->capture_default_str();
    torture.add_option("--keep", o.keep, "Directory for the copy of a state that failed; default: the current one");
    torture.add_option("--replay", o.replay, "Recover and check a kept copy instead")->excludes(device);
    add_format(torture, o.format, "One JSON object");
    torture.callback([&action] { action = [] { return run_crash_torture(o); }; });
}

} // namespace

void add_crash(CLI::App& app, std::function<int()>& action) {
    static CrashExploreOptions o;
    static std::string id;
    static OutputFormat format = OutputFormat::table;
    auto& crash = add_command(app, "crash", "Cut the power everywhere and judge what is left", "flashlab crash explore --ftl hftl --states 100000");
    crash.require_subcommand(1);
    auto& explore = add_command(
        crash, "explore", "Every cut of small workloads on a tiny device, or many drawn ones",
        "flashlab crash explore --ftl hftl\n  flashlab crash explore --ftl hftl --states 100000 --seed 7\n"
        "  flashlab crash explore --workload 'w0x8.f/w3.t1.w0x2+500.f' --cuts 1\n"
        "  flashlab crash explore --ftl dftl --metadata journal --states 5000\n\n"
        "Workload: steps joined by '.', what stands before '/' only ages the device. w3x2 writes units 3 and 4 (W: with FUA), t3x2 trims, g3x2 "
        "reads, p and q\n"
        "write and trim sectors, r7x20 overwrites 20 random units of seed 7, f flushes, i is idle time, z a clean shutdown; +500 sends the next\n"
        "request 500 ns later instead of waiting for the answer.");
    explore.add_option("--ftl", o.ftl, translation_layers())->capture_default_str();
    explore.add_option("--metadata", o.metadata, "none: the drive alone; pram, journal: drawn programs of a file system over it, its metadata there")
        ->check(CLI::IsMember({"none", "pram", "journal"}))
        ->capture_default_str();
    explore.add_option(
        "--shape", o.shape,
        "Tiny device: chip, plane, wide, uneven, unit2, unit4, buffer, level, hot, cause; default: every cut on chip, and drawn ones on all");
    explore.add_option("--cell", o.cell, "slc, mlc, tlc; default: every cut on slc, and drawn ones on all")
        ->check(CLI::IsMember({"slc", "mlc", "tlc"}));
    explore.add_option("--states", o.states, "Draw this many states instead of trying every one (with --metadata: default 2000)")
        ->check(at_least_one());
    explore.add_option("--cuts", o.cuts, "1: cut the power once; 2: also cut the recovery from it, at every point")
        ->check(CLI::Range(1, 2))
        ->capture_default_str();
    explore.add_option("--workload", o.workload, "standard, or a workload's text")->capture_default_str();
    explore.add_option("--in-a-row", o.in_a_row, "Instead: this many cuts one after another on one image (nothing may leak)")->check(at_least_one());
    explore.add_option("--seed", o.seed, "Of what is drawn")->capture_default_str();
    explore.add_flag("!--no-shrink", o.shrinks, "Do not shorten a workload that failed");
    add_format(explore, o.format, "One JSON object");
    explore.callback([&action] { action = [] { return run_crash_explore(o); }; });
    auto& replay = add_command(crash, "replay", "Run one case of crash explore again, exactly as it was",
                               "flashlab crash replay hftl:chip-slc:w0x3.f.w1:1234567-02");
    replay.add_option("ID", id, "As printed by crash explore")->required();
    add_format(replay, format, "One JSON object");
    replay.callback([&action] { action = [] { return run_crash_replay(id, format); }; });
    add_torture(crash, action);
    static std::string ftl = "all";
    static std::uint64_t states = 30'000, seed = 1;
    auto& selftest = add_command(crash, "selftest", "Does the harness notice? Deliberate defects that must all be caught, and who sees which",
                                 "flashlab crash selftest --ftl hftl");
    selftest.add_option("--ftl", ftl, translation_layers() + "; or all")->capture_default_str();
    selftest.add_option("--states", states, "States at most for each defect")->check(at_least_one())->capture_default_str();
    selftest.add_option("--seed", seed, "Of what is drawn")->capture_default_str();
    add_format(selftest, format, "One JSON object");
    selftest.callback([&action] { action = [] { return run_crash_selftest(ftl, states, seed, format); }; });
}

void add_grade(CLI::App& app, std::function<int()>& action) {
    static GradeOptions o;
    auto& c = add_command(app, "grade", "Judge a translation layer: correctness, power cuts, write amplification, memory, recovery, speed",
                          "sh tools/build_scheme.sh my_scheme.cpp && flashlab grade my_scheme.so\n  flashlab grade dftl --json\n\n"
                          "Every check runs in a process of its own. A scheme that fails one has the grade F. The others get points beside page_map\n"
                          "on the same drives (docs/adding-a-scheme.md).");
    c.add_option("SCHEME", o.request.what, "A shared object that tools/build_scheme.sh made, or the name of a built-in scheme")->required();
    c.add_option("--states", o.request.states, "States of power cuts to judge, at most")->check(at_least_one())->capture_default_str();
    c.add_option("--seed", o.request.seed, "Of what is drawn")->capture_default_str();
    c.add_option("--timeout", o.request.cpu_seconds, "Seconds of CPU that one check may take")->check(CLI::Range(1, 86400))->capture_default_str();
    c.add_option("--weights", o.weights,
                 "What the score counts: waf=40,memory=20,recovery=20,speed=20 unless given; what is not named counts nothing");
    c.add_option("--replay", o.replay, "One case again, as printed where a check failed");
    add_format(c, o.format, "One JSON object");
    c.callback([&action] { action = [] { return run_grade(o); }; });
}

void add_copies(CLI::App& app, std::function<int()>& action) {
    static CopyOptions o;
    auto& snapshot = add_command(app, "snapshot", "Keep the device as it is under a name; clone DIR@NAME brings it back",
                                 "flashlab snapshot /tmp/disk before-upgrade");
    snapshot.add_option("DIR", o.from, "Device directory, not mounted")->required();
    snapshot.add_option("NAME", o.to, "Letters, digits, '.', '-', '_'; without one the snapshots are listed");
    snapshot.add_flag("--delete", o.remove, "Delete the snapshot NAME instead");
    add_format(snapshot, o.format, "One JSON object");
    snapshot.callback([&action] { action = [] { return run_snapshot(o); }; });
    auto& clone = add_command(app, "clone", "A copy of a device, with an identity of its own", "flashlab clone /tmp/disk@before-upgrade /tmp/old");
    clone.add_option("DIR", o.from, "Device directory, not mounted, or DIR@NAME of a snapshot")->required();
    clone.add_option("NEW", o.to, "Directory to make")->required();
    add_format(clone, o.format, "One JSON object");
    clone.callback([&action] { action = [] { return run_clone(o); }; });
}

} // namespace flashlab
