// nbdkit-flashlab-plugin.so: the file `disk` of a mounted raw drive, for NBD clients. `flashlab serve` starts it.
//
// Idea       Each request is the call of the file that means the same to the drive (fs/disk_file.h): flush = fdatasync, FUA = a write through a
//            descriptor with O_DSYNC, trim = a hole. Clock, log, faults and control are the mount's.
// Invariant  A flush on any connection reaches all of them, since there is one drive. What FUA answered is durable.
// Cost       A system call a request; nbdkit's threads wait for their answers beside each other.
// Power cut  The mount's: requests get EIO from then on.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

namespace {

std::string& disk_path() {
    static std::string path; // nbdkit's interface for parameters is one of functions without an object
    return path;
}

/// One connection.
class NbdDisk {
public:
    explicit NbdDisk(bool is_read_only)
        : file_{open(disk_path().c_str(), (is_read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC)},
          durable_{is_read_only ? -1 : open(disk_path().c_str(), O_RDWR | O_DSYNC | O_CLOEXEC)} {}
    ~NbdDisk() {
        for (const int fd : {file_, durable_})
            if (fd >= 0) close(fd);
    }
    NbdDisk(const NbdDisk&) = delete;
    NbdDisk& operator=(const NbdDisk&) = delete;

    [[nodiscard]] bool is_open() const { return file_ >= 0; }
    [[nodiscard]] int file() const { return file_; }
    /// The descriptor for a request with these flags.
    [[nodiscard]] int for_flags(std::uint32_t flags) const { return (flags & NBDKIT_FLAG_FUA) != 0 ? durable_ : file_; }

private:
    int file_, durable_;
};

const NbdDisk& disk_of(void* handle) { return *static_cast<NbdDisk*>(handle); }

/// NBD knows few errors; nbdkit takes them from errno.
int failed(const char* what) {
    const int error = errno;
    nbdkit_error("%s: %s", what, std::strerror(error));
    nbdkit_set_error(error);
    return -1;
}

int on_config(const char* key, const char* value) {
    if (std::strcmp(key, "disk") != 0) {
        nbdkit_error("%s: unknown parameter; disk=FILE is wanted", key);
        return -1;
    }
    char* path = nbdkit_absolute_path(value);
    if (path == nullptr) return -1;
    disk_path() = path;
    std::free(path);
    return 0;
}

int on_config_complete() {
    if (!disk_path().empty()) return 0;
    nbdkit_error("disk=FILE is missing: the file of a drive mounted with flashlab mount --as-file");
    return -1;
}

void* on_open(int is_read_only) {
    auto disk = std::make_unique<NbdDisk>(is_read_only != 0);
    if (disk->is_open()) return disk.release();
    failed(disk_path().c_str());
    return nullptr;
}

void on_close(void* handle) { delete static_cast<NbdDisk*>(handle); }

std::int64_t on_size(void* handle) {
    struct stat file {};
    return fstat(disk_of(handle).file(), &file) == 0 ? file.st_size : failed("size");
}

/// The unit that a power cut never breaks.
int on_block_size(void* handle, std::uint32_t* least, std::uint32_t* preferred, std::uint32_t* most) {
    struct statvfs drive {};
    if (fstatvfs(disk_of(handle).file(), &drive) != 0) return failed("block size");
    *least = 512;
    *preferred = static_cast<std::uint32_t>(drive.f_bsize);
    *most = 32u << 20;
    return 0;
}

int on_yes(void*) { return 1; }
int on_native_fua(void*) { return NBDKIT_FUA_NATIVE; }

int on_read(void* handle, void* to, std::uint32_t count, std::uint64_t offset, std::uint32_t) {
    for (auto* at = static_cast<char*>(to); count != 0;) {
        const ssize_t got = pread(disk_of(handle).file(), at, count, static_cast<off_t>(offset));
        if (got == 0) errno = EIO;
        if (got <= 0) return failed("read");
        at += got;
        offset += static_cast<std::uint64_t>(got);
        count -= static_cast<std::uint32_t>(got);
    }
    return 0;
}

int on_write(void* handle, const void* from, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) {
    for (const auto* at = static_cast<const char*>(from); count != 0;) {
        const ssize_t put = pwrite(disk_of(handle).for_flags(flags), at, count, static_cast<off_t>(offset));
        if (put <= 0) return failed("write");
        at += put;
        offset += static_cast<std::uint64_t>(put);
        count -= static_cast<std::uint32_t>(put);
    }
    return 0;
}

int on_flush(void* handle, std::uint32_t) { return fdatasync(disk_of(handle).file()) == 0 ? 0 : failed("flush"); }

int make_hole(void* handle, int mode, std::uint32_t count, std::uint64_t offset, std::uint32_t flags, const char* what) {
    if (fallocate(disk_of(handle).file(), mode, static_cast<off_t>(offset), count) != 0) return failed(what);
    return (flags & NBDKIT_FLAG_FUA) != 0 ? on_flush(handle, 0) : 0; // the drive has no trim that is durable by itself
}
int on_trim(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) {
    return make_hole(handle, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, count, offset, flags, "trim");
}
int on_zero(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) {
    if ((flags & NBDKIT_FLAG_MAY_TRIM) == 0) { // the client wants them allocated: nbdkit writes zeros, or tells who asked for fast ones
        nbdkit_set_error(EOPNOTSUPP);
        return -1;
    }
    return make_hole(handle, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, count, offset, flags, "zero");
}

int on_extents(void* handle, std::uint32_t count, std::uint64_t offset, std::uint32_t flags, nbdkit_extents* extents) {
    const int file = disk_of(handle).file();
    const std::uint64_t end = offset + count;
    while (offset < end) {
        const off_t data = lseek(file, static_cast<off_t>(offset), SEEK_DATA);
        if (data < 0 && errno != ENXIO) return failed("extents");
        const std::uint64_t hole_end = data < 0 ? end : static_cast<std::uint64_t>(data);
        if (hole_end > offset && nbdkit_add_extent(extents, offset, hole_end - offset, NBDKIT_EXTENT_HOLE | NBDKIT_EXTENT_ZERO) != 0) return -1;
        if (data < 0) return 0;
        const off_t hole = lseek(file, data, SEEK_HOLE);
        if (hole < 0) return failed("extents");
        if (nbdkit_add_extent(extents, hole_end, static_cast<std::uint64_t>(hole - data), 0) != 0) return -1;
        if ((flags & NBDKIT_FLAG_REQ_ONE) != 0) return 0;
        offset = static_cast<std::uint64_t>(hole);
    }
    return 0;
}

nbdkit_plugin description() {
    nbdkit_plugin plugin{};
    plugin.name = "flashlab";
    plugin.longname = "FlashLab drive";
    plugin.version = FLASHLAB_VERSION;
    plugin.config = on_config;
    plugin.config_complete = on_config_complete;
    plugin.config_help = "disk=FILE  (required) MNT/disk of flashlab mount --as-file DIR MNT";
    plugin.magic_config_key = "disk";
    plugin.open = on_open;
    plugin.close = on_close;
    plugin.get_size = on_size;
    plugin.block_size = on_block_size;
    plugin.can_flush = plugin.can_trim = plugin.can_zero = plugin.can_fast_zero = plugin.can_multi_conn = plugin.can_extents = on_yes;
    plugin.can_fua = on_native_fua;
    plugin.pread = on_read;
    plugin.pwrite = on_write;
    plugin.flush = on_flush;
    plugin.trim = on_trim;
    plugin.zero = on_zero;
    plugin.extents = on_extents;
    return plugin;
}

nbdkit_plugin plugin = description();

} // namespace

NBDKIT_REGISTER_PLUGIN(plugin)
