/// flashlab crash explore, replay, torture and selftest: power cuts of a drive, with or without a file system, and under a program on a mount.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/command_options.h"
#include "tools/text/table.h"

namespace flashlab {

struct CrashExploreOptions {
    std::string ftl = "hftl", workload = "standard";
    std::string metadata = "none"; ///< pram, journal: a file system above the drive
    std::string shape, cell;       ///< empty: chip and slc, or all shapes and cells when states are drawn
    std::uint64_t states = 0;      ///< 0 = every state
    std::uint64_t in_a_row = 0;    ///< number of cuts in a row on one image; 0 = explore states instead
    std::uint32_t cuts = 2;
    std::uint64_t seed = 1;
    bool shrinks = true;
    OutputFormat format = OutputFormat::table;
};
struct CrashReplayOptions {
    std::string id;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_crash_replay(const CrashReplayOptions& options);
[[nodiscard]] int run_crash_explore_file_system(const CrashExploreOptions& options);
[[nodiscard]] int run_crash_replay_file_system(const CrashReplayOptions& options);

void add_crash_torture(CLI::App& crash, Action& action);
void add_crash_selftest(CLI::App& crash, Action& action);

} // namespace flashlab
