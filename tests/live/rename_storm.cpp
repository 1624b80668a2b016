/// rename_storm DIR RENAMES THREADS: threads rename the same few files between the same few directories; none may be lost or seen twice.
///
/// Exit 3 when the device went away underneath.
#include <atomic>
#include <thread>

#include "tests/live/live_support.h"

namespace {

using namespace live;

constexpr std::uint64_t directories = 4;
constexpr std::uint64_t files_a_thread = 8;

std::string place(const std::string& base, std::uint64_t directory, std::uint64_t file) {
    return base + "/r" + std::to_string(directory) + "/s" + std::to_string(file);
}

class Storm {
public:
    Storm(std::string base, std::uint64_t threads) : base_{std::move(base)}, threads_{threads} {}

    void prepare() const {
        for (std::uint64_t d = 0; d < directories; ++d) {
            if (::mkdir((base_ + "/r" + std::to_string(d)).c_str(), 0700) != 0 && errno != EEXIST) {
                fail_errno("mkdir", base_);
            }
        }
        for (std::uint64_t f = 0; f < threads_ * files_a_thread; ++f) {
            const int fd = ::open(place(base_, 0, f).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
            if (fd < 0 || ::dprintf(fd, "%llu\n", static_cast<unsigned long long>(f)) < 0 || ::close(fd) != 0) {
                fail_errno("create", place(base_, 0, f));
            }
        }
    }
    /// Each thread moves its own files; the directories are everybody's.
    void run(std::uint64_t renames) {
        std::vector<std::thread> threads;
        for (std::uint64_t t = 0; t < threads_; ++t) {
            threads.emplace_back([this, t, renames] { move_around(t, renames); });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }
    void check() const {
        for (std::uint64_t f = 0; f < threads_ * files_a_thread; ++f) {
            std::uint64_t seen = 0;
            for (std::uint64_t d = 0; d < directories; ++d) {
                if (::access(place(base_, d, f).c_str(), F_OK) == 0) {
                    ++seen;
                    const std::vector<unsigned char> bytes = read_file(place(base_, d, f));
                    if (std::string(bytes.begin(), bytes.end()) != std::to_string(f) + "\n") {
                        fail(place(base_, d, f) + " holds another file's content");
                    }
                }
            }
            if (seen != 1) {
                fail("file " + std::to_string(f) + " is seen " + std::to_string(seen) + " times");
            }
        }
    }
    [[nodiscard]] bool gone() const { return gone_; }

private:
    void move_around(std::uint64_t thread, std::uint64_t renames) {
        Random random{thread + 1};
        std::vector<std::uint64_t> at(files_a_thread, 0);
        for (std::uint64_t i = 0; i < renames && !gone_; ++i) {
            const std::uint64_t own = random.below(files_a_thread);
            const std::uint64_t target = random.below(directories);
            const std::uint64_t file = thread * files_a_thread + own;
            if (::rename(place(base_, at[own], file).c_str(), place(base_, target, file).c_str()) != 0) {
                if (device_gone()) {
                    gone_ = true;
                    return;
                }
                fail_errno("rename", place(base_, at[own], file));
            }
            at[own] = target;
        }
    }

    std::string base_;
    std::uint64_t threads_;
    std::atomic<bool> gone_ = false;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        live::fail("usage: rename_storm DIR RENAMES THREADS");
    }
    Storm storm{argv[1], live::number_argument(argv[3])};
    storm.prepare();
    storm.run(live::number_argument(argv[2]));
    if (storm.gone()) {
        return 3;
    }
    storm.check();
    std::printf("rename_storm: %s renames by each of %s threads: every file is there once\n", argv[2], argv[3]);
    return 0;
}
