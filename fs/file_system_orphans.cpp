// Inodes without a name: made so, or their last name is gone. They are destroyed at once, at their last close, or at the next mount.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/host_io_error.h"
#include "base/little_endian.h"
#include "fs/file_flags.h"
#include "fs/file_system_impl.h"
#include "fs/fs_counters.h"
#include "fs/symlink.h"

namespace flashlab {

namespace {

constexpr std::size_t xattr_records_per_transaction = 64;
constexpr std::uint64_t last_key = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t nothing_to_cut = last_key; ///< as first page in the orphan record of an inode that was made without a name

FsResult<void> put_orphan(MetadataStore& store, Ino ino, std::uint64_t first_page) {
    std::array<std::byte, sizeof(std::uint64_t)> bytes;
    store_le<std::uint64_t>(bytes, first_page);
    return store.put(orphan_key(ino), bytes);
}

} // namespace

FsResult<void> make_empty_file_system(MetadataStore& store, FileTime wall, SimTime now) {
    InodeRecord root;
    root.mode = 0040755;
    root.links = 2;
    root.parent = root_ino.value();
    root.accessed = root.modified = root.changed = root.born = wall;
    MetadataTransaction transaction{store};
    if (const auto put = transaction.put_inode(root_ino, root, 0); !put) return put;
    std::array<std::byte, sizeof(std::uint64_t)> bytes;
    store_le<std::uint64_t>(bytes, root_ino.value() + 1);
    if (const auto put = store.put(next_ino_key, bytes); !put) return put;
    store_le<std::uint64_t>(bytes, 1);
    if (const auto put = store.put(inode_count_key, bytes); !put) return put;
    const auto committed = transaction.commit(now);
    if (!committed) return std::unexpected(committed.error());
    return {};
}

FsResult<Timed<Attributes>> FileSystemImpl::make_unnamed(const FsCall& call, Ino parent_ino, std::uint32_t mode, bool may_be_linked) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    const auto found = get_directory(parent_ino);
    if (!found) return std::unexpected(found.error());
    const Inode& parent = **found;
    if (parent.record.links == 0) return std::unexpected(FsError{ENOENT});
    if ((parent.record.flags & file_flag_immutable) != 0) return std::unexpected(FsError{EPERM});

    MetadataTransaction transaction{*store_};
    const auto made = put_new(transaction, call, parent, new_record(call, S_IFREG | (mode & 07777)));
    if (!made) return std::unexpected(made.error());
    if (const auto orphan = put_orphan(*store_, made->ino, nothing_to_cut); !orphan) return std::unexpected(orphan.error());
    const auto done = transaction.commit(call.now);
    if (!done) return std::unexpected(done.error());

    Inode& inode = add_new(*made);
    inode.may_be_linked = may_be_linked;
    return Timed<Attributes>{attributes_of(inode), *done};
}

/// A truncate that broke off is still to be finished: its record stays.
FsResult<void> FileSystemImpl::end_orphan(Ino ino) {
    std::span<const std::byte> value;
    const bool is_cut = store_->get(orphan_key(ino), value) && load_le<std::uint64_t>(value) != nothing_to_cut;
    if (is_cut) return {};
    if (const auto erased = store_->erase(orphan_key(ino)); !erased) return std::unexpected(erased.error());
    return {};
}

FsResult<FileSystemImpl::LinkDrop> FileSystemImpl::drop_link(MetadataTransaction& transaction, const Inode& inode, FileTime when) {
    LinkDrop drop{.record = inode.record, .destroyed = false, .freed = {}};
    InodeRecord& record = drop.record;
    record.links = record.is_directory() ? 0 : record.links - 1;
    record.changed = when;
    const bool is_simple = inode.is_idle() && record.pages == 0 && record.xattrs == 0;
    if (record.links == 0 && is_simple) {
        if (record.is_symlink()) {
            if (const auto erased = erase_symlink(*store_, inode.ino); !erased) return std::unexpected(erased.error());
        }
        const auto erased = store_->erase(RecordKey{.ino = inode.ino, .kind = RecordKind::inode, .subkey = 0});
        if (!erased) return std::unexpected(erased.error());
        drop.destroyed = true;
        return drop;
    }
    if (record.links == 0) {
        if (const auto orphan = put_orphan(*store_, inode.ino, 0); !orphan) return std::unexpected(orphan.error());
    }
    if (const auto written = put(transaction, inode, record); !written) return std::unexpected(written.error());
    return drop;
}

void FileSystemImpl::finish_drop(Inode& inode, const LinkDrop& drop, SimTime now) {
    inode.record = drop.record;
    if (drop.destroyed) {
        --inodes_;
        table_.remove(inode.ino);
    } else if (drop.record.links == 0) {
        destroy_if_unused(inode, now);
    } else {
        table_.drop_if_idle(inode);
    }
}

void FileSystemImpl::destroy_if_unused(Inode& inode, SimTime now) {
    if (inode.record.links != 0 || !inode.is_unused()) return;
    write_back_.drop_range(inode, FilePage{0}, no_page);
    if (inode.job != nullptr || !destroy(inode, now)) {
        if (std::ranges::find(doomed_, inode.ino) == doomed_.end()) doomed_.push_back(inode.ino);
    }
}

void FileSystemImpl::destroy_doomed(SimTime now) {
    if (doomed_.empty()) return;
    std::vector<Ino> waiting;
    waiting.swap(doomed_);
    for (const Ino ino : waiting) {
        if (Inode* inode = table_.peek(ino)) destroy_if_unused(*inode, now);
    }
}

/// Frees extents in bounded steps, the last ones first. Between the steps the orphan record says that the work has to go on.
FsResult<SimTime> FileSystemImpl::free_extents_from(Inode& inode, FilePage page, SimTime now) {
    SimTime durable = now;
    for (bool done = false; !done;) {
        MetadataTransaction transaction{*store_, MetadataTransaction::Reserve::use};
        const auto removed = extents_.remove(inode.ino, page, no_page, ExtentMap::extents_per_transaction);
        if (!removed) return std::unexpected(removed.error());
        const PageRuns& freed = removed->freed;
        done = removed->is_all;
        InodeRecord record = inode.record;
        for (const auto& run : freed) record.pages -= run.pages;
        if (const auto put_runs = space_.put_pending(freed); !put_runs) return std::unexpected(put_runs.error());
        if (const auto written = put(transaction, inode, record); !written) return std::unexpected(written.error());
        if (done && record.links != 0) {
            if (const auto erased = store_->erase(orphan_key(inode.ino)); !erased) return std::unexpected(erased.error());
        } else if (done && inode.may_be_linked) {
            if (const auto orphan = put_orphan(*store_, inode.ino, nothing_to_cut); !orphan) return std::unexpected(orphan.error());
        }
        const auto committed = transaction.commit(now);
        if (!committed) return committed;
        durable = *committed;
        inode.record.pages = record.pages;
        inode.forget_extents();
        space_.add_pending(freed);
    }
    return durable;
}

FsResult<SimTime> FileSystemImpl::destroy(Inode& inode, SimTime now) {
    if (inode.record.pages != 0) {
        const auto freed = free_extents_from(inode, FilePage{0}, now);
        if (!freed) return freed;
    }
    for (bool done = inode.record.xattrs == 0; !done;) {
        MetadataTransaction transaction{*store_, MetadataTransaction::Reserve::use};
        const auto removed = xattrs_.remove_some(inode.ino, xattr_records_per_transaction);
        if (!removed) return std::unexpected(removed.error());
        done = *removed;
        if (const auto committed = transaction.commit(now); !committed) return committed;
    }
    MetadataTransaction transaction{*store_, MetadataTransaction::Reserve::use};
    if (inode.record.is_symlink()) {
        if (const auto erased = erase_symlink(*store_, inode.ino); !erased) return std::unexpected(erased.error());
    }
    for (const RecordKey& key : {orphan_key(inode.ino), RecordKey{.ino = inode.ino, .kind = RecordKind::inode, .subkey = 0}}) {
        if (const auto erased = store_->erase(key); !erased) return std::unexpected(erased.error());
    }
    const auto committed = transaction.commit(now);
    if (!committed) return committed;
    --inodes_;
    if (inode.is_linked()) inode.unlink();
    table_.remove(inode.ino);
    return committed;
}

FsResult<void> FileSystemImpl::clean_orphans(SimTime now) {
    std::vector<std::pair<Ino, FilePage>> orphans;
    store_->scan(orphan_key(Ino{0}), orphan_key(Ino{last_key}), [&](const RecordKey& key, std::span<const std::byte> value) {
        orphans.emplace_back(Ino{key.subkey}, FilePage{value.size() == sizeof(std::uint64_t) ? load_le<std::uint64_t>(value) : 0});
        return true;
    });
    for (const auto& [ino, page] : orphans) {
        Inode* inode = table_.find(ino);
        if (inode == nullptr) return std::unexpected(FsError{EIO});
        const auto cleaned = inode->record.links == 0 ? destroy(*inode, now) : free_extents_from(*inode, page, now);
        if (!cleaned) return std::unexpected(cleaned.error());
    }
    return {};
}

void FileSystemImpl::load_counters(bool clean) {
    std::span<const std::byte> value;
    if (store_->get(next_ino_key, value) && value.size() == sizeof(std::uint64_t)) numbers_.next = numbers_.limit = load_le<std::uint64_t>(value);
    if (clean && store_->get(inode_count_key, value) && value.size() == sizeof(std::uint64_t)) {
        inodes_ = load_le<std::uint64_t>(value);
        return;
    }
    inodes_ = 0;
    RecordKey next{.ino = Ino{1}, .kind = RecordKind::inode, .subkey = 0};
    const RecordKey end{.ino = Ino{last_key}, .kind = RecordKind::counter, .subkey = last_key};
    store_->scan(next, end, [&](const RecordKey& key, std::span<const std::byte>) {
        if (key.kind == RecordKind::inode) ++inodes_;
        return true;
    });
}

std::expected<void, std::string> FileSystemImpl::recover(SimTime now) {
    std::span<const std::byte> value;
    if (!store_->get(RecordKey{.ino = root_ino, .kind = RecordKind::inode, .subkey = 0}, value) || !InodeRecord::decode(value)) {
        return std::unexpected("the metadata have no root directory: mkfs did not finish, or the image is damaged; make the file system anew");
    }
    const bool clean = superblock_->was_clean();
    load_counters(clean);
    space_.load();
    if (options_.read_only) return {};
    const auto said = [](std::string_view step, FsError error) {
        if (is_host_full(error.error_number)) // the place of metadata is reserved: the drive itself is not full
            return std::unexpected(fmt::format("recovery stopped at {}: the image cannot grow{}", step, host_remedy(error.error_number)));
        return std::unexpected(
            fmt::format("recovery stopped at {}: {}; a read-only mount (--read-only) needs none of it: copy the files out there. Where nand.img is "
                        "damaged, 'flashlab fsck' names the place and a copy of it helps; what the host refuses, mount.log and the host's log tell",
                        step, std::strerror(error.error_number)));
    };
    // The dirty mark must be durable before anything is written: if a cut took the mark back, the file system would look clean. Nothing else runs
    // yet, so this may run ahead of the clock.
    auto marked = superblock_->mark_dirty(now);
    if (marked) marked = make_all_durable(*store_, now);
    if (!marked && marked.error().error_number == EROFS) { // a worn-out device that keeps the metadata, too: it can still be read
        options_.read_only = true;
        return {};
    }
    if (!marked) return said("the mount mark", marked.error());
    if (const auto cleaned = clean_orphans(now); !cleaned) return said("files deleted while open", cleaned.error());
    if (clean) return {};
    const auto unowned = space_.trim_unowned(LogicalPage{0}, LogicalPage{space_.total()}, 1, now);
    // A worn-out device takes no more trims, but it can still be read.
    if (!unowned && unowned.error().error_number != EROFS) return said("trims of pages without owner", unowned.error());
    return {};
}

} // namespace flashlab
