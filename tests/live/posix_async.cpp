// posix_async DIR: asynchronous O_DIRECT writes beside buffered readers. What a finished write left is what every later read sees, through the page
// cache or past it.
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/live/posix_checks.h"

namespace {

using namespace live;

constexpr unsigned depth = 32;
constexpr unsigned pages = 64;
constexpr unsigned rounds = 150;
constexpr unsigned readers = 2;

/// Pages that O_DIRECT accepts.
class AlignedPages {
public:
    explicit AlignedPages(unsigned count) : bytes_{static_cast<char*>(std::aligned_alloc(page, count * static_cast<std::size_t>(page)))} {}
    ~AlignedPages() { std::free(bytes_); }
    AlignedPages(const AlignedPages&) = delete;
    AlignedPages& operator=(const AlignedPages&) = delete;
    [[nodiscard]] char* at(unsigned index) const { return bytes_ + index * static_cast<std::size_t>(page); }

private:
    char* bytes_;
};

/// The kernel's own asynchronous calls: libaio is no more than these.
class AsyncWriter {
public:
    explicit AsyncWriter(int file) : file_{file} { CHECK_OK(::syscall(SYS_io_setup, depth, &context_)); }
    ~AsyncWriter() { ::syscall(SYS_io_destroy, context_); }
    AsyncWriter(const AsyncWriter&) = delete;
    AsyncWriter& operator=(const AsyncWriter&) = delete;

    /// Pages [first, first + depth) of `from` into the same pages of the file; true: all of them arrived whole.
    [[nodiscard]] bool write(unsigned first, const AlignedPages& from) {
        iocb requests[depth]{};
        iocb* list[depth];
        for (unsigned n = 0; n < depth; ++n) {
            iocb& one = requests[n];
            one.aio_lio_opcode = IOCB_CMD_PWRITE;
            one.aio_fildes = static_cast<std::uint32_t>(file_);
            one.aio_buf = reinterpret_cast<std::uintptr_t>(from.at(first + n));
            one.aio_nbytes = page;
            one.aio_offset = static_cast<std::int64_t>(first + n) * page;
            list[n] = &one;
        }
        if (::syscall(SYS_io_submit, context_, depth, list) != depth) return false;
        io_event events[depth]{};
        if (::syscall(SYS_io_getevents, context_, depth, depth, events, nullptr) != depth) return false;
        bool whole = true;
        for (const io_event& event : events) whole = whole && event.res == page;
        return whole;
    }

private:
    int file_;
    aio_context_t context_ = 0;
};

/// One version a round; each page carries its version throughout. Counted are the pages that read old bytes after the round's writes were finished.
void finished_writes_are_seen(int direct_flags, bool mapped) {
    const File direct{"f", O_CREAT | O_RDWR | O_DIRECT | direct_flags};
    const File buffered{"f", O_RDWR};
    AlignedPages bytes{pages};
    std::memset(bytes.at(0), 0, pages * static_cast<std::size_t>(page));
    CHECK_EQUAL(::pwrite(direct, bytes.at(0), pages * page, 0), pages * page);
    const int through = mapped ? static_cast<int>(direct) : static_cast<int>(buffered);
    void* const map = ::mmap(nullptr, pages * page, PROT_READ, MAP_SHARED, through, 0);
    CHECK(map != MAP_FAILED);
    const auto read_first_byte = [&](unsigned index) {
        if (mapped) return static_cast<const volatile char*>(map)[index * static_cast<std::size_t>(page) + 7];
        char one = 0;
        return ::pread(buffered, &one, 1, static_cast<long>(index) * page + 7) == 1 ? one : '?';
    };
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned reader = 0; reader < readers; ++reader)
        threads.emplace_back([&, reader] {
            for (unsigned at = reader * 17; !stop; at += 7) (void)read_first_byte(at % pages);
        });
    unsigned stale = 0, failed = 0;
    {
        AsyncWriter writer{direct};
        for (unsigned round = 1; round <= rounds; ++round) {
            const auto version = static_cast<char>(round);
            const unsigned first = round % 2 * (pages - depth);
            std::memset(bytes.at(first), version, depth * static_cast<std::size_t>(page));
            failed += writer.write(first, bytes) ? 0 : 1;
            for (unsigned index = first; index < first + depth; ++index) stale += read_first_byte(index) == version ? 0 : 1;
        }
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    CHECK_EQUAL(failed, 0);
    CHECK_EQUAL(stale, 0);
    unsigned for_good = 0;
    for (unsigned index = 0; index < pages; ++index) for_good += read_first_byte(index) == *bytes.at(index) ? 0 : 1;
    CHECK_EQUAL(for_good, 0);
    ::munmap(map, pages * page);
}

void beside_buffered_readers() { finished_writes_are_seen(0, false); }
void beside_a_mapping() { finished_writes_are_seen(0, true); }
void synced_beside_buffered_readers() { finished_writes_are_seen(O_DSYNC, false); }

/// What was read into the cache before the first write, and what is written through it between two direct writes.
void old_cache() {
    CHECK_OK(put("f", pattern(pages * page)));
    CHECK(get("f") == pattern(pages * page));
    const File direct{"f", O_RDWR | O_DIRECT};
    const File buffered{"f", O_RDWR};
    AlignedPages bytes{pages};
    AsyncWriter writer{direct};
    for (const char version : {'1', '2', '3'}) {
        std::memset(bytes.at(0), version, depth * static_cast<std::size_t>(page));
        CHECK(writer.write(0, bytes));
        CHECK(get("f") == std::string(depth * page, version) + pattern(pages * page).substr(depth * page));
        CHECK_EQUAL(::pwrite(buffered, "between", 7, 3 * page), 7);
        CHECK(get("f").substr(3 * page, 8) == std::string{"between"} + version);
    }
    AlignedPages raw{1};
    CHECK_EQUAL(::pread(direct, raw.at(0), page, 3 * page), page);
    CHECK(std::string(raw.at(0), 8) == "between3");
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: posix_async DIR\n");
        return 2;
    }
    const std::string root = argv[1];
    const std::string probe = root + "/probe";
    const int fd = ::open(probe.c_str(), O_CREAT | O_RDWR | O_DIRECT | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EINVAL) {
        std::printf("posix_async: no O_DIRECT here\n");
        return 0;
    }
    ::close(fd);
    ::unlink(probe.c_str());
    live::group(root, "async-buffered", beside_buffered_readers);
    live::group(root, "async-mapped", beside_a_mapping);
    live::group(root, "async-synced", synced_beside_buffered_readers);
    live::group(root, "async-old-cache", old_cache);
    return live::report("posix_async");
}
