#include "tools/live/promise_pipe.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace flashlab {

std::expected<std::unique_ptr<PromisePipe>, std::string> PromisePipe::open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(std::string{std::strerror(errno)});
    (void)::fcntl(ends[1], F_SETFD, 0); // inherited
    (void)::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    return std::unique_ptr<PromisePipe>{new PromisePipe{ends[0], ends[1]}};
}

PromisePipe::~PromisePipe() {
    end();
    for (const int fd : {from_, to_}) ::close(fd);
}

void PromisePipe::read_until_ended() {
    std::array<char, 65'536> bytes{};
    while (!ends_) { // a program that outlives the cut may keep the pipe open
        pollfd more{from_, POLLIN, 0};
        if (::poll(&more, 1, 20) <= 0) continue;
        const ssize_t got = ::read(from_, bytes.data(), bytes.size());
        if (got <= 0) continue;
        text_.append(bytes.data(), static_cast<std::size_t>(got));
        pieces_.push_back({text_.size(), std::chrono::steady_clock::now()}); // later than it was written
    }
}

void PromisePipe::end() {
    ends_ = true;
    if (reader_.joinable()) reader_.join();
}

std::string PromisePipe::before(Time until) {
    end();
    std::size_t bytes = 0;
    for (const Piece& piece : pieces_)
        if (piece.read < until) bytes = piece.end;
    const std::string text = text_.substr(0, bytes);
    return text.substr(0, text.rfind('\n') + 1); // npos + 1 is 0: no line is whole
}

} // namespace flashlab
