#include "fs/fuse/operations.h"

namespace flashlab {

namespace {

/// Asks for exactly what is handled; libfuse's defaults are traps (fs/fuse/DESIGN.md, "Capabilities").
void on_init(void* user_data, fuse_conn_info* connection) {
    SessionContext& context = *static_cast<SessionContext*>(user_data);
    unsigned wanted = FUSE_CAP_ASYNC_READ | FUSE_CAP_EXPORT_SUPPORT | FUSE_CAP_DONT_MASK | FUSE_CAP_IOCTL_DIR | FUSE_CAP_READDIRPLUS |
                      FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_POSIX_ACL | FUSE_CAP_CACHE_SYMLINKS |
                      FUSE_CAP_NO_OPENDIR_SUPPORT | FUSE_CAP_EXPLICIT_INVAL_DATA;
#ifdef FLASHLAB_FUSE_KILLPRIV_V2
    wanted |= FUSE_CAP_HANDLE_KILLPRIV_V2; // no question for security.capability before each write
#endif
    if (context.kernel_writeback) wanted |= FUSE_CAP_WRITEBACK_CACHE;
    if (context.strict_access_times) wanted &= ~static_cast<unsigned>(FUSE_CAP_CACHE_SYMLINKS);
    connection->want = connection->capable & wanted;
    context.ring.negotiate(connection);
    connection->max_write = largest_request;
    connection->max_readahead = largest_request;
    connection->max_background = 256; // asynchronous requests in the kernel's queue: as deep as the deepest tool asks
    connection->congestion_threshold = 192;
    connection->time_gran = 1;
    context.on_ready();
}

timespec timespec_of(FileTime time) { return {.tv_sec = time.seconds, .tv_nsec = static_cast<long>(time.nanoseconds)}; }

} // namespace

fuse_lowlevel_ops operation_table(const SessionContext& context) {
    fuse_lowlevel_ops table{};
    table.init = on_init;
    // Left out on purpose: flush and opendir (the kernel stops asking: a request less per close, two less per listing), access (default_permissions),
    // getlk, setlk, flock (the kernel keeps them itself), write_buf, bmap, poll.
    add_name_operations(table);
    add_attribute_operations(table);
    add_data_operations(table, context.kernel_writeback);
    add_directory_operations(table, context.strict_access_times);
    add_whole_operations(table);
    return table;
}

struct stat stat_of(const Attributes& attributes) {
    struct stat out {};
    out.st_ino = attributes.ino.value();
    out.st_mode = attributes.mode;
    out.st_nlink = attributes.links;
    out.st_uid = attributes.uid;
    out.st_gid = attributes.gid;
    out.st_rdev = attributes.rdev;
    out.st_size = static_cast<off_t>(attributes.size);
    out.st_blksize = 4096;
    out.st_blocks = static_cast<blkcnt_t>(attributes.blocks_512);
    out.st_atim = timespec_of(attributes.accessed);
    out.st_mtim = timespec_of(attributes.modified);
    out.st_ctim = timespec_of(attributes.changed);
    return out;
}

fuse_entry_param entry_of(const Attributes& attributes) {
    fuse_entry_param entry{};
    entry.ino = attributes.ino.value();
    entry.generation = attributes.generation;
    entry.attr = stat_of(attributes);
    entry.attr_timeout = cache_seconds;
    entry.entry_timeout = cache_seconds; // also for a missing name: ino 0
    return entry;
}

void reply_entry(fuse_req_t request, const Attributes& attributes) {
    Service& service = service_of(request); // the request is gone after the reply
    const fuse_entry_param entry = entry_of(attributes);
    if (fuse_reply_entry(request, &entry) == -ENOENT && entry.ino != 0) take_back(service, attributes.ino, 1);
}

void note_opened(Service& service, const FsCall& call, Ino ino, int flags, OpenHandle& handle) {
    handle.flags = flags;
    handle.errors = service.fs().write_error_mark(ino);
    if (const auto file = service.fs().attributes(call, ino)) service.synced_files().note(ino, file->value.flags);
}

void take_back(Service& service, Ino ino, std::uint64_t references) {
    service.serve_silently({.op = FsOp::forget, .ino = ino}, [&](const FsCall& call) { service.fs().forget(ino, references, call.now); });
}

} // namespace flashlab
