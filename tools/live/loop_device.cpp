#include "tools/live/loop_device.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sys/ioctl.h>

#include "base/file_descriptor.h"

namespace flashlab {

namespace {
constexpr int most_tries = 64; ///< others may take the device that was free
} // namespace

std::expected<LoopDevice, std::string> LoopDevice::attach(const std::string& file, Caching caching) {
    const auto refused = [](const std::string& what) { return std::unexpected(fmt::format("{}: {}", what, std::strerror(errno))); };
    const FileDescriptor control{::open("/dev/loop-control", O_RDWR | O_CLOEXEC)};
    if (control.get() < 0) return refused("/dev/loop-control");
    const FileDescriptor backing{::open(file.c_str(), O_RDWR | O_CLOEXEC)};
    if (backing.get() < 0) return refused(file);
    loop_config config{};
    config.fd = static_cast<std::uint32_t>(backing.get());
    config.info.lo_flags = caching == Caching::none ? LO_FLAGS_DIRECT_IO : 0;
    file.copy(reinterpret_cast<char*>(config.info.lo_file_name), LO_NAME_SIZE - 1);
    for (int tries = 1;; ++tries) {
        const int free = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
        if (free < 0) return refused("no loop device is free");
        const std::string path = fmt::format("/dev/loop{}", free);
        // Not kept: a kernel may refuse to mount what somebody holds open for writing.
        const FileDescriptor device{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
        if (device.get() >= 0 && ::ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) return LoopDevice{path};
        if (errno != EBUSY || tries == most_tries) return refused(path);
    }
}

void LoopDevice::detach() {
    if (path_.empty()) return;
    const FileDescriptor device{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
    (void)::ioctl(device.get(), LOOP_CLR_FD);
    path_.clear();
}

} // namespace flashlab
