/// A real mount of a memory file system, on a thread of its own.
///
/// Idea       The test talks to the kernel as any program does, and looks at what the file system, the power and the event sink were asked.
/// Invariant  Unmounted, and its directory removed, when it goes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "fs/fuse/mount.h"
#include "fs/fuse/mount_point.h"
#include "tests/fuse/memory_file_system.h"

namespace flashlab::test {

struct RecordedPower final : DevicePower {
    SimTime settled = sim_start;
    SimTime reserved_end = sim_start;
    std::vector<SimTime> cuts;
    void settle(SimTime now) override { settled = now; }
    SimTime last_reserved_end() const override { return reserved_end; }
    std::optional<SimTime> instant_in_flight(CutAt, SimTime earliest, std::uint64_t draw) override {
        if (earliest >= reserved_end) return std::nullopt;
        return earliest + Duration{static_cast<std::int64_t>(draw % static_cast<std::uint64_t>((reserved_end - earliest).count()))};
    }
    CutSummary cut(SimTime at, std::uint64_t) override {
        cuts.push_back(at);
        return {.at = at, .operations_undone = 3};
    }
};

struct CountedEvents final : EventSink {
    CountedEvents() : EventSink{EventLevel::requests} {}
    std::vector<FsOpEvent> seen;
    using EventSink::on;
    void on(const FsOpEvent& event) override { seen.push_back(event); }
};

inline bool can_mount() {
    if (geteuid() == 0 && check_host_fuse()) return true;
    std::cerr << "not run: needs root and /dev/fuse\n";
    return false;
}

/// Mounts in the constructor, unmounts in the destructor.
class LiveMount {
public:
    explicit LiveMount(LatencyMode latency = {}, std::vector<std::string> options = {}, HostCache cache = HostCache::delayed,
                       IoRingUse io_ring = IoRingUse::chosen) {
        fs.cache = cache;
        char pattern[] = "/tmp/flashlab-mount-XXXXXX";
        directory = mkdtemp(pattern);
        std::filesystem::create_directory(directory + "/m");
        path = directory + "/m";
        const MountConfig config{.mount_point = path,
                                 .device_directory = directory,
                                 .control_socket = directory + "/control",
                                 .latency = latency,
                                 .io_ring = io_ring,
                                 .host_errno = {},
                                 .fuse_options = std::move(options)};
        auto made = Mount::make(fs, power, events, config, [this](std::string_view request) { return answer(request); });
        if (!made) throw std::runtime_error{made.error()};
        mount = std::move(*made);
    }
    void start() {
        thread_ = std::thread{[this] {
            end = mount->run([this] { ready_.count_down(); });
            ended_.count_down();
            if (end == MountEnd::power_cut) mount->refuse_the_rest();
        }};
        ready_.wait();
    }
    /// Before this thread looks at what the workers changed, and after it changed what they will look at: the monitor orders both. Without it only
    /// the kernel does, which ThreadSanitizer cannot see.
    void meet_workers() { (void)mount->stats(); }
    /// What the workers have told so far.
    std::vector<FsOpEvent> requests_seen() {
        std::vector<FsOpEvent> seen;
        mount->with_monitor([&](SimTime) { seen = events.seen; });
        return seen;
    }
    /// Until the device could be closed: after a power cut calls are still refused.
    void wait_for_end() { ended_.wait(); }
    MountEnd wait() {
        if (thread_.joinable()) thread_.join();
        return end;
    }
    ~LiveMount() {
        mount->stop();
        wait();
        mount.reset();
        std::filesystem::remove_all(directory);
    }
    std::string answer(std::string_view request) {
        if (request == "powercut") return std::to_string(mount->power_cut(1).operations_undone);
        return "unknown";
    }

    MemoryFileSystem fs;
    RecordedPower power;
    CountedEvents events;
    std::string directory, path;
    std::unique_ptr<Mount> mount;
    MountEnd end = MountEnd::failed;

private:
    std::latch ready_{1};
    std::latch ended_{1};
    std::thread thread_;
};

} // namespace flashlab::test
