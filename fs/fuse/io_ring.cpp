#include "fs/fuse/io_ring.h"

#include <chrono>
#include <thread>

#include <pthread.h>
#include <sys/xattr.h>

#include <fmt/format.h>

namespace flashlab {

#ifdef FLASHLAB_FUSE_IO_URING

namespace {

constexpr int questions = 50; ///< the kernel uses the rings when the last one is registered, a moment after INIT
constexpr auto between_questions = std::chrono::milliseconds{2};
constexpr const char* requests_in_a_ring = "io_uring_q_depth=16";

} // namespace

std::string IoRing::session_options() { return fmt::format(",io_uring,{}", requests_in_a_ring); }

bool IoRing::has(fuse_req_t request) { return fuse_req_is_uring(request); }

void IoRing::negotiate(fuse_conn_info* connection) {
    constexpr auto wanted = static_cast<unsigned>(FUSE_CAP_OVER_IO_URING);
    offered_ = (connection->capable & wanted) != 0;
    if (asked_) connection->want |= connection->capable & wanted;
}

/// libfuse ends these threads by pthread_cancel, which would end the process if it came while a handler of ours waits for something: the threads also
/// end by themselves, and a moment later.
void IoRing::note_thread(fuse_req_t request) {
    if (!fuse_req_is_uring(request)) return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    serves_ = true;
}

void IoRing::look(const std::string& mount_point) {
    for (int question = 0; asked_ && offered_ && !serves() && question < questions; ++question) {
        char nothing = 0;
        static_cast<void>(getxattr(mount_point.c_str(), "security.capability", &nothing, sizeof nothing));
        if (!serves()) std::this_thread::sleep_for(between_questions);
    }
}

std::string IoRing::why_not() const {
    if (!asked_ || serves()) return {};
    if (!offered_)
        return "the kernel does not offer it: Linux 6.14 and later do, if /sys/module/fuse/parameters/enable_uring says Y (root: echo Y > that file)";
    return "libfuse could not start it: it was built without liburing (Debian's is), or this process may not use io_uring";
}

/// libfuse ends its rings at the end of its own loop, and nowhere else. The loop of a session that was told to exit does nothing but that.
void IoRing::end(fuse_session* session) {
    if (!offered_ || !asked_ || ended_) return;
    ended_ = true;
    fuse_session_exit(session);
    static_cast<void>(fuse_session_loop(session));
}

#else

std::string IoRing::session_options() { return {}; }
bool IoRing::has(fuse_req_t) { return false; }
void IoRing::negotiate(fuse_conn_info*) {}
void IoRing::note_thread(fuse_req_t) {}
void IoRing::look(const std::string&) {}
void IoRing::end(fuse_session*) {}
std::string IoRing::why_not() const {
    return !asked_
               ? std::string{}
               : fmt::format("this flashlab was built with libfuse {}.{}, and libfuse has it from 3.18 on", FUSE_MAJOR_VERSION, FUSE_MINOR_VERSION);
}

#endif

} // namespace flashlab
