/// `-o persistence=MODEL` of a mount: a power cut leaves what a weaker file system might have left (docs/crash-model.md).
///
/// Idea       What is answered is kept in memory since all was durable (crash/apps/live_history.h). A cut draws one of the states that the model
///            allows; when the drive's images are closed the device is opened again, which recovers it, the tree is brought into that state, and the
///            power fails once more, so that the next mount has something to recover.
/// Invariant  Nobody else sees the device between the two cuts: device.toml is locked from the first to the second, and is_in_use() looks at it.
/// Cost       The data that were not synced once more in memory, 128 MiB at most: at that bound a write waits for a sync of everything.
/// Power cut  This makes one. kill -9 leaves what the drive leaves: the model is the daemon's.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "crash/apps/left_state.h"
#include "crash/apps/live_history.h"
#include "tools/drive/device_directory.h"
#include "tools/text/json.h"

namespace flashlab {

class LivePersistence {
public:
    LivePersistence(const Persistence& model, FileSystem& below);
    ~LivePersistence();
    LivePersistence(const LivePersistence&) = delete;
    LivePersistence& operator=(const LivePersistence&) = delete;

    [[nodiscard]] FileSystem& fs() { return history_.fs(); }
    // Inside the monitor:
    void begin_cut() { history_.begin_cut(); }
    /// Draws what the cut at this instant leaves, and tells it.
    [[nodiscard]] Json choose(SimTime at, std::uint64_t seed);
    [[nodiscard]] Json unsynced(SimTime now) const;

    [[nodiscard]] bool has_chosen() const { return state_ != nullptr; }
    /// From here on nobody else takes the device. The error says why it cannot be held.
    [[nodiscard]] std::expected<void, std::string> hold(const std::string& directory);
    /// After close(): brings the device into the chosen state.
    [[nodiscard]] std::expected<void, std::string> settle(const std::string& directory, OpenOptions options, std::uint64_t seed);

private:
    Persistence model_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    LiveHistory history_;
    std::unique_ptr<Past> past_;
    std::unique_ptr<LeftState> state_;
    int held_ = -1;
};

} // namespace flashlab
