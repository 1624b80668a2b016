// Rings in one process with the test: what of them is left when their mount is gone. Where the host has none, this says so and passes.
#include "fs/fuse/io_ring.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuse/live_mount.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// A thread that was joined may be in the list for a moment longer.
std::ptrdiff_t threads_of_this_process(std::ptrdiff_t expected) {
    const auto count = [] { return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}); };
    for (int turn = 0; count() > expected && turn < 200; ++turn) std::this_thread::sleep_for(std::chrono::milliseconds{5});
    return count();
}

} // namespace

TEST_CASE("no thread of a ring outlives its mount, be it stopped or cut", "[fuse][mount][io_ring]") {
    if (!can_mount()) return;
    const bool is_cut = GENERATE(false, true);
    const auto before = threads_of_this_process(1);
    {
        LiveMount live{{}, {}, HostCache::delayed, IoRingUse::on};
        live.start();
        if (!live.mount->uses_io_uring()) {
            std::cerr << "not run: this host has no FUSE over io_uring\n";
            return;
        }
        std::ofstream{live.path + "/file"} << "text";
        CHECK(threads_of_this_process(before) > before);
        if (is_cut) CHECK(live.mount->power_cut(1).operations_undone == 3);
        live.mount->stop();
        CHECK(live.wait() == (is_cut ? MountEnd::power_cut : MountEnd::clean));
    }
    CHECK(threads_of_this_process(before) == before);
}
