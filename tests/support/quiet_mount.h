// A mount without a kernel, for what asks a mount for its monitor: the control socket's answers, and the fuzzer that sends it anything.
#pragma once

#include "fs/fuse/mount.h"
#include "tools/drive/device.h"

namespace flashlab::test {

class QuietMount final : public Mount {
public:
    explicit QuietMount(Device& device) : device_{device} {}
    MountEnd run(const std::function<void()>&) override { return MountEnd::clean; }
    void refuse_the_rest() override {}
    void with_monitor(const std::function<void(SimTime)>& work) override { work(device_.ready_at()); }
    FsResult<void> sync_all() override { return {}; }
    FsResult<void> follow_remount() override { return {}; }
    FsResult<Duration> run_background() override { return Duration::max(); }
    /// Cuts nothing: the device lives on.
    CutSummary power_cut(std::uint64_t, CutAt at) override {
        CutSummary cut{.at = device_.ready_at()};
        cut.struck = at;
        return cut;
    }
    void set_latency(LatencyMode mode) override { latency_ = mode; }
    void drop_kernel_pages(Ino, std::uint64_t, std::uint64_t) override {}
    void stop() override {}
    MountStats stats() override { return {.now = device_.ready_at(), .latency = latency_, .operations = {}}; }
    SimTime clock_now() override { return device_.ready_at(); }

private:
    Device& device_;
    LatencyMode latency_;
};

} // namespace flashlab::test
