/// Cuts the power of the whole stack, file system over translation layer, in random programs, and judges the state after recovery.
///
/// Idea       A program is a seed: some laps, each of which runs operations and ends in a cut at a drawn instant with drawn outcomes, perhaps with
///            another cut in the recovery. CrashRig runs it; its model, fsck and the drive's own check judge.
/// Invariant  A case repeats exactly. Its id names scheme, metadata store, cells ("slc-buffer": see FsShape::variant), seed, laps, most operations a
///            lap, and cuts. "fs:hftl:pram-slc:17:3x40:2" = seed 17, three laps of at most 40 operations, recovery cut, too.
/// Cost       Half a millisecond a state, one in a journal.
/// Power cut  Makes them.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crash/explore_report.h"
#include "crash/fs/fs_stack.h"

namespace flashlab {

struct FsCrashCase {
    static constexpr std::string_view prefix = "fs:";
    FsShape shape;
    std::uint64_t seed = 1;
    std::uint32_t laps = 4;
    std::uint32_t steps = 60; ///< operations a lap, at most
    std::uint32_t cuts = 2;   ///< 2: some recoveries are cut, too

    [[nodiscard]] std::string id() const;
    [[nodiscard]] static std::expected<FsCrashCase, std::string> parse(std::string_view id);
    friend bool operator==(const FsCrashCase&, const FsCrashCase&) = default;
};

struct FsViolation {
    FsCrashCase where;
    std::string what;
    Judge judge = Judge::recovery;
};

struct FsExploreReport {
    std::uint64_t states = 0;          ///< recoveries that were judged
    std::uint64_t distinct_states = 0; ///< of these: cells that no program before had left
    std::uint64_t second_cuts = 0;
    std::uint64_t programs = 0;
    std::uint64_t operations = 0;
    OutcomeCounts outcomes;
    DurationHistogram recovery; ///< simulated time of drive and file system
    std::vector<FsViolation> violations;
};

struct FsExploreLimits {
    std::uint64_t states = 1000;
    std::size_t violations = 8;
    std::function<bool(const FsExploreReport&)> go_on; ///< asked after each program; false ends it
    std::vector<std::string> variants{};               ///< the programs take turns on these; empty: all on where.shape
    // Only to show that each judge is needed.
    FsSabotage* sabotage = nullptr;
    JudgeSet judges{};
};

/// The error is the reason: the scheme refuses the tiny stack, or cannot hold a file system on it.
[[nodiscard]] std::expected<void, std::string> can_explore(const FsShape& shape);
/// The variants of a tiny stack that the scheme accepts, that of `shape` first.
[[nodiscard]] std::vector<std::string> variants_of(const FsShape& shape);
/// Runs the programs of the seeds from where.seed on. Adds to the report.
void explore_file_system(const FsCrashCase& where, const FsExploreLimits& limits, FsExploreReport& report);
/// Says what is wrong in this case; nullopt when the contract holds.
[[nodiscard]] std::optional<std::string> replay_file_system(const FsCrashCase& where, FsExploreReport& report);
/// The smallest program that is found, within `runs` runs, to violate the contract; the given one when no smaller one does.
[[nodiscard]] FsViolation shrink_file_system(const FsViolation& found, std::uint32_t runs);

} // namespace flashlab
