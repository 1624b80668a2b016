#include "tools/live/loop_device.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace flashlab {

namespace {
constexpr int most_tries = 64; ///< others may take the device that was free

/// A descriptor that goes with its scope: a kernel may refuse to mount what somebody holds open for writing.
class Descriptor {
public:
    Descriptor(const std::string& path, int flags) : number_{::open(path.c_str(), flags | O_CLOEXEC)} {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

} // namespace

std::expected<LoopDevice, std::string> LoopDevice::attach(const std::string& file, Caching caching) {
    const auto refused = [](const std::string& what) { return std::unexpected(fmt::format("{}: {}", what, std::strerror(errno))); };
    const Descriptor control{"/dev/loop-control", O_RDWR};
    if (control.number() < 0) return refused("/dev/loop-control");
    const Descriptor backing{file, O_RDWR};
    if (backing.number() < 0) return refused(file);
    loop_config config{};
    config.fd = static_cast<std::uint32_t>(backing.number());
    config.info.lo_flags = caching == Caching::none ? LO_FLAGS_DIRECT_IO : 0;
    file.copy(reinterpret_cast<char*>(config.info.lo_file_name), LO_NAME_SIZE - 1);
    for (int tries = 1;; ++tries) {
        const int free = ::ioctl(control.number(), LOOP_CTL_GET_FREE);
        if (free < 0) return refused("no loop device is free");
        const std::string path = fmt::format("/dev/loop{}", free);
        const Descriptor device{path, O_RDWR};
        if (device.number() >= 0 && ::ioctl(device.number(), LOOP_CONFIGURE, &config) == 0) return LoopDevice{path};
        if (errno != EBUSY || tries == most_tries) return refused(path);
    }
}

void LoopDevice::detach() {
    if (path_.empty()) return;
    const Descriptor device{path_, O_RDONLY};
    (void)::ioctl(device.number(), LOOP_CLR_FD);
    path_.clear();
}

} // namespace flashlab
