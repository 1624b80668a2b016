/// Runs a command once on a mount of a new drive and brings back everything that it did to its files.
///
/// Idea       mkfs, mount --record, the preparation, a flush, the command, umount. The promises of the command come through a FIFO that the daemon
///            reads.
/// Invariant  Neither mount nor command outlives the object. The drive is thrown away: only the history is of interest.
/// Cost       What the command takes, and its data once more.
#pragma once

#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "crash/apps/history.h"
#include "tools/host/subprocess.h"

namespace flashlab {

struct RecordedRunConfig {
    std::vector<std::string> command;
    std::string setup;
    std::string oracle{}; ///< what the command prints goes through it; what it prints is promised
    std::string ftl, metadata, size;
};

/// Why there is no history, and the exit code for it.
struct RecordedRunFailure {
    std::string why;
    int code = 1;
};

class RecordedRun {
public:
    RecordedRun(const RecordedRunConfig& config, const std::string& work);
    ~RecordedRun();
    RecordedRun(const RecordedRun&) = delete;
    RecordedRun& operator=(const RecordedRun&) = delete;

    [[nodiscard]] std::expected<std::vector<Operation>, RecordedRunFailure> run();

private:
    using Step = std::expected<void, RecordedRunFailure>;
    [[nodiscard]] Step flashlab(std::vector<std::string> words);
    [[nodiscard]] Step mount();
    [[nodiscard]] Step prepare();
    [[nodiscard]] Step run_command();
    [[nodiscard]] Step unmount();
    [[nodiscard]] SubprocessCall in_mount(std::vector<std::string> words);
    [[nodiscard]] std::string tail_of_log() const;

    const RecordedRunConfig& config_;
    std::string device_, mount_point_, history_, log_;
};

} // namespace flashlab
