#include "tools/cli/commands/crash.h"
#include "tools/cli/commands/torture.h"

namespace flashlab {

namespace {

/// An option that only one of the two ways to torture has: the other refuses it by name.
void note_given(CrashTortureOptions& o, CLI::Option* option) {
    option->each([&o, option](const std::string&) { o.given.push_back(option->get_name()); });
}

/// Of torture --explore.
void add_explore_options(CLI::App& torture, CrashTortureOptions& o) {
    torture.add_flag("--explore", o.explores,
                     "Run the command once, record what it writes, and check every state in which a cut at any point could have left the files");
    const auto only_there = [&](CLI::Option* option) { note_given(o, option); };
    torture
        .add_option("--persistence", o.persistence,
                    "Whose rules say what a cut may take of unsynced changes: strict (FlashLab: in order), ext4, xfs, btrfs, posix (anything)")
        ->capture_default_str();
    only_there(torture.add_option("--setup", o.setup, "Shell command that prepares the files; they are safe before the command starts"));
    only_there(torture.add_option(
        "--oracle", o.oracle, "Shell command that reads what COMMAND prints. Each line it prints is a promise that the check may hold COMMAND to"));
    only_there(torture.add_option(
        "--probe", o.probe,
        "With --check auto: shell command that asks a question, such as 'sqlite3 db \"SELECT * FROM t\"', instead of a next start"));
    only_there(
        torture.add_flag("--check-serves", o.check_serves,
                         "The check stays, one process for many states: for each it reads a line and answers with a line, ok or what is wrong"));
    only_there(torture.add_option("--states", o.states, "Try at most so many different states")->check(at_least_one())->capture_default_str());
    only_there(torture.add_option("--report", o.reports, "Write the certificate: F.json, F.html, F.junit.xml, F.sarif")->allow_extra_args(false));
    only_there(torture.add_option("--app-version", o.app_version, "Version of your program, as the certificate shall name it"));
    only_there(
        torture.add_option("--jobs", o.jobs, "Checks at a time; 0: as many as there are cores")->check(CLI::Range(0, 256))->capture_default_str());
    add_budget_options(torture, o.budget, false);
    for (const char* limit : {"--max-host-bytes", "--max-flash-bytes", "--max-syncs"}) only_there(torture.get_option(limit));
    torture.add_option("--timeout", o.timeout_s, "A check that takes more seconds has failed; default: 30 with --explore, else none")
        ->check(CLI::Range(0.1, 86400.0));
}

} // namespace

void add_crash_torture(CLI::App& crash, Action& action) {
    auto [torture, o] = add_command(
        crash, action, run_crash_torture, "torture", "Cut the power under your own program, again and again, and let your own check judge",
        "flashlab crash torture --cuts 20 --check 'sqlite3 db \"PRAGMA integrity_check\" | grep -qx ok' -- sh -c 'fill-database db'\n\n"
        "Command and check run in the mounted directory, with FLASHLAB_MOUNT and FLASHLAB_CUT (1, 2, ...) set. A command that ends is started\n"
        "again; one that fails before the power does ends the trial. Lines that it wrote to FLASHLAB_ACK_FD before the cut are promised: the check\n"
        "finds them in the file FLASHLAB_ACKS. After each cut: fsck -n, mount, check. The first failure ends the trial;\n"
        "the drive as the cut left it is kept, and the line printed recovers and checks it again: the program itself is not run again.");
    add_explore_options(torture, o);
    torture.add_option("COMMAND", o.command, "After '--'");
    const auto only_of_cuts = [&o = o](CLI::Option* option) { note_given(o, option); };
    only_of_cuts(torture.add_option("--cuts", o.cuts, "How often the power fails")->check(CLI::Range(1, 1'000'000'000))->capture_default_str());
    torture.add_option("--after", o.after, "Two words, flush N: no cut before the N-th sync was answered")
        ->type_size(2) // of one value of two words CLI11 leaves the '--' that follows
        ->expected(1)
        ->allow_extra_args(false);
    torture.add_option("--check", o.check,
                       "Shell command that looks at the files after each recovery. 0: they are right; any other code is a finding. auto: explore, "
                       "and judge by COMMAND itself: its next start must answer as at some moment of its run, with all that was promised by then");
    only_of_cuts(torture.add_option("--within", o.within_s, "A cut comes at most this many seconds after the mount")
                     ->check(CLI::Range(0.01, 3600.0))
                     ->capture_default_str());
    torture.add_option("--seed", o.seed, "Number from which the moments of the cuts and what each leaves are drawn")->capture_default_str();
    auto* device = torture.add_option("--device", o.device, "Start from a clone of this device, which is not touched, instead of a new one");
    torture.add_option("--ftl", o.ftl, "Of a new device, as for mkfs")->excludes(device);
    auto* metadata = torture.add_option("--metadata", o.metadata, "Of a new device: pram, journal")->excludes(device);
    auto* under =
        torture
            .add_option("--under", o.under,
                        "Command and check run on this file system of the kernel, on a loop device over the drive: ext4, xfs, btrfs. After a cut its "
                        "journal replays and its fsck looks. With --explore of one recorded run. Wants root. docs/block-device.md")
            ->check(CLI::IsMember({"ext4", "xfs", "btrfs"}))
            ->excludes(metadata)
            ->excludes("--persistence");
    torture.add_option("--mkfs-options", o.mkfs_options, "WORD,WORD: more words for mkfs of --under")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->needs(under);
    torture
        .add_option("--fault", o.faults,
                    "A rule of docs/faults.md, in force while the command runs, such as lie_flush: a drive that answers a flush and does nothing")
        ->allow_extra_args(false);
    torture.add_option("--size", o.size, "Of a new device")->check(is_size())->excludes(device)->capture_default_str();
    only_of_cuts(torture.add_option("--latency", o.latency, "Of the mounts: off, real, Nx")->capture_default_str());
    only_of_cuts(torture.add_option("--at", o.at, "What a cut strikes: work (device work in flight), idle, flush, gc, erase, recovery")
                     ->capture_default_str());
    torture.add_option("--keep", o.keep, "Directory for the copy of a state that failed; default: the current one");
    torture.add_option("--replay", o.replay, "Recover and check a kept copy instead")->excludes(device);
    add_format(torture, o.format, "One JSON object");
}

} // namespace flashlab
