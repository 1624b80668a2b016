// Attributes, flags, directory listing, open counts.
#include <sys/stat.h>

#include "fs/file_flags.h"
#include "fs/file_system_impl.h"

namespace flashlab {

namespace {

constexpr std::uint32_t permission_bits = 07777;

void apply(const FsCall& call, const AttributeChange& change, InodeRecord& record) {
    const auto asks = [&](AttributeChange::Bit bit) { return (change.which & bit) != 0; };
    const bool changes_owner = asks(AttributeChange::uid) || asks(AttributeChange::gid);
    // The kernel sends a mode along with a new owner or size where it takes set-id bits away itself;
    // it leaves S_ISGID of a file that the group may not execute.
    if (asks(AttributeChange::mode)) record.mode = record.type() | (change.new_mode & permission_bits);
    if (asks(AttributeChange::kill_suid_sgid) || (changes_owner && !record.is_directory())) record.clear_suid_sgid();
    if (asks(AttributeChange::size) || (changes_owner && !record.is_directory())) drop_set_ids(call, record); // by the group that it had
    if (asks(AttributeChange::uid)) record.uid = change.new_uid;
    if (asks(AttributeChange::gid)) record.gid = change.new_gid;
    if (asks(AttributeChange::atime)) record.accessed = change.new_atime;
    if (asks(AttributeChange::mtime)) record.modified = change.new_mtime;
    record.changed = asks(AttributeChange::ctime) ? change.new_ctime : call.wall;
}

/// Do the flags of chattr(1) forbid the change? As on ext4, the times of an append-only file may still be set to the present. Under `-o writeback`
/// the kernel sends the times of writes that it admitted, and the change time with them.
bool is_forbidden(const InodeRecord& record, const AttributeChange& change) {
    const auto asks = [&](std::uint32_t bits) { return (change.which & bits) != 0; };
    const bool by_kernel =
        asks(AttributeChange::ctime) && !asks(AttributeChange::mode | AttributeChange::uid | AttributeChange::gid | AttributeChange::size);
    if ((record.flags & file_flag_immutable) != 0) return !by_kernel;
    if ((record.flags & file_flag_append) == 0 || by_kernel) return false;
    return !change.touches_now;
}

} // namespace

FsResult<Timed<Attributes>> FileSystemImpl::attributes(const FsCall& call, Ino ino) {
    const auto inode = get(ino);
    if (!inode) return std::unexpected(inode.error());
    return Timed<Attributes>{attributes_of(**inode), call.now};
}

FsResult<Timed<Attributes>> FileSystemImpl::change_attributes(const FsCall& call, Ino ino, const AttributeChange& change) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    const auto found = get(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    if (is_forbidden(inode.record, change)) return std::unexpected(FsError{EPERM});
    InodeRecord record = inode.record;
    if ((change.which & AttributeChange::size) != 0) {
        if (record.is_directory()) return std::unexpected(FsError{EISDIR});
        if (!record.is_regular()) return std::unexpected(FsError{EINVAL});
        if (change.new_size > largest_file) return std::unexpected(FsError{EFBIG});
        if ((change.which & AttributeChange::mtime) == 0) record.modified = call.wall;
    }
    apply(call, change, record);
    if ((change.which & AttributeChange::size) != 0) {
        const auto done = truncate(call, inode, record, change.new_size, (change.which & AttributeChange::mode) != 0);
        if (!done) return std::unexpected(done.error());
        return Timed<Attributes>{attributes_of(inode), *done};
    }
    MetadataTransaction transaction{*store_};
    if ((change.which & AttributeChange::mode) != 0) {
        if (const auto followed = chmod_acl(inode, record); !followed) return std::unexpected(followed.error());
    }
    if (const auto written = put(transaction, inode, record); !written) return std::unexpected(written.error());
    const auto done = transaction.commit(call.now);
    if (!done) return std::unexpected(done.error());
    inode.record = record;
    return Timed<Attributes>{attributes_of(inode), *done};
}

FsResult<SimTime> FileSystemImpl::set_file_flags(const FsCall& call, Ino ino, std::uint32_t flags) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    const auto found = get(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    if ((flags & ~file_flags_supported) != 0) return std::unexpected(FsError{EOPNOTSUPP});
    constexpr std::uint32_t privileged = file_flag_immutable | file_flag_append;
    const bool by_root = call.uid == 0;
    if (!by_root && (call.uid != inode.record.uid || ((flags ^ inode.record.flags) & privileged) != 0)) return std::unexpected(FsError{EPERM});
    InodeRecord record = inode.record;
    record.flags = flags;
    record.changed = call.wall;
    MetadataTransaction transaction{*store_};
    if (const auto written = put(transaction, inode, record); !written) return std::unexpected(written.error());
    const auto done = transaction.commit(call.now);
    if (done) inode.record = record;
    return done;
}

FsResult<SimTime> FileSystemImpl::read_directory(const FsCall& call, Ino ino, std::uint64_t offset, const EntrySink& sink) {
    const auto found = get_directory(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    touch_accessed(call, inode);
    if (inode.record.links == 0) return call.now;
    if (offset == 0 && !sink(".", ino, S_IFDIR, 1)) return call.now;
    if (offset <= 1 && !sink("..", Ino{inode.record.parent}, S_IFDIR, 2)) return call.now;
    const std::uint64_t from = offset <= 2 ? 0 : offset - 2;
    directory_.list(ino, from, [&](const Dirent& entry, std::string_view name) { return sink(name, entry.ino, entry.type, entry.position + 3); });
    return call.now;
}

FsResult<SimTime> FileSystemImpl::open_file(const FsCall& call, Ino ino, const OpenMode& mode) {
    const auto found = get(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    if (mode.writes) {
        if (const auto may = may_change(); !may) return std::unexpected(may.error());
        if (inode.record.is_directory()) return std::unexpected(FsError{EISDIR});
        if ((inode.record.flags & file_flag_immutable) != 0 || ((inode.record.flags & file_flag_append) != 0 && !mode.appends))
            return std::unexpected(FsError{EPERM});
    }
    ++inode.opens;
    if (mode.writes) ++inode.writers;
    return call.now;
}

void FileSystemImpl::close_file(const FsCall& call, Ino ino, bool for_writing) {
    Inode* inode = table_.peek(ino);
    if (inode == nullptr || inode->opens == 0) return;
    --inode->opens;
    if (for_writing && inode->writers > 0 && --inode->writers == 0 && inode->flush_on_close) {
        inode->flush_on_close = false;
        if (inode->is_linked() && inode->pages != nullptr) {
            inode->flush_now = true;
            inode->unlink();
            write_back_.dirty_inodes().push_front(*inode);
        }
    }
    if (inode->record.links == 0) {
        destroy_if_unused(*inode, call.now);
    } else {
        table_.drop_if_idle(*inode);
    }
}

} // namespace flashlab
