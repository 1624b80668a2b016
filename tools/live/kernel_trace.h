/// The kernel's trace of one disk, while a program runs: an instance of tracefs of its own, read by a thread.
///
/// Idea       Lines go to a BlockTrace as they come, since a process that has ended can no longer be asked for its files.
/// Invariant  When the object goes, the instance is gone, and so is the mount of tracefs if it was ours. Other users of tracefs notice nothing.
/// Cost       A thread, and 8 MiB of the kernel's memory a processor.
/// Power cut  None.
/// Threading  The thread has the BlockTrace until end().
#pragma once

#include <atomic>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "tools/live/block_trace.h"

namespace flashlab {

/// Where file systems on this disk are mounted.
[[nodiscard]] std::vector<std::string> mount_points_on(const std::string& disk);

class KernelTrace {
public:
    /// `disk` as /dev/loop0. The error is a whole sentence with the remedy.
    [[nodiscard]] static std::expected<std::unique_ptr<KernelTrace>, std::string> begin(const std::string& disk);
    KernelTrace(const KernelTrace&) = delete;
    KernelTrace& operator=(const KernelTrace&) = delete;
    ~KernelTrace();
    /// All that has happened until now is in it.
    [[nodiscard]] const BlockTrace& end();

private:
    KernelTrace(std::string device, ProcessFacts facts) : trace_{std::move(device), std::move(facts)} {}
    [[nodiscard]] std::string make_instance();
    [[nodiscard]] std::string switch_on(unsigned major, unsigned minor);
    void read_until_ended(int pipe);

    BlockTrace trace_;
    std::filesystem::path mounted_, instance_; ///< empty: not ours, or not made
    std::thread reader_;
    std::atomic<bool> ends_{false};
};

} // namespace flashlab
