/// acknowledged_writer DIR ACKNOWLEDGED SEED [ROUNDS]: writes until the device goes away (exit 0), ROUNDS are done (exit 0) or something else fails
/// (exit 1).
///
/// FLASHLAB_LIVE_METADATA=journal: an answered mkdir or rename is durable with the next fsync only, so the directory is synced before it is
/// acknowledged. FLASHLAB_LIVE_SYNCS=all: every replacement is synced before its rename, for file systems that promise nothing without.
#include <cstdlib>
#include <string_view>

#include "tests/live/acknowledged_records.h"

namespace {

using namespace live;

class Writer {
public:
    Writer(int acknowledged, std::uint64_t seed) : seed_{seed}, acknowledged_{acknowledged} {
        log_ = ::open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (log_ < 0 && !device_gone()) {
            fail_errno("open", "log");
        }
    }

    /// False when the device is gone.
    bool round(std::uint64_t number) { return make_directory(number) && append(number) && (number % rename_every != 0 || replace(number)); }

private:
    bool make_directory(std::uint64_t number) {
        if (::mkdir(directory_name(".", number).c_str(), 0700) != 0) {
            return gone("mkdir");
        }
        if (!settle_names()) {
            return gone("fsync of the directory");
        }
        acknowledge("mkdir", number);
        if (number > directories_kept && ::rmdir(directory_name(".", number - directories_kept).c_str()) != 0) {
            return gone("rmdir");
        }
        return true;
    }
    bool append(std::uint64_t number) {
        if (!write_all(log_, record(seed_, number))) {
            return gone("write");
        }
        if ((number % 2 == 0 ? ::fsync(log_) : ::fdatasync(log_)) != 0) {
            return gone("fsync");
        }
        acknowledge("append", number);
        return true;
    }
    /// Half of the time without fsync: rename over an existing name promises the whole old or the whole new file either way, here.
    bool replace(std::uint64_t number) {
        const int fd = ::open("state.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0) {
            return gone("open");
        }
        const bool written =
            write_all(fd, replaced_content(seed_, number)) && ((number % (2 * rename_every) == 0 && !syncs_all_) || ::fsync(fd) == 0);
        const int error = errno;
        ::close(fd);
        errno = error;
        if (!written || ::rename("state.new", "state") != 0) {
            return gone("rename");
        }
        if (!settle_names()) {
            return gone("fsync of the directory");
        }
        acknowledge("rename", number);
        return true;
    }

    bool settle_names() {
        if (!names_need_sync_) {
            return true;
        }
        const int directory = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const bool synced = directory >= 0 && ::fsync(directory) == 0;
        const int error = errno;
        if (directory >= 0) {
            ::close(directory);
        }
        errno = error;
        return synced;
    }

    void acknowledge(const char* what, std::uint64_t number) {
        const std::string line = std::string{what} + " " + std::to_string(number) + "\n";
        if (!write_all(acknowledged_, std::span{reinterpret_cast<const unsigned char*>(line.data()), line.size()})) {
            fail_errno("write", "the acknowledgements");
        }
    }
    bool gone(const char* call) {
        if (!device_gone()) {
            fail_errno(call, "on the device");
        }
        return false;
    }

    std::uint64_t seed_;
    int acknowledged_;
    int log_ = -1;
    bool syncs_all_ = std::getenv("FLASHLAB_LIVE_SYNCS") != nullptr;
    bool names_need_sync_ = std::getenv("FLASHLAB_LIVE_METADATA") != nullptr && std::string_view{std::getenv("FLASHLAB_LIVE_METADATA")} == "journal";
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        live::fail("usage: acknowledged_writer DIR ACKNOWLEDGED SEED [ROUNDS]");
    }
    const std::uint64_t rounds = argc > 4 ? live::number_argument(argv[4]) : UINT64_MAX;
    const int acknowledged = ::open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (acknowledged < 0) {
        live::fail_errno("open", argv[2]);
    }
    // Paths stay relative to the device even when its mount point is taken away: the calls then fail as those on a dead device.
    if (::chdir(argv[1]) != 0) {
        if (live::device_gone()) {
            return 0;
        }
        live::fail_errno("chdir", argv[1]);
    }
    Writer writer{acknowledged, live::number_argument(argv[3])};
    std::uint64_t number = 1;
    while (number <= rounds && writer.round(number)) {
        ++number;
    }
    std::printf("acknowledged_writer: %llu rounds\n", static_cast<unsigned long long>(number - 1));
    return 0;
}
