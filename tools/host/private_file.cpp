#include "tools/host/private_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace flashlab {

std::expected<void, std::string> write_private_file(const std::string& path, const std::string& text) {
    const auto failed = [&](int error) { return std::unexpected(fmt::format("{}: {}", path, std::strerror(error))); };
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed(errno);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return failed(errno);
    int error = 0;
    for (std::size_t at = 0; at < text.size() && error == 0;) {
        const ssize_t n = ::write(file, text.data() + at, text.size() - at);
        if (n > 0)
            at += static_cast<std::size_t>(n);
        else if (n == 0 || errno != EINTR)
            error = n == 0 ? ENOSPC : errno;
    }
    if (::close(file) != 0 && error == 0) error = errno;
    if (error != 0) return failed(error);
    return {};
}

} // namespace flashlab
