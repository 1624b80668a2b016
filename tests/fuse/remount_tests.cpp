// Remounts, of which the kernel tells the daemon nothing, and what FS_IOC_SHUTDOWN makes durable before it.
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "fs/fuse/mount_table_watch.h"
#include "tests/fuse/live_mount.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;
using namespace std::chrono_literals;

namespace {

bool comes_true(const std::function<bool()>& condition) {
    for (const auto latest = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < latest; std::this_thread::sleep_for(5ms))
        if (condition()) return true;
    return false;
}

int set_label(int fd) {
    std::array<char, FSLABEL_MAX> label{"new"};
    return ioctl(fd, FS_IOC_SETFSLABEL, label.data()) == 0 ? 0 : errno;
}
int trim(int fd) {
    fstrim_range range{0, ~0ull, 0};
    return ioctl(fd, FITRIM, &range) == 0 ? 0 : errno;
}

} // namespace

TEST_CASE("a line of the mount table tells whether the whole mount is read-only, and how this place keeps access times", "[fuse][mount]") {
    const auto entry = [](const std::string& words, const std::string& super) {
        return entry_in_table("36 35 0:61 / /mnt " + words + " master:1 - fuse.flashlab /dev/d " + super, "0:61");
    };
    REQUIRE(entry("rw,nosuid,relatime", "rw,user_id=0"));
    CHECK_FALSE(entry("ro,relatime", "rw,user_id=0")->read_only); // a read-only place of it, such as a bind mount
    CHECK(entry("ro,relatime", "ro,user_id=0")->read_only);
    CHECK(entry("rw,relatime", "rw")->access_times == AccessTimes::relative);
    CHECK(entry("rw,noatime", "rw")->access_times == AccessTimes::kept);
    CHECK(entry("rw,nosuid", "rw")->access_times == AccessTimes::strict);
    CHECK_FALSE(entry_in_table("36 35 0:61 / /mnt rw - fuse.flashlab /dev/d rw", "0:6"));
    CHECK_FALSE(entry_in_table("36 35 0:61 / /mnt rw", "0:61"));
}

TEST_CASE("a mount that the kernel made read-only is written back, and nothing changes it until it is writable again", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    std::ofstream{live.path + "/f"} << "x";
    const int fd = open(live.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(set_label(fd) == 0);
    CHECK(live.fs.whole_syncs == 0);
    REQUIRE(mount("none", live.path.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0);
    CHECK(comes_true([&] { return live.fs.whole_syncs == 1; }));
    CHECK(set_label(fd) == EROFS);
    CHECK(trim(fd) == EROFS);
    REQUIRE(mount("none", live.path.c_str(), nullptr, MS_REMOUNT, nullptr) == 0);
    CHECK(comes_true([&] { return set_label(fd) == 0; }));
    CHECK(trim(fd) == 0);
    CHECK(live.fs.whole_syncs == 1);
    close(fd);
}

TEST_CASE("FS_IOC_SHUTDOWN makes durable what its caller names: all, the names without the data, nothing", "[fuse][mount][powercut]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    const int fd = open(live.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    std::uint32_t how = 3;
    CHECK((ioctl(fd, _IOR('X', 125, std::uint32_t), &how) == -1 && errno == EINVAL));
    how = GENERATE(0u, 1u, 2u);
    CHECK(ioctl(fd, _IOR('X', 125, std::uint32_t), &how) == 0);
    live.wait_for_end();
    CHECK(live.fs.whole_syncs == (how == 0 ? 2 : 1)); // the cut itself begins the last one, to strike it
    CHECK(live.fs.syncs == (how == 1 ? 1 : 0));
    close(fd);
    CHECK(comes_true([&] { return umount2(live.path.c_str(), 0) == 0; })); // other programs that look at all mounts hold each for a moment
}
