#include "tools/drive/device_copy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_kind.h"
#include "base/host_io_error.h"
#include "base/whole_file_lock.h"
#include "nand/image_layout.h"
#include "pram/pram_image_header.h"
#include "tools/drive/config_file.h"
#include "tools/drive/device_directory.h"
#include "tools/host/interruption.h"
#include "tools/host/private_file.h"
#include "tools/host/unfinished_directory.h"

namespace flashlab {
namespace {

namespace files = std::filesystem;

constexpr std::array<const char*, 2> images{"nand.img", "pram.img"};
constexpr std::array<const char*, 2> texts{"device.toml", "counters.json"};
constexpr const char* snapshots = "snapshots";

std::unexpected<std::string> refused(const files::path& path, int error_number) {
    return std::unexpected(fmt::format("{}: {}{}", path.string(), std::strerror(error_number), host_remedy(error_number)));
}

class File {
public:
    File(const files::path& path, int flags) : path_{path}, fd_{::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0600)}, open_error_{errno} {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int fd() const { return fd_; }
    [[nodiscard]] const files::path& path() const { return path_; }
    [[nodiscard]] bool is_open() const { return fd_ >= 0; }
    [[nodiscard]] std::unexpected<std::string> failed() const { return refused(path_, is_open() ? errno : open_error_); }

private:
    files::path path_;
    int fd_, open_error_;
};

std::expected<void, std::string> lock_against_writers(const File& image, const files::path& directory) {
    errno = lock_whole_file(image.fd(), WholeFileLock::shared);
    if (errno == 0) return {};
    if (is_held_elsewhere(errno)) return std::unexpected(said_in_use(directory.string()));
    return image.failed();
}

/// Whether a copy may share disk space with its original until one of the two is written. pram.img may not: it is written through a memory mapping.
/// If the host then has no room to separate the shared extents, it kills the daemon by SIGBUS. copy_file_range(2) may share extents, too.
enum class Extents : std::uint8_t { shared, own };

std::expected<std::uint64_t, std::string> copy_range(const File& from, const File& to, off_t begin, off_t end, Extents extents) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    constexpr std::size_t most_at_once = std::size_t{64} << 20; ///< of the kernel's own copying, so that a signal is seen
    std::uint64_t copied = 0;
    std::vector<char> buffer(extents == Extents::own ? piece : 0);
    while (begin < end) {
        if (Interruption::came()) return std::unexpected(std::string{"interrupted: no copy is made"});
        off_t in = begin, out = begin;
        ssize_t n =
            buffer.empty() ? ::copy_file_range(from.fd(), &in, to.fd(), &out, std::min(static_cast<std::size_t>(end - begin), most_at_once), 0) : -1;
        if (n < 0 && buffer.empty() && (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS)) buffer.resize(piece);
        if (n < 0 && !buffer.empty()) {
            n = ::pread(from.fd(), buffer.data(), std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(end - begin)), begin);
            if (n < 0) return from.failed();
            n = ::pwrite(to.fd(), buffer.data(), static_cast<std::size_t>(n), begin);
        }
        if (n < 0) return to.failed();
        if (n == 0) break;
        begin += n;
        copied += static_cast<std::uint64_t>(n);
    }
    return copied;
}

std::expected<void, std::string> copy_file(const File& from, const File& to, Extents extents, CopiedDevice& report) {
    struct stat status {};
    if (::fstat(from.fd(), &status) != 0) return from.failed();
    report.file_bytes += static_cast<std::uint64_t>(status.st_size);
    if (extents == Extents::shared) {
        if (::ioctl(to.fd(), FICLONE, from.fd()) == 0) return {};
        report.reflinked = false;
    }
    if (::ftruncate(to.fd(), status.st_size) != 0) return to.failed();
    for (off_t at = 0; at < status.st_size;) {
        const off_t data = ::lseek(from.fd(), at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) return {};
        if (data < 0) return from.failed();
        const off_t hole = ::lseek(from.fd(), data, SEEK_HOLE);
        if (hole < 0) return from.failed();
        const auto copied = copy_range(from, to, data, hole, extents);
        if (!copied) return std::unexpected(copied.error());
        report.copied_bytes += *copied;
        at = hole;
    }
    return {};
}

/// Header of one image, with another identity.
template <class Header>
std::expected<void, std::string> give_identity(const files::path& path, const Uuid& uuid) {
    const File file{path, O_RDWR};
    std::array<std::byte, Header::encoded_size> raw{};
    if (!file.is_open() || ::pread(file.fd(), raw.data(), raw.size(), 0) != static_cast<ssize_t>(raw.size())) return file.failed();
    auto header = Header::decode(raw);
    if (!header) return std::unexpected(fmt::format("{}: its header is damaged", path.string()));
    header->uuid = uuid;
    header->encode(raw);
    if (::pwrite(file.fd(), raw.data(), raw.size(), 0) != static_cast<ssize_t>(raw.size())) return file.failed();
    return {};
}

enum class Identity : std::uint8_t { kept, fresh };

std::expected<CopiedDevice, std::string> copy_into(const files::path& from, const files::path& to, Identity identity) {
    CopiedDevice report{.directory = to.string(), .reflinked = true};
    const File nand{from / images[0], O_RDONLY}, pram{from / images[1], O_RDONLY};
    for (const File* image : {&nand, &pram}) {
        if (!image->is_open()) return image->failed();
        if (const char* kind = irregular_kind(image->fd()))
            return std::unexpected(fmt::format("{}: is {}, no image; put the image back, or restore it from a copy", image->path().string(), kind));
        if (auto locked = lock_against_writers(*image, from); !locked) return std::unexpected(locked.error());
    }
    for (const auto& [image, name, extents] : {std::tuple{&nand, images[0], Extents::shared}, std::tuple{&pram, images[1], Extents::own}}) {
        const File copy{to / name, O_RDWR | O_CREAT | O_EXCL};
        if (!copy.is_open()) return copy.failed();
        if (auto copied = copy_file(*image, copy, extents, report); !copied) return std::unexpected(copied.error());
    }
    for (const char* name : texts) {
        std::error_code error;
        if (files::is_regular_file(from / name, error)) files::copy_file(from / name, to / name, error);
        if (error) return refused(to / name, error.value());
    }
    if (identity == Identity::kept) return report;
    Uuid uuid{};
    if (::getrandom(uuid.data(), uuid.size(), 0) != static_cast<ssize_t>(uuid.size()))
        return std::unexpected(fmt::format("no identity for {}: {}", to.string(), std::strerror(errno)));
    if (auto given = give_identity<ImageHeader>(to / images[0], uuid); !given) return std::unexpected(given.error());
    if (auto given = give_identity<PramImageHeader>(to / images[1], uuid); !given) return std::unexpected(given.error());
    return report;
}

std::expected<CopiedDevice, std::string> copy_device(const files::path& from, const files::path& to, Identity identity) {
    if (auto config = read_device_toml(from.string()); !config) return std::unexpected(config.error());
    const files::path building = to.string() + fmt::format(".copying-{}", ::getpid());
    std::error_code error;
    if (!files::create_directory(building, error))
        return error ? refused(to, error.value()) : std::unexpected(fmt::format("{}: a copy is being made", to.string()));
    files::permissions(building, files::perms::owner_all, error);
    UnfinishedDirectory unfinished{building};
    auto copied = copy_into(from, building, identity);
    if (!copied) return copied;
    files::rename(building, to, error); // over an empty directory, too
    if (error) return refused(to, error.value());
    unfinished.keep();
    copied->directory = to.string();
    return copied;
}

std::string without_slash(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

} // namespace

std::expected<void, std::string> check_snapshot_name(const std::string& name) {
    constexpr std::size_t longest = 64;
    const bool good = !name.empty() && name.size() <= longest && name.front() != '.' && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    });
    if (good) return {};
    return std::unexpected(
        fmt::format("'{}' is no name of a snapshot: 1 to {} letters, digits, '.', '-', '_', not beginning with '.'", name, longest));
}

std::string directory_of_device(const std::string& device) {
    std::error_code ignored;
    const std::size_t at = device.rfind('@');
    if (at == std::string::npos || files::exists(device, ignored)) return without_slash(device);
    return (files::path{without_slash(device.substr(0, at))} / snapshots / device.substr(at + 1)).string();
}

std::expected<CopiedDevice, std::string> take_snapshot(const std::string& directory, const std::string& name) {
    if (auto good = check_snapshot_name(name); !good) return std::unexpected(good.error());
    const files::path device{without_slash(directory)};
    if (auto config = read_device_toml(device.string()); !config) return std::unexpected(config.error());
    std::error_code error;
    if (files::exists(device / snapshots / name, error))
        return std::unexpected(fmt::format("{}: has a snapshot '{}' already; delete it first: flashlab snapshot --delete {} {}", device.string(),
                                           name, device.string(), name));
    files::create_directories(device / snapshots, error);
    if (error) return refused(device / snapshots, error.value());
    auto copied = copy_device(device, device / snapshots / name, Identity::kept);
    if (!copied) {
        ::rmdir((device / snapshots).c_str()); // where nothing else is in it
        return copied;
    }
    give_folder_to_owner_of(device.string(), (device / snapshots).string());
    return copied;
}

std::expected<std::vector<std::string>, std::string> list_snapshots(const std::string& directory) {
    const files::path device{without_slash(directory)};
    if (auto config = read_device_toml(device.string()); !config) return std::unexpected(config.error());
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : files::directory_iterator{device / snapshots, error})
        if (files::exists(entry.path() / "device.toml") && check_snapshot_name(entry.path().filename().string()) &&
            entry.path().string().find(".copying-") == std::string::npos)
            names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

std::expected<void, std::string> delete_snapshot(const std::string& directory, const std::string& name) {
    if (auto good = check_snapshot_name(name); !good) return good;
    const auto names = list_snapshots(directory);
    if (!names) return std::unexpected(names.error());
    if (std::ranges::find(*names, name) == names->end()) return std::unexpected(fmt::format("{}: has no snapshot '{}'", directory, name));
    const files::path path = files::path{without_slash(directory)} / snapshots / name;
    for (const char* image : images) {
        const File file{path / image, O_RDWR};
        if (file.is_open() && lock_whole_file(file.fd(), WholeFileLock::exclusive) != 0)
            return std::unexpected(fmt::format("{}: is in use; unmount it first", path.string()));
    }
    std::error_code error;
    files::remove_all(path, error);
    if (error) return refused(path, error.value());
    files::remove(path.parent_path(), error); // if it was the last one
    return {};
}

std::expected<CopiedDevice, std::string> clone_device(const std::string& from, const std::string& to) {
    const files::path target{without_slash(to)};
    std::error_code error;
    if (const std::size_t at = from.rfind('@'); at != std::string::npos && !files::exists(from, error))
        if (auto good = check_snapshot_name(from.substr(at + 1)); !good) return std::unexpected(good.error());
    if (files::exists(target, error) && !(files::is_directory(target, error) && files::is_empty(target, error)))
        return std::unexpected(fmt::format("{}: exists and is not an empty directory; name a new one", target.string()));
    return copy_device(directory_of_device(from), target, Identity::fresh);
}

} // namespace flashlab
