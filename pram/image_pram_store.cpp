#include "pram/image_pram_store.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file_descriptor.h"
#include "base/file_kind.h"
#include "base/host_io_error.h"
#include "base/whole_file_lock.h"
#include "pram/pram_wear.h"

namespace flashlab {

namespace {

constexpr std::uint64_t generation_at = 64; ///< in the last page, behind the change mark
constexpr std::uint64_t second_generation_at = 128;

std::string host_says(int error_number) { return std::strerror(error_number); }

std::unexpected<std::string> failed(const std::filesystem::path& path, const std::string& what) {
    return std::unexpected(fmt::format("PRAM image {}: {}", path.string(), what));
}

std::string no_room(std::uint64_t bytes, int error_number) {
    if (is_host_full(error_number) || error_number == EFBIG) {
        return fmt::format("the host cannot give it {} bytes ({}); free some space or ask for a smaller PRAM", bytes, host_says(error_number));
    }
    return fmt::format("cannot allocate {} bytes: {}", bytes, host_says(error_number));
}

int allocate(int fd, std::uint64_t bytes) {
    int error = 0;
    do error = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    while (error == EINTR);
    return error;
}

/// Calls fallocate(2); returns 0 or errno. 0 also where the host does not know the mode.
int fallocate_if_known(int fd, int mode, std::uint64_t bytes) {
    int result = 0;
    do result = ::fallocate(fd, mode, 0, static_cast<off_t>(bytes));
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : errno;
}

/// A full tmpfs kills a program that reads the hole of a mapped file (SIGBUS): memory of nobody stands in their place. Where this fails, or the
/// holes are very many, the file is as it is.
void cover_holes(int fd, std::byte* mapping, off_t bytes) {
    constexpr int most = 1000; // a process has 65,530 mappings
    for (off_t at = 0, n = 0; n < most; ++n) {
        const off_t hole = ::lseek(fd, at, SEEK_HOLE);
        if (hole < 0 || hole >= bytes) return;
        const off_t data = ::lseek(fd, hole, SEEK_DATA);
        at = data < 0 ? bytes : data;
        const off_t from = (hole + 4095) / 4096 * 4096, end = std::min(at, bytes) / 4096 * 4096;
        if (from < end)
            (void)::mmap(mapping + from, static_cast<std::size_t>(end - from), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        if (data < 0) return;
    }
}

/// Allocates the whole file again. A copy made by a tool that leaves holes has lost its allocation. A copy made by reflink (as cp of coreutils 9 does
/// on XFS) shares its allocation with the original, and a store to a shared extent needs new room. A host that cannot allocate could not do so at
/// create() either; create() then wrote the blocks one by one.
int take_room(int fd, std::uint64_t bytes) {
    struct stat status = {};
    constexpr std::uint64_t counted_in = 512; // stat(2)
    const bool is_whole = ::fstat(fd, &status) == 0 && static_cast<std::uint64_t>(status.st_blocks) * counted_in >= bytes;
    if (!is_whole) { // tmpfs would look at every page
        if (const int error = fallocate_if_known(fd, FALLOC_FL_KEEP_SIZE, bytes); error != 0) return error;
    }
    return fallocate_if_known(fd, FALLOC_FL_UNSHARE_RANGE | FALLOC_FL_KEEP_SIZE, bytes);
}

/// 0 or errno.
int lock(int fd, PramImageAccess access) {
    return lock_whole_file(fd, access == PramImageAccess::read_write ? WholeFileLock::exclusive : WholeFileLock::shared);
}

int write_header(int fd, const PramImageHeader& header) {
    std::array<std::byte, PramImageHeader::encoded_size> bytes{};
    header.encode(bytes);
    std::size_t at = 0;
    while (at < bytes.size()) {
        const ssize_t n = ::pwrite(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
        if (n > 0) at += static_cast<std::size_t>(n);
        if (n == 0) return EIO;
        if (n < 0 && errno != EINTR) return errno;
    }
    return 0;
}

std::expected<PramImageHeader, std::string> read_header(int fd) {
    std::array<std::byte, PramImageHeader::encoded_size> bytes{};
    std::size_t at = 0;
    while (at < bytes.size()) {
        const ssize_t n = ::pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
        if (n > 0) at += static_cast<std::size_t>(n);
        if (n == 0)
            return std::unexpected(fmt::format(
                "is truncated: {} bytes, its header alone has {}; restore it from a copy (of the same time as nand.img)", at, bytes.size()));
        if (n < 0 && errno != EINTR) return std::unexpected(fmt::format("cannot be read: {}", host_says(errno)));
    }
    auto header = PramImageHeader::decode(bytes);
    if (!header) return header;
    struct stat status = {};
    if (::fstat(fd, &status) != 0) return std::unexpected(fmt::format("cannot be examined: {}", host_says(errno)));
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size < header->file_bytes()) {
        return std::unexpected(fmt::format("is truncated: {} bytes, its header says {}; restore it from a copy (of the same time as nand.img)", size,
                                           header->file_bytes()));
    }
    if (size > header->file_bytes()) {
        return std::unexpected(
            fmt::format("is {} bytes longer than its header says; it was changed by something else: truncate it to {} bytes, or restore it from a "
                        "copy of the same time as nand.img",
                        size - header->file_bytes(), header->file_bytes()));
    }
    return header;
}

} // namespace

std::expected<void, std::string> ImagePramStore::create(const std::filesystem::path& path, const PramConfig& config,
                                                        const std::array<std::byte, 16>& uuid) {
    if (const auto valid = config.validate(); !valid) return failed(path, valid.error());
    const PramImageHeader header{.uuid = uuid, .cell_bytes = config.bytes, .word_bytes = config.word_bytes};
    FileDescriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (file.get() < 0) return failed(path, fmt::format("cannot be created: {}", host_says(errno)));
    int error = allocate(file.get(), header.file_bytes());
    if (error != 0) {
        ::unlink(path.c_str());
        return failed(path, no_room(header.file_bytes(), error));
    }
    error = write_header(file.get(), header);
    if (error != 0) {
        ::unlink(path.c_str());
        return failed(path, fmt::format("cannot be written: {}", host_says(error)));
    }
    return {};
}

std::expected<std::unique_ptr<ImagePramStore>, std::string> ImagePramStore::open(const std::filesystem::path& path, PramImageAccess access) {
    const bool writes = access == PramImageAccess::read_write;
    FileDescriptor file{::open(path.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK)}; // a FIFO blocks nobody
    if (file.get() < 0) {
        const int error = errno;
        return failed(path, fmt::format("cannot be opened: {}{}", host_says(error),
                                        error == ENOENT ? "; restore it from a copy of the same time as nand.img" : ""));
    }
    if (const char* kind = irregular_kind(file.get()))
        return failed(path, fmt::format("is {}, no image; put the image back, or restore it from a copy", kind));
    if (const int error = lock(file.get(), access); error != 0) {
        const bool busy = error == EAGAIN || error == EACCES;
        return failed(path,
                      busy ? "is in use by another process (mounted?); unmount it first" : fmt::format("cannot be locked: {}", host_says(error)));
    }
    const auto header = read_header(file.get());
    if (!header) return failed(path, header.error());
    if (writes) {
        if (const int error = take_room(file.get(), header->file_bytes()); error != 0) return failed(path, no_room(header->file_bytes(), error));
    }
    const int flags = writes ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
    void* mapping = ::mmap(nullptr, header->file_bytes(), PROT_READ | PROT_WRITE, flags, file.get(), 0);
    if (mapping == MAP_FAILED) return failed(path, fmt::format("cannot be mapped: {}", host_says(errno)));
    if (!writes) cover_holes(file.get(), static_cast<std::byte*>(mapping), static_cast<off_t>(header->file_bytes()));
    return std::unique_ptr<ImagePramStore>{new ImagePramStore{file.release(), static_cast<std::byte*>(mapping), *header}};
}

ImagePramStore::ImagePramStore(int fd, std::byte* mapping, const PramImageHeader& header)
    : fd_{fd}, mapping_{mapping}, header_{header},
      // Aligned and little-endian like the host, as the wear counters.
      checks_{std::span{mapping + header.cells_offset(), header.cell_bytes},
              std::span{reinterpret_cast<std::uint32_t*>(mapping + header.sums_offset()), pram_lines(header.cell_bytes)},
              *reinterpret_cast<PramChangeMark*>(mapping + header.state_offset())} {
    checks_.settle_mark();
}

ImagePramStore::~ImagePramStore() {
    ::munmap(mapping_, header_.file_bytes());
    ::close(fd_);
}

std::span<std::byte> ImagePramStore::cells() { return {mapping_ + header_.cells_offset(), header_.cell_bytes}; }

std::span<std::uint64_t> ImagePramStore::wear() {
    // The area is 4096-aligned and the media are little-endian like the host (base/little_endian.h), so the counters may be used where they lie.
    return {reinterpret_cast<std::uint64_t*>(mapping_ + PramImageHeader::wear_offset()), pram_wear_regions(header_.cell_bytes)};
}

std::vector<std::uint64_t> ImagePramStore::damaged_lines(std::size_t most) const {
    std::vector<std::uint64_t> found;
    for (const std::uint64_t line : checks_.damaged(0, checks_.lines(), most)) found.push_back(line * pram_line_bytes);
    return found;
}

std::vector<std::uint64_t> ImagePramStore::damaged_wear(std::size_t most) const {
    const auto* words = reinterpret_cast<const std::uint64_t*>(mapping_ + PramImageHeader::wear_offset());
    std::vector<std::uint64_t> found;
    if (!header_.checks_wear()) return found;
    for (std::uint64_t region = 0; region < pram_wear_regions(header_.cell_bytes) && found.size() < most; ++region)
        if (!is_sound_wear(words[region])) found.push_back(region);
    return found;
}

std::expected<ImageGeneration, std::string> ImagePramStore::generation() const {
    const auto copy = [this](std::uint64_t at) {
        return ImageGeneration::decode(
            std::span<const std::byte, ImageGeneration::encoded_size>{mapping_ + header_.state_offset() + at, ImageGeneration::encoded_size});
    };
    const auto first = copy(generation_at);
    return first ? first : copy(second_generation_at);
}

void ImagePramStore::set_generation(const ImageGeneration& generation) {
    std::array<std::byte, ImageGeneration::encoded_size> raw{};
    generation.encode(raw);
    for (const std::uint64_t at : {generation_at, second_generation_at}) { // one of the two is whole, whenever the process is killed
        std::memcpy(mapping_ + header_.state_offset() + at, raw.data(), raw.size());
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
}

std::vector<ImageEvidence> ImagePramStore::survey() const {
    const auto* wear = reinterpret_cast<const std::uint64_t*>(mapping_ + PramImageHeader::wear_offset());
    return survey_pram({wear, pram_wear_regions(header_.cell_bytes)}, checks_.sums());
}

std::vector<ImageEvidence> ImagePramStore::evidence(bool second) const {
    std::vector<ImageEvidence> known(pram_parts(pram_wear_regions(header_.cell_bytes)));
    const std::byte* at = mapping_ + header_.evidence_offset(second);
    for (ImageEvidence& part : known) {
        if (!ImageEvidence::decode(std::span<const std::byte, ImageEvidence::encoded_size>{at, ImageEvidence::encoded_size}, part)) return {};
        at += ImageEvidence::encoded_size;
    }
    return known;
}

void ImagePramStore::set_evidence(bool second, std::span<const ImageEvidence> evidence) {
    std::byte* at = mapping_ + header_.evidence_offset(second);
    for (const ImageEvidence& part : evidence) {
        part.encode(std::span<std::byte, ImageEvidence::encoded_size>{at, ImageEvidence::encoded_size});
        at += ImageEvidence::encoded_size;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst); // before the generation that names this copy
}

std::expected<void, HostIoError> ImagePramStore::sync() {
    if (::msync(mapping_, header_.file_bytes(), MS_SYNC) != 0) return std::unexpected(HostIoError{errno});
    return {};
}

} // namespace flashlab
