/// fill_and_overwrite DIR PERCENT FILLS SEED [COMMAND]: fills the device to PERCENT, then overwrites, deletes and creates at random until FILLS times
/// the device's size was written. Every file's content is verified when it is deleted and all of them at the end; no call may fail. After each fill
/// COMMAND runs (a shell's; no file is open then, so it may unmount, check and mount again).
#include <map>

#include <sys/statvfs.h>

#include "tests/live/live_support.h"

namespace {

using namespace live;

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t largest_file_pages = 256;

class Filler {
public:
    Filler(std::string directory, std::uint64_t percent, std::uint64_t seed) : directory_{std::move(directory)}, random_{seed} {
        capacity_ = space().f_blocks * space().f_frsize;
        limit_ = capacity_ * (100 - percent) / 100;
    }
    [[nodiscard]] std::uint64_t capacity() const { return capacity_; }

    void fill_up() {
        while (free_bytes() > limit_ + largest_file_pages * page) {
            create();
        }
    }
    /// One random step: half overwrites in place, the rest deletes and creates again.
    void step() {
        if (random_.below(2) == 0) {
            overwrite();
        } else {
            remove();
            while (free_bytes() > limit_ + largest_file_pages * page) {
                create();
            }
        }
    }
    void verify_all() {
        for (const auto& [name, pages] : files_) {
            verify(name, pages);
        }
    }
    [[nodiscard]] std::uint64_t written() const { return written_; }
    [[nodiscard]] std::size_t files() const { return files_.size(); }

private:
    using Versions = std::vector<std::uint64_t>; ///< what each page holds: the seed of its content

    [[nodiscard]] struct statvfs space() const {
        struct statvfs answer {};
        if (::statvfs(directory_.c_str(), &answer) != 0) {
            fail_errno("statvfs", directory_);
        }
        return answer;
    }
    [[nodiscard]] std::uint64_t free_bytes() const {
        const struct statvfs now = space();
        return now.f_bavail * now.f_frsize;
    }
    [[nodiscard]] std::string path(std::uint64_t name) const { return directory_ + "/file" + std::to_string(name); }
    [[nodiscard]] int open(std::uint64_t name, int flags) const {
        const int fd = ::open(path(name).c_str(), flags | O_CLOEXEC, 0600);
        if (fd < 0) {
            fail_errno("open", path(name));
        }
        return fd;
    }

    void create() {
        const std::uint64_t name = next_name_++;
        Versions pages(1 + random_.below(largest_file_pages));
        const int fd = open(name, O_CREAT | O_EXCL | O_WRONLY);
        write_pages(fd, name, pages, 0, pages.size());
        ::close(fd);
        files_.emplace(name, std::move(pages));
    }
    void overwrite() {
        auto& [name, pages] = *chosen();
        const std::uint64_t first = random_.below(pages.size());
        const std::uint64_t count = std::min<std::uint64_t>(1 + random_.below(16), pages.size() - first);
        const int fd = open(name, O_WRONLY);
        write_pages(fd, name, pages, first, count);
        if (random_.below(8) == 0 && ::fsync(fd) != 0) {
            fail_errno("fsync", path(name));
        }
        ::close(fd);
    }
    void remove() {
        const auto file = chosen();
        verify(file->first, file->second);
        if (::unlink(path(file->first).c_str()) != 0) {
            fail_errno("unlink", path(file->first));
        }
        files_.erase(file);
    }
    void write_pages(int fd, std::uint64_t name, Versions& pages, std::uint64_t first, std::uint64_t count) {
        std::vector<unsigned char> bytes(count * page);
        for (std::uint64_t i = 0; i < count; ++i) {
            pages[first + i] = random_.next();
            fill(std::span{bytes}.subspan(i * page, page), pages[first + i]);
        }
        if (::lseek(fd, static_cast<off_t>(first * page), SEEK_SET) < 0 || !write_all(fd, bytes)) {
            fail_errno("write", path(name));
        }
        written_ += bytes.size();
    }
    void verify(std::uint64_t name, const Versions& pages) const {
        const std::vector<unsigned char> bytes = read_file(path(name));
        std::vector<unsigned char> expected(page);
        if (bytes.size() != pages.size() * page) {
            fail(path(name) + " has " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(pages.size() * page));
        }
        for (std::size_t i = 0; i < pages.size(); ++i) {
            fill(expected, pages[i]);
            if (!std::equal(expected.begin(), expected.end(), bytes.begin() + static_cast<std::ptrdiff_t>(i * page))) {
                fail(path(name) + ": page " + std::to_string(i) + " is not what was written last");
            }
        }
    }
    std::map<std::uint64_t, Versions>::iterator chosen() {
        auto file = files_.lower_bound(random_.below(next_name_));
        return file == files_.end() ? files_.begin() : file;
    }

    std::string directory_;
    Random random_;
    std::uint64_t capacity_ = 0, limit_ = 0, written_ = 0, next_name_ = 0;
    std::map<std::uint64_t, Versions> files_;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 5 && argc != 6) {
        live::fail("usage: fill_and_overwrite DIR PERCENT FILLS SEED [COMMAND]");
    }
    Filler filler{argv[1], live::number_argument(argv[2]), live::number_argument(argv[4])};
    filler.fill_up();
    const std::uint64_t fills = live::number_argument(argv[3]);
    for (std::uint64_t round = 1; round <= fills; ++round) {
        const std::uint64_t wanted = filler.written() + filler.capacity();
        while (filler.written() < wanted) {
            filler.step();
        }
        std::printf("fill_and_overwrite: device-fill %llu of %llu\n", static_cast<unsigned long long>(round), static_cast<unsigned long long>(fills));
        std::fflush(stdout);
        if (argc == 6 && std::system(argv[5]) != 0) {
            live::fail(std::string{"after this device-fill: "} + argv[5]);
        }
    }
    filler.verify_all();
    std::printf("fill_and_overwrite: %zu files at %s %%, %llu MiB written over %llu MiB: every byte as written last\n", filler.files(), argv[2],
                static_cast<unsigned long long>(filler.written() >> 20U), static_cast<unsigned long long>(filler.capacity() >> 20U));
    return 0;
}
