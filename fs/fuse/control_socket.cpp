#include "fs/fuse/control_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace flashlab {

namespace {

constexpr std::size_t longest_line = 1u << 20;
constexpr int waiting_clients = 16;

void limit_wait(int fd, std::chrono::milliseconds patience) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
    timeval wait{};
    wait.tv_sec = seconds.count();
    wait.tv_usec = std::chrono::microseconds{patience - seconds}.count();
    for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO}) (void)setsockopt(fd, SOL_SOCKET, direction, &wait, sizeof wait); // connecting waits, too
}

/// The process that listens at the other end; 0: not known here.
pid_t listener_at(int fd) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? std::max<pid_t>(peer.pid, 0) : 0;
}

/// The same, if a signal has stopped it; 0: it runs, or is not known.
pid_t stopped_listener(int fd) {
    const pid_t peer = listener_at(fd);
    std::ifstream in{fmt::format("/proc/{}/stat", peer)};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    const std::size_t name_end = text.rfind(") ");
    return name_end != std::string::npos && text.substr(name_end + 2, 1) == "T" ? peer : 0;
}

std::expected<sockaddr_un, std::string> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        return std::unexpected(
            fmt::format("control socket {}: a Unix socket's path must be shorter than {} bytes: use a device directory with a shorter path", path,
                        sizeof address.sun_path));
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

/// True: a process listens on the socket, so that its path must not be taken over.
bool is_alive(const sockaddr_un& address) {
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return false;
    const bool alive = connect(probe, generic(address), sizeof address) == 0;
    close(probe);
    return alive;
}

/// The inode number of the file of that name; 0 when there is none.
std::uint64_t inode_at(int folder, const std::string& name) {
    struct stat status {};
    return fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : 0;
}

int open_folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path{path}.parent_path();
    return open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::expected<int, std::string> listen_at(const std::string& path) {
    const auto address = address_of(path);
    if (!address) return std::unexpected(address.error());
    struct stat existing {};
    if (lstat(path.c_str(), &existing) == 0) {
        if (!S_ISSOCK(existing.st_mode))
            return std::unexpected(fmt::format("control socket {}: a file that is no socket is in the way: remove it", path));
        if (is_alive(*address))
            return std::unexpected(fmt::format("control socket {}: a live mount of this device answers there: unmount it first", path));
        unlink(path.c_str());
    }
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // fchmod before bind: the socket file is born with its final mode.
    if (fd >= 0 && fchmod(fd, 0600) == 0 && bind(fd, generic(*address), sizeof *address) == 0 && listen(fd, waiting_clients) == 0) return fd;
    const std::string why = std::strerror(errno);
    if (fd >= 0) close(fd);
    return std::unexpected(
        fmt::format("control socket {}: {}: the device directory must be writable by you and on a file system with Unix sockets", path, why));
}

} // namespace

std::expected<std::unique_ptr<ControlSocket>, std::string> ControlSocket::make(const std::string& path, ControlHandler handler) {
    const auto listener = listen_at(path);
    if (!listener) return std::unexpected(listener.error());
    const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) {
        const std::string why = std::strerror(errno);
        close(*listener);
        unlink(path.c_str());
        return std::unexpected(fmt::format("control socket {}: {}: raise the limit of open files (ulimit -n)", path, why));
    }
    return std::unique_ptr<ControlSocket>{new ControlSocket{path, std::move(handler), *listener, wake}};
}

ControlSocket::ControlSocket(const std::string& path, ControlHandler handler, int listener, int wake)
    : folder_{open_folder_of(path)}, name_{std::filesystem::path{path}.filename()}, file_{inode_at(folder_, name_)}, handler_{std::move(handler)},
      listener_{listener}, wake_{wake} {}

ControlSocket::~ControlSocket() {
    stop();
    close(listener_);
    close(wake_);
    close(folder_);
}

void ControlSocket::start() {
    thread_ = std::thread{[this] { loop(); }};
}

void ControlSocket::stop() {
    if (stopping_.exchange(true)) return;
    if (file_ != 0 && inode_at(folder_, name_) == file_) unlinkat(folder_, name_.c_str(), 0);
    eventfd_write(wake_, 1);
    if (thread_.joinable()) thread_.join();
    for (const Client& client : clients_) close(client.fd);
    clients_.clear();
}

void ControlSocket::accept_client() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == 0 || peer.uid == geteuid());
    const timeval patience{.tv_sec = 10, .tv_usec = 0}; // a client that does not read must not hold up the next one for ever
    if (known && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0) {
        clients_.push_back({fd, {}});
    } else {
        close(fd);
    }
}

bool ControlSocket::serve(Client& client) {
    char bytes[4096];
    const ssize_t got = recv(client.fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) return false;
    client.received.append(bytes, static_cast<std::size_t>(got));
    if (client.received.size() > longest_line) return false;
    for (std::size_t end = client.received.find('\n'); end != std::string::npos; end = client.received.find('\n')) {
        std::string answer;
        try {
            answer = handler_(std::string_view{client.received}.substr(0, end));
        } catch (const std::exception& escaped) {
            std::fprintf(stderr, "flashlab: control request failed: %s\n", escaped.what());
            return false; // the handler answers its own errors; what escapes it is a defect
        }
        answer += '\n';
        if (!send_all(client.fd, answer)) return false;
        client.received.erase(0, end + 1);
    }
    return true;
}

void ControlSocket::loop() {
    std::vector<pollfd> watched;
    while (!stopping_) {
        watched.assign({{.fd = wake_, .events = POLLIN, .revents = 0}, {.fd = listener_, .events = POLLIN, .revents = 0}});
        for (const Client& client : clients_) watched.push_back({.fd = client.fd, .events = POLLIN, .revents = 0});
        if (poll(watched.data(), watched.size(), -1) < 0) continue; // EINTR
        for (std::size_t index = clients_.size(); index-- > 0;) {
            if (watched[index + 2].revents == 0 || serve(clients_[index])) continue;
            close(clients_[index].fd);
            clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(index));
        }
        if (watched[1].revents != 0) accept_client();
    }
}

pid_t listener_of(const std::string& path) {
    const auto address = address_of(path);
    if (!address) return 0;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const pid_t listener = fd >= 0 && connect(fd, generic(*address), sizeof *address) == 0 ? listener_at(fd) : 0;
    if (fd >= 0) close(fd);
    return listener;
}

std::expected<std::string, std::string> ask_control_socket(const std::string& path, std::string_view request,
                                                           std::optional<std::chrono::milliseconds> patience) {
    const auto address = address_of(path);
    if (!address) return std::unexpected(address.error());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return std::unexpected(fmt::format("control socket {}: {}", path, std::strerror(errno)));
    if (patience) limit_wait(fd, *patience);
    if (connect(fd, generic(*address), sizeof *address) != 0) {
        const std::string why = errno == EAGAIN ? "too many others wait there" : std::strerror(errno);
        close(fd);
        return std::unexpected(fmt::format("control socket {}: {}: is the device mounted, and by you?", path, why));
    }
    std::string line{request};
    line += '\n';
    std::string answer;
    bool sound = send_all(fd, line);
    bool is_late = false;
    char bytes[4096];
    while (sound && !answer.ends_with('\n')) {
        const ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        is_late = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (got <= 0)
            sound = false;
        else
            answer.append(bytes, static_cast<std::size_t>(got));
    }
    const double waited_s = patience ? std::chrono::duration<double>{*patience}.count() : 0;
    const pid_t stopped = is_late ? stopped_listener(fd) : 0;
    close(fd);
    if (stopped != 0)
        return std::unexpected(fmt::format("no answer within {} s: its daemon is stopped; kill -CONT {} lets it go on", waited_s, stopped));
    if (is_late) return std::unexpected(fmt::format("no answer within {} s: its daemon is stopped or very busy; try again", waited_s));
    if (!sound) return std::unexpected(fmt::format("control socket {}: the mount hung up without an answer", path));
    answer.pop_back();
    return answer;
}

} // namespace flashlab
