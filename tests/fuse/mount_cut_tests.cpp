// A power cut under a real mount: which work it meets, and what callers see. Where FUSE cannot be used, these tests say so and pass.
#include "fs/fuse/mount.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/fuse/control_socket.h"
#include "tests/fuse/live_mount.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;
using namespace std::chrono_literals;

TEST_CASE("a cut that is to meet a sync passes over all other work, and says what it met", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    std::ofstream{live.path + "/f"} << "x";
    const int fd = open((live.path + "/f").c_str(), O_RDWR);
    live.power.reserved_end = live.mount->clock_now() + 100s; // something is in flight at any time
    live.meet_workers();
    CutSummary summary{};
    std::thread cutter{[&] { summary = live.mount->power_cut(7, CutAt::flush); }};
    const auto until = std::chrono::steady_clock::now() + 300ms;
    int other_work = 0;
    for (; std::chrono::steady_clock::now() < until; ++other_work) REQUIRE(mkdir((live.path + "/d" + std::to_string(other_work)).c_str(), 0755) == 0);
    CHECK(other_work > 16); // of so many occasions one is drawn
    int error = 0;
    for (int tries = 0; error == 0 && tries < 1000; ++tries) error = fsync(fd) == 0 ? 0 : errno;
    CHECK(error == EIO);
    cutter.join();
    CHECK(summary.struck == CutAt::flush);
    close(fd);
}

TEST_CASE("after a power cut every call gets EIO, the name goes unless it was shut down, and T lies between the clock and the last reservation",
          "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    std::ofstream{live.path + "/f"} << "x";
    const int fd = open((live.path + "/f").c_str(), O_RDWR);
    const SimTime before = live.mount->clock_now();
    live.power.reserved_end = before + 10s;
    live.meet_workers();
    bool is_shut_down = false;
    SECTION("asked over the control socket, with nothing going on") {
        CHECK(ask_control_socket(live.directory + "/control", "powercut").value() == "3");
    }
    SECTION("while a write is going on: it is issued and not answered") {
        std::thread cutter{[&] { static_cast<void>(live.mount->power_cut(7)); }};
        int error = 0;
        while (error == 0) error = write(fd, "y", 1) == 1 ? 0 : errno;
        CHECK(error == EIO);
        cutter.join();
    }
    SECTION("asked by FS_IOC_SHUTDOWN") {
        std::uint32_t how = 0;
        CHECK(ioctl(fd, _IOR('X', 125, std::uint32_t), &how) == 0);
        is_shut_down = true;
    }
    live.wait_for_end();
    REQUIRE(live.power.cuts.size() == 1);
    CHECK(live.power.cuts[0] >= before);
    CHECK(live.power.cuts[0] <= live.power.reserved_end);
    char byte = 0;
    CHECK((pread(fd, &byte, 1, 1 << 20) == -1 && errno == EIO));
    CHECK((write(fd, "z", 1) == -1 && errno == EIO));
    CHECK((fsync(fd) == -1 && errno == EIO));
    if (is_shut_down) {
        CHECK((open((live.path + "/new").c_str(), O_RDWR | O_CREAT, 0600) == -1 && errno == EIO));
        CHECK((umount2(live.path.c_str(), 0) == -1 && errno == EBUSY));
        close(fd);
        CHECK(umount2(live.path.c_str(), 0) == 0);
    } else {
        CHECK(std::filesystem::is_empty(live.path)); // only the empty directory is left
        close(fd);
    }
    CHECK(live.wait() == MountEnd::power_cut);
}
