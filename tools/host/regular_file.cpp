#include "tools/host/regular_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "base/file_kind.h"
#include "tools/text/sizes.h"

namespace flashlab {

std::expected<std::string, std::string> read_regular_file(const std::string& path, std::size_t largest) {
    constexpr std::size_t piece = 64 * 1024;
    const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.get() < 0) return std::unexpected(std::string{std::strerror(errno)});
    if (const char* kind = irregular_kind(file.get())) return std::unexpected(fmt::format("is {}, no regular file", kind));
    std::string text;
    for (;;) {
        const std::size_t have = text.size();
        text.resize(have + piece);
        const ssize_t got = ::read(file.get(), text.data() + have, piece);
        text.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got == 0) return text;
        if (got < 0 && errno != EINTR) return std::unexpected(std::string{std::strerror(errno)});
        if (text.size() > largest) return std::unexpected(fmt::format("is larger than {}", format_size(largest)));
    }
}

std::expected<void, std::string> check_regular_or_missing(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return {};
    return std::unexpected(fmt::format("{}: is {}, no regular file", path, file_kind(status.st_mode)));
}

} // namespace flashlab
