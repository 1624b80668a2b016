/// The owner's line to a live mount: one JSON line in, one JSON line out, over a Unix socket.
///
/// Idea       A single thread polls the listener and its clients and calls the handler. A client must be the owner of the device directory; read
///            access to the directory is not enough.
/// Invariant  The socket has mode 0600 before anybody can connect to it. A peer of another user, except root, is hung up on.
/// Cost       Nothing on the request path: its own thread, asleep in poll.
/// Power cut  The socket goes with the mount. A socket file left by kill -9 is recognised as dead and replaced.
/// Threading  The handler runs on the socket's thread, one request at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "fs/fuse/mount.h"

namespace flashlab {

class ControlSocket {
public:
    /// The error is a whole sentence with the remedy.
    [[nodiscard]] static std::expected<std::unique_ptr<ControlSocket>, std::string> make(const std::string& path, ControlHandler handler);
    ~ControlSocket();
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

    void start();
    /// Ends the thread after the request it is answering and removes the socket.
    void stop();

private:
    struct Client {
        int fd;
        std::string received;
    };
    ControlSocket(const std::string& path, ControlHandler handler, int listener, int wake);
    void loop();
    void accept_client();
    /// False: hang up on the client.
    [[nodiscard]] bool serve(Client& client);

    int folder_;         ///< where the socket file lies, wherever that is moved
    std::string name_;   ///< of the socket file
    std::uint64_t file_; ///< its inode number: another mount's may lie there
    ControlHandler handler_;
    int listener_;
    int wake_;
    std::vector<Client> clients_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

/// The process that listens there. 0: nobody, too many wait there, or the kernel does not show it here.
[[nodiscard]] pid_t listener_of(const std::string& path);

/// Client side: sends one line and returns the answer without its newline. The error says why nobody answered. With a `patience` the call fails after
/// that time, when the daemon is stopped or too busy. Without one the caller waits as long as the work takes.
[[nodiscard]] std::expected<std::string, std::string> ask_control_socket(const std::string& path, std::string_view request,
                                                                         std::optional<std::chrono::milliseconds> patience = std::nullopt);

} // namespace flashlab
