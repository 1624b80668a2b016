// Which changes of a file's bytes are synced before their answer. Goal: every way that data enter a file is counted here, for every reason to sync.
// Method: a real mount; the file system below counts the syncs it is asked for.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/fuse/live_mount.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// An open file that closes itself.
class OpenFile {
public:
    OpenFile(const std::string& path, int flags) : fd_{open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0644)} { REQUIRE(fd_ >= 0); }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() { close(fd_); }
    [[nodiscard]] int fd() const { return fd_; }
    void append(std::string_view text) const { REQUIRE(::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size())); }

private:
    int fd_;
};

/// As cp does it: less may be copied at once.
void copy_file(const OpenFile& from, const OpenFile& to, std::size_t bytes) {
    loff_t in = 0;
    loff_t out = 0;
    while (static_cast<std::size_t>(out) < bytes)
        REQUIRE(copy_file_range(from.fd(), &in, to.fd(), &out, bytes - static_cast<std::size_t>(out), 0) > 0);
}

unsigned syncs_of(LiveMount& live) {
    unsigned syncs = 0;
    live.mount->with_monitor([&](SimTime) { syncs = live.fs.syncs; });
    return syncs;
}

void set_flags(const OpenFile& file, int flags) { REQUIRE(ioctl(file.fd(), FS_IOC_SETFLAGS, &flags) == 0); }

} // namespace

TEST_CASE("a write with O_DSYNC is synced before its answer", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    const OpenFile plain{live.path + "/f", O_WRONLY};
    plain.append("x");
    CHECK(syncs_of(live) == 0);
    const OpenFile synced{live.path + "/f", O_WRONLY | O_DSYNC};
    synced.append("x");
    CHECK(syncs_of(live) >= 1);
}

TEST_CASE("a copy within the mount is synced before its answer when the mount writes through, and only then", "[fuse][mount]") {
    if (!can_mount()) return;
    const HostCache cache = GENERATE(HostCache::delayed, HostCache::writethrough);
    LiveMount live{{}, {}, cache};
    live.start();
    const OpenFile from{live.path + "/from", O_RDWR};
    const OpenFile to{live.path + "/to", O_WRONLY};
    from.append("hello");
    const auto before = syncs_of(live);
    copy_file(from, to, 5);
    CHECK(syncs_of(live) - before == (cache == HostCache::writethrough ? 1 : 0));
    char seen[6] = {};
    CHECK(pread(OpenFile{live.path + "/to", O_RDONLY}.fd(), seen, 5, 0) == 5);
    CHECK(std::string{seen} == "hello");
}

TEST_CASE("a copy into a file opened with O_SYNC is synced before its answer, and one out of it is not", "[fuse][mount]") {
    if (!can_mount()) return;
    const int flag = GENERATE(O_SYNC, O_DSYNC);
    LiveMount live;
    live.start();
    const OpenFile plain{live.path + "/plain", O_RDWR};
    plain.append("hello");
    const OpenFile synced{live.path + "/synced", O_RDWR | flag}; // made by this open
    copy_file(plain, synced, 5);
    CHECK(syncs_of(live) == 1);
    const OpenFile again{live.path + "/synced", O_RDWR | flag}; // there already
    copy_file(plain, again, 5);
    CHECK(syncs_of(live) == 2);
    copy_file(synced, plain, 5);
    CHECK(syncs_of(live) == 2);
}

TEST_CASE("a synced copy that the file system asks to come again is made again, and tells how much it copied", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live{{.off = false, .rate = 1.0}};
    live.start();
    const OpenFile from{live.path + "/from", O_RDWR};
    const OpenFile to{live.path + "/to", O_WRONLY | O_DSYNC};
    from.append("hello");
    live.fs.room_at = live.mount->clock_now() + std::chrono::milliseconds{30};
    live.meet_workers();
    loff_t in = 1;
    CHECK(copy_file_range(from.fd(), &in, to.fd(), nullptr, 100, 0) == 4);
    CHECK(syncs_of(live) == 1);
}

TEST_CASE("writes and copies into a file with chattr +S are synced before their answer, by whatever open they come", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    const OpenFile from{live.path + "/from", O_RDWR};
    const OpenFile before{live.path + "/f", O_RDWR};
    from.append("hello");
    before.append("x");
    CHECK(syncs_of(live) == 0);
    set_flags(before, FS_SYNC_FL);
    before.append("x");
    CHECK(syncs_of(live) == 1);
    const OpenFile after{live.path + "/f", O_WRONLY};
    after.append("x");
    CHECK(syncs_of(live) == 2);
    copy_file(from, after, 5);
    CHECK(syncs_of(live) == 3);
    from.append("x"); // another file
    CHECK(syncs_of(live) == 3);
    set_flags(after, 0);
    before.append("x");
    CHECK(syncs_of(live) == 3);
}

TEST_CASE("chattr +S of an earlier mount is known from the first open on", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    const FsCall call{.now = sim_start, .wall = {}};
    const auto made = live.fs.make_node(call, root_ino, "f", S_IFREG | 0644, 0);
    REQUIRE(live.fs.set_file_flags(call, made->value.ino, FS_SYNC_FL).has_value());
    live.start();
    const OpenFile file{live.path + "/f", O_WRONLY};
    file.append("x");
    CHECK(syncs_of(live) == 1);
}
