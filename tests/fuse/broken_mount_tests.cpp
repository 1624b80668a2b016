// After an internal error nothing changes any more, whatever was under way then. Method: a real mount; a promise is broken on purpose while a request
// waits.
#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuse/live_mount.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;
using namespace std::chrono_literals;

namespace {

void break_a_contract(LiveMount& live) {
    live.mount->with_monitor([&](SimTime) { live.fs.break_contract_on_mkdir = true; });
    REQUIRE((mkdir((live.path + "/d").c_str(), 0755) == -1 && errno == EIO));
}

/// errno of a call that is made now and waits while the contract is broken.
template <class Call>
int error_of_waiting(LiveMount& live, const Call& call) {
    int error = 0;
    std::thread caller{[&] { error = call() < 0 ? errno : 0; }};
    std::this_thread::sleep_for(100ms); // until the request waits; were it too slow, it would be refused at the door: the same answer
    break_a_contract(live);
    caller.join();
    return error;
}

} // namespace

TEST_CASE("a write that waits to be made again when a contract is broken is refused and changes nothing", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live{{.off = false, .rate = 1.0}};
    live.start();
    const int fd = open((live.path + "/f").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    live.mount->with_monitor([&](SimTime now) { live.fs.room_at = now + 400ms; });
    CHECK(error_of_waiting(live, [&] { return pwrite(fd, "x", 1, 0); }) == EROFS);
    char byte = 0;
    CHECK(pread(fd, &byte, 1, 0) == 0);
    close(fd);
    live.mount->stop();
    CHECK(live.wait() == MountEnd::broken);
}

TEST_CASE("a sync between two steps when a contract is broken takes no further step", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live{{.off = false, .rate = 1.0}};
    live.fs.step_time = 400ms;
    live.start();
    const int fd = open((live.path + "/f").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    SECTION("of a file") {
        CHECK(error_of_waiting(live, [&] { return fsync(fd); }) == EROFS);
    }
    SECTION("of everything") {
        CHECK(error_of_waiting(live, [&] {
                  const auto synced = live.mount->sync_all();
                  errno = synced ? 0 : synced.error().error_number;
                  return synced ? 0 : -1;
              }) == EROFS);
    }
    live.meet_workers();
    CHECK(live.fs.resumed_at.empty());
    close(fd);
    live.mount->stop();
    CHECK(live.wait() == MountEnd::broken);
}

TEST_CASE("a contract broken by background work that was asked for ends such work, not the process", "[fuse][mount]") {
    if (!can_mount()) return;
    LiveMount live;
    live.start();
    const auto rest = live.mount->run_background();
    REQUIRE(rest.has_value());
    CHECK(*rest <= 50ms);
    live.mount->with_monitor([&](SimTime) { live.fs.break_contract_on_tick = true; });
    CHECK(live.mount->run_background().error() == FsError{EROFS});
    unsigned ticks = 0;
    live.mount->with_monitor([&](SimTime) { ticks = live.fs.ticks; });
    CHECK(live.mount->run_background().error() == FsError{EROFS});
    live.mount->with_monitor([&](SimTime) { CHECK(live.fs.ticks == ticks); });
    live.mount->stop();
    CHECK(live.wait() == MountEnd::broken);
}
