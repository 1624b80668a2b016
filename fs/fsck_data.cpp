// Reads every page of data, and names the files whose pages cannot be read.
#include <algorithm>
#include <limits>
#include <map>

#include <sys/stat.h>

#include <fmt/format.h>

#include "fs/directory.h"
#include "fs/file_system_impl.h"

namespace flashlab {

namespace {

constexpr std::uint64_t pages_a_read = 64;
constexpr std::uint64_t most_number = std::numeric_limits<std::uint64_t>::max();

void scan_all(const MetadataStore& store, const MetadataStore::Visitor& visit) {
    store.scan(RecordKey{.ino = Ino{0}, .kind = RecordKind::inode, .subkey = 0},
               RecordKey{.ino = Ino{most_number}, .kind = RecordKind::counter, .subkey = most_number}, visit);
}

struct PlacedExtent {
    Ino ino{0};
    Extent extent;
};

/// A run of consecutive pages of a file that cannot be read.
struct Unreadable {
    Ino ino{0};
    FilePage page{0};
    std::uint64_t pages = 0;
    LogicalPage logical{0};
};

/// Reads a whole extent. Pages that cannot be read are added to `bad`.
/// `reads(first, pages)` is false when at least one of these pages cannot be read.
template <class Reads>
void read_extent(const PlacedExtent& placed, const Reads& reads, std::uint64_t from, std::uint64_t part, std::vector<Unreadable>& bad) {
    const Extent& e = placed.extent;
    if (reads(e.first + from, part)) return;
    for (std::uint64_t i = from; i < from + part; ++i) { // which of them
        if (reads(e.first + i, 1)) continue;
        const bool follows = !bad.empty() && bad.back().ino == placed.ino && bad.back().page + bad.back().pages == e.page + i;
        if (follows)
            ++bad.back().pages;
        else
            bad.push_back({placed.ino, e.page + i, 1, e.first + i});
    }
}

} // namespace

std::vector<std::string> FileSystemImpl::paths_of(Ino ino, std::size_t most) const {
    struct Name {
        Ino directory{0};
        std::string name;
    };
    std::map<std::uint64_t, Name> directories;
    std::vector<Name> found;
    scan_all(*store_, [&](const RecordKey& key, std::span<const std::byte> value) {
        Dirent entry;
        std::string_view name;
        if (key.kind != RecordKind::dirent || !Directory::decode(key, value, entry, name)) return true;
        if (entry.ino == ino && found.size() < most) found.push_back({key.ino, std::string{name}});
        if (entry.type == S_IFDIR) directories.try_emplace(entry.ino.value(), Name{key.ino, std::string{name}});
        return true;
    });
    std::vector<std::string> paths;
    for (const Name& last : found) {
        std::string path = "/" + last.name;
        Ino at = last.directory;
        for (std::size_t depth = 0; at != root_ino && depth <= directories.size(); ++depth) {
            const auto above = directories.find(at.value());
            if (above == directories.end()) break;
            path = "/" + above->second.name + path;
            at = above->second.directory;
        }
        paths.push_back(std::move(path));
    }
    return paths;
}

DataCheck FileSystemImpl::check_data(const std::function<bool(std::uint64_t)>& go_on, SimTime now) {
    std::vector<PlacedExtent> extents;
    scan_all(*store_, [&](const RecordKey& key, std::span<const std::byte> value) {
        if (key.kind != RecordKind::extent) return true;
        const auto extent = ExtentMap::decode(key, value);
        if (extent && !extent->unwritten) extents.push_back({key.ino, *extent});
        return true;
    });
    DataCheck result;
    std::vector<Unreadable> bad;
    std::vector<std::byte> buffer(pages_a_read * page_bytes_);
    const auto reads = [&](LogicalPage logical, std::uint64_t pages) {
        const auto sectors = static_cast<std::uint32_t>(pages * (page_bytes_ / sector_bytes));
        const auto done = device_.read(space_.sector_of(logical), sectors, std::span{buffer}.first(pages * page_bytes_), now);
        if (done) now = std::max(now, *done);
        return done.has_value();
    };
    for (const PlacedExtent& placed : extents) {
        for (std::uint64_t done = 0; done < placed.extent.pages && result.complete;) {
            const std::uint64_t part = std::min(pages_a_read, placed.extent.pages - done);
            read_extent(placed, reads, done, part, bad);
            done += part;
            result.pages += part;
            result.complete = go_on(result.pages);
        }
    }
    std::map<std::uint64_t, std::string> names;
    for (const Unreadable& range : bad) {
        auto [known, is_new] = names.try_emplace(range.ino.value());
        if (is_new) {
            const auto paths = paths_of(range.ino, 1);
            known->second = paths.empty() ? fmt::format("inode {}, which has no name", range.ino.value()) : paths.front();
        }
        result.pages_bad += range.pages;
        result.problems.push_back(
            {.kind = "unreadable-data",
             .where = known->second,
             .detail = fmt::format("{} bytes at offset {} cannot be read from the flash (data pages {} to {})", range.pages * page_bytes_,
                                   range.page.value() * page_bytes_, range.logical.value(), range.logical.value() + range.pages - 1)});
    }
    return result;
}

} // namespace flashlab
