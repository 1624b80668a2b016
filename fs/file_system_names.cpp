// Look-up, creation, links and removal of names.
#include <sys/stat.h>

#include <array>

#include "base/little_endian.h"
#include "fs/file_flags.h"
#include "fs/file_stream.h"
#include "fs/file_system_impl.h"
#include "fs/fs_counters.h"
#include "fs/symlink.h"

namespace flashlab {

namespace {
constexpr std::uint32_t most_links = 0x7fff0000;
constexpr std::uint64_t numbers_per_reservation = 64;
} // namespace

FsResult<void> FileSystemImpl::check_name(std::string_view name) const {
    if (const auto may = may_change(); !may) return may;
    if (name.size() > Directory::longest_name) return std::unexpected(FsError{ENAMETOOLONG});
    if (name.empty()) return std::unexpected(FsError{ENOENT});
    if (name == "." || name == ".." || name.find('/') != std::string_view::npos) return std::unexpected(FsError{EINVAL});
    return {};
}

FsResult<Timed<Attributes>> FileSystemImpl::lookup(const FsCall& call, Ino parent, std::string_view name) {
    if (name == ".") {
        const auto self = get(parent);
        if (!self) return std::unexpected(self.error());
        ++(*self)->references;
        return Timed<Attributes>{attributes_of(**self), call.now};
    }
    const auto in = get_directory(parent);
    if (!in) return std::unexpected(in.error());
    if (name.size() > Directory::longest_name) return std::unexpected(FsError{ENAMETOOLONG});
    Dirent entry;
    if (name == "..") {
        entry.ino = Ino{(*in)->record.parent};
    } else if (!directory_.find(parent, name, entry)) {
        return std::unexpected(FsError{ENOENT});
    }
    const auto inode = get(entry.ino);
    if (!inode) return std::unexpected(FsError{EIO});
    ++(*inode)->references;
    return Timed<Attributes>{attributes_of(**inode), call.now};
}

void FileSystemImpl::forget(Ino ino, std::uint64_t references, SimTime now) {
    Inode* inode = table_.peek(ino);
    if (inode == nullptr) return;
    inode->references -= std::min(references, inode->references);
    if (inode->record.links == 0) {
        destroy_if_unused(*inode, now);
    } else {
        table_.drop_if_idle(*inode);
    }
}

FsResult<Ino> FileSystemImpl::next_number(InodeNumbers& numbers) {
    const Ino ino{numbers.next++};
    if (ino.value() < numbers.limit) return ino;
    numbers.limit = ino.value() + numbers_per_reservation;
    std::array<std::byte, sizeof(std::uint64_t)> bytes;
    store_le<std::uint64_t>(bytes, numbers.limit);
    if (const auto put_limit = store_->put(next_ino_key, bytes); !put_limit) return std::unexpected(put_limit.error());
    return ino;
}

FsResult<void> FileSystemImpl::inherit(const FsCall& call, const Inode& parent, Ino ino, InodeRecord& record) {
    if ((parent.record.mode & S_ISGID) != 0) {
        record.gid = parent.record.gid;
        if (record.is_directory()) record.mode |= S_ISGID;
    }
    if (record.is_symlink()) return {};
    if (parent.record.xattrs != 0)
        if (const auto stream = xattrs_.get(parent.ino, stream_xattr)) {
            if (const auto set = xattrs_.set(ino, stream_xattr, *stream); !set) return std::unexpected(set.error());
            ++record.xattrs;
        }
    if ((parent.record.acl & InodeRecord::has_default_acl) == 0) {
        record.mode &= ~(call.umask & 0777u);
        return {};
    }
    const auto value = xattrs_.get(parent.ino, acl_default_name);
    auto acl = value ? PosixAcl::decode(*value) : std::nullopt;
    if (!acl) return std::unexpected(FsError{EIO});
    if (record.is_directory()) {
        if (const auto set = xattrs_.set(ino, acl_default_name, *value); !set) return std::unexpected(set.error());
        record.acl |= InodeRecord::has_default_acl;
        ++record.xattrs;
    }
    record.mode = (record.mode & ~0777u) | acl->restrict_to(record.mode & 0777u);
    if (acl->is_minimal()) return {};
    if (const auto set = xattrs_.set(ino, acl_access_name, acl->encode()); !set) return std::unexpected(set.error());
    record.acl |= InodeRecord::has_access_acl;
    ++record.xattrs;
    return {};
}

FsResult<FileSystemImpl::NewInode> FileSystemImpl::put_new(MetadataTransaction& transaction, const FsCall& call, const Inode& parent,
                                                           InodeRecord record) {
    InodeNumbers numbers = numbers_;
    const auto ino = next_number(numbers);
    if (!ino) return std::unexpected(ino.error());
    if (const auto inherited = inherit(call, parent, *ino, record); !inherited) return std::unexpected(inherited.error());
    if (const auto written = transaction.put_inode(*ino, record, record.size); !written) return std::unexpected(written.error());
    return NewInode{*ino, record, numbers};
}

Inode& FileSystemImpl::add_new(const NewInode& made) {
    numbers_ = made.numbers;
    ++inodes_;
    Inode& inode = table_.add(made.ino, made.record);
    inode.references = 1;
    return inode;
}

InodeRecord FileSystemImpl::new_record(const FsCall& call, std::uint32_t mode) {
    InodeRecord record;
    record.mode = mode;
    record.uid = call.uid;
    record.gid = call.gid;
    record.accessed = record.modified = record.changed = record.born = call.wall;
    return record;
}

FsResult<Timed<Attributes>> FileSystemImpl::create(const FsCall& call, Ino parent_ino, std::string_view name, NewNode node) {
    if (const auto good = check_name(name); !good) return std::unexpected(good.error());
    const auto found = get_directory(parent_ino);
    if (!found) return std::unexpected(found.error());
    Inode& parent = **found;
    if (parent.record.links == 0) return std::unexpected(FsError{ENOENT});
    Dirent entry;
    if (directory_.find(parent_ino, name, entry)) return std::unexpected(FsError{EEXIST});
    if ((parent.record.flags & file_flag_immutable) != 0) return std::unexpected(FsError{EPERM});

    InodeRecord record = new_record(call, node.mode);
    record.rdev = node.rdev;
    record.size = node.target.size();
    record.links = 1;
    InodeRecord above = parent.record;
    if (record.is_directory()) {
        if (above.links >= most_links) return std::unexpected(FsError{EMLINK});
        record.links = 2;
        record.parent = parent_ino.value();
        ++above.links;
    }
    ++above.entries;
    above.modified = above.changed = call.wall;

    MetadataTransaction transaction{*store_};
    const auto made = put_new(transaction, call, parent, record);
    if (!made) return std::unexpected(made.error());
    if (const auto written = put_symlink(*store_, made->ino, node.target); !written) return std::unexpected(written.error());
    if (const auto added = directory_.add(parent_ino, name, made->ino, record.type()); !added) return std::unexpected(added.error());
    if (const auto written = put(transaction, parent, above); !written) return std::unexpected(written.error());
    const auto done = transaction.commit(call.now);
    if (!done) return std::unexpected(done.error());

    parent.record = above;
    return Timed<Attributes>{attributes_of(add_new(*made)), *done};
}

FsResult<Timed<Attributes>> FileSystemImpl::make_node(const FsCall& call, Ino parent, std::string_view name, std::uint32_t mode, std::uint32_t rdev) {
    if ((mode & S_IFMT) == 0) mode |= S_IFREG;
    if (S_ISDIR(mode) || S_ISLNK(mode)) return std::unexpected(FsError{EINVAL});
    const bool is_device = S_ISCHR(mode) || S_ISBLK(mode);
    return create(call, parent, name, {.mode = mode, .rdev = is_device ? rdev : 0, .target = {}});
}

FsResult<Timed<Attributes>> FileSystemImpl::make_directory(const FsCall& call, Ino parent, std::string_view name, std::uint32_t mode) {
    return create(call, parent, name, {.mode = S_IFDIR | (mode & 07777), .rdev = 0, .target = {}});
}

FsResult<Timed<Attributes>> FileSystemImpl::make_symlink(const FsCall& call, Ino parent, std::string_view name, std::string_view target) {
    if (target.empty()) return std::unexpected(FsError{ENOENT});
    if (target.size() > longest_symlink) return std::unexpected(FsError{ENAMETOOLONG});
    return create(call, parent, name, {.mode = S_IFLNK | 0777, .rdev = 0, .target = target});
}

FsResult<Timed<std::string>> FileSystemImpl::read_link(const FsCall& call, Ino ino) {
    const auto inode = get(ino);
    if (!inode) return std::unexpected(inode.error());
    if (!(*inode)->record.is_symlink()) return std::unexpected(FsError{EINVAL});
    touch_accessed(call, **inode);
    return Timed<std::string>{get_symlink(*store_, ino), call.now};
}

FsResult<Timed<Attributes>> FileSystemImpl::link(const FsCall& call, Ino ino, Ino parent_ino, std::string_view name) {
    if (const auto good = check_name(name); !good) return std::unexpected(good.error());
    const auto found = get(ino);
    if (!found) return std::unexpected(found.error());
    const auto above = get_directory(parent_ino);
    if (!above) return std::unexpected(above.error());
    Inode& inode = **found;
    Inode& parent = **above;
    if (inode.record.is_directory()) return std::unexpected(FsError{EPERM});
    const bool is_unnamed = inode.record.links == 0;
    if ((is_unnamed && !inode.may_be_linked) || parent.record.links == 0) return std::unexpected(FsError{ENOENT});
    Dirent entry;
    if (directory_.find(parent_ino, name, entry)) return std::unexpected(FsError{EEXIST});
    if (inode.record.links >= most_links) return std::unexpected(FsError{EMLINK});
    if ((inode.record.flags & locking_file_flags) != 0 || (parent.record.flags & file_flag_immutable) != 0) return std::unexpected(FsError{EPERM});

    InodeRecord record = inode.record;
    ++record.links;
    record.changed = call.wall;
    InodeRecord directory = parent.record;
    ++directory.entries;
    directory.modified = directory.changed = call.wall;
    MetadataTransaction transaction{*store_};
    if (const auto added = directory_.add(parent_ino, name, ino, record.type()); !added) return std::unexpected(added.error());
    if (const auto written = put(transaction, inode, record); !written) return std::unexpected(written.error());
    if (const auto written = put(transaction, parent, directory); !written) return std::unexpected(written.error());
    if (is_unnamed) {
        if (const auto ended = end_orphan(ino); !ended) return std::unexpected(ended.error());
    }
    const auto done = transaction.commit(call.now);
    if (!done) return std::unexpected(done.error());
    inode.record = record;
    inode.may_be_linked = false;
    parent.record = directory;
    ++inode.references;
    return Timed<Attributes>{attributes_of(inode), *done};
}

/// Removes the name, its inode's link and the parent's counts in one transaction. A removed directory also takes its ".." link from the parent.
FsResult<SimTime> FileSystemImpl::remove_entry(const FsCall& call, Inode& parent, const Dirent& entry, Inode& inode) {
    InodeRecord directory = parent.record;
    --directory.entries;
    if (inode.record.is_directory()) --directory.links;
    directory.modified = directory.changed = call.wall;
    MetadataTransaction transaction{*store_, MetadataTransaction::Reserve::use};
    if (const auto removed = directory_.remove(parent.ino, entry); !removed) return std::unexpected(removed.error());
    const auto drop = drop_link(transaction, inode, call.wall);
    if (!drop) return std::unexpected(drop.error());
    if (const auto written = put(transaction, parent, directory); !written) return std::unexpected(written.error());
    const auto done = transaction.commit(call.now);
    if (!done) return done;
    parent.record = directory;
    finish_drop(inode, *drop, call.now);
    return done;
}

FsResult<FileSystemImpl::FoundEntry> FileSystemImpl::find_entry(Ino parent_ino, std::string_view name) {
    if (const auto good = check_name(name); !good) return std::unexpected(good.error());
    const auto parent = get_directory(parent_ino);
    if (!parent) return std::unexpected(parent.error());
    Dirent entry;
    if (!directory_.find(parent_ino, name, entry)) return std::unexpected(FsError{ENOENT});
    const auto target = get(entry.ino);
    if (!target) return std::unexpected(FsError{EIO});
    return FoundEntry{*parent, entry, *target};
}

FsResult<SimTime> FileSystemImpl::unlink(const FsCall& call, Ino parent_ino, std::string_view name) {
    const auto found = find_entry(parent_ino, name);
    if (!found) return std::unexpected(found.error());
    const auto& [parent, entry, inode] = *found;
    if ((inode->record.flags & locking_file_flags) != 0 || (parent->record.flags & locking_file_flags) != 0) return std::unexpected(FsError{EPERM});
    if (inode->record.is_directory()) return std::unexpected(FsError{EISDIR});
    return remove_entry(call, *parent, entry, *inode);
}

FsResult<SimTime> FileSystemImpl::remove_directory(const FsCall& call, Ino parent_ino, std::string_view name) {
    if (name == ".") return std::unexpected(FsError{EINVAL});
    if (name == "..") return std::unexpected(FsError{ENOTEMPTY});
    const auto found = find_entry(parent_ino, name);
    if (!found) return std::unexpected(found.error());
    const auto& [parent, entry, inode] = *found;
    if ((inode->record.flags & locking_file_flags) != 0 || (parent->record.flags & locking_file_flags) != 0) return std::unexpected(FsError{EPERM});
    if (!inode->record.is_directory()) return std::unexpected(FsError{ENOTDIR});
    if (inode->record.entries != 0) return std::unexpected(FsError{ENOTEMPTY});
    return remove_entry(call, *parent, entry, *inode);
}

} // namespace flashlab
