#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/drive/drive_files.h"

namespace flashlab {
namespace {

std::unexpected<std::string> host_refusal(const std::string& to) { return std::unexpected(fmt::format("{}: {}", to, std::strerror(errno))); }

/// A name that can only mean an entry of its own folder.
bool is_plain(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

void keep_times(const std::string& to, const Attributes& attributes) {
    const timespec times[2] = {{attributes.accessed.seconds, attributes.accessed.nanoseconds},
                               {attributes.modified.seconds, attributes.modified.nanoseconds}};
    (void)!::utimensat(AT_FDCWD, to.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

std::expected<void, std::string> copy_file(DriveFiles& drive, const DriveEntry& entry, const std::string& path, const std::string& to) {
    const int file = ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return host_refusal(to);
    std::uint64_t length = 0;
    auto done = drive.read(
        entry, path,
        [&](std::span<const std::byte> data) -> std::expected<void, std::string> {
            for (std::size_t at = 0; at < data.size();) {
                const ssize_t written = ::pwrite(file, data.data() + at, data.size() - at, static_cast<off_t>(length + at));
                if (written < 0 && errno == EINTR) continue;
                if (written <= 0) return host_refusal(to);
                at += static_cast<std::size_t>(written);
            }
            length += data.size();
            return {};
        },
        [&](std::uint64_t hole) -> std::expected<void, std::string> {
            length += hole;
            return {};
        });
    if (done && ::ftruncate(file, static_cast<off_t>(length)) != 0) done = host_refusal(to); // it may end with a hole
    (void)!::fchmod(file, entry.attributes.mode & 0777);                                     // whose suid it would be is another's
    if (::close(file) != 0 && done) done = host_refusal(to);
    if (!done) ::unlink(to.c_str()); // half a file passes for a whole one
    return done;
}

} // namespace

std::expected<std::uint64_t, std::string> copy_out(DriveFiles& drive, const DriveEntry& entry, const std::string& path, const std::string& to,
                                                   const std::function<void(const std::string&)>& complain) {
    std::uint64_t made = 1;
    if (S_ISREG(entry.attributes.mode)) {
        if (auto done = copy_file(drive, entry, path, to); !done) return std::unexpected(done.error());
    } else if (S_ISLNK(entry.attributes.mode)) {
        if (::symlink(entry.target.c_str(), to.c_str()) != 0) return host_refusal(to);
    } else if (S_ISDIR(entry.attributes.mode)) {
        if (::mkdir(to.c_str(), 0700) != 0) return host_refusal(to);
        const auto entries = drive.list(entry, path);
        if (!entries) return std::unexpected(entries.error());
        for (const DriveEntry& inner : *entries) {
            const std::string name = path + (path.ends_with('/') ? "" : "/") + inner.name;
            if (!is_plain(inner.name)) return std::unexpected(fmt::format("{}: not copied, since the host allows no such name", name));
            const auto more = copy_out(drive, inner, name, to + "/" + inner.name, complain);
            if (!more) return more;
            made += *more;
        }
        (void)!::chmod(to.c_str(), entry.attributes.mode & 0777);
    } else {
        complain(fmt::format("{}: a device, pipe or socket is not copied", path));
        return 0;
    }
    keep_times(to, entry.attributes);
    return made;
}

} // namespace flashlab
