// statfs and the ioctls: what concerns the file system, or a file's flags.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <linux/fs.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

#include "fs/file_stream.h"
#include "fs/fuse/mount_question.h"
#include "fs/fuse/operations.h"

namespace flashlab {

namespace {

void on_statfs(fuse_req_t request, fuse_ino_t ino) {
    Service& service = service_of(request);
    const auto work = [&](const FsCall& call) -> FsResult<Timed<FsUsage>> { return Timed<FsUsage>{service.fs().usage(), call.now}; };
    service.serve(request, {.op = FsOp::statfs, .ino = Ino{ino}}, work, [](fuse_req_t to, FsUsage& usage) {
        struct statvfs answer {};
        answer.f_bsize = usage.block_bytes;
        answer.f_frsize = usage.block_bytes;
        answer.f_blocks = usage.data_pages;
        answer.f_bfree = usage.data_pages_free;
        answer.f_bavail = usage.data_pages_free;
        answer.f_files = usage.inodes + usage.inodes_free;
        answer.f_ffree = usage.inodes_free;
        answer.f_favail = usage.inodes_free;
        answer.f_namemax = 255;
        fuse_reply_statfs(to, &answer);
    });
}

// --- file flags: FS_IOC_GETFLAGS and FS_IOC_FSGETXATTR are two spellings of one thing ----------------------------------------------------------

struct FlagPair {
    std::uint32_t flag;
    std::uint32_t xflag;
};
constexpr std::array<FlagPair, 5> flag_pairs{{{FS_IMMUTABLE_FL, FS_XFLAG_IMMUTABLE},
                                              {FS_APPEND_FL, FS_XFLAG_APPEND},
                                              {FS_SYNC_FL, FS_XFLAG_SYNC},
                                              {FS_NOATIME_FL, FS_XFLAG_NOATIME},
                                              {FS_NODUMP_FL, FS_XFLAG_NODUMP}}};

std::uint32_t xflags_of(std::uint32_t flags) {
    std::uint32_t out = 0;
    for (const auto& pair : flag_pairs) out |= (flags & pair.flag) != 0 ? pair.xflag : 0;
    return out;
}

/// Flags that FSSETXATTR cannot name stay as they are.
std::uint32_t flags_of(std::uint32_t xflags, std::uint32_t before) {
    std::uint32_t out = before;
    for (const auto& pair : flag_pairs) out = (xflags & pair.xflag) != 0 ? out | pair.flag : out & ~pair.flag;
    return out;
}

bool knows_all(std::uint32_t xflags) {
    for (const auto& pair : flag_pairs) xflags &= ~pair.xflag;
    return (xflags & ~static_cast<std::uint32_t>(FS_XFLAG_HASATTR)) == 0;
}

using Output = std::string; ///< the bytes an ioctl hands back

template <class T>
Output output_of(const T& value, std::size_t room) {
    Output out(std::min(room, sizeof value), '\0');
    std::memcpy(out.data(), &value, out.size());
    return out;
}

struct Ioctl {
    Ino ino;
    unsigned command;
    std::span<const std::byte> in;
    std::size_t room;
    bool is_root;
};

template <class T>
FsResult<T> input_of(const Ioctl& ioctl) {
    if (ioctl.in.size() < sizeof(T)) return std::unexpected(FsError{EINVAL});
    T value;
    std::memcpy(&value, ioctl.in.data(), sizeof value);
    return value;
}

using IoctlResult = FsResult<Timed<Output>>;

IoctlResult nothing_more(FsResult<SimTime> done) {
    if (!done) return std::unexpected(done.error());
    return Timed<Output>{{}, *done};
}

IoctlResult get_flags(FileSystem& fs, const FsCall& call, const Ioctl& ioctl) {
    const auto file = fs.attributes(call, ioctl.ino);
    if (!file) return std::unexpected(file.error());
    if (ioctl.command == FS_IOC_GETFLAGS) return Timed<Output>{output_of(std::uint64_t{file->value.flags}, ioctl.room), file->done};
    if (ioctl.command == FS_IOC_GETVERSION) return Timed<Output>{output_of(file->value.generation, ioctl.room), file->done};
    fsxattr attributes{};
    attributes.fsx_xflags = xflags_of(file->value.flags);
    return Timed<Output>{output_of(attributes, ioctl.room), file->done};
}

IoctlResult set_flags(FileSystem& fs, const FsCall& call, const Ioctl& ioctl) {
    const auto file = fs.attributes(call, ioctl.ino);
    if (!file) return std::unexpected(file.error());
    std::uint32_t flags = 0;
    if (ioctl.command == FS_IOC_SETFLAGS) {
        const auto given = input_of<std::uint32_t>(ioctl);
        if (!given) return std::unexpected(given.error());
        flags = *given;
    } else {
        const auto given = input_of<fsxattr>(ioctl);
        if (!given) return std::unexpected(given.error());
        if (!knows_all(given->fsx_xflags) || given->fsx_projid != 0 || given->fsx_extsize != 0) return std::unexpected(FsError{EOPNOTSUPP});
        flags = flags_of(given->fsx_xflags, file->value.flags);
    }
    constexpr std::uint32_t protecting = FS_IMMUTABLE_FL | FS_APPEND_FL;
    if (((flags ^ file->value.flags) & protecting) != 0 && !ioctl.is_root) return std::unexpected(FsError{EPERM});
    if (!ioctl.is_root && call.uid != file->value.uid) return std::unexpected(FsError{EPERM});
    return nothing_more(fs.set_file_flags(call, ioctl.ino, flags));
}

IoctlResult trim(FileSystem& fs, const FsCall& call, const Ioctl& ioctl) {
    const auto range = input_of<fstrim_range>(ioctl);
    if (!range) return std::unexpected(range.error());
    if (!ioctl.is_root) return std::unexpected(FsError{EPERM});
    const FsUsage usage = fs.usage(); // as ext4: less than a block cannot be trimmed, and no run is longer than the drive
    if (range->len < usage.block_bytes || range->minlen > usage.block_bytes * usage.data_pages) return std::unexpected(FsError{EINVAL});
    const auto trimmed = fs.trim_free(call, range->start, range->len, range->minlen);
    if (!trimmed) return std::unexpected(trimmed.error());
    return Timed<Output>{output_of(fstrim_range{range->start, trimmed->value, range->minlen}, ioctl.room), trimmed->done};
}

IoctlResult get_label(FileSystem& fs, const FsCall& call, const Ioctl& ioctl) {
    std::array<char, FSLABEL_MAX> label{};
    fs.label().copy(label.data(), label.size() - 1);
    return Timed<Output>{output_of(label, ioctl.room), call.now};
}

IoctlResult set_label(FileSystem& fs, const FsCall& call, const Ioctl& ioctl) {
    if (!ioctl.is_root) return std::unexpected(FsError{EPERM});
    const auto label = input_of<std::array<char, FSLABEL_MAX>>(ioctl);
    if (!label) return std::unexpected(label.error());
    return nothing_more(fs.set_label(call, {label->data(), strnlen(label->data(), label->size())}));
}

/// The file's attribute as a number (fs/file_stream.h), for programs that have a descriptor and no words.
constexpr unsigned get_stream_command = _IOR('F', 0xf2, std::uint32_t), set_stream_command = _IOW('F', 0xf2, std::uint32_t);

IoctlResult get_stream(FileSystem& fs, const FsCall& call, const Ioctl& ioctl) {
    const auto value = fs.get_xattr(call, ioctl.ino, stream_xattr);
    if (!value && value.error().error_number != ENODATA) return std::unexpected(value.error());
    const StreamId stream = value ? parse_file_stream(value->value).value_or(no_stream) : no_stream;
    return Timed<Output>{output_of(std::uint32_t{stream.value()}, ioctl.room), value ? value->done : call.now};
}

IoctlResult set_stream(FileSystem& fs, const FsCall& call, const Ioctl& ioctl) {
    const auto given = input_of<std::uint32_t>(ioctl);
    if (!given) return std::unexpected(given.error());
    const auto file = fs.attributes(call, ioctl.ino);
    if (!file) return std::unexpected(file.error());
    if (!ioctl.is_root && call.uid != file->value.uid) return std::unexpected(FsError{EPERM});
    const std::string text = std::to_string(*given);
    return nothing_more(fs.set_xattr(call, ioctl.ino, stream_xattr, std::as_bytes(std::span{text}), XattrMode::any));
}

enum class IoctlEffect : std::uint8_t { none, changes_flags, changes_device };
struct KnownIoctl {
    unsigned command;
    IoctlEffect effect;
    IoctlResult (*run)(FileSystem&, const FsCall&, const Ioctl&);
};
constexpr std::array<KnownIoctl, 10> known_ioctls{{{FS_IOC_GETFLAGS, IoctlEffect::none, get_flags},
                                                   {FS_IOC_GETVERSION, IoctlEffect::none, get_flags},
                                                   {FS_IOC_FSGETXATTR, IoctlEffect::none, get_flags},
                                                   {FS_IOC_SETFLAGS, IoctlEffect::changes_flags, set_flags},
                                                   {FS_IOC_FSSETXATTR, IoctlEffect::changes_flags, set_flags},
                                                   {FITRIM, IoctlEffect::changes_device, trim},
                                                   {FS_IOC_GETFSLABEL, IoctlEffect::none, get_label},
                                                   {FS_IOC_SETFSLABEL, IoctlEffect::changes_device, set_label},
                                                   {get_stream_command, IoctlEffect::none, get_stream},
                                                   {set_stream_command, IoctlEffect::changes_flags, set_stream}}};

IoctlResult run_known(Service& service, const KnownIoctl& known, const FsCall& call, const Ioctl& ioctl) {
    auto done = known.run(service.fs(), call, ioctl);
    if (!done || known.effect != IoctlEffect::changes_flags) return done;
    if (const auto file = service.fs().attributes(call, ioctl.ino)) service.synced_files().note(ioctl.ino, file->value.flags);
    return done;
}

/// Makes the kernel drop its cached attributes. It keeps them for a day and does not know that this ioctl changes the change time. A negative offset
/// means attributes only: for these the kernel takes no lock that the ioctl holds; dropping pages could wait for such a lock. This comes before the
/// reply, since the caller may look at the attributes right after it.
void drop_cached_attributes(fuse_req_t request, Ino ino) { fuse_lowlevel_notify_inval_inode(context_of(request).session, ino.value(), -1, 0); }

/// FS_IOC_SHUTDOWN as ext4 and XFS number it: what is not durable is dropped, further calls fail, the next mount recovers. That is a power cut.
constexpr unsigned shutdown_command = _IOR('X', 125, std::uint32_t);

/// What shall be durable before it, as XFS numbers it: all, the names without the data, nothing. The kernel takes the number for something to hand
/// out, so it is still in the caller's memory, which only root can read. Who cannot be read is given a plain cut.
enum class ShutDown : std::uint32_t { after_all, after_names, at_once };
ShutDown shut_down_kind(fuse_req_t request, void* at) {
    auto kind = ShutDown::at_once;
    const iovec to{&kind, sizeof kind}, from{at, sizeof kind};
    const bool is_read = process_vm_readv(fuse_req_ctx(request)->pid, &to, 1, &from, 1, 0) == sizeof kind;
    return is_read ? kind : ShutDown::at_once;
}

void shut_down(fuse_req_t request, void* argument) {
    SessionContext& context = context_of(request);
    if (fuse_req_ctx(request)->uid != 0) {
        fuse_reply_err(request, EPERM);
        return;
    }
    if (!context.service.is_powered()) {
        fuse_reply_err(request, EIO);
        return;
    }
    const ShutDown kind = shut_down_kind(request, argument);
    if (kind > ShutDown::at_once) {
        fuse_reply_err(request, EINVAL);
        return;
    }
    const auto synced = kind == ShutDown::after_all     ? context.service.sync_all()
                        : kind == ShutDown::after_names ? context.service.sync_names()
                                                        : FsResult<void>{};
    if (!synced) {
        fuse_reply_err(request, synced.error().error_number);
        return;
    }
    context.on_shutdown();
    const auto seed = static_cast<std::uint64_t>(ns_since_start(context.service.clock_now()));
    static_cast<void>(context.service.cut(seed));
    fuse_reply_ioctl(request, 0, nullptr, 0);
    context.on_power_cut();
}

void tell_device_path(fuse_req_t request) {
    SessionContext& context = context_of(request);
    if (!context.service.is_powered()) {
        fuse_reply_err(request, EIO);
        return;
    }
    DevicePath path{};
    context.device_path().copy(path.data(), path.size() - 1);
    fuse_reply_ioctl(request, 0, path.data(), path.size());
}

void on_ioctl(fuse_req_t request, fuse_ino_t ino, unsigned command, void* argument, fuse_file_info*, unsigned, const void* in, std::size_t in_bytes,
              std::size_t room) {
    if (command == shutdown_command) return shut_down(request, argument);
    if (command == where_command) return tell_device_path(request);
    const auto known = std::ranges::find(known_ioctls, command, &KnownIoctl::command);
    if (known == known_ioctls.end()) {
        fuse_reply_err(request, ENOTTY);
        return;
    }
    Service& service = service_of(request);
    if (known->effect != IoctlEffect::none && service.is_read_only()) {
        fuse_reply_err(request, EROFS);
        return;
    }
    const Ioctl ioctl{Ino{ino}, command, {static_cast<const std::byte*>(in), in_bytes}, room, fuse_req_ctx(request)->uid == 0};
    service.serve(
        request, {.op = FsOp::ioctl, .ino = Ino{ino}, .mutates = known->effect != IoctlEffect::none},
        [&](const FsCall& call) { return run_known(service, *known, call, ioctl); },
        [ino, changes_flags = known->effect == IoctlEffect::changes_flags](fuse_req_t to, Output& output) {
            if (changes_flags) drop_cached_attributes(to, Ino{ino});
            fuse_reply_ioctl(to, 0, output.data(), output.size());
        });
}

} // namespace

void add_whole_operations(fuse_lowlevel_ops& table) {
    table.statfs = on_statfs;
    table.ioctl = on_ioctl;
}

} // namespace flashlab
