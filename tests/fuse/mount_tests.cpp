// A real mount, through the kernel, on a file system of maps and strings. Where FUSE cannot be used, these tests say so and pass.
#include "fs/fuse/mount.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "fs/fuse/control_socket.h"
#include "fs/fuse/mount_point.h"
#include "tests/fuse/live_mount.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;
using namespace std::chrono_literals;

namespace {

void write_file(const std::string& path, std::string_view text) { std::ofstream{path} << text; }
std::string read_file(const std::string& path) {
    std::ifstream in{path};
    return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

TEST_CASE("what is written through the kernel is read back, listed, renamed and removed", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    namespace stdfs = std::filesystem;
    REQUIRE(mkdir((live.path + "/d").c_str(), 0751) == 0);
    for (int index = 0; index < 300; ++index)
        write_file(live.path + "/d/file" + std::to_string(index), std::string(5000, static_cast<char>('a' + index % 26)));
    CHECK(read_file(live.path + "/d/file27") == std::string(5000, 'b'));
    std::size_t listed = 0;
    for (const auto& entry : stdfs::directory_iterator{live.path + "/d"}) listed += entry.file_size() == 5000 ? 1 : 0;
    CHECK(listed == 300);
    stdfs::rename(live.path + "/d/file1", live.path + "/d/file2");
    CHECK(read_file(live.path + "/d/file2") == std::string(5000, 'b'));
    CHECK_FALSE(stdfs::exists(live.path + "/d/file1"));
    stdfs::create_symlink("d/file3", live.path + "/s");
    CHECK(stdfs::read_symlink(live.path + "/s") == "d/file3");
    stdfs::create_hard_link(live.path + "/d/file3", live.path + "/h");
    CHECK(stdfs::hard_link_count(live.path + "/h") == 2);
    CHECK(stdfs::remove_all(live.path + "/d") == 300);
    live.mount->stop();
    CHECK(live.wait() == MountEnd::clean);
    for (const auto& [ino, opens] : live.fs.opens) CHECK(opens == 0);
}

TEST_CASE("attributes, extended attributes, flags, labels and free space pass both ways", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    const std::string file = live.path + "/f";
    write_file(file, "hello");
    CHECK(chmod(file.c_str(), 0640) == 0);
    CHECK(truncate(file.c_str(), 3) == 0);
    struct stat status {};
    REQUIRE(stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0640);
    CHECK(status.st_size == 3);
    CHECK(setxattr(file.c_str(), "user.a", "value", 5, 0) == 0);
    char room[16] = {};
    CHECK(getxattr(file.c_str(), "user.a", nullptr, 0) == 5);
    CHECK(getxattr(file.c_str(), "user.a", room, sizeof room) == 5);
    CHECK((getxattr(file.c_str(), "user.a", room, 2) == -1 && errno == ERANGE));
    CHECK(listxattr(file.c_str(), room, sizeof room) == 7);

    const int fd = open(file.c_str(), O_RDWR);
    int flags = FS_NODUMP_FL;
    CHECK(ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0);
    flags = 0;
    CHECK(ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0);
    CHECK(flags == FS_NODUMP_FL);
    fsxattr extended{};
    CHECK(ioctl(fd, FS_IOC_FSGETXATTR, &extended) == 0);
    CHECK(extended.fsx_xflags == FS_XFLAG_NODUMP);
    fstrim_range range{0, ~0ull, 0};
    CHECK(ioctl(fd, FITRIM, &range) == 0);
    CHECK(range.len == 400 * 4096);
    char label[FSLABEL_MAX] = "new";
    CHECK(ioctl(fd, FS_IOC_SETFSLABEL, label) == 0);
    live.meet_workers();
    CHECK(live.fs.label() == "new");
    CHECK((ioctl(fd, FIGETBSZ + 0x4000, &flags) == -1 && errno == ENOTTY));
    CHECK(lseek(fd, 0, SEEK_HOLE) == 3);
    CHECK((fallocate(fd, 0, 0, 8192) == 0 && fstat(fd, &status) == 0 && status.st_size == 8192));
    close(fd);
    struct statvfs space {};
    REQUIRE(statvfs(live.path.c_str(), &space) == 0);
    CHECK(space.f_blocks == 1000);
    CHECK(space.f_bfree == 400);
    CHECK(space.f_namemax == 255);
}

TEST_CASE("stat shows the change time that chattr gave a file, by either spelling of the ioctl", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    const std::string file = live.path + "/f";
    write_file(file, "hello");
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    const auto changed_ns = [&] {
        struct stat status {};
        REQUIRE(stat(file.c_str(), &status) == 0); // also brings the attributes into the kernel's cache
        return status.st_ctim.tv_sec * 1'000'000'000L + status.st_ctim.tv_nsec;
    };
    const long made = changed_ns();
    int flags = FS_NODUMP_FL;
    REQUIRE(ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0);
    const long set = changed_ns();
    CHECK(set > made);
    fsxattr extended{};
    REQUIRE(ioctl(fd, FS_IOC_FSSETXATTR, &extended) == 0);
    CHECK(changed_ns() > set);
    close(fd);
    live.mount->stop();
    CHECK(live.wait() == MountEnd::clean);
}

TEST_CASE("a program that reads a file in small pieces makes requests of up to a mebibyte, and no request was needed to arrange for that",
          "[fuse][mount]") {
    if (!can_mount() || access("/sys/class/bdi", W_OK) != 0) return;
    LiveMount live;
    live.start();
    CHECK(live.requests_seen().empty());
    const std::string text(8u << 20, 'x');
    write_file(live.path + "/large", text);
    const int file = open((live.path + "/large").c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(file >= 0);
    REQUIRE(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0); // out of the kernel's cache
    std::array<char, 4096> piece{};
    while (read(file, piece.data(), piece.size()) > 0) {}
    close(file);
    std::uint64_t most = 0;
    for (const FsOpEvent& event : live.requests_seen()) most = std::max(most, event.op == FsOp::read ? event.bytes : 0);
    CHECK(most == 1u << 20);
}

TEST_CASE("the kernel's question before each write is answered without the file system", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    const int fd = open((live.path + "/f").c_str(), O_CREAT | O_WRONLY, 0644);
    for (int count = 0; count < 100; ++count) REQUIRE(write(fd, "x", 1) == 1);
    close(fd);
    CHECK(live.fs.capability_questions == 0);
}

TEST_CASE("at latency off slow calls take no wall time and the clock stands at their end", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.fs.step_time = 10s;
    live.start();
    const SimTime before = live.mount->clock_now();
    const int fd = open((live.path + "/f").c_str(), O_CREAT | O_WRONLY, 0644);
    REQUIRE(fsync(fd) == 0);
    close(fd);
    CHECK(live.mount->clock_now() >= before + 20s);
    live.meet_workers();
    CHECK(live.fs.resumed_at.front() >= live.fs.resumed_for.front());
}

TEST_CASE("at latency real no answer comes before its time, and no step runs before the clock is there", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live{{.off = false, .rate = 1.0}};
    live.fs.write_time = 20ms;
    live.fs.step_time = 15ms;
    live.start();
    const int fd = open((live.path + "/f").c_str(), O_CREAT | O_WRONLY, 0644);
    auto start = std::chrono::steady_clock::now();
    REQUIRE(write(fd, "x", 1) == 1);
    CHECK(std::chrono::steady_clock::now() - start >= 19900us); // the round trip is part of the time
    start = std::chrono::steady_clock::now();
    REQUIRE(fsync(fd) == 0);
    CHECK(std::chrono::steady_clock::now() - start >= 29900us);
    close(fd);
    live.meet_workers();
    REQUIRE(live.fs.resumed_at.size() == live.fs.resumed_for.size());
    for (std::size_t index = 0; index < live.fs.resumed_at.size(); ++index) CHECK(live.fs.resumed_at[index] >= live.fs.resumed_for[index]);
}

TEST_CASE("a step runs its lead early, for its own time, and from then on no power cut comes before that time", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live{{.off = false, .rate = 1.0}};
    live.fs.step_time = 1ms;
    live.start();
    std::atomic<bool> done = false;
    std::thread caller{[&] {
        const int fd = open((live.path + "/f").c_str(), O_CREAT | O_WRONLY, 0644);
        for (int count = 0; count < 100; ++count) (void)fsync(fd);
        close(fd);
        done = true;
    }};
    std::uint64_t early_cuts = 0;
    while (!done) {
        SimTime step = sim_start;
        live.mount->with_monitor([&](SimTime) {
            if (!live.fs.resumed_at.empty()) step = live.fs.resumed_at.back();
        });
        if (live.mount->clock_now() < step) ++early_cuts; // a cut is never before clock_now()
    }
    caller.join();
    CHECK(early_cuts == 0);
    REQUIRE(live.fs.resumed_at.size() == 100);
}

TEST_CASE("a write that the file system asks to come again is made again when the clock is there, with the bytes it had", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live{{.off = false, .rate = 1.0}};
    live.start();
    const int fd = open((live.path + "/f").c_str(), O_CREAT | O_RDWR, 0644);
    live.fs.room_at = live.mount->clock_now() + 30ms;
    const auto start = std::chrono::steady_clock::now();
    std::string bytes(5000, 'x');
    REQUIRE(pwrite(fd, bytes.data(), bytes.size(), 0) == 5000);
    CHECK(std::chrono::steady_clock::now() - start >= 25ms);
    std::string seen(5000, '?');
    CHECK(pread(fd, seen.data(), seen.size(), 0) == 5000);
    CHECK(seen == bytes);
    close(fd);
}

TEST_CASE("who writes more than fits is told how much did, synced or not", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.fs.writes_at_most = 1000;
    live.start();
    const std::string bytes(5000, 'x');
    for (const int flags : {0, O_SYNC}) {
        const int fd = open((live.path + "/f").c_str(), O_CREAT | O_TRUNC | O_WRONLY | flags, 0644);
        CHECK(pwrite(fd, bytes.data(), bytes.size(), 0) == 1000);
        close(fd);
        CHECK(read_file(live.path + "/f") == std::string(1000, 'x'));
    }
}

TEST_CASE("more requests than workers wait for their completions side by side", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live{{.off = false, .rate = 1.0}};
    live.fs.write_time = 300ms;
    live.start();
    for (int index = 0; index < 8; ++index) close(open((live.path + "/f" + std::to_string(index)).c_str(), O_CREAT | O_WRONLY, 0644));
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> writers;
    for (int index = 0; index < 8; ++index) writers.emplace_back([&, index] { write_file(live.path + "/f" + std::to_string(index), "x"); });
    for (std::thread& writer : writers) writer.join();
    CHECK(std::chrono::steady_clock::now() - start < 1200ms); // one after another would be 2400 ms
}

TEST_CASE("a broken contract makes that call EIO, later writes EROFS, and leaves reading", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    write_file(live.path + "/f", "kept");
    live.fs.break_contract_on_mkdir = true;
    live.meet_workers();
    CHECK((mkdir((live.path + "/d").c_str(), 0755) == -1 && errno == EIO));
    CHECK((symlink("a", (live.path + "/s").c_str()) == -1 && errno == EROFS));
    CHECK(read_file(live.path + "/f") == "kept");
    live.mount->stop();
    CHECK(live.wait() == MountEnd::broken);
}

TEST_CASE("a file system that had nothing due is asked again: later requests may have made something due", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.fs.wants_ticks = false;
    live.start();
    unsigned ticks = 0;
    const auto give_up = std::chrono::steady_clock::now() + 10s;
    while (ticks < 3 && std::chrono::steady_clock::now() < give_up) {
        std::this_thread::sleep_for(20ms);
        live.mount->with_monitor([&](SimTime) { ticks = live.fs.ticks; });
    }
    CHECK(ticks >= 3);
}

TEST_CASE("unmounting from outside ends the mount cleanly", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    write_file(live.path + "/f", "x");
    CHECK(detach(live.path));
    CHECK(live.wait() == MountEnd::clean);
    for (const auto& [ino, count] : live.fs.references) CHECK((count >= 0));
}

TEST_CASE("a second mount on the same directory is refused", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    const auto busy = check_mount_point(live.path);
    REQUIRE_FALSE(busy.has_value());
    CHECK(busy.error().find("flashlab umount") != std::string::npos);
}

TEST_CASE("an option nobody knows is refused by name, and nothing is mounted", "[fuse][mount]") {
    if (!can_mount()) return;
    MemoryFileSystem fs;
    RecordedPower power;
    NullEventSink events;
    MountConfig config;
    config.mount_point = "/tmp";
    config.fuse_options = {"nonsense"};
    const auto refused = Mount::make(fs, power, events, config, {});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().find("nonsense") != std::string::npos);
    CHECK(check_mount_point("/tmp").has_value());
}

TEST_CASE("each operation is one event with an id of its own, and is counted", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    write_file(live.path + "/f", "hello");
    const MountStats stats = live.mount->stats();
    live.mount->stop();
    live.wait();
    std::uint64_t last = 0;
    bool written = false;
    for (const FsOpEvent& event : live.events.seen) {
        CHECK(event.id.value() > last);
        last = event.id.value();
        written = written || (event.op == FsOp::write && event.bytes == 5 && event.error == 0);
    }
    CHECK(written);
    const auto writes = std::ranges::find(stats.operations, FsOp::write, &OperationStats::op);
    REQUIRE(writes != stats.operations.end());
    CHECK(writes->count == 1);
}
