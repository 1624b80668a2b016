/// random_file_operations FILE SEED OPERATIONS: random calls on one file against a copy in memory; every read must agree, byte for byte.
///
/// Idea    The file is small (1 MiB) and offsets are rarely aligned, so that holes, tails, page cache and extents meet each other all the time.
/// Source  The method of Apple's and later everyone's fsx: one file, all calls, one model.
#include <sys/mman.h>

#include <linux/falloc.h>

#include "tests/live/live_support.h"

namespace {

using namespace live;
using Bytes = std::vector<unsigned char>;

constexpr std::uint64_t largest = 1U << 20U;

class FileUnderTest {
public:
    FileUnderTest(std::string path, std::uint64_t seed) : path_{std::move(path)}, random_{seed} { open(O_CREAT | O_TRUNC); }

    void operation() {
        switch (random_.below(12)) {
        case 0:
        case 1:
        case 2:
            return write();
        case 3:
        case 4:
            return read();
        case 5:
            return truncate();
        case 6:
            return punch(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
        case 7:
            return punch(FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE);
        case 8:
            return write_through_map();
        case 9:
            return copy_range();
        case 10:
            return random_.below(4) == 0 ? reopen() : allocate();
        default:
            return random_.below(4) == 0 ? sync() : read_through_map();
        }
    }

    void compare_all() {
        struct stat attributes {};
        if (::fstat(fd_, &attributes) != 0 || static_cast<std::uint64_t>(attributes.st_size) != model_.size()) {
            fail("size is " + std::to_string(attributes.st_size) + ", expected " + std::to_string(model_.size()));
        }
        compare(0, read_file(path_), "the whole file");
    }

private:
    struct Range {
        std::uint64_t offset = 0, bytes = 0;
    };
    Range range_within(std::uint64_t limit) {
        const std::uint64_t offset = random_.below(limit);
        return {offset, 1 + random_.below(std::min<std::uint64_t>(limit - offset, random_.below(3) == 0 ? 200'000 : 9'000))};
    }

    void open(int flags) {
        fd_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
        if (fd_ < 0) {
            fail_errno("open", path_);
        }
    }
    void reopen() {
        ::close(fd_);
        open(0);
    }
    void sync() {
        if (::fsync(fd_) != 0) {
            fail_errno("fsync", path_);
        }
    }
    void write() {
        const Range range = range_within(largest);
        Bytes bytes(range.bytes);
        fill(bytes, random_.next());
        if (::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(range.offset)) != static_cast<ssize_t>(bytes.size())) {
            fail_errno("pwrite", path_);
        }
        put(range.offset, bytes);
    }
    void read() {
        const Range range = range_within(largest);
        Bytes bytes(range.bytes);
        const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(range.offset));
        if (got < 0) {
            fail_errno("pread", path_);
        }
        bytes.resize(static_cast<std::size_t>(got));
        const std::uint64_t expected = range.offset >= model_.size() ? 0 : std::min(range.bytes, model_.size() - range.offset);
        if (bytes.size() != expected) {
            fail("read of " + std::to_string(range.bytes) + " at " + std::to_string(range.offset) + " gave " + std::to_string(got) + " bytes");
        }
        compare(range.offset, bytes, "pread");
    }
    void truncate() {
        const std::uint64_t size = random_.below(largest);
        if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) {
            fail_errno("ftruncate", path_);
        }
        model_.resize(size, 0);
    }
    void punch(int mode) {
        const Range range = range_within(largest);
        if (::fallocate(fd_, mode, static_cast<off_t>(range.offset), static_cast<off_t>(range.bytes)) != 0) {
            fail_errno("fallocate (punch, zero)", path_);
        }
        for (std::uint64_t at = range.offset; at < std::min<std::uint64_t>(range.offset + range.bytes, model_.size()); ++at) {
            model_[at] = 0;
        }
    }
    void allocate() {
        const Range range = range_within(largest);
        const bool keep_size = random_.below(2) == 0;
        if (::fallocate(fd_, keep_size ? FALLOC_FL_KEEP_SIZE : 0, static_cast<off_t>(range.offset), static_cast<off_t>(range.bytes)) != 0) {
            fail_errno("fallocate", path_);
        }
        if (!keep_size) {
            model_.resize(std::max<std::size_t>(model_.size(), range.offset + range.bytes), 0);
        }
    }
    void read_through_map() {
        with_map(PROT_READ, [&](unsigned char* map, std::uint64_t size) { compare(0, Bytes(map, map + size), "mmap"); });
    }
    void write_through_map() {
        with_map(PROT_READ | PROT_WRITE, [&](unsigned char* map, std::uint64_t size) {
            const Range range = range_within(size);
            Bytes bytes(range.bytes);
            fill(bytes, random_.next());
            std::memcpy(map + range.offset, bytes.data(), bytes.size());
            put(range.offset, bytes);
            if (random_.below(2) == 0 && ::msync(map, size, MS_SYNC) != 0) {
                fail_errno("msync", path_);
            }
        });
    }
    template <typename Use>
    void with_map(int protection, Use use) {
        if (model_.empty()) {
            return;
        }
        void* map = ::mmap(nullptr, model_.size(), protection, MAP_SHARED, fd_, 0);
        if (map == MAP_FAILED) {
            fail_errno("mmap", path_);
        }
        use(static_cast<unsigned char*>(map), model_.size());
        ::munmap(map, model_.size());
    }
    /// Inside the file, not overlapping.
    void copy_range() {
        if (model_.size() < 2) {
            return;
        }
        const Range from = range_within(model_.size() / 2);
        off_t source = static_cast<off_t>(from.offset);
        off_t target = static_cast<off_t>(model_.size() / 2 + random_.below(model_.size() / 2));
        const std::uint64_t wanted = std::min<std::uint64_t>(from.bytes, model_.size() / 2 - from.offset);
        const auto target_at = static_cast<std::uint64_t>(target);
        const ssize_t copied = ::copy_file_range(fd_, &source, fd_, &target, wanted, 0);
        if (copied < 0) {
            fail_errno("copy_file_range", path_);
        }
        const auto begin = model_.begin() + static_cast<std::ptrdiff_t>(from.offset);
        put(target_at, Bytes(begin, begin + copied));
    }

    void put(std::uint64_t offset, const Bytes& bytes) {
        model_.resize(std::max<std::size_t>(model_.size(), offset + bytes.size()), 0);
        std::copy(bytes.begin(), bytes.end(), model_.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    void compare(std::uint64_t offset, const Bytes& bytes, const char* through) const {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            if (bytes[i] != model_[offset + i]) {
                fail(std::string{through} + ": byte " + std::to_string(offset + i) + " is " + std::to_string(bytes[i]) + ", expected " +
                     std::to_string(model_[offset + i]));
            }
        }
    }

    std::string path_;
    Random random_;
    Bytes model_;
    int fd_ = -1;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        live::fail("usage: random_file_operations FILE SEED OPERATIONS");
    }
    FileUnderTest file{argv[1], live::number_argument(argv[2])};
    const std::uint64_t operations = live::number_argument(argv[3]);
    for (std::uint64_t i = 0; i < operations; ++i) {
        file.operation();
    }
    file.compare_all();
    std::printf("random_file_operations: %s operations, seed %s: as in memory\n", argv[3], argv[2]);
    return 0;
}
