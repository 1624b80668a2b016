#include "fs/fsck.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/little_endian.h"
#include "fs/directory.h"
#include "fs/file_system_impl.h"

namespace flashlab {

Fsck::Fsck(const MetadataStore& store, const SpaceAccounting& space, const BlockDevice& device)
    : store_{store}, space_{space}, device_{device}, owned_(static_cast<std::size_t>(store.data_pages())) {}

void Fsck::report(std::string kind, std::uint64_t ino, std::string detail) {
    problems_.push_back({.kind = std::move(kind), .where = fmt::format("inode {}", ino), .detail = std::move(detail)});
}

void Fsck::own(std::uint64_t first, std::uint64_t pages, std::uint64_t ino) {
    if (first > owned_.size() || pages > owned_.size() - first) {
        report("pages-outside", ino, fmt::format("pages {} +{} of {}", first, pages, owned_.size()));
        return;
    }
    for (std::uint64_t page = first; page < first + pages; ++page) {
        if (owned_[page]) report("page-owned-twice", ino, fmt::format("data page {} (X2)", page));
        owned_[page] = true;
    }
}

void Fsck::take_extent(const RecordKey& key, std::span<const std::byte> value) {
    const auto extent = ExtentMap::decode(key, value);
    if (!extent) return report("bad-extent", key.ino.value(), fmt::format("at file page {}", key.subkey));
    Seen& seen = inodes_[key.ino.value()];
    if (extent->page < seen.extents_end) report("extents-overlap", key.ino.value(), fmt::format("at file page {} (X1)", extent->page.value()));
    seen.extents_end = extent->end();
    seen.pages += extent->pages;
    const std::uint64_t size_pages = (seen.record.size + space_.page_bytes() - 1) / space_.page_bytes();
    if (!extent->unwritten && !seen.orphan && seen.record.links != 0 && extent->end() > FilePage{size_pages}) {
        report("data-beyond-size", key.ino.value(), fmt::format("file page {} of {}", extent->end().value() - 1, size_pages));
    }
    own(extent->first.value(), extent->pages, key.ino.value());
}

void Fsck::take_dirent(const RecordKey& key, std::span<const std::byte> value) {
    Dirent entry;
    std::string_view name;
    if (!Directory::decode(key, value, entry, name)) return report("bad-name", key.ino.value(), fmt::format("at position {}", key.subkey));
    if (Directory::hash_of(name) != key.subkey >> 8) report("name-misplaced", key.ino.value(), std::string{name});
    names_.push_back({.directory = key.ino.value(), .ino = entry.ino.value(), .type = entry.type});
}

void Fsck::take(const RecordKey& key, std::span<const std::byte> value) {
    switch (key.kind) {
    case RecordKind::inode: {
        const auto record = InodeRecord::decode(value);
        if (!record) return report("bad-inode", key.ino.value(), fmt::format("{} bytes", value.size()));
        Seen& seen = inodes_[key.ino.value()];
        seen.has_record = true;
        seen.record = *record;
        return;
    }
    case RecordKind::dirent:
        return take_dirent(key, value);
    case RecordKind::extent:
        return take_extent(key, value);
    case RecordKind::xattr:
        if ((key.subkey & 0xffff) == 0) ++inodes_[key.ino.value()].xattrs;
        return;
    case RecordKind::orphan:
        inodes_[key.subkey].orphan = true;
        return;
    case RecordKind::pending_trim:
        if (value.size() != sizeof(std::uint64_t)) return report("bad-pending-trim", 0, fmt::format("page {}", key.subkey));
        return own(key.subkey, load_le<std::uint64_t>(value), 0);
    case RecordKind::symlink:
    case RecordKind::counter:
        return;
    }
    report("unknown-record", key.ino.value(), fmt::format("kind {}", static_cast<int>(key.kind)));
}

void Fsck::check_inode(std::uint64_t ino, const Seen& seen) {
    if (!seen.has_record) return report("no-inode", ino, "records without an inode record");
    const InodeRecord& record = seen.record;
    if (record.is_directory()) {
        const std::uint64_t links = record.links == 0 ? 0 : 2 + seen.directories;
        if (record.links != links) report("links", ino, fmt::format("{} instead of {}", record.links, links));
        if (record.entries != seen.entries) report("entries", ino, fmt::format("{} instead of {}", record.entries, seen.entries));
        const std::uint64_t names = ino == root_ino.value() || record.links == 0 ? 0 : 1;
        if (seen.names != names) report("directory-names", ino, fmt::format("{} instead of {}", seen.names, names));
        if (names == 1 && record.parent != seen.named_in) report("parent", ino, fmt::format("{} instead of {}", record.parent, seen.named_in));
    } else {
        if (record.links != seen.names) report("links", ino, fmt::format("{} instead of {}", record.links, seen.names));
        if (seen.entries != 0) report("entries", ino, "names in what is no directory");
    }
    if (record.links == 0 && !seen.orphan) report("orphan", ino, "no name and no orphan record");
    if (record.pages != seen.pages) report("blocks", ino, fmt::format("{} pages instead of {}", record.pages, seen.pages));
    if (record.xattrs != seen.xattrs) report("xattrs", ino, fmt::format("{} instead of {}", record.xattrs, seen.xattrs));
}

/// Finds directories that cannot be reached from the root. The counts of a cycle of directories are right, so only this check finds one.
void Fsck::check_reachable() {
    std::map<std::uint64_t, bool> reached{{root_ino.value(), true}};
    for (const auto& [ino, seen] : inodes_) {
        if (!seen.has_record || !seen.record.is_directory() || seen.record.links == 0) continue;
        std::vector<std::uint64_t> path;
        std::uint64_t at = ino;
        while (!reached.contains(at) && path.size() <= inodes_.size()) {
            path.push_back(at);
            const auto here = inodes_.find(at);
            if (here == inodes_.end() || !here->second.has_record) break;
            at = here->second.record.parent;
        }
        const auto end = reached.find(at);
        const bool good = end != reached.end() && end->second;
        if (!good) report("unreachable", ino, "no way from the root");
        for (const std::uint64_t passed : path) reached.emplace(passed, good);
    }
}

void Fsck::check_pages() {
    std::uint64_t in_use = 0;
    for (std::uint64_t page = 0; page < owned_.size(); ++page) {
        const bool used = store_.data_page_in_use(LogicalPage{page});
        in_use += used ? 1 : 0;
        if (used == owned_[page]) continue;
        problems_.push_back({.kind = used ? "page-leaked" : "page-free-in-use",
                             .where = fmt::format("data page {}", page),
                             .detail = used ? "in use in the bitmap, owned by nobody" : "free in the bitmap, owned by a file"});
    }
    if (in_use != store_.data_pages_in_use()) {
        problems_.push_back({.kind = "page-count", .where = "bitmap", .detail = fmt::format("{} instead of {}", store_.data_pages_in_use(), in_use)});
    }
}

void Fsck::check_device() {
    const std::uint64_t per_page = space_.page_bytes() / sector_bytes, unit = device_.identify().atomic_unit_bytes / sector_bytes;
    for (const LbaRange& range : device_.lba_status(Sector{0}, store_.data_pages() * per_page)) {
        if (!range.mapped) continue;
        const std::uint64_t first = range.first.value() / per_page;
        const std::uint64_t end = range.first.value() + range.sectors, last = (end - 1) / per_page;
        for (std::uint64_t page = first; page <= last; ++page) {
            if (owned_[page] || space_.is_claimed(LogicalPage{page})) continue;
            // A unit of the device that only juts into the page may be its neighbour's.
            const std::uint64_t from = (std::max(range.first.value(), page * per_page) + unit - 1) / unit * unit;
            if (from + unit > std::min(end, (page + 1) * per_page)) continue;
            problems_.push_back(
                {.kind = "free-page-mapped", .where = fmt::format("data page {}", page), .detail = "valid in the device, free here (F3)"});
        }
    }
}

std::vector<FsckProblem> Fsck::run() {
    for (const CheckProblem& problem : store_.check()) {
        problems_.push_back({.kind = "metadata " + problem.invariant, .where = problem.where, .detail = problem.detail});
    }
    if (!problems_.empty()) return std::move(problems_); // the records of a damaged tree mean nothing
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    store_.scan(RecordKey{.ino = Ino{0}, .kind = RecordKind::inode, .subkey = 0},
                RecordKey{.ino = Ino{most}, .kind = RecordKind::counter, .subkey = most},
                [this](const RecordKey& key, std::span<const std::byte> value) {
                    take(key, value);
                    return true;
                });
    for (const Name& name : names_) {
        const auto target = inodes_.find(name.ino);
        if (target == inodes_.end() || !target->second.has_record) {
            report("dangling-name", name.directory, fmt::format("leads to missing inode {}", name.ino));
            continue;
        }
        if (target->second.record.type() != name.type) report("name-type", name.ino, fmt::format("named as {:o}", name.type));
        ++target->second.names;
        target->second.named_in = name.directory;
        Seen& directory = inodes_[name.directory];
        ++directory.entries;
        if (target->second.record.is_directory()) ++directory.directories;
    }
    if (!inodes_.contains(root_ino.value())) report("no-root", root_ino.value(), "the root directory is missing");
    for (const auto& [ino, seen] : inodes_) check_inode(ino, seen);
    check_reachable();
    check_pages();
    check_device();
    return std::move(problems_);
}

std::vector<FsckProblem> FileSystemImpl::check() { return Fsck{*store_, space_, device_}.run(); }

} // namespace flashlab
