// getattr, setattr and the extended attributes.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "fs/file_stream.h"
#include "fs/fuse/operations.h"

namespace flashlab {

namespace {

constexpr std::string_view capability_name = "security.capability";
constexpr std::string_view access_acl_name = "system.posix_acl_access";

void reply_attributes(fuse_req_t to, Attributes& attributes) {
    const struct stat answer = stat_of(attributes);
    fuse_reply_attr(to, &answer, cache_seconds);
}

void on_getattr(fuse_req_t request, fuse_ino_t ino, fuse_file_info*) {
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::getattr, .ino = Ino{ino}}, [&](const FsCall& call) { return service.fs().attributes(call, Ino{ino}); },
        reply_attributes);
}

#ifdef FLASHLAB_FUSE_STATX
statx_timestamp timestamp_of(FileTime time) {
    statx_timestamp out{};
    out.tv_sec = time.seconds;
    out.tv_nsec = time.nanoseconds;
    return out;
}

struct statx statx_of(const Attributes& attributes) {
    const struct stat plain = stat_of(attributes);
    struct statx out {};
    out.stx_mask = STATX_BASIC_STATS | STATX_BTIME;
    out.stx_blksize = static_cast<std::uint32_t>(plain.st_blksize);
    out.stx_attributes_mask = STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND | STATX_ATTR_NODUMP; // the kernel (6.18) does not pass them on
    out.stx_attributes = attributes.flags & out.stx_attributes_mask;                        // chattr's bits have the same values
    out.stx_nlink = static_cast<std::uint32_t>(plain.st_nlink);
    out.stx_uid = plain.st_uid;
    out.stx_gid = plain.st_gid;
    out.stx_mode = static_cast<std::uint16_t>(plain.st_mode);
    out.stx_ino = plain.st_ino;
    out.stx_size = static_cast<std::uint64_t>(plain.st_size);
    out.stx_blocks = static_cast<std::uint64_t>(plain.st_blocks);
    out.stx_atime = timestamp_of(attributes.accessed);
    out.stx_btime = timestamp_of(attributes.born);
    out.stx_ctime = timestamp_of(attributes.changed);
    out.stx_mtime = timestamp_of(attributes.modified);
    out.stx_rdev_major = major(plain.st_rdev);
    out.stx_rdev_minor = minor(plain.st_rdev);
    return out;
}

/// Comes for statx(2) with STATX_BTIME, as stat(1) asks. All else is getattr.
void on_statx(fuse_req_t request, fuse_ino_t ino, int, int, fuse_file_info*) {
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::getattr, .ino = Ino{ino}}, [&](const FsCall& call) { return service.fs().attributes(call, Ino{ino}); },
        [](fuse_req_t to, Attributes& attributes) {
            struct statx answer = statx_of(attributes);
            fuse_reply_statx(to, 0, &answer, cache_seconds);
        });
}
#endif

FileTime file_time_of(const timespec& time) { return {time.tv_sec, static_cast<std::uint32_t>(time.tv_nsec)}; }

AttributeChange change_of(const struct stat& wanted, int which, FileTime wall) {
    AttributeChange change;
    const auto take = [&](int bit, AttributeChange::Bit as) {
        if ((which & bit) != 0) change.which |= as;
        return (which & bit) != 0;
    };
    if (take(FUSE_SET_ATTR_MODE, AttributeChange::mode)) change.new_mode = wanted.st_mode;
    if (take(FUSE_SET_ATTR_UID, AttributeChange::uid)) change.new_uid = wanted.st_uid;
    if (take(FUSE_SET_ATTR_GID, AttributeChange::gid)) change.new_gid = wanted.st_gid;
    if (take(FUSE_SET_ATTR_SIZE, AttributeChange::size)) change.new_size = static_cast<std::uint64_t>(wanted.st_size);
    if (take(FUSE_SET_ATTR_ATIME, AttributeChange::atime)) change.new_atime = file_time_of(wanted.st_atim);
    if (take(FUSE_SET_ATTR_MTIME, AttributeChange::mtime)) change.new_mtime = file_time_of(wanted.st_mtim);
    if (take(FUSE_SET_ATTR_CTIME, AttributeChange::ctime)) change.new_ctime = file_time_of(wanted.st_ctim);
    if (take(FUSE_SET_ATTR_ATIME_NOW, AttributeChange::atime)) change.new_atime = wall;
    if (take(FUSE_SET_ATTR_MTIME_NOW, AttributeChange::mtime)) change.new_mtime = wall;
#ifdef FLASHLAB_FUSE_KILLPRIV_V2
    take(FUSE_SET_ATTR_KILL_SUID, AttributeChange::kill_suid_sgid); // FATTR_KILL_SUIDGID by its older name
#endif
    constexpr int now = FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW;
    constexpr int others = FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID | FUSE_SET_ATTR_SIZE;
    change.touches_now = (which & (now | others)) == now;
    return change;
}

void on_setattr(fuse_req_t request, fuse_ino_t ino, struct stat* wanted, int which, fuse_file_info*) {
    Service& service = service_of(request);
    const std::uint64_t size = (which & FUSE_SET_ATTR_SIZE) != 0 ? static_cast<std::uint64_t>(wanted->st_size) : 0;
    service.serve_patient(
        request, {.op = FsOp::setattr, .ino = Ino{ino}, .mutates = true, .bytes = size},
        [fs = &service.fs(), ino, wanted = *wanted, which](const FsCall& call) {
            return fs->change_attributes(call, Ino{ino}, change_of(wanted, which, call.wall));
        },
        reply_attributes);
}

/// The protocol of getxattr(2) and listxattr(2): size 0 asks for the size.
void reply_sized(fuse_req_t to, const void* bytes, std::size_t have, std::size_t room) {
    if (room == 0) {
        fuse_reply_xattr(to, have);
    } else if (have > room) {
        fuse_reply_err(to, ERANGE);
    } else {
        fuse_reply_buf(to, static_cast<const char*>(bytes), have);
    }
}

/// Attributes that no file has, and every file shows: what is known of it here. They are not listed, so that no copy takes them along.
constexpr std::string_view own_prefix = "user.flashlab.";

/// Answered here; the file's stream is an attribute like any other.
bool is_own(const char* name) { return std::string_view{name}.starts_with(own_prefix) && name != stream_xattr; }

FsResult<Timed<std::vector<std::byte>>> own_attribute(Service& service, const FsCall& call, Ino ino, std::string_view name) {
    name.remove_prefix(own_prefix.size());
    const auto file = service.fs().attributes(call, ino);
    if (!file) return std::unexpected(file.error());
    const std::optional<FileUse> use = service.use() == nullptr ? std::nullopt : service.use()->use_of(ino);
    std::string text;
    if (name == "pages")
        text = std::to_string(file->value.blocks_512 * 512 / service.fs().usage().block_bytes);
    else if (name == "born") // statx(2) cannot say it: libfuse has no such request before 3.18
        text = fmt::format("{}.{:09}", file->value.born.seconds, file->value.born.nanoseconds);
    else if (use && name == "write_bytes")
        text = std::to_string(use->write_bytes);
    else if (use && name == "host_write_bytes")
        text = std::to_string(use->host_write_bytes);
    else if (use && name == "nand_write_bytes")
        text = std::to_string(use->nand_write_bytes);
    else if (use && name == "heat") // how often each of its bytes was sent to the drive, in the mean
        text =
            fmt::format("{:.2f}", file->value.size == 0 ? 0.0 : static_cast<double>(use->host_write_bytes) / static_cast<double>(file->value.size));
    else
        return std::unexpected(FsError{ENODATA});
    const auto bytes = std::as_bytes(std::span{text});
    return Timed<std::vector<std::byte>>{{bytes.begin(), bytes.end()}, call.now};
}

void on_getxattr(fuse_req_t request, fuse_ino_t ino, const char* name, std::size_t room) {
    Service& service = service_of(request);
    const bool is_capability = capability_name == name;
    if (is_capability && service.is_powered() && service.capabilities().known_without(Ino{ino})) { // comes before every write(2)
        fuse_reply_err(request, ENODATA);
        return;
    }
    const auto work = [&](const FsCall& call) {
        if (is_own(name)) return own_attribute(service, call, Ino{ino}, name);
        auto value = service.fs().get_xattr(call, Ino{ino}, name);
        if (!is_capability) return value;
        if (value)
            value->done = call.now; // never charged: no kernel file system asks its medium for it
        else if (value.error().error_number == ENODATA)
            service.capabilities().note_without(Ino{ino});
        return value;
    };
    service.serve(request, {.op = FsOp::getxattr, .ino = Ino{ino}, .bytes = room}, work,
                  [room](fuse_req_t to, std::vector<std::byte>& value) { reply_sized(to, value.data(), value.size(), room); });
}

void on_listxattr(fuse_req_t request, fuse_ino_t ino, std::size_t room) {
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::listxattr, .ino = Ino{ino}, .bytes = room},
        [&](const FsCall& call) { return service.fs().list_xattrs(call, Ino{ino}); },
        [room](fuse_req_t to, std::string& names) { reply_sized(to, names.data(), names.size(), room); });
}

/// A new access ACL clears S_ISGID, on directories, too, when the caller is outside the group. The kernel leaves that to the daemon (in the protocol
/// before SETXATTR_EXT).
FsResult<SimTime> drop_setgid(Service& service, const FsCall& call, Ino ino, SimTime done) {
    const auto present = service.fs().attributes(call, ino);
    if (!present) return std::unexpected(present.error());
    const Attributes& file = present->value;
    if ((file.mode & S_ISGID) == 0 || call.is_in_group(file.gid)) return done;
    AttributeChange change;
    change.which = AttributeChange::mode;
    change.new_mode = file.mode & ~static_cast<std::uint32_t>(S_ISGID);
    const auto changed = service.fs().change_attributes(call, ino, change);
    if (!changed) return std::unexpected(changed.error());
    return std::max(done, changed->done);
}

void on_setxattr(fuse_req_t request, fuse_ino_t ino, const char* name, const char* value, std::size_t bytes, int flags) {
    if (is_own(name)) {
        fuse_reply_err(request, EPERM);
        return;
    }
    Service& service = service_of(request);
    const auto mode = flags == XATTR_CREATE    ? XattrMode::create
                      : flags == XATTR_REPLACE ? XattrMode::replace
                      : flags == 0             ? XattrMode::any
                                               : XattrMode::create_and_replace;
    const auto work = [&](const FsCall& call) -> FsResult<SimTime> {
        if (capability_name == name) service.capabilities().drop(Ino{ino});
        const auto done = service.fs().set_xattr(call, Ino{ino}, name, std::as_bytes(std::span{value, bytes}), mode);
        if (!done || call.may_override_suid || access_acl_name != name) return done;
        return drop_setgid(service, call, Ino{ino}, *done);
    };
    service.serve(request, {.op = FsOp::setxattr, .ino = Ino{ino}, .mutates = true, .bytes = bytes}, work,
                  [](fuse_req_t to, Nothing&) { fuse_reply_err(to, 0); });
}

void on_removexattr(fuse_req_t request, fuse_ino_t ino, const char* name) {
    if (is_own(name)) {
        fuse_reply_err(request, EPERM);
        return;
    }
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::removexattr, .ino = Ino{ino}, .mutates = true},
        [&](const FsCall& call) { return service.fs().remove_xattr(call, Ino{ino}, name); }, [](fuse_req_t to, Nothing&) { fuse_reply_err(to, 0); });
}

} // namespace

void add_attribute_operations(fuse_lowlevel_ops& table) {
    table.getattr = on_getattr;
#ifdef FLASHLAB_FUSE_STATX
    table.statx = on_statx;
#endif
    table.setattr = on_setattr;
    table.getxattr = on_getxattr;
    table.setxattr = on_setxattr;
    table.listxattr = on_listxattr;
    table.removexattr = on_removexattr;
}

} // namespace flashlab
