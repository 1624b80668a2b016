/// Runs a command once on a mount of a new drive and brings back everything that it did to its files.
///
/// Idea       A temporary drive (tools/live/trial_drive.h): mount --record, the preparation, a flush, the command, umount. The promises of
///            the command come through a FIFO that the daemon reads.
/// Invariant  Neither mount nor command outlives the object. The drive is thrown away: only the history is of interest.
/// Cost       What the command takes, and its data once more.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "crash/apps/history.h"
#include "tools/live/trial_drive.h"

namespace flashlab {

struct RecordedRunConfig {
    std::vector<std::string> command;
    std::string setup;
    std::string oracle{};         ///< what the command prints goes through it; what it prints is promised
    bool counts_use = false;      ///< who wrote what, for use()
    bool output_promises = false; ///< each line that the command prints is promised
    std::string ftl, metadata, size;
};

/// Why there is no history, and the exit code for it.
struct RecordedRunFailure {
    std::string why;
    int code = 1;
};

class RecordedRun {
public:
    RecordedRun(const RecordedRunConfig& config, const std::filesystem::path& work);

    [[nodiscard]] std::expected<std::vector<Operation>, RecordedRunFailure> run();
    /// What the command alone wrote, with its files and callers, as `ctl use` tells it.
    [[nodiscard]] const Json& use() const { return use_; }

private:
    using Step = std::expected<void, RecordedRunFailure>;
    [[nodiscard]] Step mount();
    [[nodiscard]] Step prepare();
    [[nodiscard]] Step run_command();
    [[nodiscard]] Step count_use();
    [[nodiscard]] Step unmount();
    [[nodiscard]] std::unexpected<RecordedRunFailure> ended_with(const char* what, int code) const;

    const RecordedRunConfig& config_;
    std::string history_;
    TrialDrive drive_;
    Json use_; ///< until the command has ended: of the preparation
};

} // namespace flashlab
