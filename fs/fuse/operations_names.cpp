// lookup, forget and everything that makes, moves or removes a name.
#include <string>

#include <fcntl.h>
#include <linux/fs.h>

#include "fs/fuse/open_handle.h"
#include "fs/fuse/operations.h"

namespace flashlab {

namespace {

using NewEntry = Timed<Attributes>;

void on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    Service& service = service_of(request);
    const auto work = [&](const FsCall& call) -> FsResult<NewEntry> {
        auto found = service.fs().lookup(call, Ino{parent}, name);
        const bool is_dot = std::string_view{name} == "." || std::string_view{name} == "..";
        if (found && !is_dot) service.tell_name(found->value, Ino{parent}, name);
        if (found || found.error().error_number != ENOENT || is_dot) return found;
        return NewEntry{Attributes{}, call.now}; // a negative entry: the kernel remembers the miss
    };
    service.serve(request, {.op = FsOp::lookup, .ino = Ino{parent}}, work, [](fuse_req_t to, Attributes& found) { reply_entry(to, found); });
}

void on_forget(fuse_req_t request, fuse_ino_t ino, std::uint64_t references) {
    take_back(service_of(request), Ino{ino}, references);
    fuse_reply_none(request);
}

void on_forget_multi(fuse_req_t request, std::size_t count, fuse_forget_data* forgets) {
    Service& service = service_of(request);
    service.serve_silently({.op = FsOp::forget, .ino = Ino{0}, .bytes = count}, [&](const FsCall& call) {
        for (std::size_t index = 0; index < count; ++index) service.fs().forget(Ino{forgets[index].ino}, forgets[index].nlookup, call.now);
    });
    fuse_reply_none(request);
}

/// Notes that a new inode has no security.capability: the kernel will ask before the first write.
FsResult<NewEntry> noted(Service& service, FsResult<NewEntry> made) {
    if (made) service.capabilities().note_without(made->value.ino);
    return made;
}

FsResult<NewEntry> named(Service& service, fuse_ino_t parent, const char* name, FsResult<NewEntry> made) {
    if (made) service.tell_name(made->value, Ino{parent}, name);
    return made;
}

void on_mknod(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t rdev) {
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::mknod, .ino = Ino{parent}, .mutates = true},
        [&](const FsCall& call) {
            return named(service, parent, name,
                         noted(service, service.fs().make_node(call, Ino{parent}, name, mode, static_cast<std::uint32_t>(rdev))));
        },
        [](fuse_req_t to, Attributes& made) { reply_entry(to, made); });
}

void on_mkdir(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::mkdir, .ino = Ino{parent}, .mutates = true},
        [&](const FsCall& call) { return named(service, parent, name, service.fs().make_directory(call, Ino{parent}, name, mode | S_IFDIR)); },
        [](fuse_req_t to, Attributes& made) { reply_entry(to, made); });
}

void on_symlink(fuse_req_t request, const char* target, fuse_ino_t parent, const char* name) {
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::symlink, .ino = Ino{parent}, .mutates = true},
        [&](const FsCall& call) { return service.fs().make_symlink(call, Ino{parent}, name, target); },
        [](fuse_req_t to, Attributes& made) { reply_entry(to, made); });
}

void on_link(fuse_req_t request, fuse_ino_t ino, fuse_ino_t parent, const char* name) {
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::link, .ino = Ino{ino}, .mutates = true},
        [&](const FsCall& call) {
            auto linked = service.fs().link(call, Ino{ino}, Ino{parent}, name);
            if (linked && linked->value.links == 1) service.tell_name(linked->value, Ino{parent}, name); // its first
            return linked;
        },
        [](fuse_req_t to, Attributes& linked) { reply_entry(to, linked); });
}

void on_unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::unlink, .ino = Ino{parent}, .mutates = true},
        [&](const FsCall& call) { return service.fs().unlink(call, Ino{parent}, name); }, [](fuse_req_t to, Nothing&) { fuse_reply_err(to, 0); });
}

void on_rmdir(fuse_req_t request, fuse_ino_t parent, const char* name) {
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::rmdir, .ino = Ino{parent}, .mutates = true},
        [&](const FsCall& call) { return service.fs().remove_directory(call, Ino{parent}, name); },
        [](fuse_req_t to, Nothing&) { fuse_reply_err(to, 0); });
}

/// The mode for rename(2)'s flags; nothing for a combination that makes no sense.
std::optional<RenameMode> rename_mode(unsigned flags) {
    switch (flags) {
    case 0:
        return RenameMode::replace;
    case RENAME_NOREPLACE:
        return RenameMode::no_replace;
    case RENAME_EXCHANGE:
        return RenameMode::exchange;
    case RENAME_WHITEOUT:
    case RENAME_WHITEOUT | RENAME_NOREPLACE:
        return RenameMode::whiteout;
    default:
        return std::nullopt;
    }
}

void on_rename(fuse_req_t request, fuse_ino_t from_parent, const char* from, fuse_ino_t to_parent, const char* to, unsigned flags) {
    const auto mode = rename_mode(flags);
    if (!mode) {
        fuse_reply_err(request, EINVAL);
        return;
    }
    Service& service = service_of(request);
    const auto begin = [&](const FsCall& call) -> FsResult<std::unique_ptr<SlowCall>> {
        if (*mode == RenameMode::whiteout && (flags & RENAME_NOREPLACE) != 0) { // one mode cannot say both: look first, inside the same monitor
            const auto present = service.fs().lookup(call, Ino{to_parent}, to);
            if (present) {
                service.fs().forget(present->value.ino, 1, call.now);
                return std::unexpected(FsError{EEXIST});
            }
        }
        return service.fs().begin_rename(call, Ino{from_parent}, from, Ino{to_parent}, to, *mode);
    };
    const std::optional<Attributes> moved = service.file_to_move(request, Ino{from_parent}, from);
    const std::optional<Attributes> other = *mode == RenameMode::exchange ? service.file_to_move(request, Ino{to_parent}, to) : std::nullopt;
    const auto answer = [&service, moved, other, from_parent, to_parent, old_name = moved ? std::string{from} : std::string{},
                         new_name = moved ? std::string{to} : std::string{}](fuse_req_t done) {
        if (moved)
            service.with_monitor([&](SimTime) {
                service.tell_name(*moved, Ino{to_parent}, new_name);
                if (other) service.tell_name(*other, Ino{from_parent}, old_name);
            });
        fuse_reply_err(done, 0);
    };
    service.serve_slow(request, {.op = FsOp::rename, .ino = Ino{from_parent}, .mutates = true}, begin, answer);
}

void on_readlink(fuse_req_t request, fuse_ino_t ino) {
    Service& service = service_of(request);
    service.serve(
        request, {.op = FsOp::readlink, .ino = Ino{ino}}, [&](const FsCall& call) { return service.fs().read_link(call, Ino{ino}); },
        [](fuse_req_t to, std::string& target) { fuse_reply_readlink(to, target.c_str()); });
}

FsResult<NewEntry> opened_at_once(Service& service, const FsCall& call, FsResult<NewEntry> made, int flags) {
    if (!made) return made;
    const auto open = service.fs().open_file(call, made->value.ino, open_mode_of(flags));
    if (!open) {
        service.fs().forget(made->value.ino, 1, call.now);
        return std::unexpected(open.error());
    }
    made->done = std::max(made->done, *open);
    return made;
}

/// Makes and opens a file. If the name exists meanwhile, the kernel has not looked whether its file may be opened and cut short: it shall look anew.
FsResult<NewEntry> make_and_open(Service& service, const FsCall& call, Ino parent, const char* name, std::uint32_t mode, int flags) {
    auto made = noted(service, service.fs().make_node(call, parent, name, mode, 0));
    if (!made && made.error().error_number == EEXIST && (flags & O_EXCL) == 0) return std::unexpected(FsError{ESTALE});
    return opened_at_once(service, call, std::move(made), flags);
}

/// Serves what makes a file and opens it at once. `make` makes it, open and with a reference.
template <class Make>
void serve_made(fuse_req_t request, fuse_ino_t parent, const fuse_file_info& file, const Make& make) {
    Service& service = service_of(request);
    auto handle = std::make_unique<OpenHandle>();
    OpenHandle& file_handle = *handle;
    auto answer = [file, handle = std::move(handle)](fuse_req_t to, Attributes& made) mutable {
        Service& again = service_of(to);
        fuse_file_info reply = file;
        reply.keep_cache = 1;
        again.open_handles().give(std::move(handle), reply);
        const fuse_entry_param entry = entry_of(made);
        if (fuse_reply_create(to, &entry, &reply) != -ENOENT) return;
        again.open_handles().take_back(reply);
        const bool for_writing = (file.flags & O_ACCMODE) != O_RDONLY; // interrupted: no release will come
        again.serve_silently({.op = FsOp::release, .ino = made.ino}, [&](const FsCall& call) {
            again.fs().close_file(call, made.ino, for_writing);
            again.fs().forget(made.ino, 1, call.now);
        });
    };
    service.serve(
        request, {.op = FsOp::create, .ino = Ino{parent}, .mutates = true},
        [&](const FsCall& call) {
            auto made = make(service, call);
            if (made) note_opened(service, call, made->value.ino, file.flags, file_handle);
            return made;
        },
        std::move(answer));
}

void on_create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* file) {
    serve_made(request, parent, *file, [=, flags = file->flags](Service& service, const FsCall& call) {
        return named(service, parent, name, make_and_open(service, call, Ino{parent}, name, mode | S_IFREG, flags));
    });
}

#ifdef FLASHLAB_FUSE_TMPFILE
void on_tmpfile(fuse_req_t request, fuse_ino_t parent, mode_t mode, fuse_file_info* file) {
    serve_made(request, parent, *file, [=, flags = file->flags](Service& service, const FsCall& call) {
        return opened_at_once(service, call, noted(service, service.fs().make_unnamed(call, Ino{parent}, mode, (flags & O_EXCL) == 0)), flags);
    });
}
#endif

} // namespace

void add_name_operations(fuse_lowlevel_ops& table) {
    table.lookup = on_lookup;
    table.forget = on_forget;
    table.forget_multi = on_forget_multi;
    table.mknod = on_mknod;
    table.mkdir = on_mkdir;
    table.symlink = on_symlink;
    table.link = on_link;
    table.unlink = on_unlink;
    table.rmdir = on_rmdir;
    table.rename = on_rename;
    table.readlink = on_readlink;
    table.create = on_create;
#ifdef FLASHLAB_FUSE_TMPFILE
    table.tmpfile = on_tmpfile;
#endif
}

} // namespace flashlab
