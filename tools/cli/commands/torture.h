/// flashlab crash torture: power cuts under a program on a mount.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/commands/run_budget.h"
#include "tools/text/table.h"

namespace flashlab {

struct CrashTortureOptions {
    std::vector<std::string> command;
    std::string check;         ///< for sh -c, run in the mount; empty: only fsck and a mount are checked; "auto": the program's own history judges
    bool check_serves = false; ///< it is one process, which is asked of each state
    std::string probe;         ///< for sh -c, what "auto" asks; empty: the command is started again
    std::string device;        ///< a drive to clone; empty: a new drive as the next options say
    std::string ftl, metadata, size = "256M";
    std::string latency = "off";
    std::string at = "work"; ///< what a cut strikes
    std::string replay;      ///< a kept copy to recover and check, instead of a trial
    std::string keep;        ///< where copies of failed states go; empty: the current directory
    std::uint64_t cuts = 10, seed = 1;
    bool explores = false;              ///< --explore: states of one recorded run
    std::vector<std::string> given{};   ///< options of --explore alone, or of power cuts alone, as they were said
    std::string persistence = "strict"; ///< which file system's promises
    std::string under;                  ///< a file system of the kernel on the raw drive; empty: FlashLab's own
    std::vector<std::string> mkfs_options{};
    std::vector<std::string> faults{}; ///< rules in force while the command runs, docs/faults.md
    std::vector<std::string> after;    ///< "flush", N: no cut before the N-th sync
    std::string oracle;                ///< for sh -c: reads what the command prints, prints what is promised
    std::string setup;                 ///< for sh -c, before the command; durable
    WriteBudget budget{};              ///< of the recorded run
    std::string app_version;           ///< of the program, for the certificate
    std::vector<std::string> reports;  ///< files; the end of a name says the form
    std::uint64_t states = 2000;       ///< at most
    unsigned jobs = 0;                 ///< checks at the same time; 0: as many as there are cores
    std::optional<double> timeout_s;   ///< of one check; none: 30 where states are explored, else it has its time
    double within_s = 2;               ///< a cut comes at most this many seconds after the mount
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_crash_torture(const CrashTortureOptions& options);
[[nodiscard]] inline bool judges_itself(const CrashTortureOptions& options) { return options.check == "auto"; }
/// How long a check of a state may take.
[[nodiscard]] inline std::chrono::milliseconds limit_of(const CrashTortureOptions& options) {
    return std::chrono::milliseconds{static_cast<std::int64_t>(options.timeout_s.value_or(30) * 1000)};
}
/// Those of `options` that were given, "--a, --b"; empty: none.
[[nodiscard]] std::string given_of(const CrashTortureOptions& given, std::initializer_list<std::string_view> options);
/// Which of those were given that belong to states of a recorded run, where none is asked for. As a sentence; empty: none.
[[nodiscard]] std::string misuse_without_states(const CrashTortureOptions& options);
/// Which of those were given that say how the power is cut: an exploration cuts none. As a sentence; empty: none.
[[nodiscard]] std::string misuse_of_cuts(const CrashTortureOptions& options);
/// N of --after flush N; 0: not given. The error says what is wrong with the words.
[[nodiscard]] std::expected<std::uint64_t, std::string> flushes_before(const CrashTortureOptions& options);
/// Why --keep is no place for a state, told before the first cut and not after the last; empty: it is one.
[[nodiscard]] std::string why_no_keep(const std::string& keep);

// --explore: every state that a power cut could have left of one recorded run, in the order in which they hurt (torture_explore.cpp).
[[nodiscard]] int run_torture_explore(const CrashTortureOptions& options);
/// Is this a state that --explore kept?
[[nodiscard]] bool is_kept_state(const std::string& directory);
[[nodiscard]] int replay_kept_state(const CrashTortureOptions& options);
/// A new folder, in memory where the host has one; empty: none can be made.
[[nodiscard]] std::string make_explore_directory();

// --under KIND --explore: the same of the block device below a file system of the kernel (torture_recorded.cpp).
[[nodiscard]] int run_torture_recorded(const CrashTortureOptions& options);
[[nodiscard]] bool is_kept_disk(const std::string& directory);
[[nodiscard]] int replay_kept_disk(const CrashTortureOptions& options);

} // namespace flashlab
