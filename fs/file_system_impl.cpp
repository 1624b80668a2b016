// What all operations share; the whole: usage, label, tick, shutdown.
#include "fs/file_system_impl.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/contract.h"
#include "fs/device_errno.h"
#include "fs/file_flags.h"

namespace flashlab {

namespace {

constexpr std::uint32_t smallest_page = 4096;
constexpr std::uint64_t bytes_per_file_guess = 400; ///< inode, name and one extent, in leaves that are not quite full
constexpr std::int64_t relatime_seconds = 24 * 3600;

} // namespace

std::uint32_t data_page_bytes_for(const BlockDevice& device) { return std::max(smallest_page, device.identify().atomic_unit_bytes); }

FileSystemImpl::FileSystemImpl(std::shared_ptr<MetadataStore> store, std::shared_ptr<FsSuperblock> superblock, BlockDevice& device, EventSink& events,
                               const FsOptions& options, std::uint32_t page_bytes)
    : store_{std::move(store)}, superblock_{std::move(superblock)}, device_{device}, events_{events}, options_{options}, page_bytes_{page_bytes},
      table_{*store_}, directory_{*store_}, xattrs_{*store_}, extents_{*store_}, space_{*store_, device, page_bytes},
      cache_{page_bytes, static_cast<std::size_t>(options.cache_bytes / page_bytes)},
      write_back_{*store_, device, cache_, extents_, space_, events, options.use, options.dirty_age}, head_page_(page_bytes), tail_page_(page_bytes) {
    write_back_.set_failures(options.failed_pages, options.write_back_faults);
}

FileSystemImpl::~FileSystemImpl() = default;

FsResult<Inode*> FileSystemImpl::get(Ino ino) {
    Inode* inode = table_.find(ino);
    if (inode == nullptr) return std::unexpected(FsError{ENOENT});
    return inode;
}

FsResult<Inode*> FileSystemImpl::get_directory(Ino ino) {
    const auto inode = get(ino);
    if (inode && !(*inode)->record.is_directory()) return std::unexpected(FsError{ENOTDIR});
    return inode;
}

FsResult<Inode*> FileSystemImpl::get_regular(Ino ino) {
    const auto inode = get(ino);
    if (!inode) return inode;
    if ((*inode)->record.is_directory()) return std::unexpected(FsError{EISDIR});
    if (!(*inode)->record.is_regular()) return std::unexpected(FsError{EINVAL});
    return inode;
}

FsResult<void> FileSystemImpl::may_change() const {
    if (options_.read_only) return std::unexpected(FsError{EROFS});
    return {};
}

Attributes FileSystemImpl::attributes_of(const Inode& inode) const {
    const InodeRecord& record = inode.record;
    return Attributes{.ino = inode.ino,
                      .generation = 1,
                      .mode = record.mode,
                      .links = record.links,
                      .uid = record.uid,
                      .gid = record.gid,
                      .rdev = record.rdev,
                      .size = record.is_directory() ? record.entries * 32 : record.size,
                      .blocks_512 = (record.pages + inode.delayed_pages) * (page_bytes_ / sector_bytes),
                      .accessed = record.accessed,
                      .modified = record.modified,
                      .changed = record.changed,
                      .born = record.born,
                      .flags = record.flags};
}

void FileSystemImpl::touch_accessed(const FsCall& call, Inode& inode) {
    InodeRecord& record = inode.record;
    if (options_.read_only || call.access_times == AccessTimes::kept || (record.flags & file_flag_noatime) != 0 || record.links == 0) return;
    const bool stale =
        record.accessed <= record.modified || record.accessed <= record.changed || call.wall.seconds - record.accessed.seconds >= relatime_seconds;
    if (call.access_times == AccessTimes::relative && !stale) return;
    record.accessed = call.wall;
    write_back_.mark_dirty(inode, call.now);
}

FsResult<void> FileSystemImpl::put(MetadataTransaction& transaction, const Inode& inode, const InodeRecord& record) {
    return transaction.put_inode(inode.ino, record, inode.committed_size);
}

FsUsage FileSystemImpl::usage() const {
    FsUsage usage;
    usage.block_bytes = page_bytes_;
    usage.data_pages = space_.total();
    usage.data_pages_free = space_.free_pages();
    usage.metadata_bytes = store_->bytes_total();
    usage.metadata_bytes_free = store_->bytes_free();
    usage.inodes = inodes_;
    usage.inodes_free = usage.metadata_bytes_free / bytes_per_file_guess;
    return usage;
}

std::string FileSystemImpl::label() const { return superblock_->label(); }

FsResult<SimTime> FileSystemImpl::set_label(const FsCall& call, std::string_view label) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    return superblock_->set_label(label, call.now);
}

FsResult<Timed<std::uint64_t>> FileSystemImpl::trim_free(const FsCall& call, std::uint64_t offset, std::uint64_t bytes, std::uint64_t min_bytes) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    const std::uint64_t all = space_.total() * page_bytes_;
    if (offset >= all) return std::unexpected(FsError{EINVAL});
    const std::uint64_t end = bytes > all - offset ? all : offset + bytes;
    const auto free = space_.trim_unowned(LogicalPage{pages_for(offset)}, LogicalPage{end / page_bytes_}, pages_for(min_bytes), call.now);
    if (!free) return free;
    return Timed<std::uint64_t>{free->value * page_bytes_, free->done};
}

SimTime FileSystemImpl::tick(SimTime now) {
    SimTime next = device_.tick(now);
    if (options_.read_only) return next;
    next = std::min(next, write_back_.tick(now));
    destroy_doomed(now);
    next = std::min(next, store_->tick(now));
    return std::min(next, space_.trim_slice(now));
}

/// The ranges of cached pages, and of pages written back in commits that are not durable yet.
/// Only files that still exist count, up to their present size.
std::vector<UnsyncedRange> FileSystemImpl::unsynced() const {
    std::vector<UnsyncedRange> found;
    for (const Inode& inode : write_back_.dirty_inodes()) {
        if (inode.pages == nullptr) continue;
        for (const CachePage& page : *inode.pages) found.push_back({.ino = inode.ino, .offset = offset_of(page.page), .bytes = page_bytes_});
    }
    write_back_.undurable().append_to(found);
    std::ranges::sort(found, {}, [](const UnsyncedRange& range) { return std::pair{range.ino, range.offset}; });
    std::vector<UnsyncedRange> ranges;
    for (const UnsyncedRange& range : found) {
        const std::uint64_t end = std::min(range.offset + range.bytes, size_of(range.ino));
        if (end <= range.offset) continue;
        if (!ranges.empty() && ranges.back().ino == range.ino && ranges.back().offset + ranges.back().bytes >= range.offset) {
            UnsyncedRange& last = ranges.back();
            last.bytes = std::max(last.bytes, end - last.offset);
        } else {
            ranges.push_back({.ino = range.ino, .offset = range.offset, .bytes = end - range.offset});
        }
    }
    return ranges;
}

std::uint64_t FileSystemImpl::size_of(Ino ino) const {
    if (const Inode* inode = table_.peek(ino)) return inode->record.size;
    const auto record = table_.stored(ino);
    return record ? record->size : 0;
}

} // namespace flashlab
