// Extended attributes and the two that are access control lists.
#include "fs/file_flags.h"
#include "fs/file_stream.h"
#include "fs/file_system_impl.h"

namespace flashlab {

namespace {

/// 0 for a name in one of the known namespaces, else the errno that ext4 answers.
int wrong_with(std::string_view name) {
    if (name == acl_access_name || name == acl_default_name) return 0;
    for (const std::string_view prefix : {"user.", "trusted.", "security."}) {
        if (name.starts_with(prefix)) return name.size() == prefix.size() ? EINVAL : 0;
    }
    return EOPNOTSUPP;
}

/// The list without names in trusted., which only the superuser sees.
std::string without_trusted(const std::string& names) {
    std::string out;
    for (std::size_t at = 0; at < names.size();) {
        const std::size_t end = names.find('\0', at) + 1;
        const std::string_view name{names.data() + at, end - at};
        if (!name.starts_with("trusted.")) out += name;
        at = end;
    }
    return out;
}

} // namespace

FsResult<Timed<std::vector<std::byte>>> FileSystemImpl::get_xattr(const FsCall& call, Ino ino, std::string_view name) {
    const auto found = get(ino);
    if (!found) return std::unexpected(found.error());
    if (const int wrong = wrong_with(name)) return std::unexpected(FsError{wrong});
    const InodeRecord& record = (*found)->record;
    if (record.xattrs == 0) return std::unexpected(FsError{ENODATA});
    if (name == acl_access_name && (record.acl & InodeRecord::has_access_acl) == 0) return std::unexpected(FsError{ENODATA});
    auto value = xattrs_.get(ino, name);
    if (!value) return std::unexpected(FsError{ENODATA});
    return Timed<std::vector<std::byte>>{std::move(*value), call.now};
}

FsResult<Timed<std::string>> FileSystemImpl::list_xattrs(const FsCall& call, Ino ino) {
    const auto found = get(ino);
    if (!found) return std::unexpected(found.error());
    if ((*found)->record.xattrs == 0) return Timed<std::string>{{}, call.now};
    std::string names = xattrs_.names(ino);
    return Timed<std::string>{call.uid == 0 ? std::move(names) : without_trusted(names), call.now};
}

/// Makes the access ACL follow the mode. Must be called inside the transaction that changes the mode.
FsResult<void> FileSystemImpl::chmod_acl(const Inode& inode, InodeRecord& record) {
    if ((record.acl & InodeRecord::has_access_acl) == 0) return {};
    const auto value = xattrs_.get(inode.ino, acl_access_name);
    auto acl = value ? PosixAcl::decode(*value) : std::nullopt;
    if (!acl) return std::unexpected(FsError{EIO});
    acl->set_mode(record.mode);
    const auto set = xattrs_.set(inode.ino, acl_access_name, acl->encode());
    if (!set) return std::unexpected(set.error());
    return {};
}

/// Stores an ACL, or removes it when the value is empty, and keeps the mode and the ACL bits in step. Must be called inside a transaction.
FsResult<void> FileSystemImpl::set_acl(const Inode& inode, InodeRecord& record, std::string_view name, std::span<const std::byte> value) {
    const bool is_default = name == acl_default_name;
    if (record.is_symlink()) return std::unexpected(FsError{EOPNOTSUPP});
    if (is_default && !record.is_directory()) return std::unexpected(FsError{EACCES});
    const std::uint32_t mark = is_default ? InodeRecord::has_default_acl : InodeRecord::has_access_acl;
    bool keep = !value.empty();
    if (keep) {
        const auto acl = PosixAcl::decode(value);
        if (!acl) return std::unexpected(FsError{EINVAL});
        if (!is_default) {
            record.mode = (record.mode & ~0777u) | acl->mode();
            keep = !acl->is_minimal(); // the mode says it all
        }
    }
    const bool had = (record.acl & mark) != 0;
    if (keep) {
        if (const auto set = xattrs_.set(inode.ino, name, value); !set) return std::unexpected(set.error());
        record.acl |= mark;
        if (!had) ++record.xattrs;
    } else if (had) {
        if (const auto removed = xattrs_.remove(inode.ino, name); !removed) return std::unexpected(removed.error());
        record.acl &= ~mark;
        --record.xattrs;
    }
    return {};
}

FsResult<SimTime> FileSystemImpl::set_xattr(const FsCall& call, Ino ino, std::string_view name, std::span<const std::byte> value, XattrMode mode) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    const auto found = get(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    if (name.empty() || name.size() > XattrStore::longest_name) return std::unexpected(FsError{ERANGE});
    if ((inode.record.flags & (file_flag_immutable | file_flag_append)) != 0) return std::unexpected(FsError{EPERM});
    if (const int wrong = wrong_with(name)) return std::unexpected(FsError{wrong});
    if (value.size() > XattrStore::longest_value) return std::unexpected(FsError{E2BIG});
    if (name == stream_xattr) {
        const auto stream = parse_file_stream(value);
        if (!stream || stream->value() >= options_.streams) return std::unexpected(FsError{EINVAL});
    }
    const bool exists = inode.record.xattrs != 0 && xattrs_.has(ino, name);
    if (exists && (mode == XattrMode::create || mode == XattrMode::create_and_replace)) return std::unexpected(FsError{EEXIST});
    if (!exists && (mode == XattrMode::replace || mode == XattrMode::create_and_replace)) return std::unexpected(FsError{ENODATA});
    InodeRecord record = inode.record;
    record.changed = call.wall;
    MetadataTransaction transaction{*store_};
    if (name == acl_access_name || name == acl_default_name) {
        if (const auto set = set_acl(inode, record, name, value); !set) return std::unexpected(set.error());
    } else {
        const auto set = xattrs_.set(ino, name, value);
        if (!set) return std::unexpected(set.error());
        if (*set) ++record.xattrs;
    }
    if (const auto written = put(transaction, inode, record); !written) return std::unexpected(written.error());
    const auto done = transaction.commit(call.now);
    if (done) inode.record = record;
    return done;
}

FsResult<SimTime> FileSystemImpl::remove_xattr(const FsCall& call, Ino ino, std::string_view name) {
    if (const auto may = may_change(); !may) return std::unexpected(may.error());
    const auto found = get(ino);
    if (!found) return std::unexpected(found.error());
    Inode& inode = **found;
    if ((inode.record.flags & (file_flag_immutable | file_flag_append)) != 0) return std::unexpected(FsError{EPERM});
    if (const int wrong = wrong_with(name)) return std::unexpected(FsError{wrong});
    if (inode.record.xattrs == 0 || !xattrs_.has(ino, name)) {
        if (name == acl_access_name || name == acl_default_name) return call.now; // an ACL that is set to nothing comes as a removal
        return std::unexpected(FsError{ENODATA});
    }
    InodeRecord record = inode.record;
    record.changed = call.wall;
    MetadataTransaction transaction{*store_, MetadataTransaction::Reserve::use};
    const auto removed = xattrs_.remove(ino, name);
    if (!removed) return std::unexpected(removed.error());
    --record.xattrs;
    if (name == acl_access_name) record.acl &= ~static_cast<std::uint32_t>(InodeRecord::has_access_acl);
    if (name == acl_default_name) record.acl &= ~static_cast<std::uint32_t>(InodeRecord::has_default_acl);
    if (const auto written = put(transaction, inode, record); !written) return std::unexpected(written.error());
    const auto done = transaction.commit(call.now);
    if (done) inode.record = record;
    return done;
}

} // namespace flashlab
