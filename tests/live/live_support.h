/// What the programs of the live tests share: they run on a mounted directory as any application would and know nothing of FlashLab's inside.
///
/// Idea       Content is a pure function of (seed, what, number), so that a checker needs no copy of what was written.
/// Invariant  A failed system call ends the program with its name, the path and errno on stderr.
/// Cost       -
/// Power cut  Calls then fail with EIO or ENOTCONN: `device_gone` tells that from a fault.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"

namespace live {

using flashlab::Random;

[[noreturn]] inline void fail(const std::string& what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
}
[[noreturn]] inline void fail_errno(const std::string& call, const std::string& path) { fail(call + " " + path + ": " + std::strerror(errno)); }

/// How calls end once the power is gone or the daemon was killed.
inline bool device_gone() { return errno == EIO || errno == ENOTCONN || errno == ENODEV || errno == ECONNABORTED || errno == ESHUTDOWN; }

inline std::uint64_t number_argument(const char* text) {
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(text, &end, 10);
    if (end == text || *end != '\0') {
        fail(std::string{"not a number: "} + text);
    }
    return value;
}

inline void fill(std::span<unsigned char> bytes, std::uint64_t seed) {
    Random random{seed};
    std::size_t at = 0;
    while (at < bytes.size()) {
        const std::uint64_t word = random.next();
        const std::size_t step = std::min<std::size_t>(sizeof word, bytes.size() - at);
        std::memcpy(bytes.data() + at, &word, step);
        at += step;
    }
}

inline bool write_all(int fd, std::span<const unsigned char> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

inline std::vector<unsigned char> read_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fail_errno("open", path);
    }
    std::vector<unsigned char> bytes;
    std::vector<unsigned char> piece(1U << 20U);
    ssize_t got = 0;
    while ((got = ::read(fd, piece.data(), piece.size())) > 0) {
        bytes.insert(bytes.end(), piece.begin(), piece.begin() + got);
    }
    if (got < 0) {
        fail_errno("read", path);
    }
    ::close(fd);
    return bytes;
}

} // namespace live
