// posix_data DIR: bytes and what hangs on them: reading and writing, sizes, holes, allocation, mapped files, copies, locks.
#include <algorithm>
#include <thread>
#include <vector>

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "tests/live/posix_checks.h"

namespace {

using namespace live;

std::string read_at(int fd, long at, std::size_t bytes) {
    std::string text(bytes, '?');
    const ssize_t got = ::pread(fd, text.data(), bytes, at);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
}
void reads_and_writes() {
    const File f{"f"};
    CHECK_EQUAL(::pwrite(f, "0123456789", 10, 0), 10);
    CHECK(read_at(f, 3, 4) == "3456");
    CHECK(read_at(f, 8, 10) == "89");
    CHECK(read_at(f, 10, 1).empty());
    CHECK_EQUAL(::pwrite(f, "", 0, 100), 0);
    CHECK_EQUAL(attributes("f").st_size, 10);
    char one = 0;
    CHECK_ERROR(::pread(f, &one, 1, -1), EINVAL);
    CHECK_ERROR(::lseek(f, -1, SEEK_SET), EINVAL);
    const File end{"f", O_WRONLY | O_APPEND};
    CHECK_EQUAL(::pwrite(end, "ab", 2, 0), 2); // Linux appends whatever offset it is given
    CHECK(get("f") == "0123456789ab");
    char byte = 0;
    CHECK_ERROR(::read(end, &byte, 1), EBADF);
    // Across pages, not aligned, over what is there.
    const std::string text = pattern(5 * page + 17);
    CHECK_EQUAL(::pwrite(f, text.data(), text.size(), 3), static_cast<long long>(text.size()));
    CHECK(read_at(f, 3, text.size()) == text);
    CHECK(read_at(f, 0, 3) == "012");
    CHECK_OK(::fsync(f));
    CHECK_OK(::fdatasync(f));
    const iovec two[] = {{const_cast<char*>("left"), 4}, {const_cast<char*>("right"), 5}};
    CHECK_EQUAL(::pwritev(f, two, 2, page - 4), 9);
    CHECK(read_at(f, page - 4, 9) == "leftright");
}

void appenders_do_not_overwrite_each_other() {
    constexpr int writers = 4, lines = 200;
    std::vector<std::thread> threads;
    for (int writer = 0; writer < writers; ++writer)
        threads.emplace_back([writer] {
            const int fd = ::open("log", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
            const std::string line(31, static_cast<char>('a' + writer));
            for (int n = 0; n < lines; ++n) (void)!::write(fd, (line + "\n").data(), 32);
            ::close(fd);
        });
    for (std::thread& thread : threads) thread.join();
    const std::string log = get("log");
    CHECK_EQUAL(log.size(), writers * lines * 32);
    bool whole = true;
    for (std::size_t at = 0; at + 32 <= log.size(); at += 32) whole = whole && log.substr(at, 31) == std::string(31, log[at]) && log[at + 31] == '\n';
    CHECK(whole);
}

void sizes() {
    CHECK_OK(put("f", pattern(3 * page)));
    CHECK_OK(::truncate("f", 10));
    CHECK_OK(::truncate("f", 2 * page));
    CHECK(get("f") == pattern(10) + std::string(2 * page - 10, '\0')); // what was cut off does not come back
    CHECK_ERROR(::truncate("f", -1), EINVAL);
    CHECK_ERROR(::truncate("none", 1), ENOENT);
    CHECK_ERROR(::truncate(".", 0), EISDIR);
    const File f{"f"};
    CHECK_EQUAL(::pwrite(f, "x", 1, 100 * page), 1);
    CHECK_EQUAL(attributes("f").st_size, 100 * page + 1);
    CHECK(read_at(f, 50 * page, page) == std::string(page, '\0'));
    CHECK(attributes("f").st_blocks < 100 * page / 512);
    const File reader{"f", O_RDONLY};
    CHECK_ERROR(::ftruncate(reader, 0), EINVAL);
}

void holes() {
    const File f{"f"};
    CHECK_OK(::ftruncate(f, 64 * page));
    CHECK_EQUAL(::pwrite(f, pattern(page).data(), page, 16 * page), page);
    CHECK_OK(::fsync(f));
    CHECK_EQUAL(::lseek(f, 0, SEEK_DATA), 16 * page);
    CHECK_EQUAL(::lseek(f, 16 * page, SEEK_HOLE), 17 * page);
    CHECK_EQUAL(::lseek(f, 0, SEEK_HOLE), 0);
    CHECK_ERROR(::lseek(f, 17 * page, SEEK_DATA), ENXIO);
    CHECK_EQUAL(::lseek(f, 17 * page, SEEK_HOLE), 17 * page);
    CHECK_ERROR(::lseek(f, 64 * page, SEEK_HOLE), ENXIO);
}

void allocation() {
    const File f{"f"};
    CHECK_EQUAL(::pwrite(f, pattern(8 * page).data(), 8 * page, 0), 8 * page);
    CHECK_OK(::fsync(f));
    const auto blocks = attributes("f").st_blocks;
    if (!offered(::fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, page + 100, 3 * page))) return;
    std::string text = pattern(8 * page);
    std::fill_n(text.begin() + page + 100, 3 * page, '\0');
    CHECK(read_at(f, 0, 8 * page) == text);
    CHECK_EQUAL(attributes("f").st_size, 8 * page);
    CHECK(attributes("f").st_blocks < blocks);
    CHECK_OK(::fallocate(f, FALLOC_FL_KEEP_SIZE, 0, 20 * page));
    CHECK_EQUAL(attributes("f").st_size, 8 * page);
    CHECK_OK(::fallocate(f, 0, 0, 12 * page));
    CHECK_EQUAL(attributes("f").st_size, 12 * page);
    CHECK(read_at(f, 8 * page, 4 * page) == std::string(4 * page, '\0'));
    if (offered(::fallocate(f, FALLOC_FL_ZERO_RANGE, 6 * page, 2 * page))) CHECK(read_at(f, 6 * page, 2 * page) == std::string(2 * page, '\0'));
    CHECK_ERROR(::fallocate(f, 0, 0, 0), EINVAL);
    CHECK_ERROR(::fallocate(f, 0, -1, page), EINVAL);
    CHECK_ERROR(::fallocate(f, FALLOC_FL_PUNCH_HOLE, 0, page), EOPNOTSUPP); // without KEEP_SIZE
}

void mapped_files() {
    const File f{"f"};
    CHECK_OK(::ftruncate(f, 4 * page));
    void* at = ::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    CHECK(at != MAP_FAILED);
    if (at == MAP_FAILED) return;
    char* bytes = static_cast<char*>(at);
    std::memcpy(bytes + page - 2, "mapped", 6);
    CHECK(read_at(f, page - 2, 6) == "mapped");
    CHECK_EQUAL(::pwrite(f, "write", 5, 2 * page), 5);
    CHECK(std::memcmp(bytes + 2 * page, "write", 5) == 0);
    CHECK_OK(::msync(at, 4 * page, MS_SYNC));
    CHECK_OK(::munmap(at, 4 * page));
    CHECK(get("f").substr(page - 2, 6) == "mapped");
    void* own = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, f, 0);
    CHECK(own != MAP_FAILED);
    if (own == MAP_FAILED) return;
    static_cast<char*>(own)[0] = '!';
    CHECK_OK(::munmap(own, page));
    CHECK_EQUAL(get("f")[0], '\0');
}

void direct_reads_and_writes() {
    CHECK_OK(put("f", pattern(4 * page)));
    const int fd = ::open("f", O_RDWR | O_DIRECT | O_CLOEXEC);
    if (fd < 0 && errno == EINVAL) return; // tmpfs of some kernels
    void* memory = nullptr;
    if (::posix_memalign(&memory, page, page) != 0) return;
    CHECK_EQUAL(::pread(fd, memory, page, page), page);
    CHECK(std::memcmp(memory, pattern(4 * page).data() + page, page) == 0);
    std::memset(memory, 'D', page);
    CHECK_EQUAL(::pwrite(fd, memory, page, 2 * page), page);
    CHECK(get("f").substr(2 * page, page) == std::string(page, 'D')); // the page cache shows it
    std::free(memory);
    ::close(fd);
}

void copies() {
    const std::string text = pattern(40 * page + 5);
    CHECK_OK(put("from", text));
    const File from{"from", O_RDONLY};
    const File to{"to"};
    loff_t source = 3, target = 7;
    ssize_t copied = 0, part = 0;
    while (copied < 20 * page && (part = ::copy_file_range(from, &source, to, &target, static_cast<std::size_t>(20 * page - copied), 0)) > 0)
        copied += part;
    if (!offered(part)) return;
    CHECK_EQUAL(copied, 20 * page);
    CHECK_EQUAL(source, 3 + 20 * page);
    CHECK(get("to") == std::string(7, '\0') + text.substr(3, 20 * page));
    source = 41 * page;
    CHECK_EQUAL(::copy_file_range(from, &source, to, nullptr, page, 0), 0); // at the end
    const File both{"from"};
    source = 0, target = 10;
    CHECK_ERROR(::copy_file_range(both, &source, both, &target, page, 0), EINVAL); // overlapping
    CHECK_ERROR(::copy_file_range(from, nullptr, to, nullptr, page, 1), EINVAL);
}

void unlinked_files_live_on() {
    const File f{"f"};
    CHECK_EQUAL(::write(f, "still here", 10), 10);
    CHECK_OK(::unlink("f"));
    CHECK(read_at(f, 0, 10) == "still here");
    CHECK_EQUAL(::pwrite(f, pattern(3 * page).data(), 3 * page, 0), 3 * page);
    CHECK(read_at(f, 0, 3 * page) == pattern(3 * page));
    struct stat a {};
    CHECK_OK(::fstat(f, &a));
    CHECK_EQUAL(a.st_nlink, 0);
}

void locks() {
    const File f{"f"};
    struct flock range {};
    range.l_type = F_WRLCK, range.l_whence = SEEK_SET, range.l_start = 0, range.l_len = 10;
    CHECK_OK(::fcntl(f, F_SETLK, &range));
    struct flock asked = range;
    asked.l_type = F_RDLCK;
    const auto blocked = [&] {
        const int own = ::open("f", O_RDWR);
        return ::fcntl(own, F_SETLK, &asked) < 0 ? errno : 0;
    };
    CHECK_EQUAL(as_user(::geteuid(), ::getegid(), blocked), EAGAIN);
    range.l_type = F_UNLCK;
    CHECK_OK(::fcntl(f, F_SETLK, &range));
    CHECK_EQUAL(as_user(::geteuid(), ::getegid(), blocked), 0);
    const File other{"f"};
    CHECK_OK(::flock(f, LOCK_EX));
    CHECK_ERROR(::flock(other, LOCK_SH | LOCK_NB), EWOULDBLOCK);
    CHECK_OK(::flock(f, LOCK_UN));
    CHECK_OK(::flock(other, LOCK_SH | LOCK_NB));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: posix_data DIR\n");
        return 2;
    }
    ::umask(0);
    const std::string root = argv[1];
    live::group(root, "reads-and-writes", reads_and_writes);
    live::group(root, "appenders", appenders_do_not_overwrite_each_other);
    live::group(root, "sizes", sizes);
    live::group(root, "holes", holes);
    live::group(root, "allocation", allocation);
    live::group(root, "mapped", mapped_files);
    live::group(root, "direct", direct_reads_and_writes);
    live::group(root, "copies", copies);
    live::group(root, "unlinked", unlinked_files_live_on);
    live::group(root, "locks", locks);
    return live::report("posix_data");
}
