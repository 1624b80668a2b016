#include "tools/drive/drive_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "fs/retry.h"
#include "tools/drive/config_file.h"
#include "tools/host/interruption.h"

namespace flashlab {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr const char* interrupted = "interrupted";

std::unexpected<std::string> refusal(const std::string& path, const FsError& error) {
    return std::unexpected(fmt::format(
        "{}: {}", path, error.error_number == EIO ? "its data are lost; flashlab fsck --data lists all damage" : std::strerror(error.error_number)));
}

FsCall looking_at(SimTime now) { return {.now = now, .wall = {}, .access_times = AccessTimes::kept}; }

} // namespace

DrivePath parse_drive_path(const std::string& text) {
    std::error_code ignored;
    if (std::filesystem::is_directory(text, ignored)) return {text, "/"};
    for (std::size_t colon = text.rfind(':'); colon != std::string::npos && colon != 0; colon = text.rfind(':', colon - 1))
        if (const std::string folder = text.substr(0, colon); std::filesystem::is_directory(folder, ignored)) return {folder, text.substr(colon + 1)};
    const std::size_t colon = text.find(':'); // no such directory: the message about it should name what was meant
    return {text.substr(0, colon), colon == std::string::npos ? "/" : text.substr(colon + 1)};
}

std::expected<DriveFiles, std::string> DriveFiles::open(const std::string& directory, std::function<void(const std::string&)> complain) {
    OpenOptions options;
    options.access = DeviceAccess::look;
    options.environment = flashlab_environment();
    options.complain = std::move(complain);
    options.fs.read_only = true;
    options.tolerate_damage = true; // what can still be read is worth a look
    auto drive = DeviceDirectory::open(directory, options);
    if (!drive) return std::unexpected(drive.error());
    DriveFiles files{std::move(*drive)};
    files.now_ = files.drive_->device().ready_at();
    return files;
}

std::expected<DriveEntry, std::string> DriveFiles::entry_of(Ino folder, const std::string& name) {
    const auto found = fs().lookup(looking_at(now_), folder, name);
    if (!found) return std::unexpected(std::string{std::strerror(found.error().error_number)});
    now_ = std::max(now_, found->done);
    DriveEntry entry{.name = name, .attributes = found->value, .target = {}};
    if (S_ISLNK(entry.attributes.mode)) {
        const auto target = fs().read_link(looking_at(now_), entry.attributes.ino);
        if (!target) return std::unexpected(std::string{std::strerror(target.error().error_number)});
        entry.target = target->value;
    }
    fs().forget(entry.attributes.ino, 1, now_);
    return entry;
}

std::expected<DriveEntry, std::string> DriveFiles::find(const std::string& path) {
    const auto root = fs().attributes(looking_at(now_), root_ino);
    if (!root) return refusal("/", root.error());
    DriveEntry entry{.name = "/", .attributes = root->value, .target = {}};
    for (const auto& part : std::filesystem::path{path}.relative_path()) {
        if (!S_ISDIR(entry.attributes.mode)) // also before a last slash
            return std::unexpected(fmt::format("{}: {}: {}", path, entry.name, std::strerror(ENOTDIR)));
        if (part.empty() || part == ".") continue;
        auto next = entry_of(entry.attributes.ino, part.string());
        if (!next) return std::unexpected(fmt::format("{}: {}", path, next.error()));
        entry = std::move(*next);
    }
    return entry;
}

std::expected<std::vector<DriveEntry>, std::string> DriveFiles::list(const DriveEntry& folder, const std::string& path) {
    std::vector<std::string> names;
    const auto done = fs().read_directory(looking_at(now_), folder.attributes.ino, 0, [&](std::string_view name, Ino, std::uint32_t, std::uint64_t) {
        if (name != "." && name != "..") names.emplace_back(name);
        return true;
    });
    if (!done) return refusal(path, done.error());
    now_ = std::max(now_, *done);
    std::ranges::sort(names);
    std::vector<DriveEntry> entries;
    for (const std::string& name : names) {
        auto entry = entry_of(folder.attributes.ino, name);
        if (!entry) return std::unexpected(fmt::format("{}/{}: {}", path, name, entry.error()));
        entries.push_back(std::move(*entry));
    }
    return entries;
}

std::expected<void, std::string> DriveFiles::read(const DriveEntry& file, const std::string& path, const Take& take, const Skip& skip) {
    if (!S_ISREG(file.attributes.mode)) return std::unexpected(fmt::format("{}: it is no regular file", path));
    const Ino ino = file.attributes.ino;
    const std::uint64_t size = file.attributes.size;
    std::vector<std::byte> piece(std::min<std::uint64_t>(piece_bytes, size));
    std::uint64_t data_until = skip ? 0 : size;
    for (std::uint64_t at = 0; at < size;) {
        if (Interruption::came()) return std::unexpected(std::string{interrupted});
        if (at >= data_until) {
            const auto data = fs().seek(looking_at(now_), ino, at, SeekWhat::data);
            if (!data && data.error().error_number != ENXIO) return refusal(path, data.error());
            const std::uint64_t begin = data ? *data : size;
            if (begin > at)
                if (auto done = skip(begin - at); !done) return done;
            at = begin;
            if (at >= size) break;
            const auto hole = fs().seek(looking_at(now_), ino, at, SeekWhat::hole);
            data_until = hole ? *hole : size;
        }
        FsCall call = looking_at(now_);
        const auto part = std::span{piece}.first(std::min<std::uint64_t>(piece.size(), std::min(data_until, size) - at));
        const auto got = until_done(call, [&](const FsCall& c) { return fs().read(c, ino, at, part); });
        if (!got) return refusal(fmt::format("{}: byte {}", path, at), got.error());
        if (got->value == 0) return std::unexpected(fmt::format("{}: it ends at byte {} of {}", path, at, size));
        now_ = std::max(now_, got->done);
        if (auto done = take(part.first(got->value)); !done) return done;
        at += got->value;
    }
    return {};
}

} // namespace flashlab
