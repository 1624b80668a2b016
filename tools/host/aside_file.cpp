#include "tools/host/aside_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/host/new_name.h"

namespace flashlab {
namespace {

namespace files = std::filesystem;

std::unexpected<std::string> refusal(const std::string& path, int why) {
    const char* remedy = why == ENOENT   ? "; its folder is not there: make it, or name another place"
                         : why == EEXIST ? "; name another file, or move this one away"
                         : why == EISDIR ? "; name a file in it"
                         : why == ENOSPC ? "; make room there, or name another place"
                                         : "";
    return std::unexpected(fmt::format("{}: {}{}", path, std::strerror(why), remedy));
}

/// Follows symbolic links to the file that would be written. For a link to nothing it returns the name that the link points to.
std::expected<files::path, int> written_by(files::path path) {
    std::error_code error;
    for (int links = 0; files::is_symlink(files::symlink_status(path, error)); ++links) {
        if (links == 40) return std::unexpected(ELOOP);
        const files::path to = files::read_symlink(path, error);
        if (error) return std::unexpected(error.value());
        path = to.is_absolute() ? to : path.parent_path() / to;
    }
    return path;
}

bool is_same_file(const struct stat& a, const std::string& path) {
    struct stat b {};
    return ::stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_database(const std::string& path) {
    constexpr std::string_view magic{"SQLite format 3\0", 16};
    std::string begin(magic.size(), ' ');
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) return false;
    const std::size_t got = std::fread(begin.data(), 1, begin.size(), file);
    std::fclose(file);
    return got == magic.size() && begin == magic;
}

/// A drive is a folder with device.toml; these are its files.
bool is_of_a_drive(const files::path& path) {
    static constexpr std::array names{"device.toml", "nand.img", "pram.img", "events.db", "mount.log", "replay.data", "counters.json"};
    std::error_code ignored;
    return std::ranges::find(names, path.filename().string()) != names.end() && files::exists(path.parent_path() / "device.toml", ignored) &&
           files::exists(path.parent_path() / "nand.img", ignored);
}

/// Why the file that is there must stay; empty: it may be replaced.
std::string why_it_stays(const files::path& path, const struct stat& there, AsideFile::Existing existing, const std::vector<std::string>& inputs) {
    if (existing != AsideFile::Existing::replaced_database) { // that caller knows what it reads and replaces
        if (std::ranges::any_of(inputs, [&](const std::string& input) { return is_same_file(there, input); }))
            return "is read for what it would hold";
        if (is_database(path)) return "is a database";
    }
    return is_of_a_drive(path) ? "belongs to a drive" : "";
}

} // namespace

std::expected<AsideFile, std::string> AsideFile::make(const std::string& name, Existing existing, const std::vector<std::string>& inputs) {
    if (name.empty()) return std::unexpected(std::string{"a file without a name cannot be written"});
    struct stat there {};
    if (::stat(name.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) // /dev/stdout may be a link to no name at all
        return AsideFile{name, name, existing};
    const auto resolved = written_by(name);
    if (!resolved) return refusal(name, resolved.error());
    const std::string target = resolved->string();
    const bool is_there = ::stat(target.c_str(), &there) == 0;
    if (is_there && S_ISDIR(there.st_mode)) return refusal(name, EISDIR);
    if (is_there && existing == Existing::refused) return refusal(name, EEXIST);
    if (is_there)
        if (const std::string why = why_it_stays(*resolved, there, existing, inputs); !why.empty())
            return std::unexpected(fmt::format("{}: {}, and is not replaced; name another file", name, why));
    if (is_there && ::access(target.c_str(), W_OK) != 0) return refusal(name, errno);
    std::string path;
    int made = -1;
    for (int n = 0; n < 100 && made < 0; ++n) { // an earlier process with our PID may have been killed and have left this name
        path = fmt::format("{}.unfinished-{}{}", target, ::getpid(), n == 0 ? "" : fmt::format("-{}", n));
        made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (made < 0 && errno != EEXIST) break;
    }
    if (made < 0) return refusal(name, errno);
    if (is_there && ::fchmod(made, there.st_mode & 07777) != 0 && errno != EPERM) {
        const int why = errno;
        ::close(made);
        ::unlink(path.c_str());
        return refusal(name, why);
    }
    ::close(made);
    return AsideFile{target, path, existing};
}

AsideFile::AsideFile(AsideFile&& other) noexcept
    : target_{std::move(other.target_)}, path_{std::move(other.path_)}, existing_{other.existing_}, stream_{std::exchange(other.stream_, nullptr)},
      gone_{std::exchange(other.gone_, true)} {}

AsideFile::~AsideFile() {
    if (stream_ != nullptr) std::fclose(stream_);
    if (gone_ || !is_aside()) return;
    for (const char* beside : {"", "-wal", "-shm", "-journal"}) ::unlink((path_ + beside).c_str());
}

std::unexpected<std::string> AsideFile::failed(int why) const { return refusal(target_, why); }

std::FILE* AsideFile::stream() {
    if (stream_ == nullptr) stream_ = std::fopen(path_.c_str(), "we");
    return stream_;
}

std::expected<void, std::string> AsideFile::write(std::string_view text) {
    if (stream() == nullptr || std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) return failed(errno);
    return {};
}

std::expected<void, std::string> AsideFile::commit() {
    if (stream_ != nullptr) {
        const bool was_well = std::ferror(stream_) == 0;
        const bool is_closed = std::fclose(std::exchange(stream_, nullptr)) == 0;
        if (!was_well || !is_closed)
            return is_closed ? std::unexpected(fmt::format("{}: it could not be written: is its disk full?", target_)) : failed(errno);
    }
    if (is_aside())
        if (existing_ == Existing::refused ? !rename_to_new_name(path_, target_) : ::rename(path_.c_str(), target_.c_str()) != 0)
            return failed(errno);
    gone_ = true;
    return {};
}

} // namespace flashlab
