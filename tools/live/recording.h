/// A recording of what a mount answers, in a file: mount --record FILE.
///
/// Idea       The file system is wrapped (crash/apps/recording_file_system.h); each change goes to FILE. Promises come in by the FIFO FILE.acks, if
///            there is one: it is emptied before each call, so that every promise stands in the history behind what was answered before it was
///            written.
/// Invariant  The history of a mount that ended by itself is whole, unless the host refused to write FILE: then it ends early.
/// Cost       The data once more, in FILE; one read(2) a call that changes something.
/// Power cut  Keeps nothing: FILE belongs to the host.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "crash/apps/recording_file_system.h"

namespace flashlab {

class Recording {
public:
    /// FILE must not exist yet.
    [[nodiscard]] static std::expected<std::unique_ptr<Recording>, std::string> open(const std::string& file, FileSystem& below);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    [[nodiscard]] FileSystem& fs() { return *recorded_; }

private:
    Recording() = default;
    void note(Operation operation);
    void fetch_promises();
    void flush();

    int file_ = -1, promises_ = -1;
    bool failed_ = false;
    std::uint64_t lines_ = 0;
    std::string buffer_, promised_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::unique_ptr<RecordingFileSystem> recorded_;
};

} // namespace flashlab
