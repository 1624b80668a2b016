#include "tools/host/private_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace flashlab {
namespace {

std::optional<struct stat> other_owner_of(const std::string& folder) {
    struct stat owner {};
    if (::geteuid() != 0 || ::stat(folder.c_str(), &owner) != 0 || owner.st_uid == 0) return std::nullopt;
    return owner;
}

void give(int file, const struct stat& owner, const std::string& path) {
    struct stat now {};
    if (::fstat(file, &now) != 0 || now.st_uid != 0) return;
    if (!S_ISDIR(now.st_mode) && now.st_nlink != 1) return;
    std::error_code ended;
    if (S_ISDIR(now.st_mode))
        for (const auto& entry : std::filesystem::directory_iterator{path, ended}) {
            const int inside = ::open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
            if (inside < 0) continue;
            give(inside, owner, entry.path());
            ::close(inside);
        }
    (void)!::fchown(file, owner.st_uid, owner.st_gid); // a host that admits it to nobody is no reason to stop
}

} // namespace

void give_to_owner_of_folder(int file, const std::string& path) {
    if (const auto owner = other_owner_of(std::filesystem::path{path}.parent_path())) give(file, *owner, path);
}

void give_folder_to_owner_of(const std::string& above, const std::string& path) {
    const auto owner = other_owner_of(above);
    if (!owner) return;
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    give(folder, *owner, path);
    ::close(folder);
}

std::expected<void, std::string> write_private_file(const std::string& path, const std::string& text) {
    const auto failed = [&](int error) { return std::unexpected(fmt::format("{}: {}", path, std::strerror(error))); };
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed(errno);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return failed(errno);
    give_to_owner_of_folder(file, path);
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
